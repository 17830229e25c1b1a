/** What each route of the API answers to each credential (RELIABILITY 5). */
import { newToken, type Scope } from "../../src/base/tokens.ts";
import { type DeployResult, JSON_TYPE, NOBODYS_ID, ZIP } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";
import { all, type Credential, deployTokens, managed, scoped, type World } from "./matrix-credentials.ts";

export const json = (body: unknown) => ({ headers: JSON_TYPE, body: JSON.stringify(body) });
const zip = (text: string) => ({ headers: ZIP, body: zipOf({ "index.html": text }) });

export interface Row {
  title: string;
  method: string;
  path: (world: World) => string;
  /** Null: no body. */
  send?: (world: World) => { headers: Record<string, string>; body: string | Uint8Array<ArrayBuffer> };
  about?: (world: World) => DeployResult;
  expected: Record<Credential, number>;
  /** Whoever was let in left all that the other cells need: their world is not made anew. */
  leaves?: true;
}

const gone = (scope: Scope) =>
  all(401, { "M own": 404, "S owner": 404, "S other": 404, ...deployTokens({ scope, may: 404, elsewhere: 404 }) });
const account = all(401, { "S owner": 200, "S other": 200 });
const ownOnly = all(401, { "S owner": 200, "S other": 404 });
export const badClaim = all(401);

/** An account's own: a manage_token of a site without an owner is told to claim it (BEYOND 10). */
function domainRows(): Row[] {
  const added = json({ domain: "www.example.org" });
  const calls = [
    ["GET", "/domains", undefined, 200],
    ["POST", "/domains", added, 201],
    ["POST", "/domains/www.example.net/verify", undefined, 404],
    ["PATCH", "/domains/www.example.net", json({ primary: true }), 404],
    ["DELETE", "/domains/www.example.net", undefined, 404],
  ] as const;
  return calls.flatMap(([method, path, sent, owners]): Row[] => {
    const send = sent && { send: () => sent };
    const title = `${method} /sites/:id${path.replace("www.example.net", ":domain")}`;
    return [
      {
        ...{ title, method, ...send },
        path: ({ own }) => `/sites/${own.site_id}${path}`,
        expected: all(401, { "S owner": owners, "S other": 403 }),
      },
      {
        ...{ title: `${title} of an anonymous site`, method, ...send },
        path: ({ claimable }) => `/sites/${claimable.site_id}${path}`,
        about: ({ claimable }) => claimable,
        expected: all(401, { "M own": 403, "S owner": 403, "S other": 403 }),
      },
      {
        ...{ title: `${title} of a gone site`, method, ...send },
        path: (world) => `/sites/${world.gone.site_id}${path}`,
        about: (world) => world.gone,
        expected: all(401, { "M own": 404, "S owner": 404, "S other": 404 }),
      },
    ];
  });
}

