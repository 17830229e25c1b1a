/** BEYOND 6: `POST /sites/:id/plan`: which version an upload would be, and what of it the site lacks. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { askPlan, planned, planOf, refusal, sha256 } from "../../kit/delta.ts";
import { type Contents, JSON_TYPE, startServer, type TestServer, ZIP } from "../../kit/server.ts";
import { sharedServer } from "../../kit/shared.ts";
import { zipOf } from "../../kit/zip.ts";

const LIMITS = { files: 20, bytes: 100_000 };
const server = await sharedServer("--max-files", String(LIMITS.files), "--max-bytes", String(LIMITS.bytes));
const site = await server.deploy({ "index.html": "<title>1</title>", "a.txt": "a", "b.txt": "b" });

const file = (path: unknown, hash: unknown = sha256("x"), bytes: unknown = 1) => ({ path, sha256: hash, bytes });

describe("the answer", () => {
  test("has four members: the id, whether it is live and stored, and the distinct hashes that the site lacks, in order", async () => {
    const files = {
      "z.txt": "new z",
      "index.html": "<title>2</title>",
      "a.txt": "a",
      "twin.txt": "new z",
      "b.txt": "other",
    };
    const plan = await planOf(server, site, files);
    expect(Object.keys(plan)).toEqual(["version_id", "live", "stored", "need"]);
    expect(plan).toMatchObject({ live: false, stored: false });
    expect(plan.need).toEqual([sha256("new z"), sha256("<title>2</title>"), sha256("other")]);
  });

  test("version_id is the one that the deploy then has; live and stored follow it", async () => {
    const [one, two] = [{ "index.html": "<title>o</title>" }, { "index.html": "<title>t</title>", "n/é.txt": "n" }];
    const own = await server.deploy(one);
    const before = await planOf(server, own, two);
    expect(await planOf(server, own, one)).toEqual({ version_id: own.version_id, live: true, stored: true, need: [] });
    expect((await server.redeploy(own, two)).version_id).toBe(before.version_id);
    expect(await planOf(server, own, two)).toEqual({ ...before, live: true, stored: true, need: [] });
    expect(await planOf(server, own, one)).toEqual({ version_id: own.version_id, live: false, stored: true, need: [] });
  });

  test("stores and holds nothing", async () => {
    const tables = ["sites", "versions", "files", "blobs", "tokens", "holds", "audit"];
    const rows = () => tables.map((table) => server.rows(table));
    const before = rows();
    await planOf(server, site, { "never.txt": "never" });
    expect(rows()).toEqual(before);
  });

  test("what is dropped from every upload is not needed", async () => {
    const junk = { ".DS_Store": "j", "__MACOSX/x": "j1", "._a": "j2", ".env": "s", "node_modules/m.js": "s2" };
    const plan = await planOf(server, site, { "index.html": "<title>d</title>", ...junk });
    expect(plan.need).toEqual([sha256("<title>d</title>")]);
    const whole = await server.redeploy(site, { "index.html": "<title>d</title>", ...junk });
    expect(whole.version_id).toBe(plan.version_id);
  });

  test("a page that the service made is no file of the site", async () => {
    const own = await server.deploy({ "Index.htm": "<title>i</title>", "notes.bin": "n" });
    const listing = await server.deploy({ "only.bin": "o" });
    const page = await (await server.site(`${listing.version_id}--${listing.slug}`, "/")).text();
    const made = page.replace(/<meta name="generator"[\s\S]*?<\/script>\s*/, "");
    const plan = await planOf(server, listing, { "index.html": made, "only.bin": "o" });
    expect(plan.need).toEqual([sha256(made)]);
    expect((await planOf(server, own, { "index.html": "<title>i</title>" })).need).toEqual([]);
  });
});

