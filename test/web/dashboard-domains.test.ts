/** BEYOND 10 on a site's page: its domains, each added, proved, made primary and removed there. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { write } from "../kit/database.ts";
import type { DeployResult } from "../kit/server.ts";
import { visitorOf } from "../kit/visitor.ts";
import { domainWorld, freshDomain } from "../domains/world.ts";

setDefaultTimeout(60_000);

const world = await domainWorld();
const { server, dns, at } = world;
afterAll(() => world[Symbol.asyncDispose]());
const [ann, ben] = [await visitorOf(server), await visitorOf(server)];
const pathOf = ({ site_id }: DeployResult): string => `/dashboard/sites/${site_id}/domains`;
const home = () => ann.deploy({ "index.html": "<!doctype html><title>Home</title>home" });

/** Adds it by the form, and sets its TXT record as the page shows it. */
async function proved(site: DeployResult, domain = freshDomain()): Promise<string> {
  await ann.send(pathOf(site), { domain });
  const { html } = await ann.read(pathOf(site));
  const values = [...html.matchAll(/svc-verify=[\w-]{43}/g)].map(([value]) => value);
  dns.set(`_svc.${domain}`, "TXT", values);
  await ann.send(pathOf(site), { verify: domain });
  return domain;
}

test("a site without any says how one is added; one that is added shows its records and waits", async () => {
  const site = await home();
  expect((await ann.read(pathOf(site))).text).toContain("svc domain add www.example.org --site");
  const domain = freshDomain();
  const added = await ann.send(pathOf(site), { domain: domain.toUpperCase() });
  expect([added.status, added.location]).toEqual([303, `${pathOf(site)}?done=domain-added`]);
  const { text, html } = await ann.read(added.location!);
  for (const said of ["Waits for its proof", `_svc.${domain}`, "svc-verify=", `${site.slug}.localhost`, "Look again"]) {
    expect(text).toContain(said);
  }
  expect(html).not.toContain(`href="http://${domain}`);
});

test("once a record is there, the button makes it active; before that the page says what is missing", async () => {
  const site = await home();
  const domain = freshDomain();
  await ann.send(pathOf(site), { domain });
  const early = await ann.send(pathOf(site), { verify: domain });
  expect([early.status, early.text]).toEqual([409, expect.stringContaining("Neither record of")]);
  expect((await at(domain)).status).toBe(404);
  const { html } = await ann.read(pathOf(site));
  dns.set(`_svc.${domain}`, "TXT", [/svc-verify=[\w-]{43}/.exec(html)![0]]);
  const done = await ann.send(pathOf(site), { verify: domain });
  expect([done.status, done.location]).toEqual([303, `${pathOf(site)}?done=domain-active`]);
  const { html: after, text } = await ann.read(pathOf(site));
  expect(after).toContain(`href="http://${domain}:${server.port}"`);
  expect(text).toContain("Active");
  expect((await at(domain)).text).toContain("home");
});

test("primary, no longer primary, and removed", async () => {
  const site = await home();
  const domain = await proved(site);
  await ann.send(pathOf(site), { primary: domain });
  expect((await ann.read(pathOf(site))).text).toContain("Primary");
  expect((await at(`${site.slug}.localhost`)).location).toBe(`http://${domain}:${server.port}/`);
  await ann.send(pathOf(site), { "no-primary": domain });
  expect((await at(`${site.slug}.localhost`)).status).toBe(200);
  const removed = await ann.send(pathOf(site), { remove: domain });
  expect(removed.location).toBe(`${pathOf(site)}?done=domain-removed`);
  expect((await at(domain)).status).toBe(404);
});

test("its certificate: until when, on the way, or why there is none, and the button for https alone", async () => {
  const site = await home();
  const domain = await proved(site);
  const tell = (state: string, expires_at: string | null, error: string | null) =>
    write(
      server.data_dir,
      `insert into certificates (name, state, expires_at, error, next_at) values (?, ?, ?, ?, 0)
       on conflict (name) do update set state = excluded.state, expires_at = excluded.expires_at, error = excluded.error`,
      ...[domain, state, expires_at, error],
    );
  expect((await ann.send(pathOf(site), { hsts: domain })).status).toBe(409);
  tell("failed", null, "Nobody answered at port 80: open it, or point the A record here.");
  expect((await ann.read(pathOf(site))).text).toContain("Nobody answered at port 80");
  tell("active", "2027-02-03T00:00:00.000Z", null);
  expect((await ann.read(pathOf(site))).text).toMatch(/certificate until .*3/);
  await ann.send(pathOf(site), { hsts: domain });
  expect((await ann.read(pathOf(site))).text).toContain("https only");
});

test.each(["localhost", "", "no name", "https://x.example.org", "<script>alert(1)</script>.example.org"])(
  "%p is refused, and shown again as it was typed",
  async (domain) => {
    const site = await home();
    const { status, html, text } = await ann.send(pathOf(site), { domain });
    expect(status).toBe(400);
    expect(text).toContain("is no name of a domain");
    expect(html).toContain('aria-invalid="true"');
    expect(html).not.toContain("<script>alert");
  },
);

test("of a frozen site they are shown without buttons; another's page is not there", async () => {
  const site = await home();
  const domain = await proved(site);
  server.freeze(site);
  const { text } = await ann.read(pathOf(site));
  expect(text).toContain(domain);
  for (const word of ["Remove", "Make primary", "Add the domain"]) expect(text).not.toContain(word);
  expect((await ann.send(pathOf(site), { remove: domain })).status).toBe(403);
  expect((await ben.send(pathOf(site), { remove: domain })).status).toBe(404);
  expect((await at(domain)).status).toBe(200);
});
