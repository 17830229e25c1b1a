/** `svc [path]`: what is deployed, what is printed, what is remembered (SPEC.md, "CLI"; CONTRACT.md 8). */
import { afterAll, beforeAll, describe, expect, test, setDefaultTimeout } from "bun:test";
import { mkdir, readdir, readFile, stat, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CLI, Home, json } from "../kit/cli.ts";
import { DEPLOYED, fakeServer, LIMITS } from "../kit/fake-server.ts";
import { TLS_CERT, TLS_KEY } from "../kit/paths.ts";
import { slugOf, startServer, type TestServer } from "../kit/server.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(30_000);

let server: TestServer;
let home: Home;
beforeAll(async () => {
  server = await startServer("--max-files", "20", "--max-bytes", "100000", "--max-zip-bytes", "60000");
  home = await Home.make(server.base_url);
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

describe("the result", () => {
  test("the live URL alone is on stdout, all else on stderr, and the site is served", async () => {
    const cwd = await home.write("site", { "dist/index.html": "<title>Hi</title>hello", "dist/a.css": "b{}" });
    const { code, out, err } = await home.run([], { cwd });
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`^http://[a-z0-9-]+\\.localhost:${server.port}\\n$`));
    expect(await (await server.site(slugOf(out))).text()).toContain("hello");
    expect(err).toContain("Live in");
    expect(err).toContain("2 files, 25 bytes from dist");
    expect(err).toMatch(/Here until \d+ \w+ \d{4}, 14 days from now/);
    expect(err).not.toContain("svc_manage_");
    expect(err).not.toContain("\x1b");
  });

  test("--json prints exactly the object of the specification", async () => {
    const cwd = await home.write("as-json", { "dist/index.html": "<title>Hi</title>" });
    const ran = await home.run(["--json"], { cwd });
    expect(ran.code).toBe(0);
    expect(json(ran)).toEqual({
      ok: true,
      url: expect.stringMatching(/^http:\/\/[a-z0-9-]+\.localhost:\d+$/),
      site_id: expect.stringMatching(/^site_[0-9a-z]{20}$/),
      version_id: expect.stringMatching(/^[0-9a-f]{16}$/),
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      manage_token: expect.stringMatching(/^svc_manage_/),
      claim_token: expect.stringMatching(/^svc_claim_/),
      owner_account_id: null,
      source: "dist",
      files: 1,
      bytes: 17,
      elapsed_ms: expect.any(Number),
    });
    expect(ran.out.trimEnd()).not.toContain("\n");
  });

  test.each([["-q"], ["--quiet"]])("%s: the URL on stdout, the manage_token on stderr, no more", async (flag) => {
    const cwd = await home.write("quiet", { "dist/index.html": "<title>Hi</title>", "dist/.env": "x" });
    const { code, out, err } = await home.run([flag], { cwd });
    expect(code).toBe(0);
    expect(out).toMatch(/^http:\/\/\S+\n$/);
    expect(err).toMatch(/^svc_manage_[\w-]{43}\n$/);
  });

  test("--json beats -q", async () => {
    const cwd = await home.write("both", { "dist/index.html": "<title>Hi</title>" });
    expect(json(await home.run(["-q", "--json"], { cwd }))["ok"]).toBe(true);
  });

  test("what was fixed and what is wrong is told with its recipe, with --json too", async () => {
    const cwd = await home.write("healed", { "dist/page.html": "<p>no title", "dist/nested/index.html": "x" });
    for (const flags of [["dist"], ["dist", "--json"]]) {
      const { err } = await home.run(flags, { cwd });
      expect(err).toMatch(/Fixed for you\n  ✓ .*page\.html/);
    }
    const fake = fakeServer(() =>
      Response.json({
        ...DEPLOYED,
        warnings: [
          { code: "missing_asset", message: "index.html loads a.js", path: "index.html", fix_recipe: "Add a.js." },
          { code: "missing_asset", message: "it loads a.js too", path: "b.html", fix_recipe: "Add a.js." },
        ],
      }),
    );
    const { err, out } = await home.run(["dist", "--json"], { cwd, env: { DEPLOY_URL: fake.url } });
    await fake.stop();
    expect(err).toContain("2 warnings");
    expect(err).toContain("  ! index.html loads a.js\n  ! b.html: it loads a.js too\n    → Add a.js.\n");
    expect(JSON.parse(out)).toMatchObject({ ok: true });
  });
});

