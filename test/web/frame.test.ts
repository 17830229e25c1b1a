/** WEB 1: what every page is made of, who sees it, and the headers it has. */
import { describe, expect, test } from "bun:test";
import { cookieOf, csrfOf, PASSWORD, signInByForm, signUp, submit } from "../kit/people.ts";
import { startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";

const server = await sharedServer("--contact", "help@svc.example");
const browser = await signInByForm(server, await signUp(server));

const HTML = { accept: "text/html,application/xhtml+xml" };
const open = (path: string, headers: Record<string, string> = {}, at = server) =>
  at.api(path, { headers: { ...HTML, ...headers }, redirect: "manual" });
const signedIn = () => ({ cookie: browser.cookie });

const PAGES = ["/", "/signin", "/signup", "/device?done=approved", "/claim/site_x", "/nothing/here"];

describe.each(PAGES)("WEB 1.2: %s", (path) => {
  test.each([
    ["signed out", {}, ["svc", "Docs", "Sign in", "Create an account"]],
    ["signed in", "cookie", ["svc", "Sites", "Account", "Docs"]],
  ] as const)("%s has one h1, all landmarks and the banner's links, Skip to content first", async (_, who, links) => {
    const answer = await open(path, who === "cookie" ? signedIn() : {});
    if (answer.status === 303) return expect(["/signin", "/signup"]).toContain(path);
    const page = await answer.text();
    expect(page).toContain('<html lang="en">');
    expect(page.match(/<h1/g)).toHaveLength(1);
    for (const landmark of ["header", "nav", "main", "footer"]) {
      expect(page.match(new RegExp(`<${landmark}[ >]`, "g"))).toHaveLength(1);
    }
    expect(page).toContain('<nav class="menu" aria-label="Main">');
    const body = page.slice(page.indexOf("<body>"));
    expect(/<(?:a|button|input)\b[^>]*>([^<]*)/.exec(body)?.[1]).toBe("Skip to content");
    const banner = body.slice(body.indexOf("<header"), body.indexOf("</header>"));
    const named = [...banner.matchAll(/<a [^>]*>([\s\S]*?)<\/a>/g)].map(([, words]) =>
      words!.replace(/<[^>]+>/g, "").trim(),
    );
    expect(named).toEqual([...links]);
    expect(banner.includes("Sign out")).toBe(who === "cookie");
    expect(page).toMatch(/<title>[^<]+ · svc<\/title>|<title>svc: [^<]+<\/title>/);
  });

  test("WEB 1.2: has the footer: llms.txt, the version, whom to ask", async () => {
    const page = await (await open(path)).text();
    const footer = page.slice(page.indexOf("<footer"));
    expect(footer).toContain('<a href="/llms.txt">llms.txt</a>');
    expect(footer).toMatch(/svc \d+\.\d+\.\d+/);
    expect(footer).toContain('<a href="mailto:help@svc.example">help@svc.example</a>');
  });

  test("WEB 1.6: has the strict headers, and noindex unless it is home", async () => {
    const { headers } = await open(path);
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
        "worker-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("referrer-policy")).toBe("same-origin");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-request-id")).toStartWith("req_");
    expect(headers.get("svc-version")).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(headers.get("x-robots-tag")).toBe(path === "/" ? null : "noindex");
  });

  test("nothing stands inline, nothing comes from elsewhere", async () => {
    const page = await (await open(path)).text();
    expect(page).not.toMatch(/<style|<script(?! src="\/assets\/)|\sstyle="|\son\w+="/);
    const loaded = [...page.matchAll(/<(?:link|script|img)\b[^>]*\b(?:href|src)="([^"]+)"/g)].map((match) => match[1]!);
    const own = ["#page-end", `${server.base_url}/`]; // a part of the page, and its own address
    expect(loaded.filter((url) => !url.startsWith("/") && !own.includes(url))).toEqual([]);
  });
});

describe("WEB 1.6: where browsers complain of it", () => {
  test.each([
    ["http://plain.test", null],
    ["https://svc.test", "same-origin"],
    ["http://localhost:8787", "same-origin"],
  ])("a page at %s has Cross-Origin-Opener-Policy %p", async (base, policy) => {
    await using at = await startServer("--base-url", base);
    const answer = await open("/", { host: new URL(base).host }, at);
    expect([answer.status, answer.headers.get("cross-origin-opener-policy")]).toEqual([200, policy]);
  });
});

describe("WEB 1.1: methods", () => {
  test.each(["/", "/signin", "/robots.txt", "/llms.txt", "/favicon.ico", "/manifest.webmanifest"])(
    "HEAD %s is GET without a body",
    async (path) => {
      const [get, head] = [await open(path), await server.api(path, { method: "HEAD", headers: HTML })];
      expect([head.status, await head.text()]).toEqual([get.status, ""]);
      expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
    },
  );
  test.each([
    ["PUT", "/signin", "GET, HEAD, POST"],
    ["DELETE", "/robots.txt", "GET, HEAD"],
    ["POST", "/dashboard", "GET, HEAD"],
  ])("%s %s is 405: a page to a browser, JSON to a program", async (method, path, allow) => {
    const page = await server.api(path, { method, headers: { ...HTML, ...signedIn(), origin: server.base_url } });
    expect([page.status, page.headers.get("allow")]).toEqual([405, allow]);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const json = await server.api(path, { method });
    expect((await json.json()) as object).toMatchObject({ code: "method_not_allowed" });
  });
});

describe("CONTRACT 3: errors on every path of the API host", () => {
  test.each([
    ["GET", "/nothing/here", 404],
    ["GET", "/account", 401],
    ["GET", "/sites/site_x", 401],
    ["POST", "/sites", 415],
    ["GET", "/assets/style.000000000000.css", 404],
    ["GET", "/dashboard/nothing", 404],
  ])("%s %s is a page to a browser and JSON to a program, both %i", async (method, path, status) => {
    const page = await server.api(path, { method, headers: HTML });
    const text = await page.text();
    expect([page.status, page.headers.get("content-type")]).toEqual([status, "text/html; charset=utf-8"]);
    expect(text).toContain(page.headers.get("x-request-id")!);
    const json = await server.api(path, { method, headers: { accept: "*/*" } });
    expect([json.status, json.headers.get("content-type")]).toEqual([status, "application/json"]);
  });

  test.each([
    ["/account", 401, "What is at /account is for programs with a token, and for people who are signed in."],
    ["/sites/site_x", 401, "What is at /sites/site_x is for programs with a token, and for people who are signed in."],
    ["/sites", 405, "There is no page here /sites is an address for programs, and shows nothing."],
    ["/auth/login", 405, "The manual has what they send there."],
    ["/dashboard/sites/site_x/rollback", 405, "takes what a form sends, and shows nothing. Nothing was changed."],
  ])("whoever opens %s in a browser reads a person's words, and no header", async (path, status, words) => {
    const page = await server.api(path, { headers: HTML });
    const text = (await page.text())
      .replace(/<[^>]*>/g, " ")
      .replace(/\s+/g, " ")
      .replaceAll(" .", ".");
    expect([page.status, text.includes(words)]).toEqual([status, true]);
    expect(text).not.toMatch(/Authorization|Bearer|POST only/);
  });

  test("what was asked for is text", async () => {
    const page = await (await open("/%3Cscript%3Ealert(1)%3C/script%3E%22%3E")).text();
    expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&gt;");
    expect(page).not.toContain("<script>");
  });
});

describe("WEB 1.5: who", () => {
  test("GET of a page of accounts without a session leads to the sign-in and back, query and all", async () => {
    const answer = await open("/dashboard?q=a%20b&page=2");
    const query = new URLSearchParams({ next: "/dashboard?q=a%20b&page=2" });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, `/signin?${query}`]);
  });

  test("the sign-in says that nothing was changed, where a form was sent without a session", async () => {
    const answer = await submit(server, "/claim/site_x", { claim_token: "svc_claim_x" });
    const location = answer.headers.get("location")!;
    expect([answer.status, location]).toEqual([303, "/signin?next=%2Fclaim%2Fsite_x&why=signed-out"]);
    expect(await (await open(location)).text()).toContain("You were signed out, and nothing was changed.");
  });

  test.each<[what: string, fields: Record<string, string>, headers: Record<string, string>]>([
    ["no csrf", {}, {}],
    ["another origin", { csrf: "own" }, { origin: "http://sibling.localhost" }],
    ["no origin", { csrf: "own" }, { origin: "" }],
    ["Sec-Fetch-Site: same-site", { csrf: "own" }, { "sec-fetch-site": "same-site" }],
  ])("WEB 1.7: a form with %s is 403, and a page that says what to do", async (_, fields, headers) => {
    const csrf: Record<string, string> = fields.csrf ? { csrf: browser.csrf } : {};
    const answer = await submit(server, "/auth/logout", { next: "/", ...csrf }, { ...signedIn(), ...headers });
    expect(answer.status).toBe(403);
    const page = await answer.text();
    expect(page).toContain(
      "This page was open for too long, or the change did not come from it. Go back, reload, and try again.",
    );
    expect(page).toContain("<title>Error: ");
    expect(page).toContain('role="alert"');
  });

  test("429 says in how many seconds to try again", async () => {
    await using limited = await startServer({ SVC_RATE_SIGN_IN: "1/1m" });
    const send = () => submit(limited, "/signin", { email: "a@example.org", password: "not the password" });
    await send();
    const answer = await send();
    const seconds = answer.headers.get("retry-after");
    expect([answer.status, Number(seconds)]).toEqual([429, expect.any(Number)]);
    expect(await answer.text()).toContain(`wait ${seconds} seconds`);
  });
});

