/** CONTRACT.md 3: every refusal is the documented one, the server lives on, and nothing of the upload is kept. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { cpuOfAsync } from "../kit/cpu.ts";
import { type DeployResult, startServer, type TestServer } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";

const MAX_ZIP = 100_000;
let server: TestServer;
let site: DeployResult;
beforeAll(async () => {
  server = await startServer("--max-files", "3", "--max-bytes", "50000", "--max-zip-bytes", String(MAX_ZIP));
  site = await server.deploy({ "index.html": "<title>kept</title>" });
});
afterAll(() => server[Symbol.asyncDispose]());

const blobs = () =>
  readdirSync(join(server.data_dir, "blobs"), { recursive: true }).filter((path) => String(path).includes("/"));
const ZIP = { "content-type": "application/zip" };
const JSON_TYPE = { "content-type": "application/json" };
const own = () => ({ authorization: `Bearer ${site.manage_token}` });
const deploys = () => `/sites/${site.site_id}/deploys`;
const rollback = () => `/sites/${site.site_id}/rollback`;
const one = zipOf({ "index.html": "x" });
const noise = (length: number) => crypto.getRandomValues(new Uint8Array(length));

interface Case {
  path: () => string;
  init: () => RequestInit;
  status: number;
  code: string;
  more?: object;
}
const post = (path: () => string, init: () => RequestInit) => ({ path, init: () => ({ method: "POST", ...init() }) });
const upload = (body: () => Uint8Array<ArrayBuffer>, headers: Record<string, string> = ZIP) =>
  post(
    () => "/sites",
    () => ({ body: body(), headers }),
  );
const json = (body: string) => post(rollback, () => ({ body, headers: { ...own(), ...JSON_TYPE } }));

const cases: Record<string, Case> = {
  "an unknown path": { path: () => "/nothing", init: () => ({}), status: 404, code: "not_found" },
  "an unknown path below /sites": { path: () => "/sites/a/b/c", init: () => ({}), status: 404, code: "not_found" },
  "DELETE /healthz": {
    path: () => "/healthz",
    init: () => ({ method: "DELETE" }),
    status: 405,
    code: "method_not_allowed",
  },
  "GET /sites": { path: () => "/sites", init: () => ({}), status: 405, code: "method_not_allowed" },
  "OPTIONS /sites": {
    path: () => "/sites",
    init: () => ({ method: "OPTIONS" }),
    status: 405,
    code: "method_not_allowed",
  },
  "no content type": { ...upload(() => one, {}), status: 415, code: "unsupported_media_type" },
  "a form": {
    ...upload(() => one, { "content-type": "multipart/form-data; boundary=x" }),
    status: 415,
    code: "unsupported_media_type",
  },
  "a zip as text/plain": {
    ...upload(() => one, { "content-type": "text/plain" }),
    status: 415,
    code: "unsupported_media_type",
  },
  "a gzipped zip": {
    ...upload(() => one, { ...ZIP, "content-encoding": "gzip" }),
    status: 415,
    code: "unsupported_media_type",
  },
  "an empty body": { ...upload(() => new Uint8Array()), status: 400, code: "invalid_zip" },
  "HTML instead of a zip": {
    ...upload(() => Buffer.from("<p>hello") as Uint8Array<ArrayBuffer>),
    status: 400,
    code: "invalid_zip",
  },
  "a zip with nothing in it": { ...upload(() => zipOf({})), status: 400, code: "empty_deploy" },
  "a path that climbs": { ...upload(() => zipOf({ "../x": "x" })), status: 400, code: "unsafe_path" },
  "a zip one byte too large": {
    ...upload(() => noise(MAX_ZIP + 1)),
    status: 413,
    code: "zip_too_large",
    more: { limit: MAX_ZIP, actual: MAX_ZIP + 1 },
  },
  "a file too many": {
    ...upload(() => zipOf({ a: "1", b: "2", c: "3", d: "4" })),
    status: 413,
    code: "too_many_files",
    more: { limit: 3, actual: 4, largest: expect.any(Array) },
  },
  "a byte too many": {
    ...upload(() => zipOf({ big: "x".repeat(40_001), small: "y".repeat(10_000) })),
    status: 413,
    code: "deploy_too_large",
    more: {
      limit: 50_000,
      actual: 50_001,
      largest: [
        { path: "big", bytes: 40_001 },
        { path: "small", bytes: 10_000 },
      ],
    },
  },
  "a deploy without a credential": {
    ...post(deploys, () => ({ body: one, headers: ZIP })),
    status: 401,
    code: "unauthorized",
  },
  "a deploy to a site that never was": {
    ...post(
      () => `/sites/site_${"0".repeat(20)}/deploys`,
      () => ({ body: one, headers: { ...own(), ...ZIP } }),
    ),
    status: 401,
    code: "unauthorized",
  },
  "a first deploy with an unknown credential, which never becomes an anonymous site": {
    ...upload(() => one, { ...ZIP, authorization: "Bearer nonsense" }),
    status: 401,
    code: "unauthorized",
  },
  "no JSON": { ...json("{"), status: 400, code: "invalid_json" },
  "JSON of another kind": { ...json("[1]"), status: 400, code: "invalid_json" },
  "JSON that is not UTF-8": {
    ...post(rollback, () => ({ body: new Uint8Array([0x7b, 0xff, 0x7d]), headers: { ...own(), ...JSON_TYPE } })),
    status: 400,
    code: "invalid_json",
  },
  "A12 JSON nested deeper than 32 levels": {
    ...json(`{"version_id":${"[".repeat(40)}${"]".repeat(40)}}`),
    status: 400,
    code: "invalid_json",
  },
  "A12 a body over 64 KiB": { ...json(`{"version_id":"${"x".repeat(65_536)}"}`), status: 413, code: "body_too_large" },
  "A12 a missing member": { ...json("{}"), status: 400, code: "invalid_input", more: { field: "version_id" } },
  "A12 a member of the prototype is missing too": {
    ...json('{"__proto__":{"version_id":"x"}}'),
    status: 400,
    code: "invalid_input",
  },
  "a version that is none": { ...json('{"version_id":"0000000000000000"}'), status: 404, code: "unknown_version" },
};

test("A12 a body of quotes that are never closed takes no time", async () => {
  const body = `{"version_id":"${'\\"'.repeat(32_700)}`;
  for (const end of ["", "\\"]) {
    const ask = async () =>
      expect((await server.api(rollback(), { method: "POST", body: body + end, headers: own() })).status).toBe(400);
    expect(await cpuOfAsync(ask)).toBeLessThan(300);
  }
});

describe.each(Object.entries(cases))("%s", (_, { path, init, status, code, more }) => {
  test(`is ${status} ${code}, in the documented form, and leaves nothing behind`, async () => {
    const before = blobs();
    const response = await server.api(path(), init());
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("svc-version")).toBe("2026-11-21");
    expect(response.headers.get("cache-control")).toBe("no-store");
    const body = (await response.json()) as { error: string; code: string; request_id: string };
    expect(body).toMatchObject({ code, ...more });
    expect(body.request_id).toBe(response.headers.get("x-request-id")!);
    expect(body.error).toMatch(/^[A-Z].*[^ ]$/);
    expect(blobs()).toEqual(before);
    expect(readdirSync(join(server.data_dir, "tmp"))).toEqual([]);
    expect((await server.api("/healthz")).status).toBe(200);
  });
});

test("405 names what is allowed", async () => {
  expect((await server.api("/sites")).headers.get("allow")).toBe("POST");
  expect((await server.api("/healthz", { method: "PUT" })).headers.get("allow")).toBe("GET, HEAD");
});

test("401 says how to authenticate", async () => {
  expect((await server.api(`/sites/${site.site_id}`)).headers.get("www-authenticate")).toBe("Bearer");
});

test("every API answer has X-Request-Id and Svc-Version, each request its own id", async () => {
  const answers = await Promise.all([server.api("/healthz"), server.api("/limits")]);
  const ids = answers.map((response) => response.headers.get("x-request-id"));
  expect(new Set(ids).size).toBe(2);
  for (const id of ids) expect(id).toMatch(/^req_[0-9a-z]{16}$/);
  for (const response of answers) expect(response.headers.get("svc-version")).toBe("2026-11-21");
});

/** What a raw client gets back, until the server closes or answers with a whole head and `enough` says so. */
function raw(lines: string, body: Uint8Array[] = []): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(server.port, "127.0.0.1", () => {
      socket.write(lines);
      for (const chunk of body) socket.write(chunk);
    });
    socket.on("data", (chunk) => {
      answer += chunk.toString("latin1");
      if (answer.includes('"request_id"')) socket.destroy();
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", (error) => (answer ? resolve(answer) : reject(error)));
  });
}

