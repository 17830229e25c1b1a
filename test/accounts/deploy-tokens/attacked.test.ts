/** RELIABILITY 5 on deploy tokens: they open what BEYOND 7 says by Authorization alone, and nothing beside it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { apiRoutes } from "../../../src/routes/table.ts";
import { newToken } from "../../../src/base/tokens.ts";
import { WEB } from "../../../src/web/index.ts";
import { bearer, type Person, signUp } from "../../kit/people.ts";
import { rawExchange } from "../../kit/raw-http.ts";
import { type DeployResult, JSON_TYPE, startServer, type TestServer, ZIP } from "../../kit/server.ts";
import { snapshot } from "../../kit/database.ts";
import { zipOf } from "../../kit/zip.ts";
import { ownership } from "../owned.ts";
import { type Given, givenBy } from "./given.ts";

setDefaultTimeout(60_000);

let server: TestServer;
let ann: Person;
let site: DeployResult;
let all: Given;
beforeAll(async () => {
  server = await startServer({ SVC_MCP: "on" });
  ann = await signUp(server);
  site = await owned(ann);
  all = await give(ann, ["read", "preview", "deploy", "create"]);
});
afterAll(() => server[Symbol.asyncDispose]());

const { owned } = ownership(() => server);
const { give, read } = givenBy(() => server);

/** BEYOND 7's table, and nothing else, what is still to come too. */
const OPENS = [
  "POST /sites",
  "GET /sites/:id",
  ...["settings", "access", "explain", "stats", "diff", "previews", "withheld"].map((what) => `GET /sites/:id/${what}`),
  ...["files", "zip", "receipt"].map((what) => `GET /sites/:id/versions/:version_id/${what}`),
  ...["plan", "previews", "deploys", "rollback"].map((what) => `POST /sites/:id/${what}`),
  "DELETE /sites/:id/previews/:name",
  "POST /sites/:id/previews/:name/promote",
];

describe("BEYOND 7: every route that the table of scopes lacks", () => {
  const ROWS = apiRoutes({ mcp: "off" }).filter(
    ([method, path, , opens]) => opens !== "no_session" && !OPENS.includes(`${method} ${path}`),
  );
  const addressOf = (path: string, version_id = "x") =>
    path
      .replace(":id", site.site_id)
      .replace(":version_id", version_id)
      .replace(":domain", "www.example.org")
      .replace(/:(comment|token)/, "x")
      .replace(":delivery", "msg_x");

  test.each(ROWS.map(([method, path]) => [method, path] as const))(
    "%s %s is 401 to a token with all scopes, and changes nothing",
    async (method, path) => {
      await read(site, all.token);
      const before = snapshot(server.data_dir);
      const response = await server.api(addressOf(path), {
        method,
        headers: { ...JSON_TYPE, ...bearer(all.token) },
        ...(method !== "GET" && { body: "{}" }),
      });
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ code: "unauthorized" });
      expect(snapshot(server.data_dir)).toEqual(before);
    },
  );

  test("MCP is 401", async () => {
    const headers = { ...JSON_TYPE, ...bearer(all.token), accept: "application/json, text/event-stream" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    const answer = await server.api(`/sites/${site.site_id}/comments/mcp`, { method: "POST", headers, body });
    expect(answer.status).toBe(401);
  });

  const PAGES = WEB.filter(([method, path]) => method === "POST" || /dashboard|^\/device|claim/.test(path));
  test.each(PAGES.map(([method, path]) => [method, path] as const))(
    "the page %s %s knows nobody by it, and does nothing",
    async (method, path) => {
      const before = snapshot(server.data_dir);
      const response = await server.api(addressOf(path, site.version_id), {
        method,
        redirect: "manual",
        headers: {
          ...bearer(all.token),
          accept: "text/html",
          origin: server.base_url,
          "sec-fetch-site": "same-origin",
        },
        ...(method === "POST" && { body: new URLSearchParams({ confirm: "delete", version_id: site.version_id }) }),
      });
      expect([200, 303, 400, 401, 403]).toContain(response.status);
      expect(await response.text()).not.toContain(ann.email);
      expect(snapshot(server.data_dir)).toEqual(before);
    },
  );

  test("the form of the start page makes no site of it", async () => {
    const before = server.rows("sites");
    const form = new FormData();
    form.set("zip", new Blob([zipOf({ "index.html": "x" })], { type: "application/zip" }), "x.zip");
    const headers = { ...bearer(all.token), origin: server.base_url, "sec-fetch-site": "same-origin" };
    expect((await server.api("/", { method: "POST", headers, body: form })).status).toBe(401);
    const page = `/dashboard/sites/${site.site_id}/deploys`;
    const answer = await server.api(page, { method: "POST", headers, body: form, redirect: "manual" });
    expect(answer.headers.get("location")).toStartWith("/signin");
    expect(server.rows("sites")).toBe(before);
  });
});

