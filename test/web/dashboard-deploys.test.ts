/** WEB 4.8 on a site's page: a new version without script. */
import { describe, expect, test } from "bun:test";
import { type DeployResult } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { type Seen, seen, visitorOf } from "../kit/visitor.ts";
import { zipOf } from "../kit/zip.ts";

const server = await sharedServer({ SVC_MAX_ZIP_BYTES: "20000" });
const ann = await visitorOf(server);

const page = (text: string): Record<string, string> => ({
  "index.html": `<!doctype html><title>${text}</title>${text}`,
});
const pathOf = ({ site_id }: Pick<DeployResult, "site_id">): string => `/dashboard/sites/${site_id}`;

/** The form as a browser sends it. */
async function send(
  site: Pick<DeployResult, "site_id">,
  zip: Uint8Array<ArrayBuffer>,
  { cookie, csrf }: { cookie?: string; csrf?: string } = ann,
): Promise<Seen> {
  const form = new FormData();
  if (csrf !== undefined) form.append("csrf", csrf);
  form.append("key", "k".repeat(32));
  form.append("zip", new File([zip], "site.zip", { type: "application/zip" }));
  const { host } = new URL(server.base_url);
  const headers = { host, origin: server.base_url, "sec-fetch-site": "same-origin", accept: "text/html" };
  return seen(
    await server.api(`${pathOf(site)}/deploys`, {
      method: "POST",
      headers: { ...headers, ...(cookie !== undefined && { cookie }) },
      body: form,
    }),
  );
}

describe("the form of a site's page", () => {
  test("WEB 4.8: has a zip's field, the button and the proof before the file", async () => {
    const site = await ann.deploy(page("One"));
    const { html, text } = await ann.read(pathOf(site));
    const form = html.split(`action="${pathOf(site)}/deploys"`)[1]!.split("</form>")[0]!;
    expect(form).toContain('enctype="multipart/form-data"');
    expect(form.indexOf('name="csrf"')).toBeLessThan(form.indexOf('name="zip"'));
    expect(form).toMatch(/name="key" value="[\x21-\x7e]{32}"/);
    expect(form).toContain('accept=".zip,application/zip"');
    expect(text).toContain("Zip file Publish");
  });

  test("WEB 4.8: its zip goes live, and the page shows the receipt with the focus on it", async () => {
    const site = await ann.deploy(page("One"));
    const { status, location } = await send(site, zipOf(page("Two")));
    expect([status, location]).toEqual([303, expect.stringMatching(/\?done=deployed&ms=\d+$/)]);
    expect(await (await server.site(site.slug)).text()).toContain("Two");
    const after = await ann.read(location!);
    expect(after.text).toMatch(/Your new version is live 1 file, \d+ B · live in \d+\.\d s/);
    expect(after.html).toContain("autofocus");
    expect((await ann.read(pathOf(site))).text).toMatch(/Versions Today, \d\d:\d\d Live 1 changed: index\.html/);
  });

  test("WEB 4.8: what is live already is no new version", async () => {
    const site = await ann.deploy(page("One"));
    const { location } = await send(site, zipOf(page("One")));
    expect(location).toBe(`${pathOf(site)}?done=unchanged`);
    expect((await ann.read(location!)).text).toContain("No changes: this version is live already");
  });

  test.each([
    ["no zip", new TextEncoder().encode("hello"), 400],
    ["a zip that is too large", zipOf({ "index.html": crypto.getRandomValues(new Uint8Array(30_000)) }), 413],
    ["an empty one", zipOf({}), 400],
  ])("WEB 4.8: %s is refused on the page, in the API's words, and nothing changes", async (_what, zip, expected) => {
    const site = await ann.deploy(page("One"));
    const { status, title, html, text } = await send(site, zip);
    expect(status).toBe(expected);
    expect(title).toStartWith("Error: ");
    expect(html.match(/role="alert"/g)).toHaveLength(1);
    const api = await server.api(`/sites/${site.site_id}/deploys`, {
      method: "POST",
      headers: { ...ann.person.bearer, "content-type": "application/zip" },
      body: zip,
    });
    const { error } = (await api.json()) as { error: string };
    expect(text).toContain(error);
    expect(await (await server.site(site.slug)).text()).toContain("One");
  });

  test("WEB 1.7: without its proof, or with another session's, nothing is read and nothing changes", async () => {
    const site = await ann.deploy(page("One"));
    const bob = await visitorOf(server);
    for (const csrf of [undefined, "x", bob.csrf]) {
      const { status } = await send(site, zipOf(page("forged")), { cookie: ann.cookie, ...(csrf && { csrf }) });
      expect(status).toBe(403);
    }
    expect((await send(site, zipOf(page("his")), bob)).status).toBe(404);
    expect(await (await server.site(site.slug)).text()).toContain("One");
  });

  test("WEB 1.5: whose session has ended signs in and comes back to the site's page", async () => {
    const site = await ann.deploy(page("One"));
    const { status, location } = await send(site, zipOf(page("Two")), {});
    expect([status, location]).toEqual([
      303,
      `/signin?${new URLSearchParams({ next: pathOf(site), why: "signed-out" })}`,
    ]);
    expect(await (await server.site(site.slug)).text()).toContain("One");
  });

  test("WEB 6: a frozen site takes none, and the page says why", async () => {
    const site = await ann.deploy(page("One"));
    server.freeze(site);
    const { status, html, text } = await send(site, zipOf(page("Two")));
    expect(status).toBe(403);
    expect(html).toMatch(/role="alert"/);
    expect(text).toContain("takes no changes for now");
  });
});
