/** RFC 8628: the page on which a person approves a program's code (CONTRACT 5, RELIABILITY A7). */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  bearer,
  type BrowserSession,
  call,
  csrfOf,
  PASSWORD,
  type Person,
  signInByForm,
  signUp,
  submit,
} from "../kit/people.ts";
import { sharedServer } from "../kit/shared.ts";
import { approver, device } from "./login-by-code.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

const MINUTE = 60_000;
let ann: Person;
let browser: BrowserSession;
const server = await sharedServer();
beforeAll(async () => {
  ann = await signUp(server, "ann@example.org");
  browser = await signInByForm(server, ann);
});

const { begin, poll, codeOf } = device(() => server);
const { open, decide } = approver(
  () => server,
  () => browser,
);

describe("approval", () => {
  test("gives one token, once, that is a session of the account", async () => {
    const { user_code, device_code } = await begin();
    expect((await decide(user_code, "approve")).headers.get("location")).toBe("/device?done=approved");
    const said = await (await server.api("/device?done=approved")).text();
    expect([said.includes("The device is signed in."), said.includes("everybody sees it")]).toEqual([true, false]);
    const { status, body } = await poll(device_code);
    expect(status).toBe(200);
    expect(body).toEqual({
      access_token: expect.stringMatching(/^svc_session_/),
      token_type: "Bearer",
      account_id: ann.account_id,
    } as unknown as typeof body);
    expect((await call(server, "GET", "/account", undefined, bearer(body.access_token))).status).toBe(200);
    expect(await codeOf(device_code)).toBe("expired_token");
  });

  test("two pollers racing get one token", async () => {
    const { user_code, device_code } = await begin();
    await decide(user_code, "approve");
    const answers = await Promise.all(Array.from({ length: 8 }, () => poll(device_code)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 7 }, () => 400)]);
  });

  test("codes are read without regard to case, hyphen and spaces", async () => {
    for (const change of [
      (code: string) => code.toLowerCase(),
      (code: string) => code.replace("-", ""),
      (code: string) => ` ${code.replace("-", " ")} `,
    ]) {
      const { user_code, device_code } = await begin();
      expect((await decide(change(user_code), "approve")).status).toBe(303);
      expect((await poll(device_code)).status).toBe(200);
    }
  });

  test("denied: access_denied, and no later click approves it", async () => {
    const { user_code, device_code } = await begin();
    expect((await decide(user_code, "deny")).headers.get("location")).toBe("/device?done=denied");
    expect(await codeOf(device_code)).toBe("access_denied");
    expect((await decide(user_code, "approve")).status).toBe(404);
    expect(await codeOf(device_code)).toBe("access_denied");
  });

  test("the page shows code, program, address and age, and opening it decides nothing", async () => {
    const started = await server.api("/auth/device/code", {
      method: "POST",
      headers: { "user-agent": "<b>svc</b>/0.3.0", "content-type": "application/json" },
      body: "{}",
    });
    const { user_code, device_code } = (await started.json()) as { user_code: string; device_code: string };
    server.advance(3 * MINUTE);
    const response = await open(`/device?user_code=${user_code}`);
    const page = await response.text();
    expect(response.status).toBe(200);
    for (const shown of [user_code, "&lt;b&gt;svc&lt;/b&gt;/0.3.0", "127.0.0.1", "3 minutes ago", "Approve", "Deny"]) {
      expect(page).toContain(shown);
    }
    expect(page).not.toContain("<b>svc");
    await open(`/device?user_code=${user_code}&decision=approve&csrf=${csrfOf(page)}`);
    expect(await codeOf(device_code)).toBe("authorization_pending");
  });

  test("without a sign-in the page leads there and back, with the code", async () => {
    const response = await server.api("/device?user_code=BCDF-GHJK");
    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toBe(`/signin?next=${encodeURIComponent("/device?user_code=BCDF-GHJK")}`);
    const signed = await submit(server, "/signin", {
      email: ann.email,
      password: PASSWORD,
      next: "/device?user_code=BCDF-GHJK",
    });
    expect(signed.headers.get("location")).toBe("/device?user_code=BCDF-GHJK");
  });

  test.each([
    ["no CSRF token", { csrf: "" }],
    ["another session's", { csrf: "other" }],
  ])("a click with %s is 403 and decides nothing", async (_, { csrf }) => {
    const { user_code, device_code } = await begin();
    const token = csrf === "other" ? (await signInByForm(server, ann)).csrf : csrf;
    expect((await decide(user_code, "approve", { csrf: token })).status).toBe(403);
    expect(await codeOf(device_code)).toBe("authorization_pending");
  });

  test("WEB 1.5: a click without a session decides nothing, and leads through the sign-in back to the page", async () => {
    const { user_code, device_code } = await begin();
    const answer = await submit(server, "/device", { user_code, decision: "approve" });
    const page = `/device?${new URLSearchParams({ user_code })}`;
    const query = new URLSearchParams({ next: page, why: "signed-out" });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, `/signin?${query}`]);
    expect(await codeOf(device_code)).toBe("authorization_pending");
  });

  test("A7 a sign-in older than an hour asks for the password again", async () => {
    browser = await signInByForm(server, ann);
    server.advance(61 * MINUTE);
    const { user_code, device_code } = await begin();
    expect(await (await open(`/device?user_code=${user_code}`)).text()).toContain('name="password"');
    for (const [password, status] of [
      ["", 400],
      ["wrong password", 401],
    ] as const) {
      const refused = await decide(user_code, "approve", { password });
      expect(refused.status).toBe(status);
      expect(await refused.text()).toContain('role="alert"');
      server.advance(6_000);
      expect(await codeOf(device_code)).toBe("authorization_pending");
    }
    expect((await decide(user_code, "approve", { password: PASSWORD })).status).toBe(303);
    expect((await poll(device_code)).status).toBe(200);
    const next = await begin();
    expect((await decide(next.user_code, "approve")).status).toBe(303); // the password was just given
  });

  test("A7 a session that a device got never approves another without the password", async () => {
    const first = await begin();
    browser = await signInByForm(server, ann);
    await decide(first.user_code, "approve");
    const { access_token } = (await poll(first.device_code)).body;
    const second = await begin();
    const click = (more: Record<string, string>) =>
      submit(server, "/device", { user_code: second.user_code, decision: "approve", ...more }, bearer(access_token));
    expect((await click({})).status).toBe(400);
    expect((await click({ password: PASSWORD })).status).toBe(303);
  });

  test("ends with the account: a code that it approved opens nothing", async () => {
    const ben = await signUp(server);
    const { cookie, csrf } = await signInByForm(server, ben);
    const { user_code, device_code } = await begin();
    await submit(server, "/device", { user_code, decision: "approve", csrf }, { cookie });
    expect((await call(server, "DELETE", "/account", undefined, ben.bearer)).status).toBe(200);
    expect(await codeOf(device_code)).toBe("expired_token");
  });
});
