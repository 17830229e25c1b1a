/** WEB 8: an account's own page: sessions, password, the way out. */
import { describe, expect, test } from "bun:test";
import { bearer, call, cookieOf, PASSWORD, signUp, submit } from "../kit/people.ts";
import { startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { seen, type Visitor, visitorOf } from "../kit/visitor.ts";

const server = await sharedServer();

const NEW_PASSWORD = "another long password";
const HOUR = 3_600_000;
const signIn = (email: string, password: string, client = "Browser/1") =>
  submit(server, "/signin", { email, password }, { "user-agent": client });
const signedIn = async ({ cookie }: { cookie: string }): Promise<boolean> =>
  (await server.api("/account", { headers: { cookie } })).status === 200;

describe("the page", () => {
  test("WEB 8: says who it is, since when, and where else they are signed in, newest first", async () => {
    const ann = await visitorOf(server);
    server.advance(3 * HOUR);
    await signIn(ann.person.email, PASSWORD, "Phone/2");
    const { status, title, text } = await ann.read("/dashboard/account");
    expect([status, title]).toEqual([200, "Account · svc"]);
    expect(text).toContain(`E-mail address ${ann.person.email} Account ${ann.person.account_id} Since `);
    const [phone, here] = [text.indexOf("Phone/2"), text.indexOf("This browser")];
    expect(phone).toBeGreaterThan(0);
    expect(phone).toBeLessThan(here);
    expect(text).toContain("Phone/2 Last used just now · Started just now End session of Phone/2, just now");
    expect(text.match(/This browser/g)).toHaveLength(1);
    expect(text).toMatch(/This browser Last used just now · Started 3 hours ago/);
    const safari = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) Version/18.1 Mobile/15E148 Safari/604.1";
    await signIn(ann.person.email, PASSWORD, safari);
    const { html } = await ann.read("/dashboard/account");
    expect(html).toMatch(/title="Mozilla\/5\.0 \(iPhone[^"]*"\s*>Safari on iPhone</);
  });

  test("WEB 8: whoever has one session alone has no others to end", async () => {
    const ann = await visitorOf(server);
    await ann.send("/dashboard/account/sessions/end-others", {});
    expect((await ann.read("/dashboard/account")).text).not.toContain("End all other sessions");
  });
});

describe("usage", () => {
  const sized = (bytes: number, salt: string) => ({ "index.html": `${salt}${"x".repeat(bytes - salt.length)}` });
  const usageIn = (html: string): string => /<section aria-labelledby="usage">[\s\S]*?<\/section>/.exec(html)![0];

  test("WEB 8: says what `GET /account/usage` says, as a bar that is also text", async () => {
    await using own = await startServer({ SVC_QUOTA_ACCOUNT: "10k" });
    const ann = await visitorOf(own);
    expect(usageIn((await ann.read("/dashboard/account")).html)).not.toContain("Largest sites");
    const site = await ann.deploy(sized(2048, "a"));
    await ann.redeploy(site, sized(3072, "b"));
    const { html, text } = await ann.read("/dashboard/account");
    expect(text).toContain("Usage 5 KB of 10 KB 1 site · 2 versions · 0 previews · 0 deploy tokens · 0 domains");
    const { body } = await call(own, "GET", "/account/usage", undefined, { cookie: ann.cookie });
    expect(body).toMatchObject({ bytes: 5120, quota_bytes: 10_240, sites: 1, versions: 2 });
    expect(html).toMatch(/<meter\s+aria-label="Room"\s+min="0"\s+max="10240"\s+value="5120"\s+high="8192"/);
    expect(text).not.toContain("svc versions prune");
  });

  test("WEB 8: from 80 % on it says how room is made, and once it is full that new content is refused", async () => {
    await using own = await startServer({ SVC_QUOTA_ACCOUNT: "10k" });
    const ann = await visitorOf(own);
    const site = await ann.deploy(sized(8192, "a"));
    expect((await ann.read("/dashboard/account")).text).toMatch(
      /It is nearly full\. Delete versions .* svc versions prune/,
    );
    await ann.redeploy(site, sized(2048, "b"));
    expect((await ann.read("/dashboard/account")).text).toContain("It is full: new content is refused.");
  });

  test("WEB 8: the ten sites that take the most room, the largest first, each with the way to its versions", async () => {
    const ann = await visitorOf(server);
    const ids: string[] = [];
    for (let i = 1; i <= 12; i++) ids.push((await ann.deploy(sized(i * 1024, `${i}`))).site_id);
    await ann.change({ site_id: ids[11]! }, { label: "The largest" });
    const { html, text } = await ann.read("/dashboard/account");
    const listed = [...usageIn(html).matchAll(/href="\/dashboard\/sites\/(\w+)\/versions"/g)].map(([, id]) => id);
    expect(listed).toEqual(ids.slice(2).reverse());
    expect(text).toContain("The 10 sites that take the most room Versions of The largest 1 version 12 KB");
    const bob = await visitorOf(server);
    expect((await bob.read("/dashboard/account")).text).not.toContain("The largest");
  });

  test("BEYOND 0: with SVC_QUOTA_ACCOUNT=off it says that there is no limit, and has no bar", async () => {
    await using own = await startServer({ SVC_QUOTA_ACCOUNT: "off" });
    const ann = await visitorOf(own);
    await ann.deploy(sized(2048, "a"));
    const { html, text } = await ann.read("/dashboard/account");
    expect(text).toContain("Usage 2 KB, without a limit");
    expect(html).not.toContain("<meter");
  });
});

