/** CONTRACT 8: the proxy that the environment names is taken by the program and, under Node, by the npm package alike. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";
import { chmod } from "node:fs/promises";
import { cliText } from "../../scripts/release/portable.ts";
import { certificateFor } from "../kit/certificate.ts";
import { CLI, Home, json } from "../kit/cli.ts";
import { DEPLOYED, LIMITS } from "../kit/fake-server.ts";

setDefaultTimeout(60_000);

/** Known to the proxy alone. */
const HOST = "svc.test";
const BYTES = 3_000_000;
const { cert, key } = certificateFor([HOST]);
/** For the proxy, and for a false server behind it. */
const machine = certificateFor(["localhost", "127.0.0.1"]);

let home: Home;
/** The port of a server of each scheme. */
const ports: Record<string, number> = {};
const servers: Bun.Server<unknown>[] = [];
/** The requests that the servers got, and those that the proxy got. */
let received: { path: string; bytes: number }[] = [];
let asked: { way: string; authorization: string | undefined }[] = [];
let proxy: Server;
/** The same behind TLS. */
let secure: Server;
/** The server to which CONNECT leads. */
let leads = "https";
let refuses = false;
let runs = 0;

async function answer(request: Request): Promise<Response> {
  const path = new URL(request.url).pathname;
  if (path === "/limits") return Response.json({ ...LIMITS, max_bytes: 2 * BYTES });
  received.push({ path, bytes: (await request.bytes()).length });
  return Response.json(DEPLOYED);
}

async function forward(request: IncomingMessage): Promise<Response> {
  const url = new URL(request.url!);
  const parts = await Array.fromAsync(request as AsyncIterable<Buffer>);
  const { method = "GET" } = request;
  return fetch(`http://127.0.0.1:${ports["http"]}${url.pathname}`, {
    method,
    headers: { host: url.host },
    ...(method !== "GET" && { body: Buffer.concat(parts) }),
  });
}

beforeAll(async () => {
  home = await Home.make("");
  await home.write("site", {
    "index.html": "<title>By proxy</title>",
    "large.bin": crypto
      .getRandomValues(new Uint8Array(65_536))
      .toHex()
      .repeat(BYTES / 131_072),
  });
  await home.write("program", {
    "cli.mjs": await cliText({}),
    "ca.pem": cert,
    "machine.pem": machine.cert,
    "both.pem": cert + machine.cert,
  });
  await chmod(home.path("program", "cli.mjs"), 0o755);
  for (const [scheme, tls] of [
    ["http", undefined],
    ["https", { cert, key }],
    ["machine", machine],
  ] as const) {
    const server = Bun.serve({ hostname: "127.0.0.1", port: 0, ...(tls && { tls }), fetch: answer });
    servers.push(server);
    ports[scheme] = server.port!;
  }
  const noted = (way: string, { headers }: IncomingMessage) =>
    asked.push({ way, authorization: headers["proxy-authorization"] });
  const answerPlain = async (request: IncomingMessage, response: ServerResponse) => {
    noted(`${request.method} ${request.url}`, request);
    if (refuses) return void response.writeHead(407).end();
    const answered = await forward(request);
    response.writeHead(answered.status, { "content-type": "application/json" });
    response.end(await answered.text());
  };
  const tunnel = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    noted(`CONNECT ${request.url}`, request);
    if (refuses) return socket.end("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n");
    const upstream = connect(ports[leads]!, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.write(head);
      socket.pipe(upstream).pipe(socket);
    });
    for (const end of [upstream, socket]) end.on("error", () => (upstream.destroy(), socket.destroy()));
  };
  proxy = createServer(answerPlain).on("connect", tunnel);
  secure = createSecureServer(machine, answerPlain).on("connect", tunnel);
  for (const one of [proxy, secure]) await new Promise<void>((listens) => one.listen(0, "127.0.0.1", listens));
});
afterAll(async () => {
  for (const one of [proxy, secure]) {
    one.closeAllConnections();
    one.close();
  }
  await Promise.all(servers.map((server) => server.stop(true)));
  await home[Symbol.asyncDispose]();
});

const address = (): string => `127.0.0.1:${(proxy.address() as AddressInfo).port}`;

