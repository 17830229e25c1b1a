/** BEYOND 7: a preview goes live with exactly its bytes, or ends. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { signUp } from "../kit/people.ts";
import { type DeployResult, startServer, ZIP } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { expectSound } from "../kit/sound.ts";
import { zipOf } from "../kit/zip.ts";
import { pageOf, previewing } from "./previewing.ts";
import { records } from "./site-record.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

const server = await sharedServer();
const owner = await signUp(server);

const { make, list, promote, ask, text } = previewing(() => server);
const record = records(() => server);
const versionsOf = async (site: DeployResult) => (await record(site)).versions.map(({ version_id }) => version_id);

async function owned(): Promise<DeployResult> {
  const sent = { method: "POST", body: zipOf(pageOf("owned")), headers: { ...ZIP, ...owner.bearer } };
  return (await (await server.api("/sites", sent)).json()) as DeployResult;
}

describe("POST /sites/:id/previews/:name/promote", () => {
  test("makes exactly those bytes live and answers as a rollback; the version is the newest of `versions`, the preview ends", async () => {
    const site = await server.deploy(pageOf("one"));
    const made = await make(site, pageOf("two"), "next");
    const between = await server.redeploy(site, pageOf("between"));
    const response = await promote(site, "next");
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        ok: true,
        site_id: site.site_id,
        url: site.url,
        version_id: made.version_id,
        previous_version_id: between.version_id,
      },
    ]);
    expect(await text(site.slug)).toContain("<p>two");
    expect(await versionsOf(site)).toEqual([made.version_id, between.version_id, site.version_id]);
    expect((await record(site)).live_version_id).toBe(made.version_id);
    expect(await list(site)).toEqual([]);
    expect((await server.site(`next--${site.slug}`)).status).toBe(404);
    expect((await server.site(`${made.version_id}--${site.slug}`)).headers.get("cache-control")).toBe(
      "public, max-age=3600",
    );
    await expectSound(server);
  });

  test("one can go back from it, and forward again", async () => {
    const site = await server.deploy(pageOf("back"));
    const made = await make(site, pageOf("forth"), "forth");
    await promote(site, "forth");
    expect((await server.rollback(site, site.version_id)).status).toBe(200);
    expect(await text(site.slug)).toContain("<p>back");
    expect((await server.rollback(site, made.version_id)).status).toBe(200);
    expect(await text(site.slug)).toContain("<p>forth");
  });

  test("what was live just moves; what is live stays, and the preview ends", async () => {
    const site = await server.deploy(pageOf("was"));
    const now = await server.redeploy(site, pageOf("is"));
    await make(site, pageOf("was"), "was");
    expect(await (await promote(site, "was")).json()).toMatchObject({ previous_version_id: now.version_id });
    expect(await versionsOf(site)).toEqual([now.version_id, site.version_id]);
    await make(site, pageOf("was"), "was");
    const again = await promote(site, "was");
    expect(await again.json()).toMatchObject({ version_id: site.version_id, previous_version_id: site.version_id });
    expect(await list(site)).toEqual([]);
    await expectSound(server);
  });

  test("of one that is shown under two names the other goes on; by the version's id all of it end", async () => {
    const site = await server.deploy(pageOf("base"));
    const made = await make(site, pageOf("shared"), "a");
    await make(site, pageOf("shared"), "b");
    await promote(site, "a");
    expect((await list(site)).map(({ name }) => name)).toEqual(["b"]);
    await make(site, pageOf("shared"), "c");
    expect((await promote(site, made.version_id)).status).toBe(200);
    expect(await list(site)).toEqual([]);
  });

  test("a preview without a name is promoted by its version's id", async () => {
    const site = await server.deploy(pageOf("unnamed base"));
    const { version_id } = await make(site, pageOf("unnamed draft"));
    expect(await (await promote(site, version_id)).json()).toMatchObject({ ok: true, version_id });
    expect(await text(site.slug)).toContain("unnamed draft");
  });

  test.each([["one that never was"], ["one of another site"], ["one that has ended"]])("%s is 404", async (which) => {
    await using own = await startServer({ SVC_PREVIEW_TTL: "1h" });
    const site = await own.deploy(pageOf("here"));
    const other = await own.deploy(pageOf("there"));
    const asked = previewing(() => own);
    if (which !== "one that never was")
      await asked.make(which === "one of another site" ? other : site, pageOf("x"), "x");
    if (which === "one that has ended") own.advance(3_600_000);
    const response = await asked.promote(site, "x");
    expect([response.status, await response.json()]).toMatchObject([404, { code: "unknown_version" }]);
    expect(await asked.text(site.slug)).toContain("<p>here");
  });
});

describe("DELETE /sites/:id/previews/:name", () => {
  test("ends it: alias 404 unknown_host, version 404 unknown_version, and its rows are gone", async () => {
    const site = await owned();
    const rows = server.rows("versions");
    const { version_id } = await make(site, pageOf("over"), "over");
    expect(await (await ask(site, "DELETE", "/over", owner.session_token)).json()).toEqual({ ok: true });
    const [alias, version] = await Promise.all(
      [`over--${site.slug}`, `${version_id}--${site.slug}`].map((label) => server.site(label)),
    );
    expect([alias!.status, await alias!.json()]).toMatchObject([404, { code: "unknown_host" }]);
    expect([version!.status, await version!.json()]).toMatchObject([404, { code: "unknown_version" }]);
    expect(server.rows("versions")).toBe(rows);
    await expectSound(server);
  });

  test("at the next request, however often it was asked for before", async () => {
    const site = await owned();
    // Of several, for on a busy machine what nobody was told is seen by chance.
    const names = ["a", "b", "c", "d", "e"];
    for (const name of names) await make(site, pageOf(name), name);
    for (const name of names) {
      for (const status of [200, 200, 404]) {
        if (status === 404) await ask(site, "DELETE", `/${name}`, owner.session_token);
        expect((await server.site(`${name}--${site.slug}`)).status).toBe(status);
      }
    }
  });

  test("by its version's id, named or not", async () => {
    const site = await owned();
    const { version_id } = await make(site, pageOf("by id"));
    await make(site, pageOf("by id"), "named");
    expect((await ask(site, "DELETE", `/${version_id}`, owner.session_token)).status).toBe(200);
    expect(await list(site)).toEqual([]);
  });

  test("what is or was live stays: only the alias ends", async () => {
    const site = await owned();
    await make(site, pageOf("owned"), "live");
    expect((await ask(site, "DELETE", "/live", owner.session_token)).status).toBe(200);
    expect((await server.site(site.slug)).status).toBe(200);
    expect((await server.site(`${site.version_id}--${site.slug}`)).status).toBe(200);
    expect(await versionsOf(site)).toEqual([site.version_id]);
  });

  test("is the owner's: a manage_token is 401, of a site without an owner too", async () => {
    for (const site of [await owned(), await server.deploy(pageOf("nobody's"))]) {
      await make(site, pageOf("stays"), "stays");
      const response = await ask(site, "DELETE", "/stays");
      expect([response.status, await response.json()]).toMatchObject([401, { code: "unauthorized" }]);
      expect((await server.site(`stays--${site.slug}`)).status).toBe(200);
    }
  });

  test("one that is not there is 404 unknown_version", async () => {
    const response = await ask(await owned(), "DELETE", "/nothing", owner.session_token);
    expect([response.status, await response.json()]).toMatchObject([404, { code: "unknown_version" }]);
  });
});
