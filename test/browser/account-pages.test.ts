/** How the pages of accounts look and read: on a phone, in the dark, to axe. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "./chromium.ts";
import { ask, openWorlds, signUpByHand, type Worlds } from "./people-world.ts";

let worlds: Worlds;
let browser: Browser;
beforeAll(async () => {
  worlds = await openWorlds();
  ({ browser } = worlds);
}, 60_000);
afterAll(() => worlds[Symbol.asyncDispose]());

describe("the pages", () => {
  test("fit a phone, leave room for a thumb, and follow the dark", async () => {
    const world = worlds.https;
    await signUpByHand(browser, world);
    await browser.shows("Sign out");
    const { user_code } = (await (
      await ask(world, "POST", "/auth/device/code", {}, { "user-agent": `x${"y".repeat(190)}` })
    ).json()) as { user_code: string };
    await browser.cdp("Emulation.setDeviceMetricsOverride", {
      width: 320,
      height: 568,
      deviceScaleFactor: 2,
      mobile: true,
    });
    await browser.cdp("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: "dark" }] });
    const paths = ["/signin", "/device", `/device?user_code=${user_code}`, "/claim/site_x"];
    for (const path of paths) {
      const { failures } = await browser.visit(world.base + path);
      expect(failures).toEqual([]);
      const [width, smallest, paper] = await browser.evaluate<[number, number, string]>(
        `[document.documentElement.scrollWidth,
          Math.min(...[...document.querySelectorAll("input:not([type=hidden]), button:not(.textlike)")]
            .map((e) => (e.type === "checkbox" ? e.labels[0] : e).getBoundingClientRect().height)),
          getComputedStyle(document.body).backgroundColor]`,
      );
      expect(width).toBeLessThanOrEqual(320);
      expect(smallest).toBeGreaterThanOrEqual(44);
      expect(paper).toBe("rgb(20, 24, 26)");
    }
    await browser.cdp("Emulation.clearDeviceMetricsOverride");
    await browser.cdp("Emulation.setEmulatedMedia", { features: [] });
  }, 60_000);

  test("have a language, one heading, a name for every field and button, and say aloud what went wrong", async () => {
    const world = worlds.https;
    await browser.cdp("Network.clearBrowserCookies");
    await browser.visit(`${world.base}/signin`, "Sign in");
    await browser.click("#email");
    await browser.type("nobody@example.org");
    await browser.press("Tab");
    await browser.type("wrong password");
    await browser.press("Enter");
    await browser.shows("is wrong");
    const [lang, headings, unnamed, alert, kept] = await browser.evaluate<[string, number, number, string, string]>(
      `[document.documentElement.lang, document.querySelectorAll("h1").length,
        [...document.querySelectorAll("input:not([type=hidden])")].filter((e) => e.labels.length === 0).length
          + [...document.querySelectorAll("button")].filter((e) => !e.innerText.trim()).length,
        document.querySelector("[role=alert]").innerText, document.querySelector("#email").value]`,
    );
    expect([lang, headings, unnamed, kept]).toEqual(["en", 1, 0, "nobody@example.org"]);
    expect(alert).toBe("The e-mail address or the password is wrong.");
  }, 60_000);

  test("send the strict headers of CONTRACT 5", async () => {
    const world = worlds.https;
    for (const path of ["/signin", "/signup", "/claim/site_x", "/device?done=approved"]) {
      const { headers } = await ask(world, "GET", path);
      const policy = headers.get("content-security-policy")!;
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("form-action 'self'");
      expect(policy).not.toContain("unsafe");
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("referrer-policy")).toBe("same-origin");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("cache-control")).toBe("no-store");
    }
  });

  test("A11 what a stranger calls itself is text, and no script of theirs runs", async () => {
    const world = worlds.https;
    await signUpByHand(browser, world);
    await browser.shows("Sign out");
    const evil = `"><script>document.title='pwned'</script><img src=x onerror="document.title='pwned'">`;
    const started = await ask(world, "POST", "/auth/device/code", {}, { "user-agent": evil });
    const { user_code } = (await started.json()) as { user_code: string };
    const shown = await browser.visit(`${world.base}/device?user_code=${user_code}`, user_code);
    expect(shown.text).toContain("<script>document.title='pwned'</script>");
    expect(shown.title).not.toContain("pwned");
    expect(shown.failures).toEqual([]);
  }, 60_000);
});