describe("what is deployed", () => {
  test("without a path the first candidate with an index.html", async () => {
    const cwd = await home.write("order", {
      "dist/x.txt": "x",
      "out/index.html": "<title>o</title>",
      "public/index.html": "p",
    });
    expect(json(await home.run(["--json"], { cwd }))["source"]).toBe("out");
  });

  test("without a candidate: exit 1, and the exact command to run", async () => {
    const cwd = await home.write("none", { "dist/app/browser/index.html": "i" });
    const { code, out, err } = await home.run([], { cwd });
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain("No build directory found");
    expect(err).toContain("Run: svc dist/app/browser");
    const failed = await home.run(["--json"], { cwd });
    expect(failed.code).toBe(1);
    expect(json(failed)).toEqual({
      ok: false,
      error: expect.stringContaining("svc dist/app/browser"),
      code: "no_build_directory",
    });
    expect(failed.err).toBe("");
  });

  test("a folder, by any way of writing it", async () => {
    const cwd = await home.write("ways", {
      "site dir/index.html": "<title>w</title>",
      "-dash/index.html": "<title>w</title>",
    });
    for (const args of [
      ["site dir"],
      ["site dir/"],
      ["./site dir"],
      [join(cwd, "site dir")],
      ["./-dash"],
      ["--", "-dash"],
    ]) {
      expect(
        (
          await home.run(
            [...args, "--json"].sort((a) => (a === "--json" ? -1 : 0)),
            { cwd },
          )
        ).code,
      ).toBe(0);
    }
    expect((await home.run(["."], { cwd: join(cwd, "site dir") })).code).toBe(0);
  });

  test("a single file, HTML or not", async () => {
    const cwd = await home.write("single", { "page.html": "<title>p</title>one page", "notes.txt": "plain" });
    const page = json(await home.run(["page.html", "--json"], { cwd }));
    expect(page).toMatchObject({ source: "page.html", files: 1, bytes: 24 });
    expect(await (await server.site(slugOf(String(page["url"])))).text()).toContain("one page");
    const notes = json(await home.run(["notes.txt", "--json"], { cwd }));
    expect(await (await server.site(slugOf(String(notes["url"])), "/notes.txt")).text()).toBe("plain");
    expect(await (await server.site(slugOf(String(notes["url"])))).text()).toContain("notes.txt");
  });

  test("a word that names a command is one only before --", async () => {
    const cwd = await home.write("named", { "update/index.html": "<title>u</title>" });
    expect((await home.run(["update"], { cwd })).code).toBe(1);
    expect((await home.run(["./update"], { cwd })).code).toBe(0);
    expect((await home.run(["--", "update"], { cwd })).code).toBe(0);
  });

  test("secrets, rubbish and what .svcignore names stay here, and a person sees which", async () => {
    const cwd = await home.write("leaves", {
      "dist/index.html": "<title>l</title>",
      "dist/.env": "SECRET",
      "dist/node_modules/x.js": "x",
      "dist/.DS_Store": "x",
      "dist/.svcignore": "*.map\n",
      "dist/a.js.map": "m",
    });
    const { out, err } = await home.run([], { cwd });
    expect(err).toContain("1 file,");
    expect(err).toContain("Left out, as always: .env, node_modules");
    for (const path of ["/.env", "/a.js.map", "/.svcignore"]) {
      expect((await server.site(slugOf(out), path)).status).toBe(404);
    }
  });

  test("a link that leaves the folder is refused before anything is sent", async () => {
    const cwd = await home.write("escape", { "dist/index.html": "i", "dist/passwd": { link: "/etc/passwd" } });
    const ran = await home.run(["--json"], { cwd });
    expect(ran.code).toBe(1);
    expect(json(ran)["error"]).toContain("passwd is a symbolic link to /etc/passwd, outside of the folder");
  });

  test.each([
    ["nothing.html", "not_found", "There is no file or folder nothing.html."],
    ["", "not_found", "There is no file or folder without a name."],
    ["udpate", "not_found", "There is no file or folder udpate. Did you mean svc update?"],
    ["help", "not_found", "There is no file or folder help. Did you mean svc --help?"],
  ])("a path that is not there (%s) is told, with what was meant", async (path, code, error) => {
    const ran = await home.run([path, "--json"]);
    expect(ran.code).toBe(1);
    expect(json(ran)).toEqual({ ok: false, error, code });
  });

  test("an empty folder has nothing to deploy", async () => {
    await mkdir(home.path("empty"), { recursive: true });
    expect(json(await home.run(["empty", "--json"]))["code"]).toBe("empty_deploy");
  });
});

