/** BEYOND 9, RELIABILITY A33: what was published once is taken back, by deleting its version; and a version in which a secret
 *  was seen is withheld once another one is live. */
import { describe, expect, test } from "bun:test";
import { AS_SCRIPT, CHUNK } from "../serving/skew/former.ts";
import { read } from "../kit/database.ts";
import { askPlan, planned, type Plan } from "../kit/delta.ts";
import { bearer, call, type Person, signUp } from "../kit/people.ts";
import { type Contents, type DeployResult, NOBODYS_ID } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { expectSound } from "../kit/sound.ts";
import { pageOf, previewing } from "./previewing.ts";
import { records } from "./site-record.ts";

const server = await sharedServer();
const ann = await signUp(server);
const { make, post, promote } = previewing(() => server);
const record = records(() => server);

const PRIVATE = "name,salary\nAda,1\n";
/** A Stripe key as one looks like, in parts: a whole one would be a secret in this repository. */
const SECRET = `const key = "${["sk", "live"].join("_")}_${"4eC39HqLyjWDarjtT1zdp7dc"}";`;

type Owned = DeployResult;

async function owned(files: Contents, person: Person = ann): Promise<Owned> {
  const site = await server.deploy(files);
  const { claim_token } = site;
  const claimed = await call(server, "POST", `/sites/${site.site_id}/claim`, { claim_token }, person.bearer);
  expect(claimed.status).toBe(200);
  return site;
}

const remove = (site: Owned, version_id = site.version_id, headers: Record<string, string> = ann.bearer) =>
  call(server, "DELETE", `/sites/${site.site_id}/versions/${version_id}`, undefined, headers);

const statusAt = async (label: string, path = "/", init: RequestInit = {}): Promise<number> =>
  (await server.site(label, path, init)).status;

const withheld = async ({ site_id }: Owned): Promise<unknown> =>
  (await call(server, "GET", `/sites/${site_id}/withheld`, undefined, ann.bearer)).body;

const auditOf = ({ site_id }: Owned) =>
  read(server.data_dir, "select actor, action, reason from audit where site_id = ? order by audit_no", site_id);