test("A13 a zip that is announced too large is refused before its body is sent", async () => {
  const head = `POST /sites HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/zip\r\nContent-Length: 99000000000\r\n\r\n`;
  const answer = await raw(head);
  expect(answer).toStartWith("HTTP/1.1 413");
  expect(answer).toContain("zip_too_large");
});

test("A13 a chunked zip is read no further than one byte past the limit", async () => {
  const chunk = noise(MAX_ZIP / 2 + 1);
  const framed = Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n")]);
  const head =
    "POST /sites HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/zip\r\nTransfer-Encoding: chunked\r\n\r\n";
  const answer = await raw(head, [framed, framed]);
  expect(answer).toStartWith("HTTP/1.1 413");
});

/** An upload that is announced and never comes. */
function stuck(port: number, header = ""): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(
    `POST /sites HTTP/1.1\r\nHost: localhost\r\n${header}Content-Type: application/zip\r\nContent-Length: 500\r\n\r\nPK`,
  );
  return socket;
}

/** Asks until a place is refused. A deploy of our own may take one for a moment, so each try adds a stuck upload. */
async function untilRefused(open: Socket[], more: () => Socket, ask: () => Promise<Response>): Promise<Response> {
  for (let tries = 0; tries < 50; tries++) {
    const response = await ask();
    if (response.status === 503) return response;
    open.push(more());
    await Bun.sleep(20);
  }
  throw new Error("a 17th upload was never refused");
}

