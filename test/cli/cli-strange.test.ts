/** Answers that are no answers of the API, and what is no file (CONTRACT 8). */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { collectDist, deploySite } from "../../lib.ts";
import { Home, json } from "../kit/cli.ts";
import { DEPLOYED, deviceCode, fakeServer, LIMITS } from "../kit/fake-server.ts";
import { shared } from "../kit/shared.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const home = shared(await Home.make("http://127.0.0.1:1"));
beforeAll(async () => {
  await home.write("", { "dist/index.html": "<title>t</title>" });
});

/** What an engine says of a value that is not as expected. */
const OF_A_RUNTIME =
  /NaN|undefined|null is|not an object|not iterable|is not a function|Cannot (read|destructure)|\[object/;
const ENDLESS = "x".repeat(1 << 16);

/** A body that goes on until nobody reads it; `sent` counts it. */
function endless() {
  const sent = { bytes: 0 };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await Bun.sleep(0);
      controller.enqueue(new TextEncoder().encode(ENDLESS));
      sent.bytes += ENDLESS.length;
    },
  });
  return { sent, response: () => new Response(body, { headers: { "content-type": "application/json" } }) };
}

describe("CONTRACT 8: an answer without a field that the command needs is unexpected_answer", () => {
  const RECORD = { ...DEPLOYED, live_version_id: "a", versions: [] };
  const TOKEN = ["--site", "site_x", "--token", "t"];
  const COMMANDS: [string[], object | null][] = [
    [[], null],
    [["--dry-run"], null],
    [["update", ...TOKEN], null],
    [["update", ...TOKEN, "--spa"], RECORD],
    [["update", ...TOKEN, "--dry-run"], RECORD],
    [["versions", ...TOKEN], null],
    [
      ["rollback", ...TOKEN, "b"],
      { ...RECORD, versions: [{ version_id: "b", title: null, created_at: "2026-11-22" }] },
    ],
    [["open", ...TOKEN], null],
    [["login", "--token", "t"], null],
    [["login", "--request"], null],
    [["whoami"], null],
    [["list"], null],
    [["usage"], null],
    [["claim", "site_x", "--token", "t"], null],
    [["delete", "site_x", "--yes"], null],
    [["tokens", "revoke", "--site", "site_x"], null],
    [["comments", "status", ...TOKEN], RECORD],
    [["comments", "list", ...TOKEN], RECORD],
    [["comments", "token", "list", ...TOKEN], RECORD],
    [["comments", "owner", ...TOKEN], RECORD],
  ];
  /** Nothing, what is no object, and fields of another kind. */
  const ODD = [{}, [], null, { ...DEPLOYED, url: "x", versions: {}, sites: 7, email: null, account_id: 1, mode: 0 }];
  test.each(COMMANDS)("%j", async (args, record) => {
    for (const body of ODD) {
      const fake = fakeServer((path) => Response.json(path === "/sites/site_x" && record ? record : body));
      const ran = await home.run([...args, "--json"], { env: { DEPLOY_URL: fake.url, SVC_TOKEN: "svc_session_x" } });
      await fake.stop();
      expect(ran.code).toBe(1);
      expect(json(ran)).toMatchObject({ ok: false, code: "unexpected_answer" });
      expect(json(ran)["error"]).toContain(fake.url);
      expect(ran.out + ran.err).not.toMatch(OF_A_RUNTIME);
    }
  });

  test("limits that are none never become NaN", async () => {
    const fake = fakeServer(() => Response.json(DEPLOYED), {} as typeof LIMITS);
    const { err, code } = await home.run([], { env: { DEPLOY_URL: fake.url } });
    await fake.stop();
    expect(code).toBe(1);
    expect(err).toContain(`${fake.url} answered without max_files, which svc needs.`);
  });

  test("a device code that is none, on the way to a browser", async () => {
    const fake = fakeServer((path) =>
      Response.json(path === "/auth/device/code" ? deviceCode(fake, { interval: 0.01 }) : {}),
    );
    const ran = await home.run(["login", "--json"], { env: { DEPLOY_URL: fake.url } });
    await fake.stop();
    expect(json(ran)).toMatchObject({ code: "unexpected_answer", error: expect.stringContaining("access_token") });
  });
});

describe("CONTRACT 8: an answer over 8 MiB is read no further", () => {
  test("by the CLI", async () => {
    const { sent, response } = endless();
    const fake = fakeServer(response);
    const ran = await home.run(["--json"], { env: { DEPLOY_URL: fake.url } });
    await fake.stop();
    expect(json(ran)).toMatchObject({ code: "unexpected_answer", error: expect.stringContaining("more than 8 MB") });
    expect(sent.bytes).toBeLessThan(64 << 20);
  });

  test("by the library", async () => {
    const { sent, response } = endless();
    const fake = fakeServer(response);
    const deploying = deploySite({ files: { "a.txt": new Uint8Array(1) }, baseUrl: fake.url });
    await expect(deploying).rejects.toThrow(`deploy failed: ${fake.url} sent more than 8 MB`);
    await fake.stop();
    expect(sent.bytes).toBeLessThan(64 << 20);
  });
});