export const rows: Row[] = [
  { title: "GET /healthz", method: "GET", path: () => "/healthz", expected: all(200) },
  { title: "GET /limits", method: "GET", path: () => "/limits", expected: all(200) },
  { title: "POST /challenge", method: "POST", path: () => "/challenge", expected: all(200), leaves: true },
  {
    title: "POST /sites",
    method: "POST",
    path: () => "/sites",
    send: () => zip("new"),
    expected: all(401, {
      none: 200,
      "S owner": 200,
      "S other": 200,
      ...deployTokens({ scope: "create", may: 200, elsewhere: 200 }),
    }),
    leaves: true,
  },
  {
    title: "POST /sites/:id/deploys",
    method: "POST",
    path: ({ own }) => `/sites/${own.site_id}/deploys`,
    send: () => zip("newer"),
    expected: scoped("deploy"),
  },
  {
    title: "POST /sites/:id/plan",
    method: "POST",
    path: ({ own }) => `/sites/${own.site_id}/plan`,
    send: () => json({ files: [{ path: "index.html", sha256: "0".repeat(64), bytes: 1 }] }),
    expected: scoped("preview"),
    leaves: true,
  },
  {
    title: "POST /sites/:id/rollback",
    method: "POST",
    path: ({ own }) => `/sites/${own.site_id}/rollback`,
    send: ({ own }) => json({ version_id: own.version_id }),
    expected: scoped("deploy"),
  },
  {
    title: "A1 POST /sites/:id/rollback to a version of another site",
    method: "POST",
    path: ({ own }) => `/sites/${own.site_id}/rollback`,
    send: ({ claimable }) => json({ version_id: claimable.version_id }),
    expected: scoped("deploy", 404),
  },
  {
    title: "POST /sites/:id/previews",
    method: "POST",
    path: ({ own }) => `/sites/${own.site_id}/previews?name=made`,
    send: () => zip("beside"),
    expected: scoped("preview"),
  },
  {
    title: "GET /sites/:id/previews",
    method: "GET",
    path: ({ own }) => `/sites/${own.site_id}/previews`,
    expected: scoped("read"),
  },
  {
    title: "DELETE /sites/:id/previews/:name",
    method: "DELETE",
    path: ({ own }) => `/sites/${own.site_id}/previews/shown`,
    expected: { ...scoped("preview"), "M own": 401 },
  },
  {
    title: "POST /sites/:id/previews/:name/promote",
    method: "POST",
    path: ({ own }) => `/sites/${own.site_id}/previews/shown/promote`,
    expected: scoped("deploy"),
  },
  {
    title: "A1 POST /sites/:id/previews/:name/promote of another site's preview",
    method: "POST",
    path: ({ own, claimable_preview }) => `/sites/${own.site_id}/previews/${claimable_preview}/promote`,
    expected: scoped("deploy", 404),
  },
  ...(["GET", "POST"] as const).map((method) => ({
    title: `${method} /sites/:id/previews of a gone site`,
    method,
    path: (world: World) => `/sites/${world.gone.site_id}/previews`,
    ...(method === "POST" && { send: () => zip("x") }),
    about: (world: World) => world.gone,
    expected: gone(method === "GET" ? "read" : "preview"),
  })),
  { title: "GET /sites/:id", method: "GET", path: ({ own }) => `/sites/${own.site_id}`, expected: scoped("read") },
  {
    title: "GET /sites/:id/withheld",
    method: "GET",
    path: ({ own }) => `/sites/${own.site_id}/withheld`,
    expected: scoped("read"),
  },
  {
    title: "GET /sites/:id/versions/:version_id/receipt",
    method: "GET",
    path: ({ own }) => `/sites/${own.site_id}/versions/${own.version_id}/receipt`,
    expected: scoped("read"),
  },
  ...["versions/:version_id/files", "versions/:version_id/zip", "diff"].map((what) => ({
    title: `GET /sites/:id/${what}`,
    method: "GET",
    path: ({ own }: World) => `/sites/${own.site_id}/${what.replace(":version_id", "live")}?from=live`,
    expected: scoped("read"),
  })),
  {
    title: "DELETE /sites/:id/versions/:version_id",
    method: "DELETE",
    path: ({ own }) => `/sites/${own.site_id}/versions/${own.version_id}`,
    // It is live: whoever may delete versions of the site learns that this one cannot be.
    expected: all(401, { "S owner": 409, "S other": 403 }),
  },
  {
    title: "A1 DELETE /sites/:id/versions/:version_id of another site",
    method: "DELETE",
    path: ({ own, claimable }) => `/sites/${own.site_id}/versions/${claimable.version_id}`,
    expected: all(401, { "S owner": 404, "S other": 403 }),
  },
  {
    // No engine is on: whoever may read the site learns that there is no picture.
    title: "GET /sites/:id/screenshots/:version_id",
    method: "GET",
    path: ({ own }) => `/sites/${own.site_id}/screenshots/${own.version_id}`,
    expected: { ...managed, "M own": 404, "S owner": 404 },
  },
  {
    title: "GET /sites/:id of an anonymous site",
    method: "GET",
    path: ({ claimable }) => `/sites/${claimable.site_id}`,
    about: ({ claimable }) => claimable,
    expected: { ...scoped("read"), "S owner": 403, ...deployTokens({ scope: "read", may: 403, elsewhere: 403 }) },
  },
  {
    title: "GET /sites/:id of an id that never was",
    method: "GET",
    path: () => `/sites/${NOBODYS_ID}`,
    expected: { ...gone("read"), "M own": 401 },
  },
  ...(["deploys", "plan", "rollback"] as const).map((action) => ({
    title: `POST /sites/:id/${action} of a gone site`,
    method: "POST",
    path: (world: World) => `/sites/${world.gone.site_id}/${action}`,
    send: ({ own }: World) => (action === "deploys" ? zip("x") : json({ files: [], version_id: own.version_id })),
    about: (world: World) => world.gone,
    expected: gone(action === "plan" ? "preview" : "deploy"),
  })),
  {
    title: "GET /sites/:id of a gone site",
    method: "GET",
    path: (world) => `/sites/${world.gone.site_id}`,
    about: (world) => world.gone,
    expected: gone("read"),
  },
  {
    title: "POST /sites/:id/claim with the right token",
    method: "POST",
    path: ({ claimable }) => `/sites/${claimable.site_id}/claim`,
    send: ({ claimable }) => json({ claim_token: claimable.claim_token }),
    about: ({ claimable }) => claimable,
    expected: account,
  },
  {
    title: "POST /sites/:id/claim with a bad token",
    method: "POST",
    path: ({ claimable }) => `/sites/${claimable.site_id}/claim`,
    send: () => json({ claim_token: newToken("svc_claim_") }),
    about: ({ claimable }) => claimable,
    expected: badClaim,
  },
  {
    title: "POST /sites/:id/claim of an owned site with a bad token",
    method: "POST",
    path: ({ own }) => `/sites/${own.site_id}/claim`,
    send: ({ claimable }) => json({ claim_token: claimable.claim_token }),
    expected: badClaim,
  },
  {
    title: "POST /sites/:id/claim of an unknown site",
    method: "POST",
    path: () => `/sites/${NOBODYS_ID}/claim`,
    send: ({ claimable }) => json({ claim_token: claimable.claim_token }),
    expected: badClaim,
  },
  {
    title: "POST /sites/:id/claim with look=1 and the right token",
    method: "POST",
    path: ({ claimable }) => `/sites/${claimable.site_id}/claim?look=1`,
    send: ({ claimable }) => json({ claim_token: claimable.claim_token }),
    about: ({ claimable }) => claimable,
    expected: { ...account, none: 200 },
  },
  {
    title: "DELETE /sites/:id/manage-tokens",
    method: "DELETE",
    path: ({ own }) => `/sites/${own.site_id}/manage-tokens`,
    expected: all(401, { "S owner": 200, "S other": 403 }),
  },
  {
    title: "DELETE /sites/:id/manage-tokens of an anonymous site",
    method: "DELETE",
    path: ({ claimable }) => `/sites/${claimable.site_id}/manage-tokens`,
    about: ({ claimable }) => claimable,
    expected: all(401, { "S owner": 403, "S other": 403 }),
  },
  {
    title: "DELETE /sites/:id/manage-tokens of a gone site",
    method: "DELETE",
    path: (world) => `/sites/${world.gone.site_id}/manage-tokens`,
    about: (world) => world.gone,
    expected: all(401, { "S owner": 404, "S other": 404 }),
  },
  {
    title: "PUT /sites/:id/slug",
    method: "PUT",
    path: ({ own }) => `/sites/${own.site_id}/slug`,
    send: ({ own }) => json({ slug: `named-${own.site_id.slice(-8)}` }),
    expected: all(401, { "S owner": 200, "S other": 403 }),
  },
  {
    title: "PUT /sites/:id/slug of an anonymous site",
    method: "PUT",
    path: ({ claimable }) => `/sites/${claimable.site_id}/slug`,
    send: ({ claimable }) => json({ slug: `named-${claimable.site_id.slice(-8)}` }),
    about: ({ claimable }) => claimable,
    expected: all(401, { "S owner": 403, "S other": 403 }),
  },
  {
    title: "PUT /sites/:id/slug of a gone site",
    method: "PUT",
    path: (world) => `/sites/${world.gone.site_id}/slug`,
    send: () => json({ slug: "of-one-that-is-gone" }),
    about: (world) => world.gone,
    expected: all(401, { "S owner": 404, "S other": 404 }),
  },
  ...domainRows(),
  {
    title: "GET /sites/:id/access",
    method: "GET",
    path: ({ own }) => `/sites/${own.site_id}/access`,
    expected: scoped("read"),
  },
  {
    title: "GET /sites/:id/access of a gone site",
    method: "GET",
    path: (world) => `/sites/${world.gone.site_id}/access`,
    about: (world) => world.gone,
    expected: gone("read"),
  },
  ...(["PUT", "DELETE"] as const).flatMap((method): Row[] => {
    const send = method === "PUT" ? { send: () => json({ password: "open sesame" }) } : {};
    return [
      {
        title: `${method} /sites/:id/access`,
        method,
        path: ({ own }) => `/sites/${own.site_id}/access`,
        ...send,
        expected: { ...managed, "M own": 401 },
      },
      {
        title: `${method} /sites/:id/access of an anonymous site`,
        method,
        path: ({ claimable }) => `/sites/${claimable.site_id}/access`,
        ...send,
        about: ({ claimable }) => claimable,
        expected: { ...managed, "S owner": 403 },
      },
      {
        title: `${method} /sites/:id/access of a gone site`,
        method,
        path: (world) => `/sites/${world.gone.site_id}/access`,
        ...send,
        about: (world) => world.gone,
        expected: all(401, { "M own": 404, "S owner": 404, "S other": 404 }),
      },
    ];
  }),
  {
    title: "GET /sites/:id/settings",
    method: "GET",
    path: ({ own }) => `/sites/${own.site_id}/settings`,
    expected: scoped("read"),
  },
  {
    title: "GET /sites/:id/settings of a gone site",
    method: "GET",
    path: (world) => `/sites/${world.gone.site_id}/settings`,
    about: (world) => world.gone,
    expected: gone("read"),
  },
  {
    title: "GET /sites/:id/stats",
    method: "GET",
    path: ({ own }) => `/sites/${own.site_id}/stats`,
    expected: scoped("read"),
  },
  {
    title: "GET /sites/:id/stats of a gone site",
    method: "GET",
    path: (world) => `/sites/${world.gone.site_id}/stats`,
    about: (world) => world.gone,
    expected: gone("read"),
  },
  {
    title: "PATCH /sites/:id/settings",
    method: "PATCH",
    path: ({ own }) => `/sites/${own.site_id}/settings`,
    send: () => json({ skew: false }),
    expected: { ...managed, "M own": 401 },
  },
  {
    title: "PATCH /sites/:id/settings of an anonymous site",
    method: "PATCH",
    path: ({ claimable }) => `/sites/${claimable.site_id}/settings`,
    send: () => json({ skew: false }),
    about: ({ claimable }) => claimable,
    expected: { ...managed, "S owner": 403 },
  },
  {
    title: "PATCH /sites/:id/settings of a gone site",
    method: "PATCH",
    path: (world) => `/sites/${world.gone.site_id}/settings`,
    send: () => json({ skew: false }),
    about: (world) => world.gone,
    expected: all(401, { "M own": 404, "S owner": 404, "S other": 404 }),
  },
  {
    title: "GET /sites/:id/explain",
    method: "GET",
    path: ({ own }) => `/sites/${own.site_id}/explain?url=/`,
    expected: scoped("read"),
  },
  {
    title: "GET /sites/:id/explain of an anonymous site",
    method: "GET",
    path: ({ claimable }) => `/sites/${claimable.site_id}/explain?url=/`,
    about: ({ claimable }) => claimable,
    expected: { ...scoped("read"), "S owner": 403, ...deployTokens({ scope: "read", may: 403, elsewhere: 403 }) },
  },
  {
    title: "GET /sites/:id/explain of a gone site",
    method: "GET",
    path: (world) => `/sites/${world.gone.site_id}/explain?url=/`,
    about: (world) => world.gone,
    expected: gone("read"),
  },
  {
    title: "POST /account/bulk-attach",
    method: "POST",
    path: () => "/account/bulk-attach",
    send: ({ claimable: { site_id, manage_token } }) => json({ sites: [{ site_id, manage_token }] }),
    expected: account,
  },
  { title: "GET /account", method: "GET", path: () => "/account", expected: account },
  { title: "DELETE /account", method: "DELETE", path: () => "/account", expected: account },
  { title: "GET /account/usage", method: "GET", path: () => "/account/usage", expected: account },
  { title: "GET /account/sites", method: "GET", path: () => "/account/sites", expected: account },
  {
    title: "PATCH /account/sites/:id",
    method: "PATCH",
    path: ({ own }) => `/account/sites/${own.site_id}`,
    send: () => json({ label: "L" }),
    expected: ownOnly,
  },
  {
    title: "DELETE /account/sites/:id",
    method: "DELETE",
    path: ({ own }) => `/account/sites/${own.site_id}`,
    expected: ownOnly,
  },
  {
    title: "DELETE /account/sites/:id of a gone site",
    method: "DELETE",
    path: (world) => `/account/sites/${world.gone.site_id}`,
    about: (world) => world.gone,
    expected: all(401, { "S owner": 404, "S other": 404 }),
  },
  {
    title: "POST /account/sites/bulk-delete",
    method: "POST",
    path: () => "/account/sites/bulk-delete",
    send: ({ own }) => json({ site_ids: [own.site_id] }),
    expected: account,
  },
  {
    title: "POST /account/password without one",
    method: "POST",
    path: () => "/account/password",
    send: () => json({}),
    expected: all(401, { "S owner": 400, "S other": 400 }),
  },
  { title: "GET /account/sessions", method: "GET", path: () => "/account/sessions", expected: account },
  {
    title: "DELETE /account/sessions/:id",
    method: "DELETE",
    path: ({ owner }) => `/account/sessions/${owner.session_id}`,
    expected: ownOnly,
  },
  {
    title: "POST /account/tokens",
    method: "POST",
    path: () => "/account/tokens",
    send: () => json({ name: "CI", scopes: ["deploy"] }),
    expected: account,
  },
  { title: "GET /account/domains", method: "GET", path: () => "/account/domains", expected: account },
  { title: "GET /account/tokens", method: "GET", path: () => "/account/tokens", expected: account },
  {
    title: "DELETE /account/tokens/:id",
    method: "DELETE",
    path: ({ deploy_tokens }) => `/account/tokens/${deploy_tokens["D read"].token_id}`,
    expected: ownOnly,
  },
  { title: "POST /auth/logout", method: "POST", path: () => "/auth/logout", send: () => json({}), expected: account },
  {
    title: "POST /auth/login with a wrong password",
    method: "POST",
    path: () => "/auth/login",
    send: () => json({ email: "nobody@example.org", password: "wrong password" }),
    expected: all(401),
  },
  {
    title: "POST /auth/device/code",
    method: "POST",
    path: () => "/auth/device/code",
    send: () => json({}),
    expected: all(200),
    leaves: true,
  },
  {
    title: "POST /auth/device/token",
    method: "POST",
    path: () => "/auth/device/token",
    send: ({ device_code }) => json({ device_code }),
    expected: all(400),
  },
];