describe("sessions", () => {
  const idsOf = (html: string): string[] => [...html.matchAll(/sessions\/(sess_\w+)\/end/g)].map(([, id]) => id!);

  test("WEB 8: one is ended, and no other", async () => {
    const ann = await visitorOf(server);
    const other = { cookie: cookieOf(await signIn(ann.person.email, PASSWORD))! };
    const [newest] = idsOf((await ann.read("/dashboard/account")).html);
    const { status, location } = await ann.send(`/dashboard/account/sessions/${newest}/end`, {});
    expect([status, location]).toEqual([303, "/dashboard/account?done=session-ended"]);
    expect((await ann.read(location!)).text).toContain("The session has ended.");
    expect([await signedIn(other), await signedIn(ann)]).toEqual([false, true]);
  });

  test("WEB 8: all others are ended, those of programs too", async () => {
    const ann = await visitorOf(server);
    const { location } = await ann.send("/dashboard/account/sessions/end-others", {});
    expect(location).toBe("/dashboard/account?done=sessions-ended");
    expect((await call(server, "GET", "/account", undefined, ann.person.bearer)).status).toBe(401);
    expect(await signedIn(ann)).toBe(true);
    expect(idsOf((await ann.read("/dashboard/account")).html)).toHaveLength(1);
  });

  test("WEB 8: ending one's own is a sign-out", async () => {
    const ann = await visitorOf(server);
    const [own] = idsOf((await ann.read("/dashboard/account")).html);
    const { status, location, headers } = await ann.send(`/dashboard/account/sessions/${own}/end`, {});
    expect([status, location]).toEqual([303, "/"]);
    expect(headers.get("set-cookie")).toContain("Max-Age=0");
    expect(headers.get("clear-site-data")).toBe('"cache"');
    expect(await signedIn(ann)).toBe(false);
  });

  test("WEB 8: another account's session is none", async () => {
    const [ann, bob] = [await visitorOf(server), await visitorOf(server)];
    const [his] = idsOf((await bob.read("/dashboard/account")).html);
    for (const id of [his!, "sess_none"]) {
      expect((await ann.send(`/dashboard/account/sessions/${id}/end`, {})).status).toBe(404);
    }
    expect(await signedIn(bob)).toBe(true);
  });

  test("WEB 8: of very many the newest are shown, one's own among them, and all others can be ended", async () => {
    const person = await signUp(server);
    const ann = await visitorOf(server, person);
    for (let i = 0; i < 120; i++) {
      const session = {
        session_id: `sess_${String(i).padStart(20, "0")}`,
        hash: `${person.account_id}${i}`,
        client: "x",
      };
      const account = (await server.running.store.accounts.byEmail(person.email))!;
      await server.running.store.sessions.start(session, account);
    }
    const { text, html } = await ann.read("/dashboard/account");
    expect(idsOf(html)).toHaveLength(100);
    expect(text).toContain("This browser");
    expect(text).toContain("And 22 older sessions.");
    await ann.send("/dashboard/account/sessions/end-others", {});
    expect(idsOf((await ann.read("/dashboard/account")).html)).toHaveLength(1);
  });
});

