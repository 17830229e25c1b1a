/** How the pages of accounts look and read: on a phone, in the dark, to axe. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { TLS_CERT, TLS_KEY } from "../kit/paths.ts";
import { PASSWORD } from "../kit/people.ts";
import { startServer, type TestServer } from "../kit/server.ts";
import { type Browser, openBrowser } from "./chromium.ts";

let http: TestServer;
let https: TestServer;
let browser: Browser;
beforeAll(async () => {
  http = await startServer("--base-url", "http://plain.test", "--sites-domain", "plain.test");
  const certificate = ["--tls-cert", TLS_CERT, "--tls-key", TLS_KEY];
  https = await startServer("--base-url", "https://svc.test", "--sites-domain", "svc.test", ...certificate);
  const domains = Object.fromEntries(
    [
      ["plain.test", http],
      ["svc.test", https],
    ].flatMap(([name, server]) =>
      [name as string, `*.${name as string}`].map((host) => [host, `127.0.0.1:${(server as TestServer).port}`]),
    ),
  );
  browser = await openBrowser({ domains, switches: ["--ignore-certificate-errors"] });
}, 60_000);
afterAll(async () => {
  await browser.close();
  await http[Symbol.asyncDispose]();
  await https[Symbol.asyncDispose]();
});

const WORLDS = {
  http: () => ({
    server: http,
    base: "http://plain.test",
    scheme: "http",
    domain: "plain.test",
    cookie: "svc_session",
  }),
  https: () => ({
    server: https,
    base: "https://svc.test",
    scheme: "https",
    domain: "svc.test",
    cookie: "__Host-svc_session",
  }),
};
type World = ReturnType<(typeof WORLDS)[keyof typeof WORLDS]>;

/** A program's call, past name and certificate. */
const ask = (world: World, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  fetch(`${world.scheme}://127.0.0.1:${world.server.port}${path}`, {
    method,
    headers: { host: world.domain, ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && {
      body: body instanceof Uint8Array ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body),
    }),
    tls: { rejectUnauthorized: false },
  });

let people = 0;
/** Makes an account on the sign-up page, by keyboard alone. */
async function signUpByHand(world: World, next = ""): Promise<string> {
  const email = `person${++people}@example.org`;
  await browser.cdp("Network.clearBrowserCookies");
  await browser.visit(`${world.base}/signup${next && `?next=${encodeURIComponent(next)}`}`, "Make an account");
  await browser.evaluate("document.querySelector('#email').focus()");
  await browser.type(email);
  await browser.press("Tab");
  await browser.type(PASSWORD);
  await browser.press("Enter");
  return email;
}

describe("the pages", () => {
  test("fit a phone, leave room for a thumb, and follow the dark", async () => {
    const world = WORLDS.https();
    await signUpByHand(world);
    await browser.shows("You are signed in");
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
          Math.min(...[...document.querySelectorAll("input:not([type=hidden]), button")].map((e) => e.getBoundingClientRect().height)),
          getComputedStyle(document.body).backgroundColor]`,
      );
      expect(width).toBeLessThanOrEqual(320);
      expect(smallest).toBeGreaterThanOrEqual(44);
      expect(paper).toBe("rgb(23, 25, 29)");
    }
    await browser.cdp("Emulation.clearDeviceMetricsOverride");
    await browser.cdp("Emulation.setEmulatedMedia", { features: [] });
  }, 60_000);

  test("have a language, one heading, a name for every field and button, and say aloud what went wrong", async () => {
    const world = WORLDS.https();
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
    const world = WORLDS.https();
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
    const world = WORLDS.https();
    await signUpByHand(world);
    await browser.shows("You are signed in");
    const evil = `"><script>document.title='pwned'</script><img src=x onerror="document.title='pwned'">`;
    const started = await ask(world, "POST", "/auth/device/code", {}, { "user-agent": evil });
    const { user_code } = (await started.json()) as { user_code: string };
    const shown = await browser.visit(`${world.base}/device?user_code=${user_code}`, user_code);
    expect(shown.text).toContain("<script>document.title='pwned'</script>");
    expect(shown.title).not.toContain("pwned");
    expect(shown.failures).toEqual([]);
  }, 60_000);
});
