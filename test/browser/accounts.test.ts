/** Signing in, approving a device and claiming a site, by a person in a real browser; and what a hosted page tries
 *  with that person's cookie. On *.localhost such attempts prove nothing: the names here are of a real domain. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { newToken } from "../../src/base/tokens.ts";
import { bearer, PASSWORD } from "../kit/people.ts";
import type { DeployResult } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";
import type { Browser } from "./chromium.ts";
import { ask, newAddress, openWorlds, signUpByHand, type World, type Worlds } from "./people-world.ts";

let worlds: Worlds;
let browser: Browser;
beforeAll(async () => {
  worlds = await openWorlds();
  ({ browser } = worlds);
}, 60_000);
afterAll(() => worlds[Symbol.asyncDispose]());

const deploy = async (world: World, html: string, headers: Record<string, string> = {}): Promise<DeployResult> => {
  const type = { "content-type": "application/zip" };
  return (await (
    await ask(world, "POST", "/sites", zipOf({ "index.html": html }), { ...type, ...headers })
  ).json()) as DeployResult;
};

describe.each(["http", "https"] as const)("over %s", (scheme) => {
  test("a person signs up, approves a device by keyboard, and the device gets its token", async () => {
    const world = worlds[scheme];
    const started = (await (
      await ask(world, "POST", "/auth/device/code", {}, { "user-agent": "svc/0.3.0" })
    ).json()) as {
      device_code: string;
      user_code: string;
      verification_uri_complete: string;
    };
    await browser.cdp("Network.clearBrowserCookies");
    const first = await browser.visit(started.verification_uri_complete, "Sign in");
    expect(new URL(first.url).pathname).toBe("/signin");
    await browser.click("a[href^='/signup']");
    await browser.shows("Create an account");
    await browser.click("#email");
    const email = newAddress("device");
    await browser.type(email);
    await browser.click("#password");
    await browser.type(PASSWORD);
    await browser.press("Enter");
    const shown = await browser.shows(started.user_code);
    expect(shown.text).toContain("svc/0.3.0");
    expect(shown.text).toContain("127.0.0.1");
    expect(shown.text).toContain(`You are signed in as ${email}`);
    expect(shown.failures).toEqual([]);
    const poll = () => ask(world, "POST", "/auth/device/token", { device_code: started.device_code });
    expect(await (await poll()).json()).toMatchObject({ code: "authorization_pending" });
    await browser.evaluate("document.querySelector('button[value=approve]').focus()");
    await browser.press("Enter");
    expect((await browser.shows("The device is signed in")).failures).toEqual([]);
    const { access_token } = (await (await poll()).json()) as { access_token: string };
    expect(access_token).toStartWith("svc_session_");
    expect(await browser.evaluate<string>("document.cookie")).toBe(""); // HttpOnly
  }, 60_000);

  test("claim_url: the token goes from the fragment through the sign-up into the form, and no request shows it", async () => {
    const world = worlds[scheme];
    const site = await deploy(world, "<title>mine</title>claim me");
    await browser.cdp("Network.clearBrowserCookies");
    const opened = await browser.visit(site.claim_url!, "Keep this site");
    expect(opened.url).toBe(`${world.base}/claim/${site.site_id}`); // gone from the address bar
    expect(opened.failures).toEqual([]);
    await browser.click("a[href^='/signup']");
    await browser.shows("Create an account");
    await browser.click("#email");
    await browser.type(newAddress("claim"));
    await browser.click("#password");
    await browser.type(PASSWORD);
    await browser.press("Enter");
    await browser.shows("Claim token");
    expect(await browser.evaluate<string>("document.querySelector('#token').value")).toBe(site.claim_token!);
    expect(await browser.evaluate<boolean>("document.querySelector('[type=checkbox]').checked")).toBe(false);
    await browser.click("[type=checkbox]");
    await browser.click("button[data-claim]");
    await browser.shows("1 manage_token"); // what the box ends is listed first
    await browser.click("button[data-claim]");
    const done = await browser.shows("This site is yours");
    expect(done.text).toContain(site.url);
    expect(done.failures).toEqual([]);
    expect(await browser.evaluate<number>("sessionStorage.length")).toBe(0);
    expect((await world.server.running.store.sites.byId(site.site_id))!.expires_at).toBeNull();
    const giver = await ask(world, "GET", `/sites/${site.site_id}`, undefined, bearer(site.manage_token));
    expect(giver.status).toBe(401);
  }, 60_000);

  test("A10 a sibling site that has the browser can neither write with its cookie, nor read, nor frame", async () => {
    const world = worlds[scheme];
    const email = await signUpByHand(browser, world);
    await browser.shows("Sign out");
    const [{ account_id }] = [(await world.server.running.store.accounts.byEmail(email))!];
    const [{ session_id }] = [(await world.server.running.store.sessions.list(account_id, 10))[0]!];
    const target = await deploy(world, "target");
    await world.server.running.store.ownership.claim({
      site_id: target.site_id,
      claim_hash: new Bun.CryptoHasher("sha256").update(target.claim_token!).digest("hex"),
      by: { account_id, session_id },
    });
    const evil = await deploy(world, "<title>evil</title><p id=p>evil</p><iframe id=frame></iframe>");
    const requests: [path: string, method: string, type: string, body: string][] = [
      ["/account/sites/bulk-delete", "POST", "text/plain", JSON.stringify({ site_ids: [target.site_id] })],
      ["/account/sites/bulk-delete", "POST", "application/x-www-form-urlencoded", `site_ids=${target.site_id}`],
      ["/account/sites/bulk-delete", "POST", "application/json", JSON.stringify({ site_ids: [target.site_id] })],
      [`/account/sites/${target.site_id}`, "DELETE", "text/plain", ""],
      [`/sites/${target.site_id}/rollback`, "POST", "text/plain", JSON.stringify({ version_id: "x" })],
      ["/auth/logout", "POST", "text/plain", "{}"],
      ["/account", "DELETE", "text/plain", ""],
    ];
    await browser.visit(evil.url, "evil");
    for (const mode of ["no-cors", "cors"]) {
      for (const [path, method, type, body] of requests) {
        const answer = await browser.evaluate<string>(
          `fetch(${JSON.stringify(world.base + path)}, {mode: "${mode}", method: "${method}", credentials: "include",
            headers: {"content-type": "${type}"}, body: ${JSON.stringify(body || null)}})
            .then((r) => r.type + " " + r.status).catch(() => "blocked")`,
        );
        expect(answer).toBeOneOf(["opaque 0", "blocked"]);
      }
    }
    const read = await browser.evaluate<string>(
      `fetch("${world.base}/account", {credentials: "include"}).then((r) => r.text()).catch(() => "blocked")`,
    );
    expect(read).toBe("blocked");
    await browser.evaluate(
      `new Promise((done) => { const image = new Image(); image.onerror = image.onload = done; image.src = "${world.base}/auth/logout"; })`,
    );
    await browser.evaluate(`new Promise((done) => { frame.onload = done; frame.src = "${world.base}/device"; })`);
    expect(
      await browser.evaluate<boolean>(
        "(() => { try { return frame.contentDocument !== null } catch { return false } })()",
      ),
    ).toBe(false);
    // A form that the browser sends there for good: the answer shows that the cookie came along, and was not enough.
    await browser.visit(evil.url, "evil");
    await browser.evaluate(
      `(() => { p.innerHTML = '<form id=f method=post action="${world.base}/auth/logout"><input name=next value="/"></form>'; setTimeout(() => f.submit()); })()`,
    );
    expect((await browser.shows("open for too long")).text).toContain("Nothing was changed");
    expect((await browser.visit(`${world.base}/claim/site_x`, "You are signed in")).text).toContain(email);
    expect((await world.server.running.store.sites.byId(target.site_id))!.owner_account_id).toBe(account_id);
  }, 60_000);

  test("A10 a cookie that a sibling site plants is never another's session", async () => {
    const world = worlds[scheme];
    const email = await signUpByHand(browser, world);
    await browser.shows("Sign out");
    const stranger = await (
      await ask(world, "POST", "/auth/signup", { email: newAddress("stranger"), password: PASSWORD })
    ).json();
    const planted = (stranger as { session_token: string }).session_token;
    const evil = await deploy(world, "<title>evil</title>evil");
    await browser.visit(evil.url, "evil");
    for (const value of [planted, newToken("svc_session_")]) {
      for (const more of ["", "; path=/signin"]) {
        const secure = world.scheme === "https" ? "; secure" : "";
        const where = `; domain=${world.domain}${more || "; path=/"}${secure}`;
        for (const pair of [
          `${world.cookie}=${value}`,
          `theme=x,${world.cookie}=${value}`,
          `=${world.cookie}=${value}`,
        ]) {
          await browser.evaluate(`document.cookie = ${JSON.stringify(pair + where)}`);
        }
      }
    }
    const { text } = await browser.visit(`${world.base}/claim/site_x`, "ign");
    expect(text).not.toContain("stranger");
    // Under https the prefix keeps it out; under http two that differ open nothing, rather than one of them.
    if (world.scheme === "https") expect(text).toContain(email);
  }, 60_000);
});
