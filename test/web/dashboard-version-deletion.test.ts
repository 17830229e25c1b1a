/** BEYOND 9 and RELIABILITY A33 on a site's page (WEB 6): a version that is not live is deleted there, when a word was typed; one that
 *  is withheld says so. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { pageOf, previewing } from "../deploys/previewing.ts";
import { type DeployResult } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { visitorOf } from "../kit/visitor.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

const server = await sharedServer();
const ann = await visitorOf(server);
const { make } = previewing(() => server);

const SECRET = `const key = "${["sk", "live"].join("_")}_${"4eC39HqLyjWDarjtT1zdp7dc"}";`;
const pathOf = ({ site_id }: Pick<DeployResult, "site_id">): string => `/dashboard/sites/${site_id}`;
const listOf = (site: Pick<DeployResult, "site_id">): string => `${pathOf(site)}/versions`;
const pathTo = (site: DeployResult, version_id = site.version_id) => `${pathOf(site)}/versions/${version_id}/delete`;
const statusOf = async ({ slug, version_id }: DeployResult) => (await server.site(`${version_id}--${slug}`)).status;

/** A site whose first version, that of the result, was left for another one. */
async function left(text: string, files: Record<string, string> = {}): Promise<DeployResult & { live: string }> {
  const site = await ann.deploy(pageOf(text, files));
  const { version_id } = await server.redeploy(site, pageOf(`${text}, second`));
  return { ...site, live: version_id };
}

test("each version but the live one has a link to the page that asks; that says what goes and what stays", async () => {
  const site = await left("asked");
  const { html } = await ann.read(listOf(site));
  expect(html).toContain(`href="${pathTo(site)}"`);
  expect(html).not.toContain(pathTo(site, site.live));
  const page = await ann.read(pathTo(site));
  expect(page.title).toBe(`Delete version ${site.version_id}? · svc`);
  expect(page.text).toContain(`asked of ${site.slug}, made just now, is deleted permanently.`);
  expect(page.text).toContain(`http://${site.version_id}--${site.slug}.`);
  expect(page.text).toContain("What is live stays as it is, and so do all comments.");
  expect(await statusOf(site)).toBe(200);
});

test("the word, with spaces around it, deletes it; the page says so, and its row is gone", async () => {
  const site = await left("deleted");
  const sent = await ann.send(pathTo(site), { confirm: " delete " });
  expect([sent.status, sent.location]).toEqual([303, `${listOf(site)}?done=version-deleted`]);
  expect(await statusOf(site)).toBe(404);
  const shown = await ann.read(sent.location!);
  expect(shown.text).toContain("The version is deleted: nothing is at its address any more.");
  expect(shown.text).not.toContain(site.version_id);
});

test.each(["", "DELETE", "yes", "delete it"])("%p deletes nothing", async (confirm) => {
  const site = await left(`kept for ${confirm}`);
  const { status, text } = await ann.send(pathTo(site), { confirm });
  expect([status, text]).toEqual([400, expect.stringContaining("Nothing was deleted. Type delete to confirm.")]);
  expect(await statusOf(site)).toBe(200);
});

test("one that a preview shows, by its address too", async () => {
  const site = await left("live");
  const { version_id } = await make(site, pageOf("draft"), "draft");
  const { status } = await ann.send(pathTo(site, version_id), { confirm: "delete" });
  expect([status, (await server.site(`draft--${site.slug}`)).status]).toEqual([303, 404]);
});

test("the live one, another account's, one that is gone and a frozen site's delete nothing", async () => {
  const site = await left("refused");
  const live = await ann.send(pathTo(site, site.live), { confirm: "delete" });
  expect([live.status, live.text]).toEqual([409, expect.stringContaining("is live. Deploy another one")]);
  const other = await visitorOf(server);
  expect((await other.send(pathTo(site), { confirm: "delete" })).status).toBe(404);
  expect((await other.read(pathTo(site))).status).toBe(404);
  for (const id of ["0".repeat(16), "x"]) {
    expect((await ann.read(pathTo(site, id))).status).toBe(404);
    expect((await ann.send(pathTo(site, id), { confirm: "delete" })).status).toBe(404);
  }
  const headers = { cookie: ann.cookie, accept: "text/html" };
  const body = new URLSearchParams({ confirm: "delete" });
  expect((await server.api(pathTo(site), { method: "POST", headers, body })).status).toBe(403);
  server.freeze(site);
  expect((await ann.read(listOf(site))).html).not.toContain(pathTo(site));
  expect((await ann.send(pathTo(site), { confirm: "delete" })).status).toBe(403);
  expect(await statusOf(site)).toBe(200);
});

test("one in which a secret was seen is withheld once it was left: a badge, why, and no link to its own address", async () => {
  const site = await left("leaky", { "app.js": SECRET });
  const { html, text } = await ann.read(listOf(site));
  expect(text).toContain("Withheld");
  expect(text).toContain("A secret was seen in it, so its own address shows it to nobody.");
  expect(html).not.toContain(`href="http://${site.version_id}--`);
  expect(html).toContain(`href="${pathTo(site)}"`);
  // Of what it had, the page of its changes names the files and leads to none of them.
  const changes = await ann.read(`${pathOf(site)}/changes?to=${site.live}`);
  expect(changes.text).toContain("app.js");
  expect(changes.html).not.toContain(`href="http://${site.version_id}--`);
});

test("WEB 6: one in which a secret was seen goes live after a question alone", async () => {
  const site = await left("leaky-again", { "app.js": SECRET });
  const live = async () => (await server.running.store.sites.byId(site.site_id))!.live_version_id;
  const { location } = await ann.send(`${pathOf(site)}/rollback`, { version_id: site.version_id });
  expect([location, await live()]).toEqual([`${pathOf(site)}/versions?sure=${site.version_id}`, site.live]);
  const asked = await ann.read(location!);
  for (const words of ["Show the secret again?", "everybody could read it", "Make it live all the same"])
    expect(asked.text).toContain(words);
  // The page asks nothing about another version, or about none.
  for (const other of [site.live, "0".repeat(16), "<b>"])
    expect((await ann.read(`${pathOf(site)}/versions?sure=${other}`)).text).not.toContain("Show the secret");
  await ann.send(`${pathOf(site)}/rollback`, { version_id: site.version_id, sure: "true" });
  const back = await ann.read(pathOf(site));
  expect(back.text).not.toContain("Withheld");
  expect(back.text).toContain(`svc versions delete ${site.version_id}`);
});