describe("the server's limits are asked for and checked before the upload", () => {
  const noise = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes));
  const CASES: [string, Record<string, string | Uint8Array>, string, string][] = [
    [
      "too many files",
      Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`f${i}.txt`, "x".repeat(i + 1)])),
      "too_many_files",
      "21 files",
    ],
    [
      "too many bytes",
      { "a.txt": "a".repeat(60_000), "b.txt": "b".repeat(40_001) },
      "deploy_too_large",
      "is 100001 bytes large, and the server takes 100000 bytes in one deploy. The largest files: a.txt (59 KB), b.txt (39 KB)",
    ],
    [
      "too large a zip",
      { "x.bin": noise(40_000), "y.bin": noise(30_000), "z.txt": "z" },
      "zip_too_large",
      "x.bin (39 KB), y.bin (29 KB), z.txt (1 byte)",
    ],
  ];
  test.each(CASES)("%s: exit 1, the largest files are named", async (name, files, code, named) => {
    await home.write(`limit ${name}`, files);
    const ran = await home.run([`limit ${name}`, "--json"]);
    expect(ran.code).toBe(1);
    expect(json(ran)).toMatchObject({ ok: false, code });
    expect(json(ran)["error"]).toContain(named);
    expect(json(ran)["error"]).toContain("largest files: ");
  });

  test("exactly at the limits it goes through", async () => {
    const files = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`f${i}.txt`, "x".repeat(5_000)]));
    await home.write("at-limit", files);
    expect(json(await home.run(["at-limit", "--json"]))).toMatchObject({ ok: true, files: 20, bytes: 100_000 });
  });

  test("nothing is sent, and nothing large is read", async () => {
    const fake = fakeServer(() => Response.json(DEPLOYED));
    const dir = await home.write("huge", { "index.html": "i" });
    await writeFile(join(dir, "huge.bin"), "");
    await truncate(join(dir, "huge.bin"), 50 * 1024 ** 3);
    const ran = await home.run(["huge", "--json"], { env: { DEPLOY_URL: fake.url } });
    expect(json(ran)).toMatchObject({ code: "deploy_too_large" });
    expect(json(ran)["error"]).toContain("huge.bin (51200 MB)");
    expect(fake.asked).toEqual([]);
    await fake.stop();
  });
});