describe("WEB 1.8: signing out", () => {
  test.each([
    ["http://plain.test", "http://plain.test", null],
    ["on localhost", undefined, '"cache"'],
  ])("%s: 303 to next, the cookie ends, Clear-Site-Data never reaches cookies or storage", async (_, base, cleared) => {
    await using at = await startServer(...(base ? ["--base-url", base] : []));
    const { host } = new URL(at.base_url);
    const cookie = cookieOf(await submit(at, "/signup", { email: "ann@example.org", password: PASSWORD }))!;
    const csrf = csrfOf(await (await open("/device", { host, cookie }, at)).text());
    const answer = await submit(at, "/auth/logout", { csrf, next: "/" }, { cookie });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/"]);
    expect(answer.headers.get("set-cookie")).toMatch(/svc_session=;.*Max-Age=0/i);
    expect(answer.headers.get("clear-site-data")).toBe(cleared);
    expect((await open("/device", { host, cookie }, at)).status).toBe(303);
  });

  test("on a page whose session has ended it leads on: what was wanted is done", async () => {
    const one = await signInByForm(server, await signUp(server));
    const fields = { csrf: one.csrf, next: "/" };
    await submit(server, "/auth/logout", fields, { cookie: one.cookie });
    const again = await submit(server, "/auth/logout", fields, { cookie: one.cookie });
    expect([again.status, again.headers.get("location")]).toEqual([303, "/"]);
  });
});

