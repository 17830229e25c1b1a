/** BEYOND 6: `svc update` sends what the site lacks where that saves 32 KiB, and everything where it cannot. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { rm } from "node:fs/promises";
import { deployed, Home, json } from "../kit/cli.ts";
import { DELTA, sha256 } from "../kit/delta.ts";
import { DEPLOYED, type FakeServer, fakeServer, LIMITS, throttled } from "../kit/fake-server.ts";
import { slugOf } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const KIB = 1024;
const server = await sharedServer();

/** Noise, so that its length zipped is its length. */
const noise = (bytes: number): Uint8Array => {
  const made = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at += 65_536) crypto.getRandomValues(made.subarray(at, at + 65_536));
  return made;
};

type Answer = (path: string, nth: number) => Response | null;

/** In front of the server: passes on what `instead` does not answer, and remembers what was asked. */
function spy(instead: Answer = () => null, limits = LIMITS): FakeServer & { posts(): string[] } {
  const plans = new Map<string, number>();
  const fake = fakeServer(async (path, _, request) => {
    const nth = (plans.get(path) ?? 0) + 1;
    plans.set(path, nth);
    const { pathname, search } = new URL(request.url);
    const answer = request.method === "POST" ? instead(path, nth) : null;
    if (answer !== null) return answer;
    const { method, headers } = request;
    const body = method === "POST" ? await request.bytes() : null;
    return server.api(pathname + search, { method, headers, ...(body && { body }) });
  }, limits);
  const posts = () =>
    fake.asked
      .filter(({ method }) => method === "POST")
      .map(({ path, headers }) => (path.endsWith("/plan") ? "plan" : kindOf(headers)));
  return { ...fake, posts };
}
const kindOf = (headers: Headers): string => (headers.get("content-type") === DELTA["content-type"] ? "delta" : "zip");

const refused = (status: number, code: string, more: object = {}) =>
  Response.json({ error: "No.", code, ...more }, { status });

/** A home that deployed `files` through `fake`. */
async function homeOf(fake: FakeServer, files: Record<string, string | Uint8Array>): Promise<Home> {
  const home = await Home.make(fake.url);
  await home.write("dist", files);
  await deployed(home, ["dist"]);
  fake.asked.length = 0;
  return home;
}

const BIG = { "index.html": "<title>1</title>", "big.bin": noise(40 * KIB) };

