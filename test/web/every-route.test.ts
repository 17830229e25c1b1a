/** WEB 1.6 and 1.7 of every row of the tables there are: a route that is added is judged with the others. */
import { beforeAll, describe, expect, test } from "bun:test";
import { apiRoutes } from "../../src/routes/table.ts";
import { secretFiles } from "../../src/store/index.ts";
import { WEB } from "../../src/web/index.ts";
import { call } from "../kit/people.ts";
import { type DeployResult, startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { until } from "../kit/until.ts";
import { type Visitor, visitorOf } from "../kit/visitor.ts";
import { zipOf } from "../kit/zip.ts";

/** `/openapi.json` has its own caching: document.test.ts. */
const ROWS = [...WEB, ...apiRoutes({ mcp: "off" }).filter(([, path]) => path !== "/openapi.json")];
/** Whoever asks for these makes no write by cookie: they are told apart by Origin alone. */
const SESSIONLESS = ROWS.filter(([method, , , opens]) => method !== "GET" && opens === "no_session");
const WRITES = ROWS.filter(([method, , , opens]) => method !== "GET" && opens !== "no_session");

let ann: Visitor;
let bob: Visitor;
let site: DeployResult;
const server = await sharedServer({ SVC_RATE_DEVICE_START: "off" });
beforeAll(async () => {
  [ann, bob] = [await visitorOf(server), await visitorOf(server)];
  site = await ann.deploy({ "index.html": "<title>x</title>" });
});

const addressOf = (path: string): string =>
  path
    .replace(":id", site.site_id)
    .replace(":chapter", "cli")
    .replace(":version_id", "0123456789abcdef")
    .replace(":domain", "www.example.org")
    .replace(/:(comment|token|name|delivery)/, "x");
const own = (): Record<string, string> => ({ host: new URL(server.base_url).host, origin: server.base_url });

describe("WEB 1.6: headers", () => {
  const OF_PAGES = {
    "content-security-policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
      "worker-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
  };
  const cachingOf = (path: string): string => {
    if (path.startsWith("/assets/")) return "public, max-age=31536000, immutable";
    return /^\/(?:robots\.txt|llms\.txt|favicon\.ico|manifest\.webmanifest|svc\.tgz)$/.test(path)
      ? "no-cache"
      : "no-store";
  };

  function expectHeaders(path: string, { status, headers }: Response): void {
    const found = {
      nosniff: headers.get("x-content-type-options"),
      request_id: /^req_/.test(headers.get("x-request-id") ?? ""),
      version: /^\d{4}-\d\d-\d\d$/.test(headers.get("svc-version") ?? ""),
      caching: headers.get("cache-control"),
    };
    const caching = status === 200 || status === 304 ? cachingOf(path) : "no-store";
    expect([path, status, found]).toEqual([
      path,
      status,
      { nosniff: "nosniff", request_id: true, version: true, caching },
    ]);
    if (!headers.get("content-type")?.startsWith("text/html")) return;
    const strict = Object.fromEntries(Object.keys(OF_PAGES).map((name) => [name, headers.get(name)]));
    expect([path, status, strict]).toEqual([path, status, OF_PAGES]);
    const open = path === "/" || path.startsWith("/docs");
    if (open && status !== 200) return; // nobody indexes what was refused
    expect([path, status, headers.get("x-robots-tag")]).toEqual([path, status, open ? null : "noindex"]);
  }

  const who = {
    "signed in": () => ({ cookie: ann.cookie }),
    "signed out": () => ({}),
    "with a session that ended": () => ({ cookie: `svc_session=svc_session_${"x".repeat(43)}` }),
  };
  test.each(Object.entries(who))(
    "of every answer %s: 200, 303 and 4xx, to browsers and programs",
    async (_, cookie) => {
      const paths = new Set([...ROWS.map(([, path]) => addressOf(path)), "/nothing", "/dashboard/nothing", "/metrics"]);
      for (const path of paths) {
        for (const accept of ["text/html", "application/json"]) {
          for (const method of ["GET", "HEAD", "POST", "PUT"]) {
            // Without a field of the form: nothing is written.
            const answer = await server.api(path, { method, headers: { ...own(), ...cookie(), accept } });
            expectHeaders(path, answer);
            await answer.arrayBuffer();
          }
        }
      }
    },
  );
});

describe("WEB 1.7: forged writes", () => {
  const TABLES = ["accounts", "sessions", "sites", "versions", "tokens", "device_logins", "tombstones", "audit"];
  const stand = async () => ({
    rows: TABLES.map((table) => [table, server.rows(table)]),
    site: await server.running.store.sites.byId(site.site_id),
  });
  type Forged = { headers?: Record<string, string>; body: RequestInit["body"] };
  const form = (csrf?: string): URLSearchParams =>
    new URLSearchParams({ ...(csrf && { csrf }), next: "/", label: "forged" });
  const withFile = (csrf: string): FormData => {
    const body = new FormData();
    body.append("zip", new File(["x"], "x.zip"));
    body.append("csrf", csrf);
    return body;
  };
  const FORGERIES: [string, () => Forged][] = [
    ["no proof", () => ({ body: form() })],
    ["an empty one", () => ({ body: form(" ") })],
    ["another session's", () => ({ body: form(bob.csrf) })],
    ["a sibling's origin", () => ({ headers: { origin: site.url }, body: form(ann.csrf) })],
    ["Origin: null", () => ({ headers: { origin: "null" }, body: form(ann.csrf) })],
    ["the origin of another port", () => ({ headers: { origin: "http://localhost:1" }, body: form(ann.csrf) })],
    ["Sec-Fetch-Site: same-site", () => ({ headers: { "sec-fetch-site": "same-site" }, body: form(ann.csrf) })],
    ["Sec-Fetch-Site: cross-site", () => ({ headers: { "sec-fetch-site": "cross-site" }, body: form(ann.csrf) })],
    ["Sec-Fetch-Site: none", () => ({ headers: { "sec-fetch-site": "none" }, body: form(ann.csrf) })],
    ["text/plain that is JSON", () => ({ body: JSON.stringify({ csrf: ann.csrf }) })],
    ["JSON without it", () => ({ headers: { "content-type": "application/json" }, body: "{}" })],
    ["the proof behind the file", () => ({ body: withFile(ann.csrf) })],
  ];

  test.each(FORGERIES)("by cookie with %s: 403 on every route that writes, and nothing changed", async (_, forged) => {
    const before = await stand();
    for (const [method, path] of WRITES) {
      const { headers, body } = forged();
      const sent = { ...own(), cookie: ann.cookie, ...headers };
      const answer = await server.api(addressOf(path), { method, headers: sent, body: body ?? null });
      const code = ((await answer.json()) as { code?: string }).code;
      expect([method, path, answer.status, code]).toEqual([method, path, 403, "cross_origin"]);
    }
    expect(await stand()).toEqual(before);
  });

  test("by cookie with a proof whose time is over: 403", async () => {
    const { body } = await call(server, "GET", "/account/sessions", undefined, { cookie: ann.cookie });
    const { session_id } = body.sessions.find(({ current }) => current)!;
    const secret = secretFiles.read(server.data_dir).csrf;
    const proofOf = (expiresIn: number) => Bun.CSRF.generate(secret, { sessionId: session_id, expiresIn });
    const [over, fresh] = [proofOf(1), proofOf(60_000)];
    await until(() => !Bun.CSRF.verify(over, { secret, sessionId: session_id }));
    const path = `/dashboard/sites/${site.site_id}/settings`;
    const statusOf = async (csrf: string) => {
      const body = new URLSearchParams({ csrf, label: "", spa: "auto" });
      return (await server.api(path, { method: "POST", headers: { ...own(), cookie: ann.cookie }, body })).status;
    };
    expect([await statusOf(over), await statusOf(fresh)]).toEqual([403, 303]);
  });

  test("by a form's GET: no route that writes is read so, and nothing changed", async () => {
    const before = await stand();
    for (const [, path] of WRITES) {
      const query = new URLSearchParams({ csrf: ann.csrf, confirm: site.slug, label: "forged", decision: "approve" });
      const { status } = await server.api(`${addressOf(path)}?${query}`, { headers: { cookie: ann.cookie } });
      expect([path, [200, 303, 401, 404, 405].includes(status)]).toEqual([path, true]);
    }
    expect(await stand()).toEqual(before);
  });

  const ENTERING = { email: "stranger@example.org", password: "correct horse battery" };
  const FOREIGN: [string, Record<string, string>][] = [
    ["a sibling's origin", { origin: "http://evil.localhost" }],
    ["Origin: null", { origin: "null" }],
    ["Sec-Fetch-Site: same-site", { "sec-fetch-site": "same-site" }],
    ["Sec-Fetch-Site: cross-site", { "sec-fetch-site": "cross-site" }],
  ];
  test("another site's page uses up nobody's deploys or device logins: it is refused before it is counted", async () => {
    await using limited = await startServer({ SVC_RATE_DEPLOY: "1/1h", SVC_RATE_DEVICE_START: "1/1h" });
    const { host, origin } = new URL(limited.base_url);
    for (const [, headers] of FOREIGN) {
      for (const path of ["/sites", "/auth/device/code", "/"]) {
        const sent = { host, origin, "content-type": "text/plain", ...headers };
        const { status } = await limited.api(path, { method: "POST", headers: sent, body: "x" });
        expect([path, headers, status]).toEqual([path, headers, 403]);
      }
    }
    expect((await limited.post(zipOf({ "index.html": "x" }))).status).toBe(200);
    expect((await limited.api("/auth/device/code", { method: "POST" })).status).toBe(200);
  });

  test.each(FOREIGN)("of a session by %s: nobody is signed in or made, and no cookie is set", async (_, headers) => {
    const before = await stand();
    const pages = SESSIONLESS.filter(([, path]) => /sign|login/.test(path));
    expect(pages.map(([, path]) => path).sort()).toEqual(["/auth/login", "/auth/signup", "/signin", "/signup"]);
    for (const [method, path] of pages) {
      const body = new URLSearchParams({ ...ENTERING, next: "/" });
      const answer = await server.api(path, { method, headers: { ...own(), ...headers }, body });
      expect([path, answer.status, answer.headers.get("set-cookie")]).toEqual([path, 403, null]);
    }
    expect(await stand()).toEqual(before);
  });
});