describe("A33 DELETE /sites/:id/versions/:v", () => {
  test("a file that a redeploy left out is at its old version's address until its owner deletes that, and nowhere then", async () => {
    const site = await owned(pageOf("first", { "private.csv": PRIVATE }));
    await server.redeploy(site, pageOf("second"));
    const old = `${site.version_id}--${site.slug}`;
    const { headers } = await server.site(old, "/private.csv");
    expect([await statusAt(site.slug, "/private.csv"), await statusAt(old, "/private.csv")]).toEqual([404, 200]);

    const { status, body } = await remove(site);
    const freed_bytes = PRIVATE.length + pageOf("first")["index.html"]!.length;
    expect<unknown>([status, body]).toEqual([200, { ok: true, deleted: [site.version_id], freed_bytes }]);
    for (const path of ["/private.csv", "/", "/index.html", "/never"]) expect(await statusAt(old, path)).toBe(404);
    const conditional = { "if-none-match": headers.get("etag")! };
    expect(await statusAt(old, "/private.csv", { headers: conditional })).toBe(404);
    expect(await statusAt(old, "/private.csv", { headers: { range: "bytes=0-3" } })).toBe(404);
    expect(await statusAt(old, "/private.csv", { method: "HEAD" })).toBe(404);
    const never = await server.site(`${"0".repeat(16)}--${site.slug}`, "/private.csv");
    const gone = await server.site(old, "/private.csv");
    const told = async (answer: Response) => ({ ...((await answer.json()) as object), request_id: "" });
    expect(await told(gone)).toEqual(await told(never));

    expect((await record(site)).versions.map(({ version_id }) => version_id)).not.toContain(site.version_id);
    const back = await server.rollback(site, site.version_id);
    expect([back.status, ((await back.json()) as { code: string }).code]).toEqual([404, "unknown_version"]);
    expect(await (await server.site(site.slug)).text()).toContain("second");
    expect(auditOf(site)).toEqual([
      { actor: ann.account_id, action: "claim", reason: null },
      { actor: ann.account_id, action: "delete-version", reason: site.version_id },
    ]);
    await expectSound(server);
  });

  test("its content may be deployed anew, and is at its address again", async () => {
    const site = await owned(pageOf("again"));
    await server.redeploy(site, pageOf("between"));
    await remove(site);
    const again = await server.redeploy(site, pageOf("again"));
    expect(again.version_id).toBe(site.version_id);
    expect(await (await server.site(`${site.version_id}--${site.slug}`)).text()).toContain("again");
    expect((await record(site)).versions).toHaveLength(2);
    await expectSound(server);
  });

  test("`freed_bytes` are of what no other version of the site has, previews too", async () => {
    const site = await owned(pageOf("shared", { "both.txt": "in both", "alone.txt": "alone" }));
    await server.redeploy(site, pageOf("shared, second", { "both.txt": "in both" }));
    await make(site, pageOf("shared, preview", { "alone.txt": "alone" }), "has-it");
    const { body } = await remove(site);
    expect(body["freed_bytes"]).toBe(pageOf("shared")["index.html"]!.length);
    await expectSound(server);
  });

  test("a delta may not count its files any more, where no other version of the site has them", async () => {
    const site = await owned(pageOf("delta", { "held.txt": "held", "kept.txt": "kept" }));
    await server.redeploy(site, pageOf("delta, second", { "kept.txt": "kept" }));
    const files = { "held.txt": "held", "kept.txt": "kept" };
    const need = async () => ((await (await askPlan(server, site, planned(files))).json()) as Plan).need;
    expect(await need()).toEqual([]);
    await remove(site);
    expect(await need()).toEqual([planned(files).files[0]!.sha256]);
  });

  test("the skew shield gives nothing of it any more", async () => {
    const site = await owned(pageOf("skew", { [CHUNK.slice(1)]: "export default 1;" }));
    await server.redeploy(site, pageOf("skew, second"));
    expect(await statusAt(site.slug, CHUNK, { headers: AS_SCRIPT })).toBe(200);
    await remove(site);
    expect(await statusAt(site.slug, CHUNK, { headers: AS_SCRIPT })).toBe(404);
  });

  test("previews that show it end, and one that was never live goes whole", async () => {
    const site = await owned(pageOf("live"));
    await server.redeploy(site, pageOf("live, second"));
    await make(site, pageOf("live"), "old-one");
    const draft = await make(site, pageOf("draft"), "draft");
    await make(site, pageOf("draft"));
    const labels = [`old-one--${site.slug}`, `draft--${site.slug}`, `${draft.version_id}--${site.slug}`];
    for (const label of labels) expect(await statusAt(label)).toBe(200);
    expect((await remove(site)).status).toBe(200);
    const { status, body } = await remove(site, draft.version_id);
    expect<unknown>([status, body["freed_bytes"]]).toEqual([200, pageOf("draft")["index.html"]!.length]);
    for (const label of labels) expect(await statusAt(label)).toBe(404);
    expect((await promote(site, "draft")).status).toBe(404);
    await expectSound(server);
  });

  test("its receipt goes, and comments on it keep their threads and quotes", async () => {
    const page = "<!doctype html><title>Guide</title><p>Deploys finish in two seconds.</p>";
    const site = await owned({ "index.html": page });
    await call(server, "PATCH", `/sites/${site.site_id}/comments/settings`, { mode: "anonymous" }, ann.bearer);
    const written = await server.site(site.slug, "/_svc/comments/", {
      method: "POST",
      headers: { "content-type": "application/json", origin: site.url },
      body: JSON.stringify({
        "@context": "http://www.w3.org/ns/anno.jsonld",
        type: "Annotation",
        body: { type: "TextualBody", value: "Really?" },
        target: { source: `${site.url}/`, selector: { type: "TextQuoteSelector", exact: "two seconds" } },
      }),
    });
    expect([written.status, await written.text()]).toEqual([201, expect.stringContaining("two seconds")]);
    await server.redeploy(site, { "index.html": page.replace("two seconds", "a moment") });
    const receipts = server.rows("receipts");
    const threads = async () => (await server.site(site.slug, "/_svc/comments/threads?page=/index.html")).text();
    expect(await threads()).toContain("Really?");
    await remove(site);
    expect(server.rows("receipts")).toBe(receipts - 1);
    expect(await threads()).toContain("Really?");
    expect(await threads()).toContain("two seconds");
    await expectSound(server);
  });

  test("the live one is 409 `version_live`, and one that is not the site's is 404", async () => {
    const site = await owned(pageOf("only"));
    const other = await owned(pageOf("only of another"));
    const before = server.rows("versions");
    const refused = async (version_id: string, at = site) => {
      const { status, body } = await remove(at, version_id);
      return [status, body.code, body.error];
    };
    expect(await refused(site.version_id)).toEqual([409, "version_live", expect.stringContaining("roll back")]);
    for (const id of [other.version_id, "live", "0".repeat(16), site.version_id.slice(0, 8)]) {
      expect(await refused(id)).toEqual([404, "unknown_version", "Unknown version"]);
    }
    expect(await refused(site.version_id, { ...site, site_id: NOBODYS_ID })).toEqual([
      404,
      "unknown_site",
      expect.any(String),
    ]);
    expect(server.rows("versions")).toBe(before);
  });

  test("the owner's session alone may: not who deploys", async () => {
    const site = await owned(pageOf("mine"));
    await server.redeploy(site, pageOf("mine, second"));
    const tokens = await call(server, "POST", "/account/tokens", { name: "ci", scopes: ["deploy"] }, ann.bearer);
    const ben = await signUp(server);
    const by = async (headers: Record<string, string>) => (await remove(site, site.version_id, headers)).status;
    expect(await by(bearer(site.manage_token))).toBe(401);
    expect(await by(bearer(String(tokens.body["token"])))).toBe(401);
    expect(await by({})).toBe(401);
    expect(await by(ben.bearer)).toBe(403);
    server.freeze(site);
    expect(await by(ann.bearer)).toBe(403);
    server.disable(site, "a reason");
    expect(await by(ann.bearer)).toBe(451);
    expect(await statusAt(`${site.version_id}--${site.slug}`)).toBe(451);
  });
});