/** Answers `head` to each request, once it is whole, and ends the connection. */
function breaksOff(head: string) {
  const listener = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket, bytes) {
        const text = bytes.toString("latin1");
        if (text.startsWith("GET /limits")) {
          const body = JSON.stringify(LIMITS);
          return void socket.end(
            `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
          );
        }
        if (text.includes("PK\x05\x06")) socket.end(head);
      },
    },
  });
  return { url: `http://127.0.0.1:${listener.port}`, stop: () => listener.stop(true) };
}

describe("CONTRACT 8: the library's error begins with `deploy failed: ` whatever broke", () => {
  const files = { "a.txt": new Uint8Array(1) };
  const HALF = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{"url":';
  const never = (): never => {
    throw new Error("unused");
  };
  const CASES: [string, () => Promise<unknown>, string][] = [
    ["files that are no bytes", () => deploySite({ files: { a: "text" as never } }), 'files: "a" must be a Uint8Array'],
    ["no files at all", () => deploySite({} as never), ""],
    ["an address that is none", () => deploySite({ files, baseUrl: "nonsense" }), ""],
    ["a key that no header can carry", () => deploySite({ files, apiKey: "a\nb" }), ""],
    [
      "a transport that throws",
      () => deploySite({ files, baseUrl: "http://x", handle: never }),
      "could not reach http://x",
    ],
    ["a transport that answers nothing", () => deploySite({ files, handle: (() => undefined) as never }), ""],
    [
      "a proof that is too much work",
      () =>
        deploySite({
          files,
          handle: ({ url }) =>
            url.endsWith("/challenge")
              ? Response.json({ challenge: "c", bits: 99 })
              : Response.json({ error: "prove it", code: "challenge_failed" }, { status: 403 }),
        }),
      "a proof of 99 bits",
    ],
  ];
  test.each(CASES)("%s", async (_, deploying, detail) => {
    await expect(deploying()).rejects.toThrow(`deploy failed: ${detail}`);
  });

  test("a connection that breaks in the middle of the answer", async () => {
    const broken = breaksOff(HALF);
    const failure = await deploySite({ files, baseUrl: broken.url }).catch((error: Error) => error);
    expect(failure).toBeInstanceOf(Error);
    expect((failure as Error).message).toBe(`deploy failed: the answer of ${broken.url} broke off`);
    const { err, code } = await home.run([], { env: { DEPLOY_URL: broken.url } });
    broken.stop();
    expect(code).toBe(1);
    // A system's code may stand there, a runtime's (UND_ERR_SOCKET, ConnectionClosed) never.
    expect(err).toMatch(/The connection to http:\S+ broke(?: \(E[A-Z]+\))?\. Try again\./);
    expect(err).toContain(`The connection to ${broken.url} broke`);
    expect(err).not.toContain("terminated");
  });
});

describe("CONTRACT 8: a .svcignore that is no regular file is named, never waited for", () => {
  const KINDS: [string, (folder: string) => void | Promise<unknown>][] = [
    ["a pipe", (folder) => void Bun.spawnSync(["mkfifo", `${folder}/.svcignore`])],
    ["a folder", (folder) => void Bun.spawnSync(["mkdir", `${folder}/.svcignore`])],
    ["a device", (folder) => void Bun.spawnSync(["ln", "-s", "/dev/zero", `${folder}/.svcignore`])],
    ["a link to nothing", (folder) => void Bun.spawnSync(["ln", "-s", "nothing", `${folder}/.svcignore`])],
    ["a link that leads out", (folder) => void Bun.spawnSync(["ln", "-s", "/etc/passwd", `${folder}/.svcignore`])],
  ];
  test.each(KINDS)("%s", async (kind, make) => {
    const folder = await home.write(`ignored ${kind}`, { "index.html": "i" });
    await make(folder);
    const fake = fakeServer(() => Response.json(DEPLOYED));
    const ran = await home.run([folder, "--json"], { env: { DEPLOY_URL: fake.url } });
    await fake.stop();
    expect(ran.code).toBe(1);
    expect(json(ran)["error"]).toContain(`${folder}/.svcignore is`);
    expect(fake.asked).toEqual([]);
    await expect(collectDist(folder)).rejects.toThrow(`${folder}/.svcignore is`);
  });

  test("a link to a file inside is followed", async () => {
    const folder = await home.write("linked ignore", {
      "index.html": "i",
      "draft.html": "d",
      "config/ignore": "draft.html\nconfig/\n",
      ".svcignore": { link: "config/ignore" },
    });
    expect([...(await collectDist(folder)).keys()]).toEqual(["index.html"]);
  });

  test("a package.json that is a pipe is not waited for either", async () => {
    const folder = await home.write("piped", { "notes.txt": "n" });
    Bun.spawnSync(["mkfifo", `${folder}/package.json`]);
    const { code, err } = await home.run([], { cwd: folder });
    expect([code, err]).toEqual([1, expect.stringContaining("No build directory found")]);
  });
});
