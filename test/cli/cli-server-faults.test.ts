/** `svc [path]` before a server that does not do as it should (CONTRACT 8). */
import { describe, expect, test, setDefaultTimeout } from "bun:test";
import { CLI, Home, json } from "../kit/cli.ts";
import { DEPLOYED, fakeServer } from "../kit/fake-server.ts";
import { TLS_CERT, TLS_KEY } from "../kit/paths.ts";
import { shared, sharedServer } from "../kit/shared.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const server = await sharedServer("--max-files", "20", "--max-bytes", "100000", "--max-zip-bytes", "60000");
const home = shared(await Home.make(server.base_url));

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
    expect(unnamed.err).toEndWith("/server.ts, or name yours: DEPLOY_URL=https://… svc, or svc login <url>.\n");
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
    const named = `the proxy http://127.0.0.1:${proxy.port} (ALL_PROXY)`;
    expect(err.toLowerCase()).toContain(named.toLowerCase());
    expect(err).toMatch(
      scheme === "https" ? /let nothing through to https:\/\/far\.invalid: it refuses \(502\)/ : /through the proxy/,
    );
  });

  test("a certificate that nobody vouches for: what it is, and how to vouch for it", async () => {
    const tls = { cert: Bun.file(TLS_CERT), key: Bun.file(TLS_KEY) };
    const secure = Bun.serve({ hostname: "127.0.0.1", port: 0, tls, fetch: () => new Response("{}") });
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