describe("the upload", () => {
  test("carries a fresh Idempotency-Key each time and its own length", async () => {
    const fake = fakeServer(() => Response.json(DEPLOYED));
    const cwd = await home.write("keyed", { "dist/index.html": "i" });
    for (const flags of [["-q"], ["-q"]]) await home.run(flags, { cwd, env: { DEPLOY_URL: fake.url } });
    const keys = fake.asked.map(({ headers }) => headers.get("idempotency-key") ?? "");
    expect(keys[0]).toMatch(/^[\w-]{22,255}$/);
    expect(keys[0]).not.toBe(keys[1]);
    expect(fake.asked[0]).toMatchObject({ method: "POST", path: "/sites" });
    expect(Number(fake.asked[0]!.headers.get("content-length"))).toBe(fake.asked[0]!.bytes);
    expect(fake.asked[0]!.headers.get("content-type")).toBe("application/zip");
    expect(fake.asked[0]!.headers.has("authorization")).toBe(false);
    await fake.stop();
  });

  test("is tried once more, with the same key, when the server is busy for a moment", async () => {
    const busy = () =>
      Response.json({ error: "Busy.", code: "unavailable" }, { status: 503, headers: { "retry-after": "0" } });
    const fake = fakeServer((_, nth) => (nth === 1 ? busy() : Response.json(DEPLOYED)));
    const cwd = await home.write("busy", { "dist/index.html": "i" });
    expect((await home.run(["-q"], { cwd, env: { DEPLOY_URL: fake.url } })).code).toBe(0);
    const keys = fake.asked.map(({ headers }) => headers.get("idempotency-key"));
    expect(keys).toHaveLength(2);
    expect(keys[0]).toBe(keys[1]!);
    await fake.stop();
  });

  test.each([["0"], ["3600"], [null]])(
    "a server that stays busy is not asked for ever (Retry-After: %s)",
    async (after) => {
      const headers: Record<string, string> = after === null ? {} : { "retry-after": after };
      const fake = fakeServer(() => Response.json({ error: "Busy.", code: "unavailable" }, { status: 503, headers }));
      const cwd = await home.write("very-busy", { "dist/index.html": "i" });
      const ran = await home.run(["--json"], { cwd, env: { DEPLOY_URL: fake.url } });
      expect(ran.code).toBe(1);
      expect(json(ran)).toMatchObject({ ok: false, error: "Busy.", code: "unavailable" });
      expect(fake.asked.length).toBe(after === "0" ? 2 : 1);
      await fake.stop();
    },
  );

  test("after a broken connection the first site is found again: one site, not two", async () => {
    // Lets the request through and cuts the answer off, once.
    let cuts = 1;
    const proxy = Bun.listen<{ upstream: Bun.Socket | null; waiting: Uint8Array[] }>({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open(client) {
          client.data = { upstream: null, waiting: [] };
          void Bun.connect({
            hostname: "127.0.0.1",
            port: server.port,
            socket: {
              open(upstream) {
                client.data.upstream = upstream;
                for (const bytes of client.data.waiting) upstream.write(bytes);
              },
              data(_, bytes) {
                const isDeploy = bytes.includes("manage_token");
                if (isDeploy && cuts-- > 0) client.terminate();
                else client.write(bytes);
              },
              close: () => void client.end(),
            },
          });
        },
        data(client, bytes) {
          if (client.data.upstream) client.data.upstream.write(bytes);
          else client.data.waiting.push(new Uint8Array(bytes));
        },
        close: (client) => void client.data.upstream?.end(),
      },
    });
    const cwd = await home.write("cut", { "dist/index.html": "<title>cut</title>" });
    const before = server.rows("sites");
    const ran = await home.run(["--json"], { cwd, env: { DEPLOY_URL: `http://127.0.0.1:${proxy.port}` } });
    proxy.stop(true);
    expect(json(ran)["ok"]).toBe(true);
    expect(cuts).toBeLessThanOrEqual(0);
    expect(server.rows("sites")).toBe(before + 1);
  });

  test("with a session a broken upload is not repeated, for its key would not count", async () => {
    let tries = 0;
    const listener = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(socket, bytes) {
          const head = bytes.toString();
          if (head.startsWith("GET /limits")) {
            const body = JSON.stringify(LIMITS);
            socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`);
          } else if (head.startsWith("POST")) {
            tries++;
            socket.terminate();
          }
        },
      },
    });
    const cwd = await home.write("cut-session", { "dist/index.html": "i" });
    const env = { DEPLOY_URL: `http://127.0.0.1:${listener.port}`, SVC_TOKEN: "svc_session_x" };
    const ran = await home.run(["--json"], { cwd, env });
    listener.stop(true);
    expect(json(ran)).toMatchObject({ ok: false, code: "unreachable" });
    expect(tries).toBe(1);
  });
});

describe("a server that does not do as it should gets a sentence", () => {
  const html = (status: number) => () =>
    new Response("<h1>oops</h1>", { status, headers: { "content-type": "text/html" } });
  const CASES: [string, () => Response, string, string][] = [
    ["an HTML page of a proxy", html(502), "unexpected_answer", "answered 502 without saying why"],
    ["a page that is no API", html(200), "unexpected_answer", "Is it the address of an svc server?"],
    [
      "a redirect",
      () => new Response(null, { status: 301, headers: { location: "https://other.example/sites" } }),
      "unexpected_answer",
      "https://other.example/sites",
    ],
    [
      "401",
      () => Response.json({ error: "No.", code: "unauthorized" }, { status: 401 }),
      "unauthorized",
      "No. The token came from SVC_TOKEN.",
    ],
    [
      "403",
      () => Response.json({ error: "Not yours.", code: "forbidden" }, { status: 403 }),
      "forbidden",
      "Not yours. The token came from SVC_TOKEN.",
    ],
    [
      "429",
      () => Response.json({ error: "Slowly.", code: "rate_limited" }, { status: 429, headers: { "retry-after": "7" } }),
      "rate_limited",
      "Slowly. Try again in 7 s.",
    ],
    ["500", () => Response.json({ error: "Ouch.", code: "internal" }, { status: 500 }), "internal", "Ouch."],
  ];
  test.each(CASES)("%s", async (_, answer, code, sentence) => {
    const fake = fakeServer(answer);
    const cwd = await home.write("odd", { "dist/index.html": "i" });
    const env = { DEPLOY_URL: fake.url, SVC_TOKEN: "svc_session_x" };
    const [asJson, asText] = [await home.run(["--json"], { cwd, env }), await home.run([], { cwd, env })];
    await fake.stop();
    expect([asJson.code, asText.code]).toEqual([1, 1]);
    expect(json(asJson)).toMatchObject({ ok: false, code });
    expect(asJson.out + asText.err).toContain(sentence);
    expect(asText.err).toContain(sentence);
    expect(asText.out).toBe("");
  });

  test("a redirect never carries a token away", async () => {
    const other = fakeServer(() => Response.json(DEPLOYED));
    const fake = fakeServer(() => new Response(null, { status: 307, headers: { location: `${other.url}/sites` } }));
    const cwd = await home.write("redirected", { "dist/index.html": "i" });
    await home.run([], { cwd, env: { DEPLOY_URL: fake.url, SVC_TOKEN: "svc_session_x" } });
    expect(other.asked).toEqual([]);
    await Promise.all([other.stop(), fake.stop()]);
  });

  test("nobody answers: how to start a server, or to check the address", async () => {
    const cwd = await home.write("alone", { "dist/index.html": "i" });
    const named = await home.run([], { cwd, env: { DEPLOY_URL: "http://127.0.0.1:1" } });
    expect([named.code, named.err]).toEqual([
      1,
      "  ✗ No server answers at http://127.0.0.1:1. Check DEPLOY_URL and the network.\n",
    ]);
    const [bun, script] = CLI as [string, string];
    const program = [bun, "--define", 'SVC_DEFAULT_SERVER="http://localhost:1"', script];
    const unnamed = await home.run([], { cwd, env: { DEPLOY_URL: "" }, program });
    expect(unnamed.err).toMatch(
      /No server answers at http:\/\/localhost:1\. Start one in another terminal with bun \S+/,
    );
    expect(unnamed.err).toEndWith("/server.ts, or name yours: DEPLOY_URL=https://… svc\n");
    expect((await home.run(["--json"], { cwd, env: { DEPLOY_URL: "http://nowhere.invalid" } })).out).toContain(
      "unreachable",
    );
  });

  test.each([
    ["this machine by name", "localhost"],
    ["this machine by a name below localhost", "svc.localhost"],
    ["this machine by address", "127.0.0.1"],
  ])("a proxy of the environment is not asked for %s", async (_, host) => {
    const fake = fakeServer(() => Response.json(DEPLOYED));
    const cwd = await home.write("past-proxy", { "dist/index.html": "i" });
    const dead = "http://127.0.0.1:1";
    const DEPLOY_URL = fake.url.replace("localhost", host);
    const ran = await home.run(["--json"], { cwd, env: { DEPLOY_URL, HTTP_PROXY: dead, all_proxy: dead } });
    await fake.stop();
    expect(json(ran)).toMatchObject({ ok: true });
  });

  const DEAD = "http://me:hidden@127.0.0.1:1";
  const PROXIES: [string, string, Record<string, string>, string][] = [
    [
      "that is not there",
      "http://far.invalid",
      { HTTP_PROXY: DEAD },
      "through the proxy http://127.0.0.1:1 (HTTP_PROXY). ",
    ],
    [
      "of lower case, which counts first",
      "http://far.invalid",
      { http_proxy: DEAD, HTTP_PROXY: "x" },
      "(http_proxy). ",
    ],
    [
      "for all, under https",
      "https://far.invalid",
      { ALL_PROXY: DEAD },
      "http://127.0.0.1:1 (ALL_PROXY). Check DEPLOY_URL, the proxy",
    ],
    ["for the other protocol", "https://far.invalid", { HTTP_PROXY: DEAD }, "far.invalid. Check DEPLOY_URL and"],
    [
      "that NO_PROXY excepts",
      "http://far.invalid",
      { HTTP_PROXY: DEAD, NO_PROXY: "x, .invalid" },
      "far.invalid. Check",
    ],
    [
      "that NO_PROXY excepts at another port",
      "http://far.invalid",
      { HTTP_PROXY: DEAD, NO_PROXY: "far.invalid:81" },
      "(HTTP_PROXY)",
    ],
  ];
  test.each(PROXIES)("a proxy %s: named where it was used, without its password", async (_, DEPLOY_URL, env, said) => {
    const cwd = await home.write("proxied", { "dist/index.html": "i" });
    const { code, err } = await home.run([], { cwd, env: { DEPLOY_URL, ...env } });
    expect(code).toBe(1);
    expect(err).toContain(`No server answers at ${DEPLOY_URL}`);
    expect(err).toContain(said);
    expect(err).not.toContain("hidden");
  });

  test.each(["http", "https"])("a proxy that answers in the server's place is named: %s", async (scheme) => {
    const proxy = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data: (socket) => void socket.end("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"),
      },
    });
    const cwd = await home.write("bad-gateway", { "dist/index.html": "i" });
    const env = { DEPLOY_URL: `${scheme}://far.invalid`, ALL_PROXY: `127.0.0.1:${proxy.port}` };
    const { err } = await home.run([], { cwd, env });
    proxy.stop(true);
    expect(err).toContain(`through the proxy http://127.0.0.1:${proxy.port} (ALL_PROXY)`);
  });

  test("a certificate that nobody vouches for: what it is, and how to vouch for it", async () => {
    const tls = { cert: Bun.file(TLS_CERT), key: Bun.file(TLS_KEY) };
    const secure = Bun.serve({ port: 0, tls, fetch: () => new Response("{}") });
    const cwd = await home.write("untrusted", { "dist/index.html": "i" });
    const origin = `https://localhost:${secure.port}`;
    const { code, err } = await home.run([], { cwd, env: { DEPLOY_URL: origin } });
    await secure.stop(true);
    expect(code).toBe(1);
    expect(err).toContain(`The certificate of ${origin} is not to be trusted`);
    expect(err).toContain("NODE_EXTRA_CA_CERTS");
  });

  test.each([["localhost:8787"], ["ftp://x"], ["nonsense"]])("DEPLOY_URL=%s is wrong usage", async (address) => {
    const cwd = await home.write("wrong-url", { "dist/index.html": "i" });
    const { code, err } = await home.run([], { cwd, env: { DEPLOY_URL: address } });
    expect(code).toBe(2);
    expect(err).toContain(`DEPLOY_URL is "${address}"`);
  });
});

