/** RELIABILITY 5: who may call what. Nothing changes unless the answer is 200. */
import { beforeAll, describe, expect, test } from "bun:test";
import { newToken } from "../../src/base/tokens.ts";
import { type DeployResult } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";

let own: DeployResult;
let other: DeployResult;
let gone: DeployResult;
const server = await sharedServer();
beforeAll(async () => {
  gone = await server.deploy({ "index.html": "gone" });
  server.advance(14 * 86_400_000);
  await server.running.store.sweep(server.now());
  own = await server.deploy({ "index.html": "own" });
  other = await server.deploy({ "index.html": "other" });
});

const CREDENTIALS: Record<string, () => string | null> = {
  none: () => null,
  unknown: () => `Bearer ${newToken("svc_manage_")}`,
  malformed: () => "Bearer two words",
  "manage own": () => `Bearer ${own.manage_token}`,
  "manage other": () => `Bearer ${other.manage_token}`,
  "claim as bearer": () => `Bearer ${own.claim_token}`,
};
type Row = [title: string, method: string, path: () => string, expected: Record<keyof typeof CREDENTIALS, number>];

const open = {
  none: 200,
  unknown: 200,
  malformed: 200,
  "manage own": 200,
  "manage other": 200,
  "claim as bearer": 200,
};
const managed = {
  none: 401,
  unknown: 401,
  malformed: 401,
  "manage own": 200,
  "manage other": 401,
  "claim as bearer": 401,
};
const nobody = { ...managed, "manage own": 401 };

const rows: Row[] = [
  ["GET /healthz", "GET", () => "/healthz", open],
  ["GET /limits", "GET", () => "/limits", open],
  ["POST /sites", "POST", () => "/sites", { ...nobody, none: 200 }],
  ["POST …/deploys", "POST", () => `/sites/${own.site_id}/deploys`, managed],
  ["POST …/rollback", "POST", () => `/sites/${own.site_id}/rollback`, managed],
  ["GET /sites/:id", "GET", () => `/sites/${own.site_id}`, managed],
  ["GET /sites/:id of a site that never was", "GET", () => `/sites/site_${"z".repeat(20)}`, nobody],
  ["POST …/deploys of a site that is gone", "POST", () => `/sites/${gone.site_id}/deploys`, nobody],
  ["GET of a site that is gone", "GET", () => `/sites/${gone.site_id}`, nobody],
];

function call(method: string, path: string, authorization: string | null): Promise<Response> {
  const headers: Record<string, string> = {
    "content-type": path.endsWith("rollback") ? "application/json" : "application/zip",
  };
  if (authorization) headers.authorization = authorization;
  const body = path.endsWith("rollback")
    ? JSON.stringify({ version_id: own.version_id })
    : zipOf({ "index.html": "own" });
  return server.api(path, { method, headers, ...(method === "POST" && { body }) });
}

describe.each(rows)("%s", (_, method, path, expected) => {
  test.each(Object.keys(CREDENTIALS))("with %s", async (credential) => {
    const response = await call(method, path(), CREDENTIALS[credential]!());
    expect(response.status).toBe(expected[credential]!);
    if (response.status === 401) {
      expect(await response.json()).toMatchObject({ code: "unauthorized" });
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
    }
  });
});

test.each([
  ["GET", () => `/sites/${gone.site_id}`],
  ["POST", () => `/sites/${gone.site_id}/deploys`],
  ["POST", () => `/sites/${gone.site_id}/rollback`],
] as const)(
  "%s of a gone site with its former token is 404 unknown_site, so that a client drops its link",
  async (method, path) => {
    const response = await call(method, path(), `Bearer ${gone.manage_token}`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: "unknown_site" });
  },
);

test("an unknown site with a wrong token answers exactly like a known one", async () => {
  const wrong = `Bearer ${newToken("svc_manage_")}`;
  const bodies = await Promise.all(
    [own.site_id, `site_${"z".repeat(20)}`].map(async (id) => {
      const { request_id, ...rest } = (await (await call("GET", `/sites/${id}`, wrong)).json()) as {
        request_id: string;
      };
      return rest;
    }),
  );
  expect(bodies[0]).toEqual(bodies[1]!);
});

test.each([
  ["bearer in lower case", (token: string) => `bearer ${token}`, 200],
  ["BEARER with two spaces", (token: string) => `BEARER  ${token}`, 200],
  ["Basic", (token: string) => `Basic ${token}`, 401],
  ["a comma list", (token: string) => `Bearer ${token}, Bearer ${token}`, 401],
  ["a tab", (token: string) => `Bearer\t${token}`, 401],
  ["8 KB", (token: string) => `Bearer ${token}${"x".repeat(8000)}`, 401],
  ["the token alone", (token: string) => token, 401],
] as const)("A3 Authorization: %s", async (_, header, status) => {
  expect((await call("GET", `/sites/${own.site_id}`, header(own.manage_token))).status).toBe(status);
});

test("A3 a token in the query is no credential", async () => {
  expect((await server.api(`/sites/${own.site_id}?token=${own.manage_token}`)).status).toBe(401);
});

test("A2 no token is anywhere in the data directory", async () => {
  const found: string[] = [];
  for await (const path of new Bun.Glob("**/*").scan({ cwd: server.data_dir, dot: true })) {
    const text = Buffer.from(await Bun.file(`${server.data_dir}/${path}`).bytes()).toString("latin1");
    for (const token of [own.manage_token, own.claim_token!, other.manage_token, gone.manage_token]) {
      if (text.includes(token)) found.push(path);
    }
  }
  expect(found).toEqual([]);
});
