/** RELIABILITY.md 5: every endpoint × every credential. Nothing changes unless the answer is 200. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { hashToken, newAccountId, newSessionId, newToken } from "../../src/tokens.ts";
import { belongings, snapshot } from "../kit/database.ts";
import { type DeployResult, NOBODYS_ID, startServer, type TestServer } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";

/** Accounts cost a password hash each. */
setDefaultTimeout(30_000);

const CREDENTIALS = [
  "none",
  "malformed",
  "unknown",
  "M own",
  "M other",
  "claim",
  "S owner",
  "S other",
  "S ended",
] as const;
type Credential = (typeof CREDENTIALS)[number];

/** A session as sign-in makes it, without the cost of a password. */
interface Member {
  account_id: string;
  session_id: string;
  token: string;
}

/** All that one cell needs, fresh after each call that changed something. */
interface World {
  owner: Member;
  other: Member;
  ended: string;
  own: DeployResult;
  others: DeployResult;
  claimable: DeployResult;
  gone: DeployResult;
  device_code: string;
}

let server: TestServer;
let world: World | null = null;
let people = 0;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const auth = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const json = (body: unknown) => ({ headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
const zip = (text: string) => ({ headers: { "content-type": "application/zip" }, body: zipOf({ "index.html": text }) });

async function member(): Promise<Member> {
  const [account_id, session_id, token] = [newAccountId(), newSessionId(), newToken("svc_session_")];
  const session = { session_id, hash: hashToken(token), client: "matrix" };
  const account = { account_id, email: `m${++people}@example.org`, password_hash: "-", invitation_hash: null };
  await server.running.store.accounts.create({ ...account, session });
  return { account_id, session_id, token };
}

async function deployAs(token: string): Promise<DeployResult> {
  return (await (await server.post(zipOf({ "index.html": "own" }), auth(token))).json()) as DeployResult;
}

async function newWorld(): Promise<World> {
  const [owner, other, leaver] = [await member(), await member(), await member()];
  await server.running.store.sessions.end(leaver);
  const gone = await deployAs(owner.token);
  await server.api(`/account/sites/${gone.site_id}`, { method: "DELETE", headers: auth(owner.token) });
  const started = await server.api("/auth/device/code", { method: "POST", ...json({}) });
  return {
    owner,
    other,
    ended: leaver.token,
    own: await deployAs(owner.token),
    others: await deployAs(other.token),
    claimable: await server.deploy({ "index.html": "claimable" }),
    gone,
    device_code: ((await started.json()) as { device_code: string }).device_code,
  };
}

/** `M own` and `claim` are those of the site that the row is about. */
function credentialOf(credential: Credential, about: DeployResult, { owner, other, ended, others, claimable }: World) {
  const headers: Record<Credential, Record<string, string>> = {
    none: {},
    malformed: { authorization: "Bearer two words" },
    unknown: auth(newToken("svc_session_")),
    "M own": auth(about.manage_token),
    "M other": auth(others.manage_token),
    claim: auth(claimable.claim_token!),
    "S owner": auth(owner.token),
    "S other": auth(other.token),
    "S ended": auth(ended),
  };
  return headers[credential];
}

interface Row {
  title: string;
  method: string;
  path: (world: World) => string;
  /** Null: no body. */
  send?: (world: World) => { headers: Record<string, string>; body: string | Uint8Array<ArrayBuffer> };
  about?: (world: World) => DeployResult;
  expected: Record<Credential, number>;
}

const all = (status: number, but: Partial<Record<Credential, number>> = {}): Record<Credential, number> => ({
  none: status,
  malformed: status,
  unknown: status,
  "M own": status,
  "M other": status,
  claim: status,
  "S owner": status,
  "S other": status,
  "S ended": status,
  ...but,
});
const managed = all(401, { "M own": 200, "S owner": 200, "S other": 403 });
const gone = all(401, { "M own": 404, "S owner": 404, "S other": 404 });
const account = all(401, { "S owner": 200, "S other": 200 });
const ownOnly = all(401, { "S owner": 200, "S other": 404 });
const badClaim = all(401);

const rows: Row[] = [
  { title: "GET /healthz", method: "GET", path: () => "/healthz", expected: all(200) },
  { title: "GET /limits", method: "GET", path: () => "/limits", expected: all(200) },
  { title: "POST /challenge", method: "POST", path: () => "/challenge", expected: all(200) },
  {
    title: "POST /sites",
    method: "POST",
    path: () => "/sites",
    send: () => zip("new"),
    expected: all(401, { none: 200, "S owner": 200, "S other": 200 }),
  },
  {
    title: "POST /sites/:id/deploys",
    method: "POST",
    path: ({ own }) => `/sites/${own.site_id}/deploys`,
    send: () => zip("newer"),
    expected: managed,
  },
  {
    title: "POST /sites/:id/rollback",
    method: "POST",
    path: ({ own }) => `/sites/${own.site_id}/rollback`,
    send: ({ own }) => json({ version_id: own.version_id }),
    expected: managed,
  },
  {
    title: "A1 POST /sites/:id/rollback to a version of another site",
    method: "POST",
    path: ({ own }) => `/sites/${own.site_id}/rollback`,
    send: ({ claimable }) => json({ version_id: claimable.version_id }),
    expected: { ...managed, "M own": 404, "S owner": 404 },
  },
  { title: "GET /sites/:id", method: "GET", path: ({ own }) => `/sites/${own.site_id}`, expected: managed },
  {
    title: "GET /sites/:id of an anonymous site",
    method: "GET",
    path: ({ claimable }) => `/sites/${claimable.site_id}`,
    about: ({ claimable }) => claimable,
    expected: { ...managed, "S owner": 403 },
  },
  {
    title: "GET /sites/:id of an id that never was",
    method: "GET",
    path: () => `/sites/${NOBODYS_ID}`,
    expected: all(401, { "S owner": 404, "S other": 404 }),
  },
  ...(["deploys", "rollback"] as const).map((action) => ({
    title: `POST /sites/:id/${action} of a gone site`,
    method: "POST",
    path: (world: World) => `/sites/${world.gone.site_id}/${action}`,
    send: ({ own }: World) => (action === "deploys" ? zip("x") : json({ version_id: own.version_id })),
    about: (world: World) => world.gone,
    expected: gone,
  })),
  {
    title: "GET /sites/:id of a gone site",
    method: "GET",
    path: (world) => `/sites/${world.gone.site_id}`,
    about: (world) => world.gone,
    expected: gone,
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
    title: "POST /account/bulk-attach",
    method: "POST",
    path: () => "/account/bulk-attach",
    send: ({ claimable: { site_id, manage_token } }) => json({ sites: [{ site_id, manage_token }] }),
    expected: account,
  },
  { title: "GET /account", method: "GET", path: () => "/account", expected: account },
  { title: "DELETE /account", method: "DELETE", path: () => "/account", expected: account },
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
  { title: "GET /account/sessions", method: "GET", path: () => "/account/sessions", expected: account },
  {
    title: "DELETE /account/sessions/:id",
    method: "DELETE",
    path: ({ owner }) => `/account/sessions/${owner.session_id}`,
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
  },
  {
    title: "POST /auth/device/token",
    method: "POST",
    path: () => "/auth/device/token",
    send: ({ device_code }) => json({ device_code }),
    expected: all(400),
  },
];

/** What `S other` may send to a route that is not about its own: 200, and the owner's things are as they were. */
const ownThings = ({ owner, own }: World): unknown =>
  belongings(server.data_dir, { site_id: own.site_id, account_id: owner.account_id });

describe.each(rows)("$title", ({ method, path, send, about, expected }) => {
  test.each(CREDENTIALS)("with %s", async (credential) => {
    world ??= await newWorld();
    const here = world;
    const { headers, body } = send?.(here) ?? { headers: {}, body: undefined };
    const before = { all: snapshot(server.data_dir), own: ownThings(here) };
    const response = await server.api(path(here), {
      method,
      headers: { ...headers, ...credentialOf(credential, about?.(here) ?? here.own, here) },
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    expect(response.status, text).toBe(expected[credential]);
    if (response.status === 200) {
      if (credential === "S other") expect(ownThings(here)).toEqual(before.own);
      if (method !== "GET") world = null;
      return;
    }
    expect(snapshot(server.data_dir)).toEqual(before.all);
    const { code, error, request_id } = JSON.parse(text) as Record<string, string>;
    expect(response.headers.get("x-request-id")).toBe(request_id!);
    if (response.status === 401) {
      const valid = credential === "S owner" || credential === "S other";
      const invalidClaim = expected === badClaim && valid;
      expect(code).toBe(invalidClaim ? "invalid_claim" : "unauthorized");
      if (invalidClaim) expect(error).toBe("Invalid claim");
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
    }
  });
});

test("every row of the API's table has its row here", async () => {
  const { TABLE } = await import("../../src/routes/table.ts");
  const tried = new Set(rows.map(({ title }) => /^(?:A1 )?([A-Z]+ \S+)/.exec(title)![1]));
  const elsewhere = ["POST /auth/signup"]; // opens to whoever brings no credential: accounts.test.ts
  const missing = TABLE.map(([method, path]) => `${method} ${path}`).filter((row) => !tried.has(row));
  expect(missing).toEqual(elsewhere);
});
