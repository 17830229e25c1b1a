/** CONTRACT 3: every refusal is the documented one, the server lives on, and nothing of the upload is kept. */
import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { cpuOfAsync } from "../kit/cpu.ts";
import { storedBlobs } from "../kit/operator.ts";
import { JSON_TYPE, ZIP } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";

const MAX_ZIP = 100_000;
const server = await sharedServer("--max-files", "3", "--max-bytes", "50000", "--max-zip-bytes", String(MAX_ZIP));
const site = await server.deploy({ "index.html": "<title>kept</title>" });

const blobs = () => storedBlobs(server.data_dir);
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
  "two slashes after an address": { path: () => "/healthz//", init: () => ({}), status: 404, code: "not_found" },
  "a slash after an address to write to": {
    ...upload(() => one),
    path: () => "/sites/",
    status: 404,
    code: "not_found",
  },
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
    expect(await cpuOfAsync(ask)).toBeLessThan(3000); // it takes some ms; a slow machine may have ten times as much
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

test.each([
  ["/dashboard/?page=2", "/dashboard?page=2"],
  ["/dashboard/account/", "/dashboard/account"],
  ["/healthz/", "/healthz"],
])("%s, with a slash too many, leads to %s", async (path, location) => {
  for (const method of ["GET", "HEAD"]) {
    const response = await server.api(path, { method, redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([308, location]);
  }
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