describe("A3: it comes by one Authorization header", () => {
  const status = async (headers: Record<string, string>, query = "") =>
    (await server.api(`/sites/${site.site_id}${query}`, { headers })).status;

  test.each<[string, (token: string) => Record<string, string>, number]>([
    ["Bearer", (token) => ({ authorization: `Bearer ${token}` }), 200],
    ["bearer", (token) => ({ authorization: `bearer ${token}` }), 200],
    ["Basic", (token) => ({ authorization: `Basic ${btoa(`x:${token}`)}` }), 401],
    ["the token alone", (token) => ({ authorization: token }), 401],
    ["a comma list", (token) => ({ authorization: `Bearer ${token}, Bearer ${token}` }), 401],
    ["letters in capitals", (token) => ({ authorization: `Bearer ${token.toUpperCase()}` }), 401],
    ["a letter more", (token) => ({ authorization: `Bearer ${token}A` }), 401],
    ["=", (token) => ({ authorization: `Bearer ${token}=` }), 401],
    ["as a session's cookie", (token) => ({ cookie: `svc_session=${token}` }), 401],
    ["as a comment's cookie", (token) => ({ cookie: `svc_cmt=${token}` }), 401],
    ["PRIVATE-TOKEN", (token) => ({ "private-token": token }), 401],
    ["Proxy-Authorization", (token) => ({ "proxy-authorization": `Bearer ${token}` }), 401],
  ])("%s", async (_, headers, expected) => {
    expect(await status(headers(all.token))).toBe(expected);
  });

  test("in the query, by any name, it is none", async () => {
    for (const name of ["token", "access_token", "authorization", "SVC_TOKEN"]) {
      expect(await status({}, `?${name}=${all.token}`)).toBe(401);
    }
  });

  test("two headers are none, whichever comes first", async () => {
    const [good, other] = [`Authorization: Bearer ${all.token}`, `Authorization: Bearer ${ann.session_token}`];
    for (const pair of [`${good}\r\n${other}`, `${other}\r\n${good}`, `${good}\r\n${good}`]) {
      const sent = `GET /sites/${site.site_id} HTTP/1.1\r\nHost: localhost\r\n${pair}\r\nConnection: close\r\n\r\n`;
      const { bytes } = await rawExchange(server.port, sent);
      expect(bytes.toString()).toStartWith("HTTP/1.1 40");
    }
  });

  test("with a session's cookie beside it the header counts alone", async () => {
    const few = await give(ann, ["read"]);
    const headers = { ...ZIP, ...bearer(few.token), cookie: `svc_session=${ann.session_token}` };
    const body = zipOf({ "index.html": "x" });
    const answer = await server.api(`/sites/${site.site_id}/deploys`, { method: "POST", headers, body });
    expect(await answer.json()).toMatchObject({ code: "scope_missing", needed: "deploy" });
  });
});

describe("A2: guessing", () => {
  test("10,000 wrong ones are 401, note nothing, and leave the right one", async () => {
    const before = snapshot(server.data_dir);
    const statuses = new Set<number>();
    for (let left = 10_000; left > 0; left -= 100) {
      const answers = Array.from({ length: 100 }, () =>
        server.api(`/sites/${site.site_id}`, { headers: bearer(newToken("svc_deploy_")) }),
      );
      for (const answer of await Promise.all(answers)) statuses.add(answer.status);
    }
    expect([...statuses]).toEqual([401]);
    expect(snapshot(server.data_dir)).toEqual(before);
    expect((await read(site, all.token)).status).toBe(200);
  });

  test("its token_id, its hash, and another kind's prefix on its letters open nothing", async () => {
    const letters = all.token.slice("svc_deploy_".length);
    const hash = new Bun.CryptoHasher("sha256").update(all.token).digest("hex");
    const session = ann.session_token.slice("svc_session_".length);
    const others = [
      all.token_id,
      hash,
      letters,
      `svc_deploy_${hash}`,
      `svc_deploy_${session}`,
      `svc_session_${letters}`,
    ];
    for (const token of [...others, `svc_manage_${letters}`, `fau_${letters}`]) {
      expect((await read(site, token)).status).toBe(401);
    }
  });

  test("an unknown site answers as a known one to a wrong token", async () => {
    const wrong = newToken("svc_deploy_");
    const known = await read(site, wrong);
    const unknown = await read({ site_id: `site_${"z".repeat(20)}` }, wrong);
    expect({ ...unknown.body, request_id: "" }).toEqual({ ...known.body, request_id: "" });
  });
});

describe("A1: other people's", () => {
  test("no answer tells of a site of somebody else", async () => {
    const ben = await signUp(server);
    const bens = await owned(ben, "ben's secret title");
    for (const { token } of [all, await give(ann, ["deploy"], { site_ids: [site.site_id] })]) {
      const { status, body } = await read(bens, token);
      expect(status).toBe(403);
      expect(JSON.stringify(body)).not.toContain(bens.slug);
      expect(Object.keys(body)).toEqual(["error", "code", "request_id"]);
    }
  });

  test("a rollback goes to no version of another site", async () => {
    const other = await owned(ann, "other");
    const headers = { ...JSON_TYPE, ...bearer(all.token) };
    const body = JSON.stringify({ version_id: other.version_id });
    const answer = await server.api(`/sites/${site.site_id}/rollback`, { method: "POST", headers, body });
    expect(await answer.json()).toMatchObject({ code: "unknown_version" });
  });

  test("a change that was accepted for one site commits on no other, and in no other scope", async () => {
    const few = await give(ann, ["read"], { site_ids: [site.site_id] });
    const other = await owned(ann, "listed nowhere");
    const deploy_hash = new Bun.CryptoHasher("sha256").update(few.token).digest("hex");
    const { account_id } = ann;
    const { token_id } = few;
    const codeOf = (site_id: string, version_id: string, scope: "read" | "deploy") =>
      server.running.store.rollback({ site_id, by: { deploy_hash, token_id, account_id, scope }, version_id }).then(
        () => "done",
        ({ code }: { code: string }) => code,
      );
    expect(await codeOf(site.site_id, site.version_id, "deploy")).toBe("unauthorized");
    expect(await codeOf(other.site_id, other.version_id, "read")).toBe("forbidden");
  });
});