describe("credentials: SVC_TOKEN, then the saved session, then SVC_API_KEY, then none", () => {
  const session = (origin: string) => JSON.stringify({ origin, session_token: "saved", account_id: "acct_x" });
  const CASES: [string, Record<string, string>, ((origin: string) => string) | null, string | null][] = [
    ["all three", { SVC_TOKEN: "env", SVC_API_KEY: "key" }, session, "Bearer env"],
    ["a saved session and a key", { SVC_API_KEY: "key" }, session, "Bearer saved"],
    ["a key alone", { SVC_API_KEY: "key" }, null, "Bearer key"],
    ["none", {}, null, null],
    ["empty variables", { SVC_TOKEN: "", SVC_API_KEY: "" }, null, null],
    ["a session of another server", {}, () => session("http://localhost:1"), null],
    ["a session of the same host under https", {}, (origin) => session(origin.replace("http:", "https:")), null],
    ["a session file that is broken", {}, () => "{", null],
    ["a session file of another shape", {}, () => '{"session_token":["x"]}', null],
  ];
  test.each(CASES)("%s", async (_, env, saved, sent) => {
    await using other = await Home.make("");
    const fake = fakeServer(() => Response.json(DEPLOYED));
    await other.write("config", saved === null ? {} : { "session.json": saved(fake.url) });
    await other.write("p", { "dist/index.html": "i" });
    const ran = await other.run(["-q"], { cwd: other.path("p"), env: { DEPLOY_URL: fake.url, ...env } });
    await fake.stop();
    expect(ran.code).toBe(0);
    expect(fake.asked.map(({ headers }) => headers.get("authorization"))).toEqual([sent]);
  });

  test("an owned site has no expiry and no claim token", async () => {
    const { claim_token: _, ...owned } = {
      ...DEPLOYED,
      expires_at: null,
      owner_account_id: "acct_01234567890123456789",
    };
    const fake = fakeServer(() => Response.json(owned));
    const cwd = await home.write("owned", { "dist/index.html": "i" });
    const env = { DEPLOY_URL: fake.url, SVC_TOKEN: "svc_session_x" };
    const [asJson, asText] = [await home.run(["--json"], { cwd, env }), await home.run([], { cwd, env })];
    await fake.stop();
    expect(json(asJson)).toMatchObject({
      expires_at: null,
      claim_token: null,
      owner_account_id: "acct_01234567890123456789",
    });
    expect(asText.err).not.toContain("Here until");
  });
});

