/** `svc [path]`: what is checked before an upload, and how it is sent (SPEC, "CLI"; CONTRACT 8). */
import { describe, expect, test, setDefaultTimeout } from "bun:test";
import { mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { size } from "../../src/cli/terminal/units.ts";
import { CLI, Home, json } from "../kit/cli.ts";
import { DEPLOYED, fakeServer, LIMITS } from "../kit/fake-server.ts";
import { shared, sharedServer } from "../kit/shared.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const server = await sharedServer("--max-files", "20", "--max-bytes", "100000", "--max-zip-bytes", "60000");
const home = shared(await Home.make(server.base_url));

describe("the server's limits are asked for and checked before the upload", () => {
  const noise = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes));
  const CASES: [string, Record<string, string | Uint8Array>, string, string][] = [
    [
      "too many files",
      Object.fromEntries(
        Array.from({ length: 21 }, (_, i) => [`${"ab"[i % 3] ?? "b/c"}/f${i}.txt`, "x".repeat(i + 1)]),
      ),
      "too_many_files",
      "has 21 files, and the server takes 20 in one deploy. The fullest folders: a/ (7), b/c/ (7), b/ (7). Leave files out with a .svcignore, or deploy a smaller folder. Or the server's operator raises the limits: svc-server --max-files 21",
    ],
    [
      "too many bytes",
      { "a.txt": "a".repeat(60_000), "b.txt": "b".repeat(40_001) },
      "deploy_too_large",
      "is 100001 bytes large, and the server takes 100000 bytes in one deploy. The largest files: a.txt (59 KB), b.txt (39 KB). Leave files out with a .svcignore, or deploy a smaller folder. Or the server's operator raises the limits: svc-server --max-bytes 1MB --max-zip-bytes 1MB",
    ],
    [
      "too many files and bytes",
      Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`a/${n}.txt`, "a".repeat(5000)])),
      "too_many_files",
      "has 21 files, and the server takes 20 in one deploy. It is too large as well: 103 KB large, and the server takes 98 KB. The fullest folders: a/ (21).",
    ],
    [
      "many files of one size",
      Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${n % 2 ? "a" : "b"}/${n}.txt`, "a".repeat(5001)])),
      "deploy_too_large",
      "is 100020 bytes large, and the server takes 100000 bytes in one deploy. The largest folders: a/ (49 KB), b/ (49 KB).",
    ],
    [
      "too large a zip",
      { "x.bin": noise(40_000), "y.bin": noise(30_000), "z.txt": "z" },
      "zip_too_large",
      "The largest files: x.bin (39 KB), y.bin (29 KB), z.txt (1 byte). Leave files out with a .svcignore, or compress images and media. Or the server's operator raises the limits: svc-server --max-zip-bytes 1MB",
    ],
  ];
  test.each(CASES)(
    "%s: exit 1, with what to leave out and what the server must allow",
    async (name, files, code, named) => {
      await home.write(`limit ${name}`, files);
      const ran = await home.run([`limit ${name}`, "--json"]);
      expect(ran.code).toBe(1);
      expect(json(ran)).toMatchObject({ ok: false, code });
      expect(json(ran)["error"]).toContain(named);
    },
  );

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
    expect(json(ran)["error"]).toContain("huge.bin (50 GB)");
    expect(json(ran)["error"]).not.toContain("svc-server"); // no server takes it
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

test.each([
  [0, "0 bytes"],
  [1, "1 byte"],
  [1023, "1023 bytes"],
  [1024, "1 KB"],
  [1_048_575, "1 MB"],
  [1536 * 1024 ** 2, "1.5 GB"],
])("%i bytes are told as %s", (bytes, told) => expect(size(bytes)).toBe(told));
