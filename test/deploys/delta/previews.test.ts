/** BEYOND 6 and 7: a preview takes a delta as a deploy does, and what a preview has need not be sent again. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { deltaOf, planOf, refusal, sendDelta, sha256 } from "../../kit/delta.ts";
import { type DeployResult } from "../../kit/server.ts";
import { sharedServer } from "../../kit/shared.ts";
import { type Made, previewing } from "../previewing.ts";

setDefaultTimeout(60_000);

const previews = previewing(() => server);
const server = await sharedServer({ SVC_PREVIEW_TTL: "1h" });

let contents = 0;
/** Of no other site on the server. */
function versions() {
  const own = ++contents;
  const old = { "index.html": `<title>old ${own}</title>`, "a.txt": `a ${own}` };
  return { old, fresh: { ...old, "index.html": `<title>new ${own}</title>` } };
}
const preview = (site: DeployResult, delta: Uint8Array<ArrayBuffer>, query = "") =>
  sendDelta(server, site, delta, query, "previews");

test("a preview by a delta is the preview by the zip of all", async () => {
  const { old, fresh } = versions();
  const [a, b] = [await server.deploy(old), await server.deploy(old)];
  const whole = await previews.make(a, fresh, "pr-1");
  const { need, version_id } = await planOf(server, b, fresh);
  expect(need).toEqual([sha256(fresh["index.html"])]);
  const made = (await (await preview(b, deltaOf(fresh, need), "?name=pr-1")).json()) as Made;
  const same = ({ version_id, name, changed, files, healed, warnings }: Made) => ({
    version_id,
    name,
    changed,
    files,
    healed,
    warnings,
  });
  expect(same(made)).toEqual(same(whole));
  expect(made.version_id).toBe(version_id);
  expect(await (await server.site(`pr-1--${b.slug}`, "/")).text()).toContain("<title>new");
  expect(await (await server.site(`pr-1--${b.slug}`, "/a.txt")).text()).toBe(fresh["a.txt"]);
  expect(await (await server.site(b.slug, "/")).text()).toContain("<title>old");
});

test("what a preview has need not be sent to go live, and its content is stored", async () => {
  const { old, fresh } = versions();
  const site = await server.deploy(old);
  const made = await previews.make(site, fresh, "x");
  const plan = await planOf(server, site, fresh);
  expect(plan).toEqual({ version_id: made.version_id, live: false, stored: true, need: [] });
  const live = (await (await sendDelta(server, site, deltaOf(fresh, []))).json()) as DeployResult;
  expect(live.version_id).toBe(made.version_id);
  expect(await (await server.site(site.slug, "/")).text()).toContain("<title>new");
});

test("what an ended preview alone had is needed again", async () => {
  const { old, fresh } = versions();
  const site = await server.deploy(old);
  await previews.make(site, fresh, "gone");
  expect((await previews.ask(site, "DELETE", "/gone")).status).toBe(401); // a manage_token ends nothing
  await previews.make(site, old, "gone"); // the alias moves, and what it showed ends
  expect((await planOf(server, site, fresh)).need).toEqual([sha256(fresh["index.html"])]);
  const told = await refusal(await sendDelta(server, site, deltaOf(fresh, [])));
  expect(told).toMatchObject({ code: "missing_blobs", need: [sha256(fresh["index.html"])] });
});

test("another site's preview gives nothing", async () => {
  const [mine, theirs] = [versions(), versions()];
  const [site, other] = [await server.deploy(mine.old), await server.deploy(theirs.old)];
  await previews.make(other, theirs.fresh, "x");
  const told = await refusal(await preview(site, deltaOf(theirs.fresh, [])));
  expect(told["need"]).toEqual(Object.values(theirs.fresh).map(sha256));
});

describe("refusals are a deploy's", () => {
  test("invalid_delta, missing_blobs and limits, with nothing stored", async () => {
    const { old, fresh } = versions();
    const site = await server.deploy(old);
    const rows = () => ["versions", "previews", "files", "blobs"].map((table) => server.rows(table));
    const before = rows();
    expect(await refusal(await preview(site, deltaOf({}, [])))).toMatchObject({ code: "invalid_delta" });
    expect(await refusal(await preview(site, deltaOf(fresh, [])))).toMatchObject({ code: "missing_blobs" });
    expect(await refusal(await preview(site, deltaOf({ "../x": old["a.txt"] }, [])))).toMatchObject({
      code: "unsafe_path",
    });
    expect(rows()).toEqual(before);
  });
});
