/** RELIABILITY 5: every endpoint × every credential. Nothing changes unless the answer is 200. Two files try it, each with
 *  half of the credentials. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { hashToken, newDeployTokenId, newToken } from "../../src/base/tokens.ts";
import { belongings, openSnapshots } from "../kit/database.ts";
import { signUp } from "../kit/people.ts";
import { type DeployResult, JSON_TYPE, startServer, type TestServer, ZIP } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";
import { Contract } from "../openapi/contract.ts";
import { comment_rows } from "./comment-rows.ts";
import {
  type Credential,
  DEPLOY_CREDENTIALS,
  DEPLOY_TOKENS,
  isDeployCredential,
  type World,
} from "./matrix-credentials.ts";
import { badClaim, type Row, rows } from "./matrix-rows.ts";

let server: TestServer;
let contract: Contract;
let world: World | null = null;
let snapshots: ReturnType<typeof openSnapshots>;
const auth = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

async function deployAs(token: string): Promise<DeployResult> {
  return (await (await server.post(zipOf({ "index.html": "own" }), auth(token))).json()) as DeployResult;
}

const YEAR_MS = 366 * 86_400_000;

async function deployTokensOf({ owner, other, own, second }: Omit<World, "deploy_tokens">) {
  const { deploy_tokens } = server.running.store;
  const made: [string, { token: string; token_id: string }][] = [];
  for (const name of DEPLOY_CREDENTIALS) {
    const { scopes, ...rest } = DEPLOY_TOKENS[name];
    const by = name === "D other" ? other : owner;
    const [token, token_id] = [newToken("svc_deploy_"), newDeployTokenId()];
    const site_ids = "site" in rest ? [{ own, second }[rest.site].site_id] : null;
    const lives_ms = name === "D expired" ? 0 : YEAR_MS;
    const { account_id } = by;
    await deploy_tokens.add(by, { hash: hashToken(token), token_id, account_id, name, scopes, site_ids, lives_ms });
    if (name === "D revoked") await deploy_tokens.revoke(by, token_id);
    made.push([name, { token, token_id }]);
  }
  return Object.fromEntries(made) as World["deploy_tokens"];
}

/** Says its version. */
async function preview({ site_id, manage_token }: DeployResult, text: string, query = ""): Promise<string> {
  const sent = { method: "POST", body: zipOf({ "index.html": text }), headers: { ...ZIP, ...auth(manage_token) } };
  const answer = await server.api(`/sites/${site_id}/previews${query}`, sent);
  return ((await answer.json()) as { version_id: string }).version_id;
}

async function newWorld(): Promise<World> {
  const [owner, other, leaver] = [await signUp(server), await signUp(server), await signUp(server)];
  await server.running.store.sessions.end(leaver);
  const gone = await deployAs(owner.session_token);
  await server.api(`/account/sites/${gone.site_id}`, { method: "DELETE", headers: auth(owner.session_token) });
  const own = await deployAs(owner.session_token);
  const claimable = await server.deploy({ "index.html": "claimable" });
  await preview(own, "own draft", "?name=shown");
  const started = await server.api("/auth/device/code", { method: "POST", headers: JSON_TYPE, body: "{}" });
  const there = {
    owner,
    other,
    ended: leaver.session_token,
    own,
    second: await deployAs(owner.session_token),
    others: await deployAs(other.session_token),
    claimable,
    claimable_preview: await preview(claimable, "draft"),
    gone,
    device_code: ((await started.json()) as { device_code: string }).device_code,
  };
  return { ...there, deploy_tokens: await deployTokensOf(there) };
}

/** `M own` and `claim` are those of the site that the row is about. */
function credentialOf(credential: Credential, about: DeployResult, world: World) {
  const { owner, other, ended, others, claimable, deploy_tokens } = world;
  if (isDeployCredential(credential)) return auth(deploy_tokens[credential].token);
  const headers: Record<string, Record<string, string>> = {
    none: {},
    malformed: { authorization: "Bearer two words" },
    unknown: auth(newToken("svc_session_")),
    "M own": auth(about.manage_token),
    "M other": auth(others.manage_token),
    claim: auth(claimable.claim_token!),
    "S owner": auth(owner.session_token),
    "S other": auth(other.session_token),
    "S ended": auth(ended),
  };
  return headers[credential]!;
}

/** What `S other` may send to a route that is not about its own: 200, and the owner's things are as they were. */
const ownThings = ({ owner, own }: World): unknown =>
  belongings(server.data_dir, { site_id: own.site_id, account_id: owner.account_id });

export const ROWS = [...rows, ...comment_rows];

/** A test for each row and each of these. */
export function tryEach(credentials: readonly Credential[]): void {
  setDefaultTimeout(60_000);
  beforeAll(async () => {
    world = null;
    // No DNS server is there: a domain that is added waits.
    server = await startServer({ SVC_DNS: "127.0.0.1:1" });
    snapshots = openSnapshots(server.data_dir);
    contract = new Contract(await (await server.api("/openapi.json")).json());
  });
  afterAll(async () => {
    snapshots[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  });
  describe.each(ROWS)("$title", (row) => {
    test.each([...credentials])("with %s", (credential) => tryOne(row, credential));
  });
}

async function tryOne({ method, path, send, about, expected, leaves }: Row, credential: Credential): Promise<void> {
  world ??= await newWorld();
  const here = world;
  const { headers, body } = send?.(here) ?? { headers: {}, body: undefined };
  const before = { all: snapshots.take(), own: credential === "S other" ? ownThings(here) : null };
  const asked = path(here);
  const response = await server.api(asked, {
    method,
    headers: { ...headers, ...credentialOf(credential, about?.(here) ?? here.own, here) },
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  expect(response.status, text).toBe(expected[credential]);
  const { status, headers: told } = response;
  // BEYOND 13: as it is described.
  expect(contract.breaches({ host: "api", method, path: asked }, { status, headers: told, text })).toEqual([]);
  if (response.status < 300) {
    if (credential === "S other") expect(ownThings(here)).toEqual(before.own);
    if (method !== "GET" && leaves !== true) world = null;
    return;
  }
  expect(snapshots.take()).toEqual(before.all);
  const { code, error, request_id, needed } = JSON.parse(text) as Record<string, string>;
  expect(response.headers.get("x-request-id")).toBe(request_id!);
  if (response.status === 403 && isDeployCredential(credential)) {
    expect(code).toBe(needed === undefined ? "forbidden" : "scope_missing");
  }
  if (response.status === 401) {
    const valid = credential === "S owner" || credential === "S other";
    const invalidClaim = expected === badClaim && valid;
    expect(code).toBe(invalidClaim ? "invalid_claim" : "unauthorized");
    if (invalidClaim) expect(error).toBe("Invalid claim");
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
  }
}