describe("the link", () => {
  test("is kept in projects.json, 0600, in a folder of its own, and never in the project", async () => {
    await using own = await Home.make(server.base_url);
    const cwd = await own.write("p", { "dist/index.html": "i" });
    await own.run([], { cwd });
    await own.run(["dist"], { cwd });
    expect((await stat(join(own.config, "projects.json"))).mode & 0o777).toBe(0o600);
    expect((await stat(own.config)).mode & 0o777).toBe(0o700);
    expect(await readdir(cwd)).toEqual(["dist"]);
    expect(await readdir(join(cwd, "dist"))).toEqual(["index.html"]);
    expect(await readdir(own.config)).toEqual(["projects.json"]);
    expect(await own.links()).toMatchObject([
      { folder: join(cwd, "dist"), looked_up: false, origin: server.base_url },
      { folder: cwd, looked_up: true, origin: server.base_url, manage_token: expect.stringMatching(/^svc_manage_/) },
    ]);
  });

  test.each([
    ["SVC_CONFIG_DIR", { SVC_CONFIG_DIR: "over/there" }, "over/there"],
    ["XDG_CONFIG_HOME", { SVC_CONFIG_DIR: "", XDG_CONFIG_HOME: "$HOME/xdg" }, "xdg/svc"],
    ["a relative XDG_CONFIG_HOME, which does not count", { SVC_CONFIG_DIR: "", XDG_CONFIG_HOME: "xdg" }, ".config/svc"],
    ["nothing set", { SVC_CONFIG_DIR: "" }, ".config/svc"],
  ])("lies where %s says", async (_, env, place) => {
    if (process.platform !== "linux" && !place.startsWith("over")) return;
    await using own = await Home.make(server.base_url);
    await own.write("", { "dist/index.html": "i" });
    const filled = Object.fromEntries(
      Object.entries(env).map(([key, value]) => [key, value.replace("$HOME", own.dir)]),
    );
    await own.run(["-q"], { env: filled });
    expect(await readdir(own.path(place))).toEqual(["projects.json"]);
  });

  test("64 are kept, those used last; expired ones go", async () => {
    await using own = await Home.make(server.base_url);
    const link = (n: number, expires_at: number | null) => ({
      folder: `/old/${n}`,
      looked_up: false,
      origin: "http://localhost:1",
      site_id: `site_${n}`,
      url: "http://x",
      manage_token: "svc_manage_x",
      claim_token: null,
      expires_at,
      used_at: n,
    });
    const old = Array.from({ length: 80 }, (_, n) => link(n, n === 79 ? 1 : null));
    await own.write("config", { "projects.json": JSON.stringify({ version: 1, projects: old }) });
    await own.write("", { "dist/index.html": "i" });
    await own.run(["-q"]);
    const kept = await own.links();
    expect(kept).toHaveLength(64);
    expect(kept[0]).toMatchObject({ folder: own.dir });
    expect(kept.slice(1).map(({ folder }) => folder)).toEqual(Array.from({ length: 63 }, (_, i) => `/old/${78 - i}`));
  });

  test.each([
    ["no JSON", "{"],
    ["empty", ""],
    ["JSON of another kind", "[1,2]"],
    ["a number", "7"],
    ["a folder", null],
  ])("a projects.json that is broken (%s) is put aside, never written over and never a crash", async (_, content) => {
    await using own = await Home.make(server.base_url);
    await own.write("", { "dist/index.html": "i" });
    if (content === null) await mkdir(join(own.config, "projects.json"), { recursive: true });
    else await own.write("config", { "projects.json": content });
    const asked = await own.run(["update"]);
    expect(asked.code).toBe(1);
    expect(asked.err).toContain("projects.json cannot be read");
    expect((await own.run(["-q"])).code).toBe(0);
    expect(await own.links()).toHaveLength(1);
    expect((await readdir(own.config)).sort()).toEqual(["projects.json", "projects.json.broken"]);
  });

  test("a second one that is broken is put aside too: the tokens of the first stay", async () => {
    await using own = await Home.make(server.base_url);
    await own.write("", { "dist/index.html": "i" });
    const files = [];
    for (const content of ["{first", "{second", "{third"]) {
      await own.write("config", { "projects.json": content });
      expect((await own.run(["-q"])).code).toBe(0);
      files.push(content);
    }
    const aside = (await readdir(own.config)).filter((name) => name !== "projects.json").sort();
    expect(aside).toEqual(["projects.json.broken", "projects.json.broken-2", "projects.json.broken-3"]);
    expect(await Promise.all(aside.map((name) => readFile(join(own.config, name), "utf8")))).toEqual(files);
  });

  test("entries that are damaged are passed over, the others count", async () => {
    await using own = await Home.make(server.base_url);
    await own.write("", { "dist/index.html": "i" });
    await own.run(["-q"]);
    const [good] = await own.links();
    const odd = [null, 7, "x", {}, { ...good, folder: 7 }, { ...good, manage_token: {} }, { ...good, used_at: "now" }];
    await writeFile(join(own.config, "projects.json"), JSON.stringify({ version: 1, projects: [...odd, good] }));
    expect((await own.run(["update"])).err).toContain("No changes");
  });

  test("where it cannot be saved the site is live all the same, and its token is told", async () => {
    await using own = await Home.make(server.base_url);
    await own.write("", { "dist/index.html": "i", blocked: "a file" });
    const { code, out, err } = await own.run([], { env: { SVC_CONFIG_DIR: own.path("blocked") } });
    expect(code).toBe(0);
    expect(out).toMatch(/^http/);
    expect(err).toContain("could not be linked");
    expect(err).toMatch(/Keep its manage_token to update it: svc_manage_/);
  });

  test("many at once lose nothing", async () => {
    await using own = await Home.make(server.base_url);
    const folders = Array.from({ length: 8 }, (_, n) => `p${n}`);
    for (const folder of folders) await own.write(folder, { "index.html": folder });
    const ran = await Promise.all(folders.map((folder) => own.run([folder, "-q"])));
    expect(ran.map(({ code }) => code)).toEqual(folders.map(() => 0));
    expect((await own.links()).map(({ folder }) => folder).sort()).toEqual(folders.map((folder) => own.path(folder)));
    expect(await readdir(own.config)).toEqual(["projects.json"]);
  }, 20_000);

  test("a lock that a killed process left behind is taken over", async () => {
    await using own = await Home.make(server.base_url);
    await own.write("", { "dist/index.html": "i" });
    await own.write("config", { "projects.json.lock": "half" });
    await utimes(join(own.config, "projects.json.lock"), 1, 1);
    expect((await own.run(["-q"])).code).toBe(0);
    expect(await readdir(own.config)).toEqual(["projects.json"]);
  });
});

