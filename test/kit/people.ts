/** Accounts, sessions and browsers without a browser, for tests that need somebody to be signed in. */
import { hashToken, newAccountId, newSessionId, newToken } from "../../src/base/tokens.ts";
import type { TestServer } from "./server.ts";

export const PASSWORD = "correct horse battery";
/** Its hash, as sign-up makes it. Making one takes as much processor time as thirty deploys. */
const PASSWORD_HASH =
  "$argon2id$v=19$m=65536,t=2,p=1$BO9zemV/ZPkwri0Knv2JpS3aidSkGHAq2sMvOWElVwI$z5xKuy0ZGZnvqnCMIutqCzNz8hlB2UMn8qaeRlIp1Wc";
let people = 0;

export interface Person {
  email: string;
  account_id: string;
  session_id: string;
  session_token: string;
  /** The session as a Bearer credential. */
  bearer: { authorization: string };
}

/** The members that the tests read; what is not there is undefined. */
export interface Answer {
  [member: string]: unknown;
  account_id: string;
  session_token: string;
  site_id: string;
  code: string;
  error: string;
  sessions: { session_id: string; created_at: string; last_used_at: string; client: string; current: boolean }[];
  sites: { site_id: string; slug: string; label: string | null; url: string }[];
  device_code: string;
  user_code: string;
  access_token: string;
}

export const bearer = (token: string): { authorization: string } => ({ authorization: `Bearer ${token}` });

/** Sends JSON and reads JSON. */
export async function call(
  server: TestServer,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Answer; headers: Headers }> {
  const response = await server.api(path, {
    method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Answer, headers: response.headers };
}

/** Somebody who has signed up and can sign in; sign-up itself is tried in test/accounts. */
export async function signUp(server: TestServer, email = `person${++people}@example.org`): Promise<Person> {
  const [account_id, session_id, session_token] = [newAccountId(), newSessionId(), newToken("svc_session_")];
  const session = { session_id, hash: hashToken(session_token), client: "a test" };
  const account = { account_id, email, password_hash: PASSWORD_HASH, invitation_hash: null };
  await server.running.store.accounts.create({ ...account, session });
  return { email, account_id, session_id, session_token, bearer: bearer(session_token) };
}

/** A form as a page of the API's own host sends it. */
export function submit(
  server: TestServer,
  path: string,
  fields: Record<string, string> | [string, string][],
  headers: Record<string, string> = {},
): Promise<Response> {
  const { host } = new URL(server.base_url);
  return server.api(path, {
    method: "POST",
    headers: { host, origin: server.base_url, "sec-fetch-site": "same-origin", accept: "text/html", ...headers },
    body: new URLSearchParams(fields),
  });
}

/** `name=value` of the session cookie that an answer sets; null where it sets none. */
export const cookieOf = (response: { headers: Headers }): string | null =>
  response.headers.get("set-cookie")?.split(";", 1)[0] ?? null;

/** A signed-in browser: its cookie, and the CSRF token that our pages give it. */
export interface BrowserSession {
  cookie: string;
  csrf: string;
}

export async function signInByForm(server: TestServer, { email }: Pick<Person, "email">): Promise<BrowserSession> {
  const cookie = cookieOf(await submit(server, "/signin", { email, password: PASSWORD }));
  if (!cookie) throw new Error("signing in set no cookie");
  const page = await (await server.api("/device", { headers: { cookie } })).text();
  return { cookie, csrf: csrfOf(page) };
}

/** The token in a page's form. */
export function csrfOf(page: string): string {
  const csrf = /name="csrf"\s+value="([^"]+)"/.exec(page)?.[1];
  if (!csrf) throw new Error(`no CSRF token in ${page}`);
  return csrf;
}

/** The person's click at the approval of a login. */
export async function decideLogin(
  server: TestServer,
  user_code: string,
  decision: "approve" | "deny",
  by: Pick<Person, "email">,
): Promise<void> {
  const { cookie, csrf } = await signInByForm(server, by);
  const answer = await submit(server, "/device", { user_code, csrf, decision }, { cookie });
  if (answer.status !== 303) throw new Error(`the decision was answered ${answer.status}`);
}
