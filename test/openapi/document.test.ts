/** BEYOND 13: /openapi.json is a description that others' programs take; each route and code of the tables is in it,
 *  and nothing else; the bodies of SPEC and CONTRACT have the members that those name. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ERROR_CODES, statusOf } from "../../src/base/errors.ts";
import { ELSEWHERE } from "../../src/api/codes.ts";
import { API, SITE_HOST } from "../../src/api/index.ts";
import { apiRoutes } from "../../src/routes/table.ts";
import { SCOPES } from "../../src/base/tokens.ts";
import { comment_rows } from "../accounts/comment-rows.ts";
import type { Credential } from "../accounts/matrix-credentials.ts";
import { rows } from "../accounts/matrix-rows.ts";
import { startServer } from "../kit/server.ts";
import { Contract, type Json } from "./contract.ts";
import { type HeldServer, startHeld } from "./held.ts";
import { lint, schemaErrors } from "./linter.ts";

let held: HeldServer;
let document: Json;
let contract: Contract;
beforeAll(async () => {
  held = await startHeld({ SVC_MCP: "on" });
  ({ contract } = held);
  ({ document } = contract);
});
afterAll(() => held.server[Symbol.asyncDispose]());

describe("a description that others take", () => {
  test("OpenAPI 3.1's own schema finds nothing wrong with it, and finds what is", async () => {
    expect(document.openapi).toStartWith("3.1.");
    expect(await schemaErrors(document)).toEqual([]);
    expect(await schemaErrors({ ...document, info: {} })).not.toEqual([]);
  });

  test("the linter's strictest rules find nothing wrong with it, and find what is", async () => {
    expect(await lint(document)).toEqual([]);
    const broken = structuredClone(document);
    broken.paths["/limits"].get.responses[200].content["application/json"].example.max_files = "many";
    broken.components.schemas.Unused = {};
    expect((await lint(broken)).map((line) => line.split(" ", 1)[0]).toSorted()).toEqual([
      "no-invalid-media-type-examples",
      "no-unused-components",
    ]);
  });

  test("to anybody, coded, kept until it changes, and small enough to be read by a page", async () => {
    const whole = await held.ask("GET", "/openapi.json", 200, { headers: { "accept-encoding": "identity" } });
    const coded = await held.ask("GET", "/openapi.json", 200, { headers: { "accept-encoding": "br" } });
    expect(Number(coded.headers.get("content-length"))).toBeLessThan(whole.text.length / 8);
    expect([coded.headers.get("content-encoding"), coded.headers.get("vary")]).toEqual(["br", "Accept-Encoding"]);
    expect(coded.headers.get("etag")).not.toBe(whole.headers.get("etag"));
    expect(coded.headers.get("cache-control")).toBe("no-cache");
    const known = { "accept-encoding": "identity", "if-none-match": whole.headers.get("etag")! };
    expect((await held.ask("GET", "/openapi.json", 304, { headers: known })).text).toBe("");
    const head = await held.ask("HEAD", "/openapi.json", 200, { headers: { "accept-encoding": "identity" } });
    expect([head.text, head.headers.get("etag")]).toEqual(["", whole.headers.get("etag")]);
    const posted = await held.server.api("/openapi.json", { method: "POST" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  test("a site's own openapi.json is the site's", async () => {
    const { slug } = await held.server.deploy({ "index.html": "x", "openapi.json": '{"mine":true}' });
    expect(await (await held.server.site(slug, "/openapi.json")).json()).toEqual({ mine: true });
  });

  test("without MCP nothing is said of it; under https the cookie is __Host-svc_session", async () => {
    await using server = await startServer("--base-url", "https://svc.test", "--sites-domain", "sites.test");
    const told = new Contract(await (await server.api("/openapi.json", { headers: { host: "svc.test" } })).json());
    expect(told.operations.map(({ operationId }) => operationId)).not.toContain("callTools");
    expect(told.document.components.securitySchemes).not.toHaveProperty("agentToken");
    expect(told.document.components.securitySchemes.sessionCookie.name).toBe("__Host-svc_session");
    expect(told.document.paths["/comments.json"].servers[0].url).toBe("https://{slug}.sites.test");
    expect(await lint(told.document)).toEqual([]);
  });
});

describe("each route of the tables is in it, and nothing else", () => {
  const template = (path: string): string => path.replace(/:(\w+)/g, "{$1}");
  const of_api = apiRoutes({ mcp: "on" }).map(([method, path]) => `${method} ${path}`);
  const of_sites = Object.keys(SITE_HOST);
  const told = (at: "api" | "site"): string[] =>
    Object.entries<Json>(document.paths)
      .filter(([, { servers }]) => (servers === undefined) === (at === "api"))
      .flatMap(([path, verbs]) =>
        Object.keys(verbs)
          .filter((verb) => verb !== "servers")
          .map((verb) => `${verb.toUpperCase()} ${path}`),
      );

  test("of the API's host, at the address that was asked for it", () => {
    expect(told("api").toSorted()).toEqual(of_api.map(template).toSorted());
    expect(document.servers).toEqual([{ url: "/", description: "This server." }]);
  });

  test("of a site's own host", () => {
    expect(told("site").toSorted()).toEqual(of_sites.map(template).toSorted());
  });

  test("no description is without a route", () => {
    expect([...Object.keys(API), ...Object.keys(SITE_HOST)].toSorted()).toEqual([...of_api, ...of_sites].toSorted());
  });

  test("each with its own name, a summary without a full stop, and the parameters of its path", () => {
    const names = contract.operations.map(({ operationId }) => operationId);
    expect(new Set(names).size).toBe(names.length);
    for (const [path, verbs] of Object.entries<Json>(document.paths)) {
      for (const [verb, { summary, parameters = [] }] of Object.entries<Json>(verbs)) {
        if (verb === "servers") continue;
        expect([path, summary]).toEqual([path, expect.stringMatching(/^[A-Z].{4,70}[^.]$/)]);
        const in_path = parameters.filter((one: Json) => one.in === "path").map(({ name }: Json) => name);
        expect([path, verb, in_path]).toEqual([path, verb, [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)]);
      }
    }
  });
});

describe("each error code is in it, under its status", () => {
  const codesOf = ({ responses }: Json): [status: string, code: string][] =>
    Object.entries<Json>(responses)
      .filter(([, { $ref }]) => $ref !== undefined)
      .flatMap(([status, reference]) => {
        const { code } = contract.resolve(reference).content["application/json"].schema.allOf[1].properties;
        return (code.enum ?? [code.const]).map((one: string): [string, string] => [status, one]);
      });

  test("no other, none under another status, and of those that no call is answered with the description says so", () => {
    const told = contract.operations.flatMap(codesOf);
    expect(told.filter(([status, code]) => String(statusOf(code as (typeof ERROR_CODES)[number])) !== status)).toEqual(
      [],
    );
    const codes = new Set(told.map(([, code]) => code));
    expect([...codes, ...ELSEWHERE].toSorted()).toEqual(ERROR_CODES.toSorted());
    expect(document.components.schemas.ErrorCode.enum).toEqual(ERROR_CODES);
    expect(ELSEWHERE.filter((code) => !document.info.description.includes(`\`${code}\` (`))).toEqual([]);
  });

  test("every call can break, and every write can come back for later", () => {
    for (const operation of contract.operations) {
      const codes = codesOf(operation).map(([, code]) => code);
      expect([operation.operationId, codes]).toEqual([
        operation.operationId,
        expect.arrayContaining(["internal", "unavailable"]),
      ]);
    }
  });
});

/** The rows of the matrix of RELIABILITY 5 by route, as their titles say it. */
const routes = Map.groupBy([...rows, ...comment_rows], ({ title }) => /^(?:A1 )?([A-Z]+ \S+)/.exec(title)![1]!);

