/** WEB 4.5 in Chromium: each answer that can come. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { until } from "../../kit/until.ts";
import { byRole, focused, hrefOf, press, things } from "../by-role.ts";
import { lastSite, openAnew, openZone, type ZoneWorld } from "./world.ts";
import { longTest, partOf } from "../../kit/whole.ts";

let world: ZoneWorld;
let site: string;
beforeAll(async () => {
  world = await openZone("--max-bytes", "20971520", "--max-zip-bytes", "20971520");
  site = await world.folder("site", { "index.html": "<!doctype html><title>Harbour</title>" });
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => openAnew(world));

const offered = async (): Promise<string[]> =>
  world.browser.evaluate(`[...document.querySelectorAll(".face .row > *")].map((one) => one.textContent)`);
const sites = (): number => world.server.rows("sites");
const live = async (): Promise<void> => {
  await world.in("done");
};

const KEPT = "Nothing was published; your files are still here.";

describe("WEB 4.5: when it does not work", () => {
  const error = "The server's own words.";
  const REFUSALS: [string, { status: number; body: Record<string, unknown> }, string[], string[]][] = [
    ["400", { status: 400, body: { error, path: "a/b.txt" } }, [error, "a/b.txt"], ["Start over"]],
    ["403 abuse_rejected", { status: 403, body: { error, code: "abuse_rejected" } }, [error], ["Start over"]],
    [
      "413",
      { status: 413, body: { error, largest: [{ path: "big.bin", bytes: 2048 }] } },
      [error, "big.bin 2 KB"],
      ["Start over"],
    ],
    ["415", { status: 415, body: { error } }, [error], ["Start over"]],
    ["507", { status: 507, body: { error } }, [error], ["Start over"]],
    [
      "403 appeal",
      { status: 403, body: { error, appeal: "abuse@svc.example" } },
      [error, "abuse@svc.example"],
      ["Start over"],
    ],
    [
      "500",
      { status: 500, body: { error: "x" } },
      ["Something went wrong on the server (request req_test)."],
      ["Try again"],
    ],
    ["502", { status: 502, body: {} }, ["Something went wrong on the server (request req_test)."], ["Try again"]],
  ];
  test.each(partOf(REFUSALS, 3))("%s: the alert and what it offers", async (_, fate, sentences, offers) => {
    world.fates.push(fate);
    await world.drop(site);
    const text = await world.alert();
    for (const sentence of sentences) expect(text).toContain(sentence);
    expect(await offered()).toEqual(offers);
    expect(await focused(world.browser)).toEqual({ role: "button", name: offers[0]! });
  });

  test("what a server says is text", async () => {
    const hostile = "<img src=x onerror=alert(1)>";
    world.fates.push({ status: 413, body: { error: hostile, path: hostile, largest: [{ path: hostile, bytes: 1 }] } });
    await world.drop(site);
    expect(await world.alert()).toContain(hostile);
    expect(await world.browser.evaluate<number>("document.querySelectorAll('main img').length")).toBe(0);
  });

  test("no answer: Try again sends the same with the same key, and a lost answer makes no second site", async () => {
    const before = sites();
    world.fates.push("lost");
    await world.drop(site);
    expect(await world.alert()).toBe(
      "The server cannot be reached. Check your connection. It may be published already. Your files are still here: trying again publishes them once.",
    );
    expect(sites()).toBe(before + 1);
    await press(world.browser, "button", "Try again");
    await live();
    expect(sites()).toBe(before + 1);
    const [first, second] = world.deploys.map(({ headers }) => headers["idempotency-key"]);
    expect(first).toMatch(/^[\w-]{32}$/);
    expect(second).toBe(first!);
  });

  test("with an account neither", async () => {
    await world.signUp();
    await world.open();
    const before = sites();
    world.fates.push("lost");
    await world.drop(site);
    await world.alert();
    await press(world.browser, "button", "Try again");
    await live();
    expect(sites()).toBe(before + 1);
    expect((await world.browser.shows("It is yours")).text).toContain("It is yours and does not expire.");
  });

  test("offline says so; back online Try again publishes", async () => {
    await world.offline(true);
    await world.drop(site);
    expect(await world.alert()).toBe(`You are offline. ${KEPT}`);
    await world.offline(false);
    await press(world.browser, "button", "Try again");
    await live();
  });

  test("offline when it is tried again after a sign-out, it says that, and not that one is signed out", async () => {
    await world.signUp();
    await world.open();
    world.fates.push({ status: 401 });
    await world.drop(site);
    expect(await world.alert()).toBe("You were signed out, and nothing was published.");
    await world.offline(true);
    await press(world.browser, "button", "Try again");
    await until(async () => (await world.alert()) === `You are offline. ${KEPT}`);
    await world.offline(false);
    await press(world.browser, "button", "Try again");
    await live();
    expect((await world.browser.shows("It is yours")).text).toContain("It is yours and does not expire.");
  });

  test("a server that fails when it is tried again after a sign-out: nor does it say then that one is signed out", async () => {
    await world.signUp();
    await world.open();
    world.fates.push({ status: 401 });
    await world.drop(site);
    expect(await world.alert()).toBe("You were signed out, and nothing was published.");
    await world.browser.evaluate(`void (window.real = fetch,
      window.fetch = (url, init) => url === "/" ? Promise.resolve(new Response("", { status: 503 })) : real(url, init))`);
    await press(world.browser, "button", "Try again");
    await until(async () => (await world.alert()) === `The server cannot be reached. Check your connection. ${KEPT}`);
    await world.browser.evaluate("void (window.fetch = window.real)");
    await press(world.browser, "button", "Try again");
    await live();
    expect((await world.browser.shows("It is yours")).text).toContain("It is yours and does not expire.");
  });

  test("a new drop is another one, with a key of its own", async () => {
    world.fates.push({ status: 500 });
    await world.drop(site);
    await world.alert();
    await world.drop(site);
    await live();
    const [first, second] = world.deploys.map(({ headers }) => headers["idempotency-key"]);
    expect(second).not.toBe(first);
  });

  test("429: in how many seconds, and Try again waits so long", async () => {
    world.fates.push({ status: 429, body: { error }, headers: { "retry-after": "2" } });
    await world.drop(site);
    expect(await world.alert()).toBe(
      `Too many sites from your address. Try again in 2 seconds, or sign in: an account's deploys are not limited. ${KEPT}`,
    );
    expect(await hrefOf(world.browser, "sign in")).toEndWith("/signin");
    expect((await byRole(world.browser, "button", "Try again")).is["disabled"]).toBe(true);
    await until(async () => (await byRole(world.browser, "button", "Try again")).is["disabled"] !== true);
    await press(world.browser, "button", "Try again");
    await live();
  });

  longTest("503 with Retry-After is waited for unseen, three times", async () => {
    const busy = { status: 503, body: { error }, headers: { "retry-after": "0" } };
    world.fates.push(busy, busy, busy);
    await world.drop(site);
    await live();
    expect(world.deploys).toHaveLength(4);
    await world.open();
    world.fates.push(busy, busy, busy, busy);
    await world.drop(site);
    expect(await world.alert()).toContain("Something went wrong on the server");
    expect(await offered()).toEqual(["Try again"]);
    await press(world.browser, "button", "Try again");
    await live();
  });

  longTest("403 challenge_failed: a proof is made unseen, three times", async () => {
    const refused = { status: 403, body: { error, code: "challenge_failed" } };
    world.fates.push(refused, refused, refused);
    await world.drop(site);
    await live();
    expect(world.deploys.map(({ headers }) => "svc-challenge" in headers)).toEqual([false, true, true, true]);
    expect(await world.statuses()).toContain("Proving this is no robot");
    await world.open();
    world.fates.push(refused, refused, refused, refused);
    await world.drop(site);
    expect(await world.alert()).toContain(error);
    expect(await offered()).toEqual(["Try again"]);
  });

  test("403 cross_origin: a fresh token unseen, once; then the page must be reloaded", async () => {
    await world.signUp();
    await world.open();
    const refused = { status: 403, body: { error, code: "cross_origin" } };
    world.fates.push(refused);
    await world.drop(site);
    await live();
    expect(world.deploys).toHaveLength(2);
    await world.open();
    world.fates.push(refused, refused);
    await world.drop(site);
    await world.alert();
    expect(await offered()).toEqual(["Reload the page"]);
  });

  test("401: a session that ended publishes nothing, whatever is pressed, but what says so", async () => {
    await world.signUp();
    await world.open();
    await world.browser.cdp("Network.clearBrowserCookies");
    const before = sites();
    await world.drop(site);
    expect(await world.alert()).toBe("You were signed out, and nothing was published.");
    expect(await offered()).toEqual(["Sign in", "Try again", "Publish without an account"]);
    const opens = `[...document.querySelectorAll(".zone a")].find((one) => one.textContent === "Sign in").target`;
    expect(await world.browser.evaluate<string>(opens)).toBe("_blank"); // what was dropped stays in this one
    await press(world.browser, "button", "Try again");
    await until(async () => (await world.state()) === "failed");
    expect(sites()).toBe(before);
    await world.signUp();
    await press(world.browser, "button", "Try again");
    await live();
    expect((await world.browser.shows("It is yours")).text).toContain("It is yours and does not expire.");
  });

  test("401: without an account by its button alone", async () => {
    await world.signUp();
    await world.open();
    await world.browser.cdp("Network.clearBrowserCookies");
    await world.drop(site);
    await world.alert();
    await press(world.browser, "button", "Publish without an account");
    await live();
    expect((await world.browser.shows("Here until")).text).toContain("Keep this site");
  });

  test("Start over empties the zone", async () => {
    world.fates.push({ status: 400, body: { error } });
    await world.drop(site);
    await world.alert();
    await press(world.browser, "button", "Start over");
    await world.in("idle");
    expect((await things(world.browser)).map(({ role }) => role)).not.toContain("alert");
    expect(await focused(world.browser)).toEqual({ role: "button", name: "Choose a folder" });
    expect((await lastSite(world).catch(() => null))?.url).toBeUndefined();
  });
});
