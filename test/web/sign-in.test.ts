/** WEB 2: signing in, devices and claims, as forms that need no script. */
import { describe, expect, test } from "bun:test";
import { csrfOf, PASSWORD, signInByForm, signUp, submit } from "../kit/people.ts";
import { startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";

const server = await sharedServer();
const ann = await signUp(server, "ann@example.org");

const HTML = { accept: "text/html" };
const open = async (path: string, headers: Record<string, string> = {}) =>
  (await server.api(path, { headers: { ...HTML, ...headers } })).text();
/** The tag of the field with the name. */
const fieldOf = (page: string, name: string): string => new RegExp(`<input[^>]*\\sname="${name}"[^>]*>`).exec(page)![0];

describe("after signing in", () => {
  test.each([
    ["/signin", {}, "/dashboard"],
    ["/signin", { next: "/device?user_code=BCDF-GHJK" }, "/device?user_code=BCDF-GHJK"],
    ["/signin", { next: "https://elsewhere.example/" }, "/dashboard"],
    ["/signup", {}, "/dashboard"],
    ["/signup", { next: "/claim/site_x" }, "/claim/site_x"],
  ])("%s with %j leads to %s", async (path, fields, location) => {
    const email = path === "/signin" ? ann.email : `${"next" in fields ? "with" : "without"}-next@example.org`;
    const answer = await submit(server, path, { email, password: PASSWORD, ...(fields as Record<string, string>) });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, location]);
  });

  test.each([
    ["/signin", "/dashboard"],
    ["/signup", "/dashboard"],
    ["/signin?next=%2Fclaim%2Fsite_x", "/claim/site_x"],
    ["/signup?next=%2F%2Fevil.example", "/dashboard"],
  ])("whoever is signed in already goes on from %s to %s", async (path, location) => {
    const { cookie } = await signInByForm(server, ann);
    const answer = await server.api(path, { headers: { ...HTML, cookie } });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, location]);
  });
});