test("an address has at most 16 uploads in flight; the next is 503 with Retry-After", async () => {
  const more = () => stuck(server.port);
  const open = Array.from({ length: 15 }, more);
  try {
    expect((await server.post(one)).status).toBe(200);
    const response = await untilRefused(open, more, () => server.post(one));
    expect(await response.json()).toMatchObject({ code: "unavailable" });
    expect(response.headers.get("retry-after")).toBe("1");
  } finally {
    for (const socket of open) socket.destroy();
  }
});

test("the addresses of an IPv6 /64 are one: together they have at most 16", async () => {
  await using proxied = await startServer("--trust-proxy", "127.0.0.1");
  let host = 0;
  const more = () => stuck(proxied.port, `X-Forwarded-For: 2001:db8::${(++host).toString(16)}\r\n`);
  const open = Array.from({ length: 16 }, more);
  const ask = (address: string) =>
    proxied.api("/sites", { method: "POST", body: one, headers: { ...ZIP, "x-forwarded-for": address } });
  try {
    await untilRefused(open, more, () => ask("2001:db8::ffff"));
    expect((await ask("2001:db8:0:1::1")).status).toBe(200);
  } finally {
    for (const socket of open) socket.destroy();
  }
});

test("a deploy is in flight until it is answered: of forty at once some are 503, and none is lost", async () => {
  const zips = Array.from({ length: 40 }, (_, n) => zipOf({ "index.html": `at once ${n}` }));
  const statuses = (await Promise.all(zips.map((zip) => server.post(zip)))).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(16);
  expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(0);
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
});

test("uploads that were given up free their places", async () => {
  for (let tries = 0; tries < 100; tries++) {
    if ((await server.post(one)).status === 200) return;
    await Bun.sleep(20);
  }
  throw new Error("the places were never freed");
});

test("the limits hold on both sides: exactly at each bound a deploy is taken", async () => {
  expect((await server.post(zipOf({ a: "1", b: "2", c: "3" }))).status).toBe(200);
  expect((await server.post(zipOf({ a: "x".repeat(40_000), b: "y".repeat(10_000) }))).status).toBe(200);
});