describe("RELIABILITY 5: who may call is what the matrix of credentials says", () => {
  test.each([...routes.keys()])("%s", (route) => {
    const [method = "", path = ""] = route.split(" ");
    const operation = contract.operation({ host: "api", method, path: path.replace(/:\w+/g, "x") });
    if (operation === null) throw new Error(`${route} is not described`);
    const { security } = operation.told;
    const cells = routes.get(route)!.map(({ expected }) => expected);
    /** Whoever is let in anywhere is answered as the owner is, in a row in which the owner is. */
    const may = (who: Credential): boolean =>
      cells.some((expected) => expected[who] < 300 || (expected[who] < 401 && expected["S owner"] < 401));
    if (!may("S owner") && !may("none")) return; // nobody is, in these rows
    const takes = (scheme: string): boolean => security.some((one: object) => scheme in one);
    const open = security.length === 0 || security.some((one: object) => Object.keys(one).length === 0);
    expect({ open }).toEqual({ open: may("none") });
    if (security.length === 0) return;
    const scope = security.find((one: object) => "deployToken" in one)?.deployToken[0];
    expect({
      session: takes("session"),
      cookie: takes("sessionCookie"),
      manage_token: takes("manageToken"),
      scope,
    }).toEqual({
      session: true,
      cookie: true,
      manage_token: may("M own"),
      scope: SCOPES.find((one) => may(`D ${one}`)),
    });
  });
});

/** The members of SPEC.md's and CONTRACT.md's bodies; `?` where one may be missing. */
const HELD: Record<string, string> = {
  DeployResult:
    "url site_id slug version_id expires_at manage_token next_actions healed warnings render claim_token? claim_url? owner_account_id?",
  DryRun: "dry_run version_id title spa healed warnings files",
  FileChanges: "added changed removed",
  Healed: "code message path? reason?",
  Warning: "code message fix_recipe path?",
  NextAction: "action description command? method? url? when? threads?",
  Site: "site_id slug url label expires_at created_at state live_version_id spa comments versions owner_account_id? more? render?",
  Version: "version_id title created_at files bytes render?",
  RolledBack: "ok site_id url version_id previous_version_id",
  Claimed: "ok site_id url owner_account_id expires_at",
  Limits: "max_files max_bytes max_zip_bytes anonymous_ttl_ms anonymous?",
  Account: "account_id email created_at",
  Usage: "bytes quota_bytes sites versions previews tokens domains",
  AccountSites: "sites cursor",
  Attached: "attached skipped",
  Deleted: "ok deleted",
  BulkDeleted: "ok deleted skipped",
  Revoked: "ok revoked",
  Sessions: "sessions more?",
  SignedIn: "account_id session_token",
  DeviceCode: "device_code user_code verification_uri verification_uri_complete expires_in interval",
  DeviceToken: "access_token token_type account_id",
  Challenge: "challenge bits expires_in",
  Done: "ok",
};

test.each(Object.entries(HELD))("SPEC's and CONTRACT's body %s has lost no member and gained none", (name, members) => {
  const { properties, required } = document.components.schemas[name];
  const told = Object.keys(properties).map((member) => (required.includes(member) ? member : `${member}?`));
  expect(told.toSorted()).toEqual(members.split(" ").toSorted());
});