describe.if(process.platform === "linux")("a name that is not UTF-8 cannot be sent, and is told", () => {
  const latin1 = (folder: string, name: string) =>
    Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, "latin1")]);
  test.each([
    ["a file", (folder: string) => writeFile(latin1(folder, "caf\xe9"), "x")],
    ["a folder", (folder: string) => mkdir(latin1(folder, "caf\xe9"))],
    ["a link", (folder: string) => symlink("index.html", latin1(folder, "caf\xe9"))],
  ])("%s in the folder", async (what, make) => {
    const cwd = await home.write(`latin1-${what}`, { "dist/index.html": "i" });
    await make(join(cwd, "dist"));
    const { code, err } = await home.run([], { cwd });
    expect(code).toBe(1);
    expect(err).toContain("caf\uFFFD cannot be sent: its name is not UTF-8. Rename it, or leave it out");
    await home.write(`latin1-${what}/dist`, { ".svcignore": "caf?" });
    expect((await home.run([], { cwd })).code).toBe(0);
  });

  test("the file that is named on the command line", async () => {
    const cwd = await home.write("latin1-named", {});
    await writeFile(latin1(cwd, "caf\xe9.html"), "x");
    const program = ["sh", "-c", `exec "$0" "$@" "$(printf 'caf\\351.html')"`, ...CLI];
    const { code, err } = await home.run([], { cwd, program });
    expect(code).toBe(1);
    expect(err).toContain("its name is not UTF-8");
  });

  test("a name that has U+FFFD itself is one like any other", async () => {
    const cwd = await home.write("fffd", { "dist/index.html": "i", "dist/caf\uFFFD.txt": "c" });
    expect(json(await home.run(["--json"], { cwd }))).toMatchObject({ ok: true, files: 2 });
  });
});

test("a file that cannot be read is named", async () => {
  const cwd = await home.write("locked", { "dist/index.html": "i", "dist/.svcignore/x": "a folder" });
  const ran = await home.run(["--json"], { cwd });
  expect(ran.code).toBe(1);
  expect(json(ran)).toMatchObject({ ok: false, error: expect.stringContaining(".svcignore") });
});

test("a folder reached by a link is the same place as the folder", async () => {
  const cwd = await home.write("place", { "real/dist/index.html": "<title>p</title>" });
  await symlink("real", join(cwd, "alias"));
  await home.run(["-q", join(cwd, "real/dist")]);
  expect((await home.run(["update", join(cwd, "alias/dist")])).err).toContain("No changes");
});