describe("possession: a site has what an uploaded file of its own versions has", () => {
  test("older versions count, and what another site holds is needed like anything else", async () => {
    const own = await server.deploy({ "index.html": "<title>p1</title>", "old.txt": "old one" });
    const other = await server.deploy({ "index.html": "<title>p2</title>", "secret.txt": "the other's" });
    await server.redeploy(own, { "index.html": "<title>p3</title>" });
    const files = { "index.html": "<title>p3</title>", "old.txt": "old one", "guess.txt": "the other's" };
    expect((await planOf(server, own, files)).need).toEqual([sha256("the other's")]);
    expect((await planOf(server, other, files)).need).toEqual([sha256("<title>p3</title>"), sha256("old one")]);
  });

  test("a hash that another site holds and one that nobody holds are answered alike", async () => {
    await server.deploy({ "index.html": "<title>held elsewhere</title>" });
    const [held, nobody] = [sha256("<title>held elsewhere</title>"), sha256("held by nobody")];
    const answers = await Promise.all(
      [held, nobody].map(async (hash) => {
        const response = await askPlan(server, site, { files: [file("g.txt", hash, 30)] });
        const { version_id: _, ...body } = (await response.json()) as { version_id: string; need: string[] };
        return { status: response.status, ...body, need: body.need.map((one) => one === hash) };
      }),
    );
    expect(answers[0]).toEqual({ status: 200, live: false, stored: false, need: [true] } as never);
    expect(answers[1]).toEqual(answers[0]!);
  });
});