describe("password", () => {
  const change = (ann: Visitor, current_password: string, new_password: string) =>
    ann.send("/dashboard/account/password", { current_password, new_password });

  test("WEB 8: it is changed, all other sessions end, this one stays", async () => {
    const ann = await visitorOf(server);
    const { status, location } = await change(ann, PASSWORD, NEW_PASSWORD);
    expect([status, location]).toEqual([303, "/dashboard/account?done=password"]);
    expect((await ann.read(location!)).text).toContain("Your password is changed. All other sessions have ended.");
    expect(await signedIn(ann)).toBe(true);
    expect((await call(server, "GET", "/account", undefined, ann.person.bearer)).status).toBe(401);
    expect((await signIn(ann.person.email, PASSWORD)).status).toBe(401);
    expect((await signIn(ann.person.email, NEW_PASSWORD)).status).toBe(303);
  });

  test.each([
    ["wrong password", NEW_PASSWORD, 401, "current_password"],
    [PASSWORD, "too short", 400, "new_password"],
    ["", NEW_PASSWORD, 400, "current_password"],
    [PASSWORD, "", 400, "new_password"],
  ])("WEB 8: %p to %p is %i, names the field, and changes nothing", async (current, fresh, expected, field) => {
    const ann = await visitorOf(server);
    const { status, title, html } = await change(ann, current, fresh);
    expect(status).toBe(expected);
    expect(title).toBe("Error: Account · svc");
    expect(html).toMatch(/role="alert"/);
    expect(html).toMatch(new RegExp(`name="${field}"[^>]*aria-invalid="true"`));
    for (const password of [current, fresh]) if (password !== "") expect(html).not.toContain(`value="${password}"`);
    expect((await signIn(ann.person.email, PASSWORD)).status).toBe(303);
    expect((await call(server, "GET", "/account", undefined, ann.person.bearer)).status).toBe(200);
  });

  test("WEB 8: wrong ones are counted as sign-ins", async () => {
    await using strict = await startServer({ SVC_RATE_SIGN_IN: "3/1h" });
    const ann = await visitorOf(strict); // one of the three
    for (const status of [401, 401, 429]) {
      const shown = await change(ann, "wrong password", NEW_PASSWORD);
      expect(shown.status).toBe(status);
      if (status === 429) {
        expect(Number(shown.headers.get("retry-after"))).toBeGreaterThan(0);
        expect(shown.text).toMatch(/\d+ seconds/);
      }
    }
  });
});

describe("deleting the account", () => {
  const PATH = "/dashboard/account/delete";

  test("WEB 8: says how many sites go, and does nothing by being opened", async () => {
    const ann = await visitorOf(server);
    expect((await ann.read(PATH)).text).toContain("Delete my account and 0 sites");
    await ann.deploy({ "index.html": "<title>x</title>" });
    expect((await ann.read(PATH)).text).toContain("Delete my account and 1 site");
    await ann.deploy({ "index.html": "<title>y</title>" });
    const { text, title } = await ann.read(PATH);
    expect(title).toBe("Delete your account? · svc");
    expect(text).toContain("Delete my account and 2 sites");
    expect(text).toContain(`Type ${ann.person.email} to confirm`);
    expect(await signedIn(ann)).toBe(true);
  });

  test.each([
    ["another word", PASSWORD, 400, "confirm"],
    ["", PASSWORD, 400, "confirm"],
    ["<email>", "wrong password", 401, "password"],
    ["<email>", "", 400, "password"],
  ])("WEB 8: %p with %p is %i, and deletes nothing", async (typed, password, expected, field) => {
    const ann = await visitorOf(server);
    const site = await ann.deploy({ "index.html": "<title>x</title>" });
    const confirm = typed === "<email>" ? ann.person.email : typed;
    const { status, title, html } = await ann.send(PATH, { confirm, password });
    expect(status).toBe(expected);
    expect(title).toStartWith("Error: ");
    expect(html).toMatch(new RegExp(`name="${field}"[^>]*aria-invalid="true"`));
    expect(await signedIn(ann)).toBe(true);
    expect((await server.site(site.slug)).status).toBe(200);
  });

  test("WEB 8: with address and password it is gone, with its sites and all sessions", async () => {
    const ann = await visitorOf(server);
    const site = await ann.deploy({ "index.html": "<title>x</title>" });
    const { status, location, headers } = await ann.send(PATH, {
      confirm: ` ${ann.person.email} `,
      password: PASSWORD,
    });
    expect([status, location]).toEqual([303, "/?done=account-deleted"]);
    expect(headers.get("set-cookie")).toContain("Max-Age=0");
    expect((await seen(await server.api(location!, { headers: { accept: "text/html" } }))).text).toContain(
      "Your account and its sites are deleted.",
    );
    expect(await signedIn(ann)).toBe(false);
    expect((await call(server, "GET", "/account", undefined, bearer(ann.person.session_token))).status).toBe(401);
    expect((await server.site(site.slug)).status).toBe(404);
    expect((await signIn(ann.person.email, PASSWORD)).status).toBe(401);
  });

  test("WEB 1.7: none of it goes without the page's proof", async () => {
    const { cookie, person } = await visitorOf(server);
    const forged: [string, Record<string, string>][] = [
      ["/dashboard/account/password", { current_password: PASSWORD, new_password: NEW_PASSWORD }],
      [PATH, { confirm: person.email, password: PASSWORD }],
    ];
    for (const [path, fields] of forged) {
      expect((await submit(server, path, fields, { cookie })).status).toBe(403);
      expect((await submit(server, path, fields)).headers.get("location")).toContain("why=signed-out");
    }
    expect(await signedIn({ cookie })).toBe(true);
  });
});