test("WEB 1.5, 9: a 429 says in how many seconds to try again, and says nothing twice", async () => {
  await using at = await startServer({ SVC_RATE_DEVICE_CODE: "1/1m" });
  const { cookie } = await signInByForm(at, await signUp(at));
  const code = () => open("/device?user_code=ABCD-EFGH", { cookie }, at);
  await code();
  const refused = await code();
  expect([refused.status, Number(refused.headers.get("retry-after"))]).toEqual([429, expect.any(Number)]);
  const page = await refused.text();
  const [, heading = ""] = /<h1>([^<]*)<\/h1>/.exec(page)!;
  expect(page.split(heading)).toHaveLength(3); // the title and the h1
  expect(page).toMatch(/wait (?:a second|\d+ seconds) and try again/);
});

test("WEB 1.4: text of an address is never shown; only codes that are known say something", async () => {
  for (const [done, said] of [
    ["saved", true],
    ["<b>You won</b>", false],
    ["__proto__", false],
    ["toString", false],
  ] as const) {
    const page = await (await open(`/claim/site_x?done=${encodeURIComponent(done)}`, signedIn())).text();
    expect(page.includes('role="status"')).toBe(said);
    expect(page).not.toContain("You won");
  }
});

test("each form of a page for accounts proves itself with a token of its own", async () => {
  const page = await (await open("/claim/site_x", signedIn())).text();
  expect(page.match(/name="csrf"/g)!.length).toBe(page.match(/<form/g)!.length);
  expect(csrfOf(page)).not.toBe(browser.csrf);
});