describe("names and limits are judged as the deploy's: the same answers", () => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}.txt`, `${n}`]));
  const CASES: [string, Contents][] = [
    ["too many files", many(LIMITS.files + 1)],
    ["far too many files", many(LIMITS.files * 5 + 1)],
    ["too many bytes", { "index.html": "i", "a.bin": "a".repeat(60_000), "b.bin": "b".repeat(40_001) }],
    ["a way out of the site", { "../x": "x" }],
    ["an absolute path", { "/etc/passwd": "x" }],
    ["a drive", { "C:/x": "x" }],
    ["a backslash and a way out", { "a\\..\\..\\x": "x" }],
    ["an empty name", { "": "x" }],
    ["a dot segment", { "d/./a": "x" }],
    ["an empty segment", { "d//a": "x" }],
    ["a control character", { "a\u0000b": "x" }],
    ["a line break", { "a\nb": "x" }],
    ["a mark that turns text", { "a\u202Eb": "x" }],
    ["a long name", { ["n".repeat(513)]: "x" }],
    ["a long segment", { ["n".repeat(256)]: "x" }],
    ["65 levels", { [`${"d/".repeat(64)}a`]: "x" }],
    ["names that compose their letters otherwise", { "caf\u00e9.txt": "1", "cafe\u0301.txt": "2" }],
    ["slashes that end at one path", { "d/a": "1", "d\\a": "2" }],
    ["a file that is a folder, too", { a: "1", "a/b": "2" }],
    ["nothing that counts", { ".DS_Store": "x" }],
    ["secrets alone", { ".env": "x" }],
  ];
  test.each(CASES)("%s", async (_, files) => {
    const [plan, deploy] = await Promise.all([
      askPlan(server, site, planned(files)),
      server.api(`/sites/${site.site_id}/deploys`, {
        method: "POST",
        headers: { ...ZIP, authorization: `Bearer ${site.manage_token}` },
        body: zipOf(files),
      }),
    ]);
    const [told, real] = [await refusal(plan), await refusal(deploy)];
    expect([plan.status, { ...told, request_id: "" }]).toEqual([deploy.status, { ...real, request_id: "" }]);
  });

  const TAKEN: [string, Contents][] = [
    ["one folder around everything", { "site/index.html": "i", "site/a.txt": "a" }],
    ["backslashes", { "d\\index.html": "i", "d\\a.txt": "a" }],
    ["a leading ./", { "./index.html": "i" }],
    ["names that objects have", { __proto__x: "1", constructor: "2", "__proto__/x": "3" }],
    ["the name of the list itself", { "index.html": "i", "svc-delta.json": "{}" }],
    ["decomposed letters", { "index.html": "i", "cafe\u0301.txt": "c" }],
    ["letter case alone", { "index.html": "i", "A.txt": "1", "a.txt": "2" }],
    ["characters of every kind", { "index.html": "i", "%2e%2e/a b+c&d;e#f?g.txt": "x", "日本語/😀.txt": "y" }],
  ];
  test.each(TAKEN)("%s: the version is the one that the whole zip has", async (_, files) => {
    const { version_id } = await planOf(server, site, files);
    expect((await server.redeploy(site, files)).version_id).toBe(version_id);
  });

  test("a name with one character of each kind is judged alike", async () => {
    const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);
    const points = [
      ...range(0, 0x2f), // controls, signs that shells and URLs mind, the slash
      ...range(0x3a, 0x40),
      ...range(0x5b, 0x60),
      ...range(0x7b, 0xa0), // DEL and the other controls
      ...[0xad, 0x301, 0x34f, 0x600, 0x61c, 0x115f, 0x180e, 0x1e9b, 0x3000, 0xac00, 0xe000, 0xfb01, 0xfdd0],
      ...range(0x2000, 0x206f), // spaces, joiners, marks that turn text
      ...[0xfe0f, 0xfeff, 0xfff9, 0xfffd, 0xffff, 0x1d15e, 0x1f600, 0x2f800, 0xe0001, 0xe0100, 0xf0000, 0x10ffff],
    ];
    const answersTo = async (files: Contents) => {
      const headers = { ...ZIP, authorization: `Bearer ${site.manage_token}` };
      const init = { method: "POST", headers, body: zipOf(files) };
      const answers = [
        await askPlan(server, site, planned(files)),
        await server.api(`/sites/${site.site_id}/deploys?dry_run=1`, init),
      ];
      return Promise.all(
        answers.map(async (answer) => {
          const { version_id, code, entry, error } = (await answer.json()) as Record<string, unknown>;
          return [answer.status, version_id, code, entry, error];
        }),
      );
    };
    const statuses: unknown[] = [];
    for (const point of points) {
      const [plan, zip] = await answersTo({ [`a${String.fromCodePoint(point)}b.txt`]: "x" });
      expect([point, plan]).toEqual([point, zip]);
      statuses.push(plan![0]);
    }
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(100);
    expect(statuses.filter((status) => status === 400).length).toBeGreaterThan(60);
  });

  test("__proto__ is a name like any other", async () => {
    const files = new Map([
      ["__proto__", "p"],
      ["index.html", "i"],
    ]);
    const { version_id } = await planOf(server, site, files);
    expect((await server.redeploy(site, files)).version_id).toBe(version_id);
  });
});

describe("what is no plan", () => {
  const deep = `{"files": ${"[".repeat(5000)}${"]".repeat(5000)}}`;
  const twice = { files: [file("a.txt"), file("b.txt"), file("a.txt", sha256("y"))] };
  const CASES: [string, unknown, number, string, string | undefined][] = [
    ["no JSON", "{", 400, "invalid_json", undefined],
    ["an empty body", "", 400, "invalid_json", undefined],
    ["no UTF-8", Uint8Array.of(0x7b, 0xff, 0x7d), 400, "invalid_json", undefined],
    ["deep nesting", deep, 400, "invalid_json", undefined],
    ["a list in place of an object", [], 400, "invalid_input", "files"],
    ["a number", 7, 400, "invalid_input", "files"],
    ["null", null, 400, "invalid_input", "files"],
    ["no files", {}, 400, "invalid_input", "files"],
    ["files that are inherited", '{"__proto__": {"files": []}}', 400, "invalid_input", "files"],
    ["files that are no list", { files: { 0: file("a") } }, 400, "invalid_input", "files"],
    ["an entry that is no object", { files: [file("a"), "b"] }, 400, "invalid_input", "files[1]"],
    ["an entry that is null", { files: [null] }, 400, "invalid_input", "files[0]"],
    ["a path that is a number", { files: [file(7)] }, 400, "invalid_input", "files[0].path"],
    ["no path", { files: [{ sha256: sha256("x"), bytes: 1 }] }, 400, "invalid_input", "files[0].path"],
    ["a hash in capitals", { files: [file("a", sha256("x").toUpperCase())] }, 400, "invalid_input", "files[0].sha256"],
    ["a short hash", { files: [file("a", "ab")] }, 400, "invalid_input", "files[0].sha256"],
    ["a hash and a line break", { files: [file("a", `${sha256("x")}\n`)] }, 400, "invalid_input", "files[0].sha256"],
    ["a hash that is a list", { files: [file("a", [sha256("x")])] }, 400, "invalid_input", "files[0].sha256"],
    ["negative bytes", { files: [file("a", undefined, -1)] }, 400, "invalid_input", "files[0].bytes"],
    ["half a byte", { files: [file("a", undefined, 0.5)] }, 400, "invalid_input", "files[0].bytes"],
    ["bytes as text", { files: [file("a", undefined, "1")] }, 400, "invalid_input", "files[0].bytes"],
    ["no bytes", { files: [{ path: "a", sha256: sha256("x") }] }, 400, "invalid_input", "files[0].bytes"],
    ["a path twice", twice, 400, "invalid_input", "files[2].path"],
    ["a folder", { files: [file("a/")] }, 400, "invalid_input", "files[0].path"],
    [
      "half a character in a name",
      '{"files": [{"path": "\\ud83d.txt", "sha256": "' + sha256("x") + '", "bytes": 1}]}',
      400,
      "unsafe_path",
      undefined,
    ],
    ["an empty list", { files: [] }, 400, "empty_deploy", undefined],
  ];
  test.each(CASES)("%s", async (_, body, status, code, field) => {
    const response = await askPlan(server, site, body);
    const told = await refusal(response);
    expect([response.status, told.code, told["field"]]).toEqual([status, code, field]);
  });

  test.each(["1e400", "9007199254740993", "1e20"])("bytes of %s are no integer that can be counted", async (bytes) => {
    const body = `{"files": [{"path": "a", "sha256": "${sha256("x")}", "bytes": ${bytes}}]}`;
    expect(await refusal(await askPlan(server, site, body))).toMatchObject({ code: "invalid_input" });
  });

  test("as many bytes as can be counted are too many, in every file", async () => {
    const files = ["a", "b", "c"].map((path) => file(path, sha256(path), Number.MAX_SAFE_INTEGER));
    expect(await refusal(await askPlan(server, site, { files }))).toMatchObject({ code: "deploy_too_large" });
  });
});

describe("the body: 1 KiB for each file that is allowed, 64 KiB at least", () => {
  const padded = (length: number) => {
    const body = JSON.stringify(planned({ "index.html": "<title>1</title>" }));
    return body.padEnd(length);
  };
  test.each([
    ["20 files", () => server, 64 * 1024],
    ["100 files", () => larger, 100 * 1024],
  ])("%s", async (_, on, most) => {
    const here = on();
    const own = await here.deploy({ "index.html": "<title>1</title>" });
    expect((await askPlan(here, own, padded(most))).status).toBe(200);
    const told = await refusal(await askPlan(here, own, padded(most + 1)));
    expect(told).toMatchObject({ code: "body_too_large", limit: most, actual: most + 1 });
  });

  let larger: TestServer;
  beforeAll(async () => {
    larger = await startServer("--max-files", "100");
  });
  afterAll(() => larger[Symbol.asyncDispose]());

  test("one whose length is not announced is cut off where it is too long", async () => {
    let left = 200;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (left-- === 0) return controller.close();
        controller.enqueue(new TextEncoder().encode(" ".repeat(1024)));
      },
    });
    const response = await server.api(`/sites/${site.site_id}/plan`, {
      method: "POST",
      headers: { ...JSON_TYPE, authorization: `Bearer ${site.manage_token}` },
      body,
    });
    expect([response.status, (await refusal(response)).code]).toEqual([413, "body_too_large"]);
  });
});

describe("who may, and how often", () => {
  test("a plan is a read: a frozen or disabled site answers it, one that is gone does not", async () => {
    const own = await server.deploy({ "index.html": "<title>f</title>" });
    server.freeze(own);
    expect((await planOf(server, own, { "index.html": "<title>f</title>" })).live).toBe(true);
    server.disable(own, "spam");
    expect((await planOf(server, own, { "index.html": "<title>f</title>" })).live).toBe(true);
    server.expire(own);
    expect((await askPlan(server, own, { files: [] })).status).toBe(404);
  });

  test("it counts beside the deploys that it comes before, and twice as many may be made", async () => {
    await using limited = await startServer({ SVC_RATE_REDEPLOY: "2/1m" });
    const own = await limited.deploy({ "index.html": "1" });
    const statuses: number[] = [];
    for (let n = 0; n < 5; n++) statuses.push((await askPlan(limited, own, planned({ "index.html": "1" }))).status);
    expect(statuses).toEqual([200, 200, 200, 200, 429]);
    const refused = await askPlan(limited, own, { files: [] });
    expect(refused.headers.get("ratelimit-policy")).toBe('"redeploy-plan";q=4;w=60');
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await limited.redeploy(own, { "index.html": "2" })).version_id).toMatch(/^[0-9a-f]{16}$/);
  });

  test("another method is answered 405 with what is allowed", async () => {
    const response = await server.api(`/sites/${site.site_id}/plan`);
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  });
});