describe.each<[runtime: string, program: () => string[]]>([
  ["Bun", () => CLI],
  ["Node", () => [Bun.which("node")!, home.path("program", "cli.mjs")]],
])("under %s", (runtime, program) => {
  const deploy = (env: Record<string, string>, to = "https") => {
    [received, asked, leads] = [[], [], to];
    // No folder is linked from a deploy before.
    const trust = {
      NODE_EXTRA_CA_CERTS: home.path("program", "ca.pem"),
      SVC_CONFIG_DIR: home.path(`config-${runs++}`),
    };
    return home.run(["site", "--json"], { program: program(), env: { ...trust, ...env } });
  };

  test.each<[scheme: string, variable: string, ways: string[]]>([
    ["https", "HTTPS_PROXY", [`CONNECT ${HOST}:443`]],
    ["https", "all_proxy", [`CONNECT ${HOST}:443`]],
    ["http", "http_proxy", [`GET http://${HOST}/limits`, `POST http://${HOST}/sites`]],
  ])("%s goes through the proxy of %s, with its password, and every byte arrives", async (scheme, variable, ways) => {
    const ran = await deploy({ DEPLOY_URL: `${scheme}://${HOST}`, [variable]: `http://me:p%40ss@${address()}` });
    expect(json(ran)).toMatchObject({ ok: true, url: DEPLOYED.url });
    expect(new Set(asked.map(({ way }) => way))).toEqual(new Set(ways));
    const basic = `Basic ${Buffer.from("me:p@ss").toString("base64")}`;
    expect(new Set(asked.map(({ authorization }) => authorization))).toEqual(new Set([basic]));
    expect(received.map(({ path }) => path)).toEqual(["/sites"]);
    expect(received[0]!.bytes).toBeGreaterThan(60_000);
  });

  test("a certificate for the proxy's name or this machine's is none for a server that is named by its address", async () => {
    const env = {
      DEPLOY_URL: "https://203.0.113.7",
      HTTPS_PROXY: `http://${address()}`,
      SVC_TOKEN: "svc_session_secret",
    };
    const ran = await deploy({ ...env, NODE_EXTRA_CA_CERTS: home.path("program", "machine.pem") }, "machine");
    expect([ran.code, received]).toEqual([1, []]);
    expect(ran.out).toContain("is not to be trusted");
  });

  // Bun's own fetch drops it.
  if (runtime === "Node")
    test("a password with a bare % in it is sent as it stands", async () => {
      await deploy({ DEPLOY_URL: `https://${HOST}`, HTTPS_PROXY: `http://me:100%@${address()}` });
      const sent = Buffer.from(asked[0]!.authorization!.split(" ")[1]!, "base64").toString();
      expect(sent).toBe("me:100%");
    });

  test("a proxy that is asked over TLS is known by its own certificate", async () => {
    const ran = await deploy({
      DEPLOY_URL: `https://${HOST}`,
      HTTPS_PROXY: `https://localhost:${(secure.address() as AddressInfo).port}`,
      NODE_EXTRA_CA_CERTS: home.path("program", "both.pem"),
    });
    expect(json(ran)).toMatchObject({ ok: true, url: DEPLOYED.url });
  });

  test("one that refuses is named, without its password", async () => {
    refuses = true;
    for (const scheme of ["https", "http"]) {
      const variable = `${scheme.toUpperCase()}_PROXY`;
      const ran = await deploy({ DEPLOY_URL: `${scheme}://${HOST}`, [variable]: `http://me:hidden@${address()}` });
      expect(ran.code).toBe(1);
      expect(ran.out).toContain(
        `The proxy http://${address()} (${variable}) let nothing through to ${scheme}://${HOST}: it wants a user and a password (407). Write them into ${variable} (http://user:password@${address()}), or set NO_PROXY=${HOST} if the server can be reached without it.`,
      );
      expect(ran.out + ran.err).not.toContain("hidden");
    }
    refuses = false;
  });

  test("a variable that names no proxy of HTTP is named", async () => {
    const ran = await deploy({ DEPLOY_URL: `https://${HOST}`, HTTPS_PROXY: "ftp://127.0.0.1:1" });
    expect([ran.code, ran.out]).toEqual([1, expect.stringContaining("the proxy ftp://127.0.0.1:1 (HTTPS_PROXY)")]);
  });

  test("a host that NO_PROXY excepts is asked without it", async () => {
    const ran = await deploy({ DEPLOY_URL: `https://${HOST}`, HTTPS_PROXY: address(), NO_PROXY: ".test" });
    expect([ran.code, asked]).toEqual([1, []]);
  });
});