describe("a plan and a delta", () => {
  test("one file of three changed: the plan, and little else is sent; the output is as ever", async () => {
    const fake = spy();
    await using home = await homeOf(fake, { ...BIG, "more.bin": noise(100 * KIB) });
    await home.write("dist", { "index.html": "<title>2</title>" });
    const { code, out, err } = await home.run(["update", "dist"]);
    expect(code).toBe(0);
    expect(err).toMatch(/Updated in .*: dist is live at/);
    expect(err).toContain("3 files, 140 KB from dist");
    expect(fake.posts()).toEqual(["plan", "delta"]);
    expect(fake.asked.at(-1)!.bytes).toBeLessThan(1 * KIB);
    expect(await (await server.site(slugOf(out))).text()).toContain("<title>2</title>");
    expect((await (await server.site(slugOf(out), "/more.bin")).bytes()).length).toBe(100 * KIB);
    await fake.stop();
  });

  test("svc preview does the same", async () => {
    const fake = spy();
    await using home = await homeOf(fake, { ...BIG, "more.bin": noise(100 * KIB) });
    await home.write("dist", { "index.html": "<title>shown beside</title>" });
    const { code, out } = await home.run(["preview", "dist", "--name", "pr-1"]);
    expect([code, fake.posts()]).toEqual([0, ["plan", "delta"]]);
    expect(fake.asked.at(-1)!.bytes).toBeLessThan(1 * KIB);
    expect(await (await server.site(slugOf(out))).text()).toContain("<title>shown beside</title>");
    await fake.stop();
  });

  test("--json is what it was, with the version of all files", async () => {
    const fake = spy();
    await using home = await homeOf(fake, BIG);
    await home.write("dist", { "index.html": "<title>2</title>" });
    const byDelta = await deployed(home, ["update", "dist"]);
    expect(fake.posts()).toEqual(["plan", "delta"]);
    const whole = await server.deploy({ ...BIG, "index.html": "<title>2</title>" });
    expect(byDelta).toMatchObject({ ok: true, changed: true, files: 2, version_id: whole.version_id });
    const keys = Object.keys(await deployed(home, ["update", "dist"]));
    expect(Object.keys(byDelta)).toEqual(keys);
    await fake.stop();
  });

  test("nothing to send but the list: a file was renamed", async () => {
    const fake = spy();
    await using home = await homeOf(fake, BIG);
    await home.write("dist", { "renamed.bin": BIG["big.bin"] });
    await rm(home.path("dist", "big.bin"));
    expect((await home.run(["update", "dist"])).code).toBe(0);
    expect(fake.posts()).toEqual(["plan", "delta"]);
    await fake.stop();
  });

  test("--dry-run goes the same way, and --spa with it", async () => {
    const fake = spy();
    await using home = await homeOf(fake, BIG);
    await home.write("dist", { "new.txt": "n" });
    expect((await home.run(["update", "dist", "--dry-run"])).out).toBe("+ new.txt\n");
    expect((await home.run(["update", "dist", "--spa"])).err).toContain("Unknown paths are answered with index.html");
    expect(fake.posts()).toEqual(["plan", "delta", "plan", "delta"]);
    await fake.stop();
  });

  test("names that objects have, Markdown, and a folder that is stripped", async () => {
    const fake = spy();
    const files = { "s/README.md": "# One", "s/__proto__": "p", "s/é\u0301.md": "# E", "s/big.bin": noise(40 * KIB) };
    await using home = await homeOf(fake, files);
    await home.write("dist", { "s/README.md": "# Two" });
    const updated = await deployed(home, ["update", "dist"]);
    const whole = await server.deploy({ ...files, "s/README.md": "# Two" });
    const { version_id, healed, warnings } = whole;
    expect(updated).toMatchObject({ version_id, healed, warnings });
    expect(fake.posts()).toEqual(["plan", "delta"]);
    await fake.stop();
  });

  test("svc preview goes the same way, and what it sent an update need not", async () => {
    const fake = spy();
    await using home = await homeOf(fake, BIG);
    await home.write("dist", { "index.html": `<title>2</title>${"x".repeat(40 * KIB)}` });
    const made = await deployed(home, ["preview", "dist"]);
    expect(made).toMatchObject({ ok: true, files: { changed: ["index.html"] } });
    const updated = await deployed(home, ["update", "dist"]);
    expect(updated).toMatchObject({ changed: true, version_id: made["version_id"] });
    expect(fake.posts()).toEqual(["plan", "delta", "plan", "delta"]);
    expect(fake.asked.at(-1)!.bytes).toBeLessThan(1 * KIB);
    await fake.stop();
  });

  test("a site that has outgrown one zip goes on: the limit is that of what is sent", async () => {
    const fake = spy();
    await using home = await homeOf(fake, { "index.html": "<title>1</title>", "one.bin": noise(3000 * KIB) });
    await home.write("dist", { "two.bin": noise(3000 * KIB) });
    expect(await deployed(home, ["update", "dist"])).toMatchObject({ ok: true, files: 3 });
    await home.write("dist", { "index.html": "<title>2</title>" });
    expect((await home.run(["update", "dist"])).code).toBe(0);
    expect(fake.posts()).toEqual(["plan", "delta", "plan", "delta"]);
    const refused = json(await home.run(["dist", "--json"]));
    expect(refused).toMatchObject({ ok: false, code: "zip_too_large" });
    await fake.stop();
  });

  test("what is sent is shown on a terminal", async () => {
    // More than what the network stack of one machine swallows at once.
    const large = noise(16_000_000);
    const fake = spy((path) => (path.endsWith("/plan") ? Response.json({ need: [sha256(large)] }) : answerTo(path)), {
      ...LIMITS,
      max_bytes: 1e9,
      max_zip_bytes: 1e9,
    });
    const answerTo = (path: string) => (path.endsWith("/deploys") ? Response.json(DEPLOYED) : null);
    const slow = throttled(Number(new URL(fake.url).port));
    await using home = await homeOf({ ...fake, url: slow.url }, BIG);
    await home.write("dist", { "large.bin": large });
    const { raw, code } = await home.runOnTerminal(["update", "dist"]);
    slow.stop();
    await fake.stop();
    expect(code).toBe(0);
    expect(raw).toMatch(/Uploading \d+ % of 15 MB/);
    expect(fake.posts()).toEqual(["plan", "delta"]);
  });
});

