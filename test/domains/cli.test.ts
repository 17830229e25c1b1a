/** BEYOND 10 on the command line: `svc domain`. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { Home, json } from "../kit/cli.ts";
import { signUp } from "../kit/people.ts";
import { domainWorld, freshDomain } from "./world.ts";

setDefaultTimeout(60_000);

const world = await domainWorld();
const { server, dns } = world;
const ann = await signUp(server);
const home = await Home.make(server.base_url);
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});
const env = { SVC_TOKEN: ann.session_token };
let sites = 0;

/** A site of ann's that was deployed from `cwd`. */
async function deployed(): Promise<{ cwd: string; site_id: string; slug: string }> {
  const cwd = await home.write(`site-${++sites}`, { "index.html": `<title>${sites}</title>home` });
  const made = json(await home.run(["--json", "."], { cwd, env }));
  return { cwd, site_id: String(made["site_id"]), slug: new URL(String(made["url"])).hostname.split(".")[0]! };
}
const run = (cwd: string, ...words: string[]) => home.run(["domain", ...words], { cwd, env });

test("add prints the records, one a line; verify says what was found, and prints the address once one is there", async () => {
  const { cwd, slug } = await deployed();
  const domain = freshDomain();
  const added = await run(cwd, "add", domain);
  expect(added.code).toBe(0);
  const [txt, cname, rest] = added.out.split("\n");
  expect([txt, cname, rest]).toEqual([
    expect.stringMatching(new RegExp(`^TXT _svc\\.${domain} svc-verify=[\\w-]{43}$`)),
    `CNAME ${domain} ${slug}.localhost`,
    "",
  ]);
  expect(added.err).toContain(`svc domain verify ${domain}`);

  dns.set(`_svc.${domain}`, "TXT", ["svc-verify=of-another"]);
  const early = await run(cwd, "verify", domain);
  expect([early.code, early.out]).toEqual([1, ""]);
  expect(early.err).toContain("Found: TXT svc-verify=of-another");
  expect(early.err).toContain("set one of them");

  const [, name, value] = txt!.split(" ");
  dns.set(name!, "TXT", [value!]);
  expect(await run(cwd, "verify", domain)).toMatchObject({ code: 0, out: `http://${domain}:${server.port}/\n` });
  expect(await run(cwd, "add", domain)).toMatchObject({ code: 0, out: `http://${domain}:${server.port}/\n` });
  expect((await world.at(domain)).text).toContain("home");
});

test("list, primary, hsts and remove, for people and as JSON", async () => {
  const { cwd, site_id } = await deployed();
  expect(await run(cwd, "list")).toMatchObject({ code: 0, out: "", err: expect.stringContaining("svc domain add") });
  const [one, two] = [await world.active({ site_id }, ann), await world.active({ site_id }, ann)];
  expect(await run(cwd, "primary", one.domain)).toMatchObject({ out: `http://${one.domain}:${server.port}/\n` });
  expect((await run(cwd, "list")).out).toBe(`${one.domain}  active  primary\n${two.domain}  active\n`);
  const { domains, ...more } = json(await run(cwd, "list", "--json"));
  expect([more, domains]).toEqual([{ ok: true }, [{ ...one, primary: true }, two]]);
  expect((await world.at(two.domain)).status).toBe(308);
  expect(await run(cwd, "primary", "off")).toMatchObject({ code: 0, out: "off\n" });
  expect((await world.at(two.domain)).status).toBe(200);
  expect(await run(cwd, "hsts", one.domain, "off")).toMatchObject({ code: 0, out: "off\n" });
  const refused = await run(cwd, "hsts", one.domain, "on");
  expect([refused.code, refused.out]).toEqual([1, ""]);
  expect(refused.err).toContain("has no certificate of this server yet");
  expect(json(await run(cwd, "remove", one.domain, "--json"))).toEqual({ ok: true, domain: one.domain });
  expect(await run(cwd, "remove", two.domain)).toMatchObject({ code: 0, out: `${two.domain}\n` });
  expect((await run(cwd, "list")).out).toBe("");
});

test.each([
  [["add"], 2, "wants the domain"],
  [["verify"], 2, "wants the domain"],
  [["primary"], 2, "Which domain?"],
  [["hsts", "www.example.org"], 2, "on or off"],
  [["hsts", "www.example.org", "maybe"], 2, "on or off"],
  [["add", "localhost"], 1, "no name of a domain"],
  [["add", "https://www.example.org"], 1, "without scheme"],
  [["verify", "www.unknown.example.org"], 1, "add it first"],
  [["remove", "www.unknown.example.org"], 1, "add it first"],
] as const)("%j is exit %d and says %p", async (words, code, said) => {
  const { cwd } = await deployed();
  const ran = await run(cwd, ...words);
  expect([ran.code, ran.out]).toEqual([code, ""]);
  expect(ran.err).toContain(said);
});

test("without a session it is exit 1 with the way to sign in, and nothing is asked", async () => {
  const { cwd } = await deployed();
  const ran = await home.run(["domain", "add", "www.example.org"], { cwd });
  expect([ran.code, ran.out]).toEqual([1, ""]);
  expect(ran.err).toContain("svc domain add needs your account");
});

test("svc export has the names of a site's domains", async () => {
  const { site_id, cwd } = await deployed();
  const { domain } = await world.active({ site_id }, ann);
  const ran = await home.run(["export", "taken"], { cwd, env });
  expect(ran.code).toBe(0);
  const { sites } = (await Bun.file(`${cwd}/taken/export.json`).json()) as {
    sites: { site_id: string; domains: string[] }[];
  };
  expect(sites.find((one) => one.site_id === site_id)!.domains).toEqual([domain]);
});
