/** RFC 8628: a program signs in by a code that a person approves in a browser (CONTRACT 5, RELIABILITY A7). */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { newToken } from "../../src/base/tokens.ts";
import { read } from "../kit/database.ts";
import { call, signInByForm, signUp, submit } from "../kit/people.ts";
import { startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { approver, device } from "./login-by-code.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

const MINUTE = 60_000;
const server = await sharedServer();
const browser = await signInByForm(server, await signUp(server, "ann@example.org"));

const { begin, poll, codeOf } = device(() => server);
const { open, decide } = approver(
  () => server,
  () => browser,
);

describe("the device", () => {
  test("gets a code of eight letters without vowels, addresses to show, 900 seconds and an interval of 5", async () => {
    const body = await begin();
    expect(body).toEqual({
      device_code: expect.stringMatching(/^svc_device_[\w-]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: `${server.base_url}/device`,
      verification_uri_complete: `${server.base_url}/device?user_code=${body.user_code}`,
      expires_in: 900,
      interval: 5,
    } as unknown as typeof body);
  });

  test("user codes use all twenty letters about equally and do not repeat", async () => {
    const codes: string[] = [];
    for (let n = 0; n < 4; n++) {
      codes.push(...(await Promise.all(Array.from({ length: 50 }, async () => (await begin()).user_code))));
    }
    expect(new Set(codes).size).toBe(200);
    const counts = Map.groupBy(codes.join("").replaceAll("-", ""), (letter) => letter);
    expect(counts.size).toBe(20);
    for (const letters of counts.values()) expect(letters.length).toBeWithin(40, 130);
  });

  test.each([
    ["JSON", "application/json", (code: string) => JSON.stringify({ device_code: code })],
    [
      "a form",
      "application/x-www-form-urlencoded",
      (code: string) =>
        `grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&device_code=${code}&client_id=svc`,
    ],
  ])("may send %s", async (_, type, write) => {
    const headers = { "content-type": type };
    const started = await server.api("/auth/device/code", {
      method: "POST",
      headers,
      body: type.endsWith("json") ? "{}" : "client_id=svc",
    });
    const { device_code } = (await started.json()) as { device_code: string };
    const polled = await server.api("/auth/device/token", { method: "POST", headers, body: write(device_code) });
    expect(polled.status).toBe(400);
    expect(polled.headers.get("cache-control")).toBe("no-store");
    expect(await polled.json()).toMatchObject({ error: "authorization_pending", code: "authorization_pending" });
  });

  test("another grant_type, a missing device_code, another type of body: 400 invalid_input, 415", async () => {
    const { device_code } = await begin();
    const other = await call(server, "POST", "/auth/device/token", { device_code, grant_type: "password" });
    expect([other.status, other.body.code]).toEqual([400, "invalid_input"]);
    const none = await call(server, "POST", "/auth/device/token", {});
    expect([none.status, none.body.code]).toEqual([400, "invalid_input"]);
    const plain = await server.api("/auth/device/token", { method: "POST", body: "device_code=x" });
    expect(plain.status).toBe(415);
  });

  test("that asks too often is told slow_down, and must then wait five seconds longer each time", async () => {
    const { device_code } = await begin();
    expect(await codeOf(device_code)).toBe("authorization_pending");
    expect(await codeOf(device_code)).toBe("slow_down"); // 10 s from now on
    server.advance(6_000);
    expect(await codeOf(device_code)).toBe("slow_down"); // 15 s
    server.advance(11_000);
    expect(await codeOf(device_code)).toBe("slow_down"); // 20 s
    server.advance(20_000);
    expect(await codeOf(device_code)).toBe("authorization_pending");
  });

  test("that goes on too often is told so without a write, and a minute later it may ask again", async () => {
    const { device_code } = await begin();
    expect(await codeOf(device_code)).toBe("authorization_pending");
    for (let n = 0; n < 11; n++) expect(await codeOf(device_code)).toBe("slow_down"); // 60 s from now on;
    const written = read(server.data_dir, "select interval, polled_at from device_logins");
    server.advance(30_000);
    for (let n = 0; n < 20; n++) expect(await codeOf(device_code)).toBe("slow_down");
    expect(read(server.data_dir, "select interval, polled_at from device_logins")).toEqual(written);
    server.advance(30_000);
    expect(await codeOf(device_code)).toBe("authorization_pending");
  });

  test("at its interval it is never told to slow down", async () => {
    const { device_code } = await begin();
    for (let i = 0; i < 5; i++) {
      expect(await codeOf(device_code)).toBe("authorization_pending");
      server.advance(4_990);
    }
  });

  test("after 15 minutes the code is expired_token, on the page unknown, even if it was approved", async () => {
    const [left, approved] = [await begin(), await begin()];
    expect((await decide(approved.user_code, "approve")).status).toBe(303);
    server.advance(15 * MINUTE);
    expect(await codeOf(left.device_code)).toBe("expired_token");
    expect(await codeOf(approved.device_code)).toBe("expired_token");
    expect((await open(`/device?user_code=${left.user_code}`)).status).toBe(404);
    expect((await decide(left.user_code, "approve")).status).toBe(404);
  });

  test("an unknown device code is expired_token", async () => {
    expect(await codeOf(newToken("svc_device_"))).toBe("expired_token");
    expect(await codeOf("x")).toBe("expired_token");
  });
});

describe("guessing a user code", () => {
  test("A7 the eleventh code in a minute is 429, right or wrong, by page or by click; unknown and used look alike", async () => {
    await using limited = await startServer({ SVC_RATE_DEVICE_CODE: "10/1m" });
    const person = await signUp(limited);
    const { cookie, csrf } = await signInByForm(limited, person);
    const { user_code, device_code } = await begin(limited);
    const enter = (code: string) => limited.api(`/device?user_code=${code}`, { headers: { cookie } });
    const click = (code: string) =>
      submit(limited, "/device", { user_code: code, decision: "approve", csrf }, { cookie });
    expect((await enter(user_code)).status).toBe(200);
    const pages: string[] = [];
    const looks = async (page: Response) => (await page.text()).replaceAll(/name="csrf" value="[^"]+"/g, "");
    for (let i = 0; i < 5; i++) pages.push(await looks(await enter(`BCDF-GHJ${"BCDFG"[i]}`)));
    expect(new Set(pages).size).toBe(1);
    for (let i = 0; i < 4; i++) expect((await click(`BCDF-GHJ${"JKLM"[i]}`)).status).toBe(404);
    for (const refused of [await enter(user_code), await click(user_code)]) {
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, 61);
    }
    expect((await poll(device_code, limited)).body.code).toBe("authorization_pending");
    limited.advance(MINUTE);
    expect((await click(user_code)).status).toBe(303);
    expect((await enter(user_code)).status).toBe(404);
  });

  test("a GET counts only as a navigation: ten pictures in a sibling's page neither count nor learn anything", async () => {
    await using limited = await startServer({ SVC_RATE_DEVICE_CODE: "10/1m" });
    const person = await signUp(limited);
    const { cookie } = await signInByForm(limited, person);
    const { user_code } = await begin(limited);
    const load = (code: string, dest: string) =>
      limited.api(`/device?user_code=${code}`, { headers: { cookie, "sec-fetch-dest": dest } });
    for (const dest of [
      "image",
      "script",
      "style",
      "iframe",
      "empty",
      "object",
      "video",
      "font",
      "manifest",
      "worker",
      "",
    ]) {
      const [waiting, unknown] = [await load(user_code, dest), await load("BCDF-GHJK", dest)];
      expect([waiting.status, unknown.status]).toEqual([403, 403]);
      const said = await Promise.all(
        [waiting, unknown].map(async (one) => ((await one.json()) as { error: string }).error),
      );
      expect(said[0]).toBe(said[1]!);
      expect([...waiting.headers.keys()]).not.toContain("ratelimit");
    }
    for (const header of ["sec-purpose", "purpose"]) {
      const headers = { cookie, "sec-fetch-dest": "document", [header]: "prefetch" };
      expect((await limited.api(`/device?user_code=${user_code}`, { headers })).status).toBe(403);
    }
    for (let i = 0; i < 9; i++) expect((await load(`BCDF-GHJ${"BCDFGHJKL"[i]}`, "document")).status).toBe(404);
    expect((await load(user_code, "document")).status).toBe(200);
    expect((await load(user_code, "document")).status).toBe(429);
  });

  test("begun logins are swept once they have expired, so that nobody fills the database with them", async () => {
    await using own = await startServer({ SVC_RATE_DEVICE_START: "5/15m" });
    const answers = [];
    for (let i = 0; i < 6; i++) answers.push((await call(own, "POST", "/auth/device/code", {})).status);
    expect(answers).toEqual([200, 200, 200, 200, 200, 429]);
    own.advance(15 * MINUTE);
    await own.running.store.sweep(own.now());
    expect(own.rows("device_logins")).toBe(0);
  });
});