describe("WEB 1.4: what is refused", () => {
  test.each<
    [what: string, path: string, fields: Record<string, string>, status: number, wrong: string[], said: string]
  >([
    [
      "a wrong password",
      "/signin",
      { email: "ann@example.org", password: "wrong password" },
      401,
      ["email", "password"],
      "The e-mail address or the password is wrong.",
    ],
    [
      "an unknown address",
      "/signin",
      { email: "nobody@example.org", password: "wrong password" },
      401,
      ["email", "password"],
      "The e-mail address or the password is wrong.",
    ],
    [
      "no address",
      "/signin",
      { email: "nobody", password: PASSWORD },
      400,
      ["email"],
      "That is not an e-mail address.",
    ],
    [
      "a taken address",
      "/signup",
      { email: "ann@example.org", password: PASSWORD },
      409,
      ["email"],
      "There is an account with this e-mail address already",
    ],
    ["a short password", "/signup", { email: "bob@example.org", password: "short" }, 400, ["password"], "at least 10"],
  ])("%s: the page again, marked and described, without the password", async (_, path, fields, status, wrong, said) => {
    const kept = { next: "/claim/site_x", invite: "svc_invite_x" };
    const answer = await submit(server, path, { ...fields, ...kept });
    const page = await answer.text();
    expect(answer.status).toBe(status);
    expect(page).toContain("<title>Error: ");
    expect(page.match(/role="alert"/g)).toHaveLength(1);
    expect(page).toContain(said);
    for (const name of ["email", "password"]) {
      const tag = fieldOf(page, name);
      expect(tag.includes('aria-invalid="true"')).toBe(wrong.includes(name));
      if (wrong.includes(name)) expect(tag).toMatch(/aria-describedby="problem\b/);
    }
    expect(fieldOf(page, "email")).toContain(`value="${fields.email}"`);
    expect(page).not.toContain(fields.password!);
    expect(fieldOf(page, "next")).toContain('value="/claim/site_x"');
    expect(fieldOf(page, "invite")).toContain('value="svc_invite_x"');
  });

  test("a taken address shows the way to the sign-in, which keeps next", async () => {
    const answer = await submit(server, "/signup", { email: ann.email, password: PASSWORD, next: "/claim/site_x" });
    const page = await answer.text();
    const links = [...page.matchAll(/<a[^>]*href="(\/signin[^"]*)"[^>]*>Sign in<\/a>/g)].map((match) => match[1]);
    expect(new Set(links)).toEqual(new Set(["/signin?next=%2Fclaim%2Fsite_x"]));
  });

  test.each([
    ["another origin", { origin: "http://sibling.localhost" }],
    ["Sec-Fetch-Site: same-site", { "sec-fetch-site": "same-site" }],
    ["Sec-Fetch-Site: cross-site", { "sec-fetch-site": "cross-site" }],
  ])("WEB 1.7: %s signs nobody in or up: 403, and no cookie", async (_, headers) => {
    for (const path of ["/signin", "/signup"]) {
      const answer = await submit(server, path, { email: ann.email, password: PASSWORD }, headers);
      expect([answer.status, answer.headers.has("set-cookie")]).toEqual([403, false]);
    }
  });
});

describe("fields", () => {
  test.each([
    ["/signin", "email", 'autocomplete="username"'],
    ["/signin", "password", 'autocomplete="current-password"'],
    ["/signup", "email", 'autocomplete="username"'],
    ["/signup", "password", 'autocomplete="new-password"'],
    ["/signup", "password", 'aria-describedby="password-hint"'],
  ])("of %s: %s has %s", async (path, name, attribute) => {
    expect(fieldOf(await open(path), name)).toContain(attribute);
  });

  test("both pages keep next and invite, in the form and in the way to each other", async () => {
    for (const [path, other] of [
      ["/signin", "/signup"],
      ["/signup", "/signin"],
    ]) {
      const query = new URLSearchParams({ next: "/claim/site_x", invite: "svc_invite_x" }).toString();
      const page = await open(`${path}?${query}`);
      expect(fieldOf(page, "next")).toContain('value="/claim/site_x"');
      expect(fieldOf(page, "invite")).toContain('value="svc_invite_x"');
      expect(page).toContain(`href="${other}?${query.replaceAll("&", "&amp;")}"`);
    }
  });

  test("what a link brings is text", async () => {
    const evil = '"><script>alert(1)</script>';
    for (const path of ["/signin", "/signup"]) {
      const page = await open(`${path}?${new URLSearchParams({ next: `/${evil}`, invite: evil })}`);
      expect(page).not.toContain("<script>");
    }
    const refused = await submit(server, "/signin", { email: evil, password: evil, next: `/${evil}`, invite: evil });
    expect(await refused.text()).not.toContain("<script>");
  });
});

describe("claiming", () => {
  test("leads to the site and to its page; opening the page never claims", async () => {
    const { cookie } = await signInByForm(server, ann);
    const site = await server.deploy({ "index.html": "<title>Mine</title>mine" });
    const path = `/claim/${site.site_id}`;
    for (let opened = 0; opened < 2; opened++) expect(await open(path, { cookie })).toContain("Keep this site");
    const csrf = csrfOf(await open(path, { cookie }));
    const answer = await submit(server, path, { csrf, claim_token: site.claim_token! }, { cookie });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, path]);
    const done = await open(path, { cookie });
    expect(done).toContain("This site is yours");
    expect(done).toContain(`href="${site.url}" rel="noopener"`);
    expect(done).toContain(`href="/dashboard/sites/${site.site_id}"`);
  });

  test("without script the page asks for the token, as text that anybody can paste", async () => {
    const { cookie } = await signInByForm(server, ann);
    const page = await open("/claim/site_x", { cookie });
    expect(fieldOf(page, "claim_token")).not.toContain("hidden");
    expect(page).not.toContain("<details");
  });

  test("a wrong token is 401 on the page, and the field says so", async () => {
    const { cookie, csrf } = await signInByForm(server, ann);
    const site = await server.deploy({ "index.html": "<title>Mine</title>not mine" });
    const answer = await submit(server, `/claim/${site.site_id}`, { csrf, claim_token: "svc_claim_x" }, { cookie });
    const page = await answer.text();
    expect(answer.status).toBe(401);
    expect(fieldOf(page, "claim_token")).toContain('aria-invalid="true"');
    expect(fieldOf(page, "claim_token")).toContain('value="svc_claim_x"');
  });

  test("“Use another account” signs out and comes back to the page", async () => {
    const { cookie } = await signInByForm(server, ann);
    const page = await open("/claim/site_x", { cookie });
    const form = page.slice(page.indexOf("You are signed in as") - 100, page.indexOf("Use another account"));
    expect(form).toContain('action="/auth/logout"');
    expect(fieldOf(form, "next")).toContain('value="/claim/site_x"');
    const answer = await submit(server, "/auth/logout", { csrf: csrfOf(form), next: "/claim/site_x" }, { cookie });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/claim/site_x"]);
  });
});

test.each([
  ["closed", "This server takes no new accounts."],
  ["invite", "This server makes accounts by invitation"],
])("where sign-up is %s the banner has no link to it, and the page says so", async (mode, said) => {
  await using at = await startServer("--signup", mode);
  const page = await (await at.api("/signup", { headers: HTML })).text();
  expect(page).toContain(said);
  expect(page).not.toContain("<button");
  expect(page).not.toContain('href="/signup"');
});