describe("A33 a version in which a secret was seen", () => {
  const leaky = (text: string) => pageOf(text, { "app.js": SECRET, "other.txt": "other" });

  test("is 404 at its own address as soon as another one is live, whole, until it is made live again", async () => {
    const site = await owned(leaky("leaky"));
    const old = `${site.version_id}--${site.slug}`;
    expect(site.warnings.map(({ code }) => code)).toEqual(["possible_secret"]);
    expect([await statusAt(old, "/app.js"), await withheld(site)]).toEqual([200, { withheld: [] }]);
    // Or a cache would show it for an hour more.
    expect((await server.site(old, "/app.js")).headers.get("cache-control")).toBe("no-cache");
    const second = await server.redeploy(site, pageOf("mended"));
    for (const path of ["/app.js", "/", "/other.txt", "/never"]) expect(await statusAt(old, path)).toBe(404);
    expect(await statusAt(old, "/app.js", { method: "HEAD" })).toBe(404);
    expect(await withheld(site)).toEqual({ withheld: [site.version_id] });
    expect((await record(site)).versions.map(({ version_id }) => version_id)).toContain(site.version_id);

    expect((await server.rollback(site, site.version_id)).status).toBe(200);
    expect([await statusAt(old, "/app.js"), await statusAt(site.slug, "/app.js")]).toEqual([200, 200]);
    expect(await withheld(site)).toEqual({ withheld: [] });
    // Without a secret a version that was left is shown as ever.
    expect(await statusAt(`${second.version_id}--${site.slug}`)).toBe(200);
    expect((await server.rollback(site, second.version_id)).status).toBe(200);
    expect(await statusAt(old, "/app.js")).toBe(404);
  });

  test("is told to strangers as one that never was, and to its keeper by explain", async () => {
    const site = await owned(leaky("told"));
    await server.redeploy(site, pageOf("told, mended"));
    const body = async (version_id: string) => ({
      ...((await (await server.site(`${version_id}--${site.slug}`)).json()) as object),
      request_id: "",
    });
    expect(await body(site.version_id)).toEqual(await body("0".repeat(16)));
    const url = `http://${site.version_id}--${new URL(site.url).host}/app.js`;
    const path = `/sites/${site.site_id}/explain?url=${encodeURIComponent(url)}`;
    const explained = await call(server, "GET", path, undefined, bearer(site.manage_token));
    expect(explained.body).toMatchObject({ status: 404, by: "state", version_id: site.version_id, live: false });
  });

  test("its receipt says that the next deploy does not take it away, and what does", async () => {
    const { warnings, version_id } = await owned(leaky("receipt"));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]!.fix_recipe).toContain(`svc versions delete ${version_id}`);
    expect(warnings[0]!.fix_recipe).toContain("remove this version from the server");
  });

  test("a preview from before ends as it is left, and one that is deployed afterwards shows it", async () => {
    const site = await owned(pageOf("previewed"));
    await make(site, leaky("previewed"), "early");
    const early = `early--${site.slug}`;
    expect(await statusAt(early, "/app.js")).toBe(200);
    const { version_id } = await server.redeploy(site, leaky("previewed"));
    expect(await statusAt(early, "/app.js")).toBe(200);
    await server.redeploy(site, pageOf("previewed, mended"));
    expect([await statusAt(early, "/app.js"), await statusAt(`${version_id}--${site.slug}`, "/app.js")]).toEqual([
      404, 404,
    ]);
    const late = await make(site, leaky("previewed"));
    expect(late.version_id).toBe(version_id);
    expect([await statusAt(`${version_id}--${site.slug}`, "/app.js"), await withheld(site)]).toEqual([
      200,
      { withheld: [] },
    ]);
    server.advance(31 * 86_400_000);
    expect(await statusAt(`${version_id}--${site.slug}`, "/app.js")).toBe(404);
    expect(await withheld(site)).toEqual({ withheld: [version_id] });
    await expectSound(server);
  });

  test("a preview that was never live is shown as long as it runs", async () => {
    const site = await owned(pageOf("draft"));
    expect((await post(site, leaky("draft"), "?name=draft")).status).toBe(200);
    expect([await statusAt(`draft--${site.slug}`, "/app.js"), await withheld(site)]).toEqual([200, { withheld: [] }]);
  });

  test("also of a site without an owner, whose manage_token reads which are withheld", async () => {
    const site = await server.deploy(leaky("nobody's"));
    await server.redeploy(site, pageOf("nobody's, mended"));
    expect(await statusAt(`${site.version_id}--${site.slug}`, "/app.js")).toBe(404);
    const path = `/sites/${site.site_id}/withheld`;
    const listed = await call(server, "GET", path, undefined, bearer(site.manage_token));
    expect<unknown>([listed.status, listed.body]).toEqual([200, { withheld: [site.version_id] }]);
  });

  test("a receipt that is gone, as of before there were any, withholds nothing and gives open pages nothing", async () => {
    const site = await server.deploy(pageOf("old", { [CHUNK.slice(1)]: "export default 1;" }));
    await server.redeploy(site, pageOf("old, second"));
    server.forgetReceipts(site);
    await server.redeploy(site, pageOf("old, third"));
    expect(await statusAt(`${site.version_id}--${site.slug}`)).toBe(200);
    expect(await statusAt(site.slug, CHUNK, { headers: AS_SCRIPT })).toBe(404);
  });
});
