/** BEYOND 10 and what touches it: names of all scripts, what owners and operators are told, statistics, the command line. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { certificateFor } from "../kit/certificate.ts";
import { Home } from "../kit/cli.ts";
import { operator } from "../kit/operator.ts";
import { TLS_CERT, TLS_KEY } from "../kit/paths.ts";
import { signUp } from "../kit/people.ts";
import { ZIP } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";
import { NAVIGATION, type Statistics } from "../statistics/visiting.ts";
import { type Domain, domainWorld, freshDomain } from "./world.ts";

setDefaultTimeout(60_000);

const world = await domainWorld();
const { server, dns, owned, add, verify, active, change, at, ask } = world;
const home = await Home.make(server.base_url);
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});
const ann = await signUp(server);
const env = { SVC_TOKEN: ann.session_token };
const listed = async (site: { site_id: string }): Promise<Domain[]> =>
  ((await ask(ann, "GET", `/sites/${site.site_id}/domains`)).body as never as { domains: Domain[] }).domains;

describe("BEYOND 10: the name is lower-cased, an IDN becomes its A-labels, wherever it is given", () => {
  test.each(["b%C3%BCcher", "B%C3%9CCHER"])("in the path of a call: %s", async (label) => {
    const site = await owned(ann);
    const ending = freshDomain();
    const { body } = await add(site, `bücher.${ending}`, ann);
    world.prove(body as never);
    expect((await verify(site, `${label}.${ending}`, ann)).status).toBe(200);
  });

  test.each([
    ["verify", []],
    ["primary", []],
    ["hsts", ["off"]],
    ["remove", []],
  ] as const)("svc domain %s knows the name that svc domain add took", async (command, more) => {
    const site = await owned(ann);
    const name = `bücher.${freshDomain()}`;
    const cwd = await home.write("idn", { "index.html": "home" });
    const svc = (...words: string[]) => home.run(["domain", ...words, "--site", site.site_id], { cwd, env });
    const added = await svc("add", name);
    expect(added.code).toBe(0);
    const [, record, value] = added.out.split("\n")[0]!.split(" ");
    dns.set(record!, "TXT", [value!]);
    if (command !== "verify") await verify(site, record!.replace("_svc.", ""), ann);
    expect(await svc(command, name, ...more)).toMatchObject({ code: 0 });
  });

  test.each(["https://www.example.org/", "www.example.org:80", "www.example.org/page", "two words"])(
    "svc domain verify %p does not say that the server is older than svc",
    async (name) => {
      const site = await owned(ann);
      const cwd = await home.write("older", { "index.html": "home" });
      const ran = await home.run(["domain", "verify", name, "--site", site.site_id], { cwd, env });
      expect([ran.code, ran.out]).toEqual([1, ""]);
      expect(ran.err).not.toContain("is older than this svc");
    },
  );
});

test("BEYOND 10: checked_at is when its proof was last looked up, where none was found too", async () => {
  const site = await owned(ann);
  const domain = freshDomain();
  await add(site, domain, ann);
  await verify(site, domain, ann);
  expect(await listed(site)).toMatchObject([{ domain, state: "pending", checked_at: expect.any(String) }]);
});

test("BEYOND 10: one that lapsed shows its owner when they looked again, not when it lapsed", async () => {
  const site = await owned(ann);
  const { domain } = await active(site, ann);
  const ben = await signUp(server);
  const theirs = await owned(ben);
  dns.clear();
  world.prove((await add(theirs, domain, ben)).body as never);
  expect((await verify(theirs, domain, ben)).status).toBe(200); // it lapses at ann's
  const [{ state, checked_at: before } = {} as Domain] = await listed(site);
  server.advance(3_600_000);
  await verify(site, domain, ann);
  const [{ checked_at: after } = {} as Domain] = await listed(site);
  server.advance(-3_600_000);
  expect([state, after! > before!]).toEqual(["lapsed", true]);
});

test("docs/self-hosting: <site> is the URL of any of its pages, on a domain of its own too", async () => {
  const site = await owned(ann);
  const { domain } = await active(site, ann);
  const url = `http://${domain}:${server.port}/page?x=1`;
  const ran = await operator(server.data_dir, ["freeze", url]);
  expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining("is frozen")]);
  expect(await add(site, freshDomain(), ann)).toMatchObject({ status: 403, body: { code: "site_frozen" } });
});

test("BEYOND 11: a site's own hosts are no referrers, and a link between them that is broken is the site's own", async () => {
  const site = await owned(ann, { "index.html": "<title>Home</title>home", "about.html": "<title>About</title>about" });
  const [one, two] = [await active(site, ann), await active(site, ann)];
  const slug = `${site.slug}.localhost`;
  const from = (host: string) => ({ headers: { ...NAVIGATION, referer: `http://${host}:${server.port}/` } });
  await at(one.domain, "/about", from(two.domain));
  await at(slug, "/about", from(one.domain));
  await at(one.domain, "/none", from(two.domain));
  const { body } = await ask(ann, "GET", `/sites/${site.site_id}/stats?days=1`);
  const { referrers, misses } = body as never as Statistics;
  expect([referrers, misses]).toEqual([[], [expect.objectContaining({ path: "/none", hits: 1, internal: 1 })]]);
});

test("BEYOND 10: the address that svc domain prints is the one that the server leads to, whatever its port", async () => {
  await using other = await domainWorld("--sites-domain", "sites.example");
  const cat = await signUp(other.server);
  const site = await other.owned(cat);
  const { domain } = await other.active(site, cat);
  await other.change(site, domain, { primary: true }, cat);
  const leads_to = (await other.at(`${site.slug}.sites.example`)).location;
  const cwd = await home.write("port", { "index.html": "home" });
  const options = { cwd, env: { SVC_TOKEN: cat.session_token, DEPLOY_URL: other.server.base_url } };
  const ran = await home.run(["domain", "add", domain, "--site", site.site_id], options);
  expect(ran).toMatchObject({ code: 0, out: `${leads_to}\n` });
});

test("BEYOND 10: a pair of the operator's own that went while the server was off is no certificate any more", async () => {
  const flags = ["--tls-cert", TLS_CERT, "--tls-key", TLS_KEY, "--base-url", "https://localhost"];
  await using own = await domainWorld(...flags);
  const cat = await signUp(own.server);
  const site = await own.owned(cat);
  const { domain } = await own.active(site, cat);
  const folder = join(own.server.data_dir, "certs", domain);
  const { cert, key } = certificateFor([domain]);
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries({ "chain.pem": cert, "key.pem": key, manual: "" })) {
    await writeFile(join(folder, name), text);
  }
  const tls = async () =>
    ((await own.ask(cat, "GET", `/sites/${site.site_id}/domains`)).body as never as { domains: Domain[] }).domains[0]!
      .tls.state;
  await until(async () => (await tls()) === "active");
  await own.server.stop();
  await rm(folder, { recursive: true });
  await own.server.start([...flags, { SVC_DNS: own.dns.address }]);
  await Bun.sleep(6000); // two turns and more
  expect(await tls()).toBe("none");
  expect(await own.change(site, domain, { hsts: true }, cat)).toMatchObject({ status: 409 });
});
