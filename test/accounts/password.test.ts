/** WEB 8: `POST /account/password`. All other sessions end, this one stays; a wrong one counts as a sign-in. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { auditRows, snapshot } from "../kit/database.ts";
import { bearer, call, decideLogin, type Person, PASSWORD, signInByForm, signUp, submit } from "../kit/people.ts";
import { startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";
import { device } from "./login-by-code.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

const NEW = "another horse entirely";
let ann: Person;
const server = await sharedServer();
beforeEach(async () => {
  ann = await signUp(server);
});

const change = (body: unknown, headers: Record<string, string> = ann.bearer) =>
  call(server, "POST", "/account/password", body, headers);
const right = { current_password: PASSWORD, new_password: NEW };
const signIn = async (password: string) =>
  (await call(server, "POST", "/auth/login", { email: ann.email, password })).status;
const opens = async (headers: Record<string, string>) =>
  (await call(server, "GET", "/account", undefined, headers)).status === 200;

test("the new password signs in, the old one no longer", async () => {
  expect(await change(right)).toMatchObject({ status: 200, body: { ok: true } });
  expect([await signIn(PASSWORD), await signIn(NEW)]).toEqual([401, 200]);
});

test("all other sessions end, of browsers and devices alike; this one stays", async () => {
  const browser = await signInByForm(server, ann);
  const program = (await call(server, "POST", "/auth/login", { email: ann.email, password: PASSWORD })).body;
  const { begin, poll } = device(() => server);
  const { device_code, user_code } = await begin();
  await decideLogin(server, user_code, "approve", ann);
  const fetched = (await poll(device_code)).body.access_token;
  const others = [{ cookie: browser.cookie }, bearer(program.session_token), bearer(fetched)];
  for (const headers of others) expect(await opens(headers)).toBeTrue();
  await change(right);
  for (const headers of others) expect(await opens(headers)).toBeFalse();
  expect(await opens(ann.bearer)).toBeTrue();
  const { body } = await call(server, "GET", "/account/sessions", undefined, ann.bearer);
  expect(body.sessions.map(({ current }) => current)).toEqual([true]);
});

test("a device login that was approved and not yet fetched becomes no session", async () => {
  const { begin, codeOf } = device(() => server);
  const { device_code, user_code } = await begin();
  await decideLogin(server, user_code, "approve", ann);
  await change(right);
  expect(await codeOf(device_code)).toBe("expired_token");
});

test("a browser changes it with its cookie, and stays signed in", async () => {
  const { cookie, csrf } = await signInByForm(server, ann);
  const answer = await submit(server, "/account/password", { ...right, csrf }, { cookie });
  expect([answer.status, await answer.json()]).toEqual([200, { ok: true }]);
  expect([await opens({ cookie }), await opens(ann.bearer)]).toEqual([true, false]);
});

test("the line in the audit log says who did it", async () => {
  await change(right);
  expect(auditRows(server.data_dir).at(-1)).toMatchObject({
    actor: ann.account_id,
    action: "change-password",
    account_id: ann.account_id,
  });
});

test("a site's tokens and sites stay", async () => {
  const site = await (await server.post(zipOf({ "index.html": "x" }), ann.bearer)).json();
  await change(right);
  const { site_id, manage_token } = site as { site_id: string; manage_token: string };
  expect((await call(server, "GET", `/sites/${site_id}`, undefined, bearer(manage_token))).status).toBe(200);
});

describe("what changes nothing", () => {
  const long = "x".repeat(1025);
  test.each([
    ["a wrong password", { ...right, current_password: "not the password" }, 401, "current_password"],
    ["an empty one", { ...right, current_password: "" }, 400, "current_password"],
    ["none", { new_password: NEW }, 400, "current_password"],
    ["a number", { ...right, current_password: 1234567890 }, 400, "current_password"],
    ["no new one", { current_password: PASSWORD }, 400, "new_password"],
    ["a new one of nine characters", { ...right, new_password: "123456789" }, 400, "new_password"],
    ["a new one that is too long", { ...right, new_password: long }, 400, "new_password"],
    ["a new one of too many bytes", { ...right, new_password: "ü".repeat(600) }, 400, "new_password"],
  ])("%s", async (_, body, status, field) => {
    const before = snapshot(server.data_dir);
    const { status: answered, body: error } = await change(body);
    expect([answered, error.code, error.field]).toEqual([
      status,
      status === 401 ? "unauthorized" : "invalid_input",
      field,
    ]);
    expect(snapshot(server.data_dir)).toEqual(before);
  });

  test("a list, and plain text", async () => {
    expect(await change([])).toMatchObject({ status: 400, body: { code: "invalid_json" } });
    const answer = await server.api("/account/password", {
      method: "POST",
      headers: { ...ann.bearer, "content-type": "text/plain" },
      body: JSON.stringify(right),
    });
    expect(answer.status).toBe(415);
  });
});

test("of two changes at once one counts", async () => {
  const answers = await Promise.all(
    ["one horse entirely", "two horses entirely"].map((new_password) =>
      change({ current_password: PASSWORD, new_password }),
    ),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401]);
});

test("the same characters typed on another keyboard are the same password", async () => {
  await change({ ...right, new_password: "Stra\u00dfenb\u00e4ume!" });
  expect(await signIn("Stra\u00dfenba\u0308ume!")).toBe(200);
});

test.each([["SVC_RATE_SIGN_IN"], ["SVC_RATE_SIGN_IN_ACCOUNT"]])("%s counts each try", async (rule) => {
  await using limited = await startServer({ [rule]: "3/1m" });
  const bob = await signUp(limited);
  const wrong = () =>
    call(limited, "POST", "/account/password", { ...right, current_password: "wrong one" }, bob.bearer);
  for (let n = 0; n < 3; n++) expect((await wrong()).status).toBe(401);
  const refused = await wrong();
  expect([refused.status, refused.body.code, refused.headers.has("retry-after")]).toEqual([429, "rate_limited", true]);
  const login = await call(limited, "POST", "/auth/login", { email: bob.email, password: PASSWORD });
  expect(login.status).toBe(429);
});

test("whoever has a session guesses no more than the account's limit allows, from however many networks", async () => {
  await using limited = await startServer("--trust-proxy", "127.0.0.1", { SVC_RATE_SIGN_IN_NAME: "3/1h" });
  const bob = await signUp(limited);
  const guess = async (n: number, current_password = "wrong one") =>
    (
      await call(
        limited,
        "POST",
        "/account/password",
        { ...right, current_password },
        {
          ...bob.bearer,
          "x-forwarded-for": `198.51.100.${n}`,
        },
      )
    ).status;
  // What strangers without a session do to the name is counted by itself.
  for (const n of [11, 12, 13, 14]) {
    const body = { email: bob.email, password: "wrong one" };
    await call(limited, "POST", "/auth/login", body, { "x-forwarded-for": `198.51.100.${n}` });
  }
  for (const n of [1, 2, 3]) expect(await guess(n)).toBe(401);
  expect(await guess(4)).toBe(429);
  limited.advance(3_600_000);
  expect(await guess(5, PASSWORD)).toBe(200);
});

test("endOthers ends all but one, and logins that are about to become one", async () => {
  const { sessions } = server.running.store;
  const browser = await signInByForm(server, ann);
  const { begin, codeOf } = device(() => server);
  const { device_code, user_code } = await begin();
  await decideLogin(server, user_code, "approve", ann); // signs in once more

  const [own] = (await sessions.list(ann.account_id, 10)).toReversed();
  const keep = { account_id: ann.account_id, session_id: own!.session_id };

  expect(await sessions.endOthers(keep)).toBe(2);
  expect([await opens(ann.bearer), await opens({ cookie: browser.cookie })]).toEqual([true, false]);
  expect(await codeOf(device_code)).toBe("expired_token");
  expect(await sessions.endOthers(keep)).toBe(0);
  await sessions.end(keep);
  expect(await sessions.endOthers(keep).catch((error: unknown) => error)).toMatchObject({ code: "unauthorized" });
});