describe("everything is sent", () => {
  test("where all files together have less than 32 KiB: no plan is asked for", async () => {
    const fake = spy();
    await using home = await homeOf(fake, { "index.html": "<title>1</title>", "a.bin": noise(31 * KIB) });
    await home.write("dist", { "index.html": "<title>2</title>" });
    expect((await home.run(["update", "dist"])).code).toBe(0);
    expect(fake.posts()).toEqual(["zip"]);
    await fake.stop();
  });

  test.each([
    [32 * KIB, "delta"],
    [32 * KIB - 1, "zip"],
  ])("the bound: where %i bytes can be left out it is a %s", async (bytes, kind) => {
    const fake = spy();
    await using home = await homeOf(fake, { "index.html": "<title>1</title>", "a.bin": noise(bytes) });
    await home.write("dist", { "index.html": `<title>2</title>${"x".repeat(40 * KIB)}` });
    expect((await home.run(["update", "dist"])).code).toBe(0);
    expect(fake.posts()).toEqual(["plan", kind]);
    await fake.stop();
  });

  const NO_PLAN: [string, () => Response][] = [
    ["404 of a server from before plans", () => refused(404, "not_found")],
    ["405", () => refused(405, "method_not_allowed")],
    ["404 of a proxy", () => new Response("<h1>Not found</h1>", { status: 404 })],
    ["429", () => refused(429, "rate_limited")],
    ["a list that is too long for it", () => refused(413, "body_too_large")],
  ];
  test.each(NO_PLAN)("where the plan is answered %s", async (_, answer) => {
    const fake = spy((path) => (path.endsWith("/plan") ? answer() : null));
    await using home = await homeOf(fake, BIG);
    await home.write("dist", { "index.html": "<title>2</title>" });
    const { code, err } = await home.run(["update", "dist"]);
    expect([code, err]).toEqual([0, expect.stringContaining("Updated in")]);
    expect(fake.posts()).toEqual(["plan", "zip"]);
    await fake.stop();
  });

  test("where the delta is refused as a type", async () => {
    const fake = spy((path, nth) =>
      path.endsWith("/deploys") && nth === 1 ? refused(415, "unsupported_media_type") : null,
    );
    await using home = await homeOf(fake, BIG);
    await home.write("dist", { "index.html": "<title>2</title>" });
    expect((await home.run(["update", "dist"])).code).toBe(0);
    expect(fake.posts()).toEqual(["plan", "delta", "zip"]);
    await fake.stop();
  });
});

describe("missing_blobs: what was there when the plan was made is not there any more", () => {
  const OTHER = noise(50 * KIB);
  const files = { ...BIG, "other.bin": OTHER };
  const missing = (...need: Uint8Array[]) => refused(409, "missing_blobs", { need: need.map(sha256) });

  test("once: the delta again, with it", async () => {
    const fake = spy((path, nth) => (path.endsWith("/deploys") && nth === 1 ? missing(OTHER) : null));
    await using home = await homeOf(fake, files);
    await home.write("dist", { "index.html": "<title>2</title>" });
    expect((await home.run(["update", "dist"])).code).toBe(0);
    expect(fake.posts()).toEqual(["plan", "delta", "delta"]);
    const last = fake.asked.findLast(({ path }) => path.endsWith("/deploys"))!;
    expect(last.bytes).toBeGreaterThan(50 * KIB);
    expect(last.bytes).toBeLessThan(60 * KIB);
    await fake.stop();
  });

  test("twice: the zip", async () => {
    const fake = spy((path, nth) => (path.endsWith("/deploys") && nth <= 2 ? missing(OTHER) : null));
    await using home = await homeOf(fake, files);
    await home.write("dist", { "index.html": "<title>2</title>" });
    const { code, err } = await home.run(["update", "dist"]);
    expect([code, err]).toEqual([0, expect.stringContaining("Updated in")]);
    expect(fake.posts()).toEqual(["plan", "delta", "delta", "zip"]);
    await fake.stop();
  });

  test("once, and nothing is left to leave out: the zip", async () => {
    const fake = spy((path, nth) => (path.endsWith("/deploys") && nth === 1 ? missing(BIG["big.bin"], OTHER) : null));
    await using home = await homeOf(fake, files);
    await home.write("dist", { "index.html": "<title>2</title>" });
    expect((await home.run(["update", "dist"])).code).toBe(0);
    expect(fake.posts()).toEqual(["plan", "delta", "zip"]);
    await fake.stop();
  });
});

describe("what ends the update", () => {
  const CASES: [string, () => Response, string][] = [
    ["a plan that is refused as the deploy would be", () => refused(413, "too_many_files"), "too_many_files"],
    ["a token that may not", () => refused(403, "forbidden"), "forbidden"],
    ["a server that is broken", () => refused(500, "internal"), "internal"],
    ["a site that is gone", () => refused(404, "unknown_site"), "unknown_site"],
    ["an answer that is none", () => Response.json({ live: false }), "unexpected_answer"],
  ];
  test.each(CASES)("%s", async (_, answer, code) => {
    const fake = spy((path) => (path.endsWith("/plan") ? answer() : null));
    await using home = await homeOf(fake, BIG);
    await home.write("dist", { "index.html": "<title>2</title>" });
    const ran = await home.run(["update", "dist", "--json"]);
    expect([ran.code, json(ran)]).toEqual([1, expect.objectContaining({ ok: false, code })]);
    expect(fake.posts()).toEqual(["plan"]);
    await fake.stop();
  });
});
