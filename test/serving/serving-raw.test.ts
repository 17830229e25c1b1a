/** RELIABILITY H17, H18, H36 to H41, H49 to H53, H57: what arrives on the socket. B: Bun decides before our handler. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rawAnswers, rawBytes, rawExchange, rawRequest } from "../kit/raw-http.ts";
import { startExplained } from "../kit/explained.ts";
import { type DeployResult, type TestServer } from "../kit/server.ts";

let server: TestServer;
let site: DeployResult;
let other: DeployResult;
let host: string;
beforeAll(async () => {
  server = await startExplained();
  site = await server.deploy({ "index.html": "<title>first</title>", b: "file b" });
  other = await server.deploy({ "index.html": "<title>second</title>", b: "other b" });
  host = `${site.slug}.localhost:${server.port}`;
});
afterAll(() => server[Symbol.asyncDispose]());

const CLOSE = "Connection: close\r\n\r\n";
/** Statuses of everything that was answered; HOST stands for the site's. */
async function statuses(sent: string, quiet_ms = 1_500): Promise<number[]> {
  const bytes = await rawBytes(server.port, Buffer.from(sent.replaceAll("HOST", host), "latin1"), quiet_ms);
  return [...bytes.toString("latin1").matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}
const alive = async () => expect((await server.site(site.slug, "/b")).status).toBe(200);

test.each(["OPTIONS", "POST", "PUT", "DELETE", "PATCH", "PROPFIND", "TRACE", "CONNECT"])(
  "H17: %s is a 405 that allows GET and HEAD, and echoes nothing",
  async (method) => {
    const answer = await rawRequest(server.port, host, method, "/p", ["X-Secret: open sesame"]);
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(JSON.parse(answer.text)).toMatchObject({ code: "method_not_allowed" });
    expect(answer.text).not.toContain("sesame");
  },
);

test.each(["get / HTTP/1.1", "FOO / HTTP/1.1"])("H18 (B): %s closes the socket without an answer", async (line) => {
  expect(await statuses(`${line}\r\nHost: HOST\r\n\r\n`)).toEqual([]);
  await alive();
});

test.each([
  ["upper case", () => host.toUpperCase()],
  ["a trailing dot", () => host.replace(":", ".:")],
  ["no port", () => host.replace(/:.*/, "")],
  ["another port", () => host.replace(/:.*/, ":1")],
  ["tabs around it", () => `\t${host}\t`],
])("H36: Host with %s is the site", async (_, sent) => {
  const answer = await rawRequest(server.port, sent(), "GET", "/b");
  expect([answer.status, answer.text]).toEqual([200, "file b"]);
});

describe("H37: a Host that is none is a 400", () => {
  test("missing in HTTP/1.1 (B)", async () => {
    expect(await statuses(`GET / HTTP/1.1\r\n${CLOSE}`)).toEqual([400]);
  });
  test.each([
    "",
    "a,b",
    "a b",
    "u@a",
    "a/x",
    "a?x",
    "a#x",
    "%61",
    "a..t",
    ".t",
    "a.localhost:abc",
    "a.localhost:99999",
    "[::1",
    "caf\u00e9.localhost",
    "a".repeat(300),
    "x/../@y",
  ])("%p", async (sent) => {
    const answer = await rawRequest(server.port, sent, "GET", "/");
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([400, { code: "invalid_host" }]);
  });
});

test("H38: two Hosts are a 400, the same or not; HTTP/1.0 without one is a 404, never a 500", async () => {
  expect(await statuses(`GET / HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n${CLOSE}`)).toEqual([400]);
  expect(await statuses(`GET / HTTP/1.1\r\nHost: HOST\r\nHost: other.localhost\r\n${CLOSE}`)).toEqual([400]);
  expect(await statuses("GET / HTTP/1.0\r\n\r\n")).toEqual([404]);
  expect(await statuses("POST /x HTTP/1.0\r\n\r\n")).toEqual([404]);
});

test.each([
  ["an unknown name", () => "example.com"],
  ["an address", () => "10.0.0.1"],
  ["two labels before the domain", () => `a.${host}`],
  ["a name that only ends like the domain", () => `${site.slug}evillocalhost`],
  ["a label in punycode", () => "xn--bcher-kva.localhost"],
  ["a label of 64 characters", () => `${"a".repeat(64)}.localhost`],
  ["a slug that nobody has", () => "quiet-river-0000.localhost"],
])("H39: %s is a 404 unknown_host", async (_, sent) => {
  const answer = await rawRequest(server.port, sent(), "GET", "/");
  expect([answer.status, JSON.parse(answer.text)]).toMatchObject([404, { code: "unknown_host" }]);
});
test("H39: the base host and loopback names are the API", async () => {
  for (const sent of ["localhost", "127.0.0.1", "[::1]:1"]) {
    expect((await rawRequest(server.port, sent, "GET", "/healthz")).text).toBe('{"ok":true}');
  }
});

test("H41 (B): of an absolute target the Host decides", async () => {
  const answer = await rawRequest(server.port, host, "GET", `http://${other.slug}.localhost/b`);
  expect(["file b", "not_found"]).toContain(answer.status === 200 ? answer.text : JSON.parse(answer.text).code);
  expect(answer.text).not.toContain("other b");
});

describe("H49 (B): Content-Length", () => {
  test("twice the same is harmless", async () => {
    expect(
      await statuses(`POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 3\r\nContent-Length: 3\r\n${CLOSE}abc`),
    ).toEqual([405]);
  });
  test.each(["3\r\nContent-Length: 4", "3, 3", "+3", "0x3", "", "18446744073709551619"])(
    "%p is a 400",
    async (length) => {
      expect(await statuses(`POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: ${length}\r\n${CLOSE}abc`)).toEqual([
        400,
      ]);
    },
  );
});

test.each([
  "Content-Length: 3\r\nTransfer-Encoding: chunked",
  "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
  "Transfer-Encoding: gzip, chunked",
  "Transfer-Encoding: xchunked",
  "Transfer-Encoding: identity",
  "Transfer-Encoding: \x0bchunked",
  "Transfer-Encoding : chunked",
])("H50 (B): %p is a 400", async (header) => {
  expect(await statuses(`POST / HTTP/1.1\r\nHost: HOST\r\n${header}\r\n${CLOSE}0\r\n\r\n`)).toEqual([400]);
});
test("H50 (B): Transfer-Encoding in HTTP/1.0 is a 400", async () => {
  expect(await statuses("POST / HTTP/1.0\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")).toEqual([400]);
});

test.each([
  ["a size that overflows", "fffffffffffffffff\r\nabc\r\n0\r\n\r\n"],
  ["a size with 0x", "0x3\r\nabc\r\n0\r\n\r\n"],
  ["a negative size", "-3\r\nabc\r\n0\r\n\r\n"],
  ["a chunk that ends too late", "3\r\nabcd\r\n0\r\n\r\n"],
  ["bare line feeds", "3\nabc\n0\n\n"],
  ["a line feed in an extension", "3;a\nb\r\nabc\r\n0\r\n\r\n"],
  ["trailers", "3\r\nabc\r\n0\r\nX: y\r\n\r\n"],
])("H51 (B): a chunked body with %s ends in 400 and a closed connection, and is no second request", async (_, body) => {
  const smuggled = "GET /b HTTP/1.1\r\nHost: HOST\r\n\r\n";
  const got = await statuses(`POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n${body}${smuggled}`);
  expect(got.at(-1)).toBe(400);
  // The refusal of the POST itself may be out before its body is read.
  expect(got.slice(0, -1)).toEqual(got.length > 1 ? [405] : []);
  await alive();
});

test.each([
  ["GET", 200],
  ["HEAD", 200],
  ["DELETE", 405],
  ["POST", 405],
])("H52: a body on %s is passed over, and the next request is answered by its own host", async (method, status) => {
  // What must be read from the disk first is answered later, and then Bun closes a connection that has sent more already.
  await rawRequest(server.port, host, "GET", "/");
  const next = `GET /b HTTP/1.1\r\nHost: ${other.slug}.localhost\r\n${CLOSE}`;
  const sent = `${method} / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 5\r\n\r\nhello${next}`;
  const answers = await rawAnswers(server.port, sent, [method, "GET"]);
  expect(answers.map((answer) => answer.status)).toEqual([status, 200]);
  expect(answers[1]!.text).toBe("other b");
});

test.each<[string, string, number[]]>([
  ["bare line feeds", "GET / HTTP/1.1\nHost: HOST\n\n", [505]],
  ["bare carriage returns", "GET / HTTP/1.1\rHost: HOST\r\r", [505]],
  ["a folded field", `GET / HTTP/1.1\r\nHost: HOST\r\nX: a\r\n b\r\n${CLOSE}`, [400]],
  ["a space before the colon", `GET / HTTP/1.1\r\nHost : HOST\r\n${CLOSE}`, [400]],
  ["a leading empty line", `\r\nGET / HTTP/1.1\r\nHost: HOST\r\n${CLOSE}`, [400]],
  ["NUL in a field", `GET / HTTP/1.1\r\nHost: HOST\r\nX: a\0b\r\n${CLOSE}`, [400]],
  ["a 20 KB target", `GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: HOST\r\n${CLOSE}`, [431]],
  ["250 fields", `GET / HTTP/1.1\r\nHost: HOST\r\n${"X: y\r\n".repeat(250)}${CLOSE}`, [431]],
  ["HTTP/0.9", "GET /\r\n\r\n", [505]],
  ["HTTP/1.2", `GET / HTTP/1.2\r\nHost: HOST\r\n${CLOSE}`, [505]],
  ["HTTP/2.0", `GET / HTTP/2.0\r\nHost: HOST\r\n${CLOSE}`, [505]],
  ["a TLS hello", `\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03${"\0".repeat(50)}`, [400]],
  ["a target without a slash", `GET b HTTP/1.1\r\nHost: HOST\r\n${CLOSE}`, [400]],
])("H53 (B): %s is refused, and the server lives", async (_, sent, expected) => {
  expect(await statuses(sent)).toEqual(expected);
  await alive();
});

describe("H57: connections", () => {
  test("HTTP/1.0 closes after its answer, which is framed all the same", async () => {
    const [answer, ...more] = await rawAnswers(server.port, `GET /b HTTP/1.0\r\nHost: ${host}\r\n\r\n`);
    expect([answer!.status, answer!.text, more.length]).toEqual([200, "file b", 0]);
  });
  test("Connection: close closes at once", async () => {
    const { bytes, closed } = await rawExchange(server.port, `GET /b HTTP/1.1\r\nHost: ${host}\r\n${CLOSE}`);
    expect([bytes.toString().endsWith("file b"), closed]).toEqual([true, true]);
  });
  test("1,000 requests in a row on one connection have 1,000 answers in order", async () => {
    const paths = Array.from({ length: 1_000 }, (_, i) => (i % 2 === 0 ? "/b" : `/nowhere-${i}`));
    const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    const last = `HEAD /b HTTP/1.1\r\nHost: ${host}\r\n${CLOSE}`;
    const answers = await rawAnswers(server.port, requests.join("") + last, [...paths.map(() => "GET"), "HEAD"]);
    expect(answers.map(({ status }) => status)).toEqual([...paths.map((path) => (path === "/b" ? 200 : 404)), 200]);
    expect(answers.filter(({ text }) => text === "file b").length).toBe(500);
  });
});
