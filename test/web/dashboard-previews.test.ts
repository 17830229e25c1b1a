/** BEYOND 7 on a site's page: its previews, each opened, made live and ended there. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { type Made, pageOf, previewing } from "../deploys/previewing.ts";
import { type DeployResult } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { visitorOf } from "../kit/visitor.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

const server = await sharedServer();
const ann = await visitorOf(server);

const { make, list, text } = previewing(() => server);
const pathOf = ({ site_id }: Pick<DeployResult, "site_id">): string => `/dashboard/sites/${site_id}`;

async function withPreview(name?: string): Promise<{ site: DeployResult; made: Made }> {
  const site = await ann.deploy(pageOf("live"));
  return { site, made: await make(site, pageOf("draft"), name) };
}

test("a site without any says how one is made; with some each has its name, version, age, end and address", async () => {
  const none = await ann.deploy(pageOf("none"));
  expect((await ann.read(pathOf(none))).text).not.toContain("All previews");
  expect((await ann.read(`${pathOf(none)}/previews`)).text).toContain("svc preview ./my-site --name next");
  const { site, made } = await withPreview("pr-7");
  await make(site, pageOf("unnamed draft"));
  const shown = await ann.read(`${pathOf(site)}/previews`);
  expect(shown.text).toMatch(/pr-7 just now · until \d+ \w+/);
  expect(shown.text).toContain(made.version_id.slice(0, 8));
  expect(shown.text).toContain("unnamed draft");
  expect(shown.html).toContain(`href="${made.url}"`);
  expect(shown.text).toContain("pr-7");
  expect((await ann.read(`${pathOf(none)}/previews`)).text).not.toContain("pr-7");
  const card = await ann.read(pathOf(site));
  expect(card.text).toMatch(/pr-7 until \d+ \w+/);
  expect(card.html).toContain(`href="${made.url}"`);
});

test("made live: the page says so, the preview is over, the version is in the list", async () => {
  const { site, made } = await withPreview("next");
  const sent = await ann.send(`${pathOf(site)}/previews`, { promote: "next" });
  expect([sent.status, sent.location]).toEqual([303, `${pathOf(site)}?done=live`]);
  expect(await text(site.slug)).toContain("<p>draft");
  const shown = await ann.read(sent.location!);
  expect(shown.text).toMatch(/The version of today, \d\d:\d\d is live\./);
  expect(shown.text).toContain(made.version_id);
  expect(shown.text).not.toContain("All previews");
});

test("ended: nothing is at its address; one without a name by its version", async () => {
  const { site, made } = await withPreview();
  const sent = await ann.send(`${pathOf(site)}/previews`, { end: made.version_id });
  expect([sent.status, sent.location]).toEqual([303, `${pathOf(site)}/previews?done=preview-ended`]);
  expect((await ann.read(sent.location!)).text).toContain("The preview has ended");
  expect((await server.site(`${made.version_id}--${site.slug}`)).status).toBe(404);
  expect(await text(site.slug)).toContain("<p>live");
});

test("of a site that takes no changes they are shown without buttons; what is sent all the same changes nothing", async () => {
  const { site } = await withPreview("held");
  server.freeze(site);
  for (const page of ["", "/previews"]) {
    expect((await ann.read(pathOf(site) + page)).html).not.toMatch(/name="(promote|end)"/);
  }
  for (const fields of [{ promote: "held" }, { end: "held" }, { end: "" }, {}] as Record<string, string>[]) {
    expect((await ann.send(`${pathOf(site)}/previews`, fields)).status).toBe(403);
  }
  expect(await list(site)).toHaveLength(1);
});

test("one that is over, none at all, another account's, and a form without its proof change nothing", async () => {
  const { site } = await withPreview("kept");
  for (const fields of [{ promote: "gone" }, { end: "gone" }, {}] as Record<string, string>[]) {
    const { status, text: said } = await ann.send(`${pathOf(site)}/previews`, fields);
    expect(status).toBe(404);
    expect(said).toContain("no such preview");
  }
  const other = await visitorOf(server);
  expect((await other.send(`${pathOf(site)}/previews`, { end: "kept" })).status).toBe(404);
  const headers = { cookie: ann.cookie, accept: "text/html" };
  const forged = await server.api(`${pathOf(site)}/previews`, {
    method: "POST",
    headers,
    body: new URLSearchParams({ end: "kept" }),
  });
  expect(forged.status).toBe(403);
  expect(await list(site)).toHaveLength(1);
});
