/** WEB 7: a site's comments in the dashboard, as its pages and forms answer. */
import { beforeEach, describe, expect, test } from "bun:test";
import { Commenter, ownerCalls, turnOn } from "../comments/commenter.ts";
import { newCommentId, newNoteEventId } from "../../src/base/tokens.ts";
import { type DeployResult, startServer } from "../kit/server.ts";
import { write } from "../kit/database.ts";
import { sharedServer } from "../kit/shared.ts";
import { until } from "../kit/until.ts";
import { visitorOf } from "../kit/visitor.ts";
import { startReceiver } from "../webhooks/receiver.ts";

const FREE = { SVC_RATE_COMMENT: "off", SVC_RATE_COMMENT_IDENTITY: "off", SVC_RATE_COMMENT_SITE: "off" };
const GUIDE = "<!doctype html><title>Guide</title><p>On a normal connection deploys finish in two seconds.";

let site: DeployResult;
const server = await sharedServer({ ...FREE, SVC_CONTACT: "abuse@svc.example" });
const ann = await visitorOf(server);
beforeEach(async () => {
  site = await ann.deploy({ "index.html": "<!doctype html><title>x</title>x", "guide.html": GUIDE });
});

const pathOf = ({ site_id }: Pick<DeployResult, "site_id"> = site): string => `/dashboard/sites/${site_id}/comments`;
const read = (query = "") => ann.read(pathOf() + query);
const send = (action: string, fields: Record<string, string>) => ann.send(`${pathOf()}/${action}`, fields);
const decide = (fields: Record<string, string>) => send("decide", fields);
const visitor = (of = site) => new Commenter(server, of);
const settings = async () =>
  (await (await ownerCalls(server, site, site.manage_token)("GET", "settings")).json()) as Record<string, unknown>;
/** What the tabs say: `Open 2`. */
const tabs = (html: string): string[] =>
  [...html.matchAll(/show=\w+"[^>]*>\s*([\w ]+?)\s*<span class="count">(\d+)</g)].map(([, word, n]) => `${word} ${n}`);
const buttons = (html: string): string[] =>
  [...html.matchAll(/<button[^>]*name="(approve|reject|resolve|reopen|delete)"/g)].map(([, name]) => name!);

describe("settings", () => {
  test("WEB 7: where comments never were on, the page says what they are and how to turn them on", async () => {
    const { status, title, text, html } = await read();
    expect([status, title]).toEqual([200, `Comments on ${site.slug} · svc`]);
    expect(text).toContain("Comments are off");
    expect(text).toContain(`svc comments enable --site ${site.site_id}`);
    expect([tabs(html), text.includes("Open as owner")]).toEqual([[], false]);
  });

  const SAVED = "The settings are saved.";
  test.each([
    ["anonymous", "comments-on", "Comments are on: anyone may write, and everybody sees it at once."],
    ["approved", "saved", SAVED],
    ["off", "saved", SAVED],
  ])("WEB 7: saved, the mode is %s, and the same list stands again", async (mode, done, sentence) => {
    const saved = await send("settings", { mode, show: "pending", passcode: "" });
    expect([saved.status, saved.location]).toEqual([303, `${pathOf()}?show=pending&done=${done}`]);
    expect((await settings())["mode"]).toBe(mode);
    expect((await ann.read(saved.location!)).text).toContain(sentence);
  });

  test("WEB 7: a passcode has 8 characters at least, is never shown again, and a new one ends all grants", async () => {
    const short = await send("settings", { mode: "passcode", passcode: "short" });
    expect([short.status, short.title]).toEqual([400, `Error: Comments on ${site.slug} · svc`]);
    expect(short.html).toMatch(/id="passcode"[^>]*aria-invalid="true"/);
    expect(short.html).toMatch(/value="passcode"\s+checked/);
    expect((await send("settings", { mode: "passcode", passcode: "" })).status).toBe(400);
    expect((await settings())["mode"]).toBe("off");
    expect((await send("settings", { mode: "passcode", passcode: "open sesame" })).status).toBe(303);
    const page = await read();
    expect([page.html.includes("sesame"), short.html.includes(`value="short"`)]).toEqual([false, false]);
    expect(page.text).toContain("One is set, and is never shown again.");
    const holder = visitor();
    let cookie = (await holder.send("POST", "passcode", { passcode: "open sesame" })).headers.get("set-cookie")!;
    cookie = cookie.split(";", 1)[0]!;
    const reads = async () =>
      (await server.site(site.slug, "/_svc/comments/threads?page=/", { headers: { cookie } })).status;
    expect(await reads()).toBe(200);
    await send("settings", { mode: "passcode", passcode: "open sesame" });
    expect(await reads()).toBe(401);
  });

  test("WEB 1.4: a mode that is none is 400 with an alert, and nothing changes", async () => {
    const { status, html } = await send("settings", { mode: "private" });
    expect([status, html.includes(`role="alert"`)]).toEqual([400, true]);
    expect(html).toMatch(/role="radiogroup"\s+aria-invalid="true" aria-describedby="problem"/);
    expect((await settings())["mode"]).toBe("off");
  });

  test("COMMENTS, ruling 9: on http hosts that are not localhost it is said that visitors cannot write", async () => {
    await using plain = await startServer("--sites-domain", "sites.test");
    const bob = await visitorOf(plain);
    const own = await bob.deploy({ "index.html": "x" });
    const warned = async () => (await bob.read(pathOf(own))).text.includes("cannot write any");
    expect(await warned()).toBe(false);
    await bob.send(`${pathOf(own)}/settings`, { mode: "anonymous" });
    expect(await warned()).toBe(true);
    await turnOn(server, site, "anonymous");
    expect((await read()).text).not.toContain("cannot write any");
  });
});

describe("threads and queue", () => {
  test("WEB 7: tabs have counts; a thread has passage, title of its page, name, kind, time, text and reports", async () => {
    await turnOn(server, site, "anonymous");
    const exact = "deploys finish in two seconds";
    const heron = visitor();
    const id = await heron.comment("Still true?\nReally?", { page: "/guide.html", exact });
    await heron.rename("Quiet Heron");
    await turnOn(server, site, "approved");
    await visitor().reply(id, "It waits");
    await visitor().report(id, "spam", "an advertisement");
    const { html, text } = await read();
    expect(tabs(html)).toEqual(["Open 1", "To approve 1", "Reported 1", "Resolved 0", "Hidden 0"]);
    expect(html).toMatch(/aria-current="page"\s*>Open/);
    expect(html).toMatch(new RegExp(`<blockquote[^>]*dir="auto"[^>]*>${exact}</blockquote>`));
    expect(html).toContain(`${site.url}/guide.html#svc-${id}`);
    expect(html).toMatch(new RegExp(`href="${site.url}/guide.html"[^>]*>Guide</a>`));
    expect(html).not.toContain(`${site.version_id}--`); // it was written on what is live
    expect(text).toContain("Quiet Heron just now Still true? Really?");
    expect(text).toMatch(/just now To approve It waits Approve Hide Delete/);
    expect(text).toContain("Reported as spam just now: “an advertisement” It is fine Hide it");
    const reported = await read("?show=reported");
    expect(reported.text).toContain("Reported as spam just now: “an advertisement” It is fine Hide it");
    expect(reported.html).toContain(exact);
  });

  test("WEB 7: each button leads back to the same list, which says what was done", async () => {
    await turnOn(server, site, "approved");
    const [first, second] = [await visitor().comment("first"), await visitor().comment("second")];
    const approved = await decide({ approve: first, show: "pending" });
    expect([approved.status, approved.location]).toEqual([303, `${pathOf()}?show=pending&done=comment-approved`]);
    expect((await ann.read(approved.location!)).text).toContain("Approved: everybody sees it.");
    await decide({ reject: second, show: "pending" });
    const rejected = await read("?show=rejected");
    expect([rejected.text.includes("second"), buttons(rejected.html)]).toEqual([true, ["approve", "delete"]]);
    await decide({ resolve: first, show: "open" });
    const resolved = await read("?show=resolved");
    expect(buttons(resolved.html)).toEqual(["reopen", "reject", "delete"]);
    expect(resolved.text).toContain("Resolved by you just now");
    await decide({ reopen: first, show: "resolved" });
    expect(tabs((await read()).html)).toEqual(["Open 1", "To approve 0", "Reported 0", "Resolved 0", "Hidden 1"]);
    await decide({ delete: first });
    await decide({ approve: second });
    expect((await read()).text).not.toContain("first");
    const seen = (await (await visitor().send("GET", "threads?page=/")).json()) as { threads: { id: string }[] };
    expect(seen.threads.map((thread) => thread.id)).toEqual([second]);
  });

  test("A26 all of a visitor, or of a network, is rejected by one press, and the list says so", async () => {
    await turnOn(server, site, "approved");
    const heron = visitor();
    const [first] = [await heron.comment("first"), await heron.comment("second"), await visitor().comment("third")];
    const listed = await read("?show=pending");
    expect(listed.html).toMatch(
      new RegExp(`name="reject-visitor"\\s+value="${first}"[^>]*aria-describedby="by-${first}"`),
    );
    const pressed = await decide({ "reject-visitor": first, show: "pending" });
    expect([pressed.status, pressed.location]).toEqual([303, `${pathOf()}?show=pending&done=all-rejected`]);
    expect((await ann.read(pressed.location!)).text).toContain("Hidden: nobody sees any of them any more.");
    expect(tabs((await read()).html)).toEqual(["Open 1", "To approve 1", "Reported 0", "Resolved 0", "Hidden 2"]);
    await decide({ "reject-network": first, show: "rejected" });
    expect(tabs((await read()).html)).toEqual(["Open 0", "To approve 0", "Reported 0", "Resolved 0", "Hidden 3"]);
    const own = await ownerCalls(server, site, site.manage_token)("GET", "threads");
    expect(await own.json()).toEqual({ threads: [], next_cursor: null });
  });

  test("what somebody thought of reports is kept: approving ends them", async () => {
    await turnOn(server, site, "anonymous");
    const id = await visitor().comment("fine");
    await visitor().report(id, "abuse", "no");
    await decide({ approve: id, show: "reported" });
    expect(tabs((await read()).html)).toEqual(["Open 1", "To approve 0", "Reported 0", "Resolved 0", "Hidden 0"]);
  });

  test("a hundred reports of one comment hide none of another of its thread", async () => {
    await turnOn(server, site, "anonymous");
    const writer = visitor();
    const id = await writer.comment("the first");
    const reply = await writer.reply(id, "the reply");
    await visitor().report(id, "spam", "only once");
    const rows = `insert into comment_reports (site_id, comment_no, reason, text, created_at)
      with recursive many (n) as (values (1) union all select n + 1 from many where n < 100)
      select site_id, (select comment_no from comments where id = ?), reason, 'again', created_at from comment_reports, many
      where text = 'only once'`;
    write(server.data_dir, rows, reply);
    const { text } = await read();
    expect(text).toContain("Reported as spam just now: “only once”");
    expect(text).toContain("and 96 more reports");
  });

  test("notes of programs stand in what was decided, as text", async () => {
    await turnOn(server, site, "anonymous");
    const id = await visitor().comment("fix this");
    await ownerCalls(server, site, site.manage_token)("POST", `${id}/resolve`, { note: "in <b>v2</b>" });
    expect((await read("?show=resolved")).html).toContain("in &lt;b&gt;v2&lt;/b&gt;");
  });

  test("a long list comes in pages of 20: older, and the newest again; nonsense is the first page", async () => {
    await turnOn(server, site, "anonymous");
    const writer = visitor();
    for (let i = 0; i < 45; i++) await writer.comment(`number ${i}.`);
    const numbers = (text: string) => [...text.matchAll(/number (\d+)\./g)].map(([, n]) => Number(n));
    const first = await read();
    expect(numbers(first.text)).toEqual(Array.from({ length: 20 }, (_, i) => 44 - i));
    const older = (html: string) => /href="([^"]+)" rel="next"/.exec(html)?.[1]?.replaceAll("&amp;", "&");
    const second = await ann.read(older(first.html)!);
    expect(numbers(second.text)).toEqual(Array.from({ length: 20 }, (_, i) => 24 - i));
    const third = await ann.read(older(second.html)!);
    expect([numbers(third.text), older(third.html)]).toEqual([[4, 3, 2, 1, 0], undefined]);
    expect(third.html).toMatch(/<a href="[^"]*\?show=open">Newest<\/a>/);
    for (const query of ["?show=nonsense&cursor=x", "?cursor=%00", "?cursor=" + "9".repeat(999)]) {
      expect(numbers((await read(query)).text)).toHaveLength(20);
    }
    const cursor = new URL(older(first.html)!, server.base_url).searchParams.get("cursor")!;
    const [, id] = /name="resolve"\s+value="(c_\w+)"/.exec(second.html)!;
    const back = await decide({ resolve: id!, show: "open", cursor });
    expect(back.location).toBe(`${pathOf()}?show=open&cursor=${cursor}&done=resolved`);
  });

  test.each(["open", "resolved", "pending", "reported", "rejected"])(
    "the empty list %s says what will stand there",
    async (show) => {
      await turnOn(server, site, "anonymous");
      const { text, html } = await read(`?show=${show}`);
      expect(text).toMatch(/No open threads|Nothing (?:is|was|waits)/);
      expect(html).not.toContain(`/decide"`);
    },
  );

  test("a comment that is gone, never was or is another site's is 404, and nothing changes", async () => {
    await turnOn(server, site, "anonymous");
    const other = await ann.deploy({ "index.html": "other" });
    await turnOn(server, other, "anonymous");
    const foreign = await visitor(other).comment("not yours");
    for (const id of [foreign, "c_none", "../settings", ""]) {
      expect([id, (await decide({ reject: id })).status]).toEqual([id, 404]);
    }
    expect((await decide({ show: "open" })).status).toBe(400);
    expect((await ann.read(pathOf(other))).text).toContain("not yours");
  });
});

describe("states of the site", () => {
  test("COMMENTS, ruling 12: on a frozen site nothing is decided, and settings and the owner's link go on", async () => {
    await turnOn(server, site, "anonymous");
    const id = await visitor().comment("stays");
    server.freeze(site);
    const page = await read();
    expect([page.text.includes("has frozen this site"), buttons(page.html)]).toEqual([true, []]);
    const refused = await decide({ reject: id });
    expect([refused.status, refused.html.includes(`role="alert"`)]).toEqual([403, true]);
    expect((await send("settings", { mode: "approved" })).status).toBe(303);
    expect((await send("owner", {})).status).toBe(200);
  });

  test("COMMENTS, ruling 17: off keeps the threads, which their owner reads and cannot decide on", async () => {
    await turnOn(server, site, "anonymous");
    const id = await visitor().comment("kept");
    await send("settings", { mode: "off" });
    const page = await read();
    expect(page.text).toContain("kept");
    expect(page.text).toContain("Comments are off: nobody sees these threads.");
    expect(buttons(page.html)).toEqual([]);
    expect((await decide({ reject: id })).status).toBe(404);
    const owner = await send("owner", {});
    expect([owner.status, owner.text.includes("Turn them on, then open it as owner.")]).toEqual([400, true]);
  });

  test("comments that are off again before anybody wrote leave no threads to speak of", async () => {
    await turnOn(server, site, "anonymous");
    await turnOn(server, site, "off");
    const { text } = await read();
    expect(text).toContain("Turn on comments");
    expect(text).not.toContain("these threads");
  });

  test("a disabled site says why, and is opened by nobody", async () => {
    await turnOn(server, site, "anonymous");
    await visitor().comment("hidden");
    server.disable(site, "It asked for the password of a bank.");
    const page = await read();
    expect(page.text).toContain("password of a bank. Nobody sees it");
    server.disable(site, "Reported");
    expect((await read()).text).toContain("Reported. Nobody sees it");
    expect([page.status, page.text.includes("has disabled this site"), buttons(page.html)]).toEqual([200, true, []]);
    expect(page.text).not.toContain("Open as owner");
  });
});

describe("the way to the site as owner", () => {
  test("WEB 7: is a link after a POST, works once and for five minutes, and is no redirect", async () => {
    await turnOn(server, site, "anonymous");
    const { status, html, text, headers } = await send("owner", {});
    expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(text).toContain(`Go to ${new URL(site.url).host} as owner`);
    expect(text).toContain("within five minutes");
    const code = new RegExp(`href="${site.url}/#svc-owner=(svc_owner_[\\w-]+)"`).exec(html)![1];
    const spend = async (of: string) => (await visitor().send("POST", "owner", { code: of })).status;
    expect([await spend(code!), await spend(code!)]).toEqual([204, 401]);
    const late = /svc-owner=(svc_owner_[\w-]+)/.exec((await send("owner", {})).html)![1]!;
    server.advance(5 * 60_000 + 1);
    expect(await spend(late)).toBe(401);
  });
});

describe("a site's page", () => {
  test("WEB 7: has the way to its comments, with what waits", async () => {
    const own = `/dashboard/sites/${site.site_id}`;
    expect((await ann.read(own)).html).toContain(`href="${pathOf()}"`);
    await turnOn(server, site, "approved");
    const id = await visitor().comment("one");
    await visitor().comment("two");
    await visitor().report(id, "spam", "");
    const { text, html } = await ann.read(own);
    expect(text).toContain("1 comment is reported Look");
    expect(text).toContain("2 comments are waiting for you Approve");
    expect(text).not.toContain("open Answer"); // both wait, and are told once
    expect(text).toMatch(/Comments ?2 2 to approve 1 reported/);
    expect(html).toContain(`href="${pathOf()}?show=pending"`);
    await send("decide", { approve: id });
    const after = await ann.read(own);
    expect(after.text).toContain("1 comment is waiting for you Approve");
    expect(after.text).toContain("1 thread is open Answer");
  });
});

describe("A25 access", () => {
  const by = (token: string) => ownerCalls(server, site, token);
  const hook = {
    url: "https://hooks.example/in/comments",
    events: ["thread.created"],
    secret: "sixteen letters or more",
  };
  const section = async () =>
    /<section class="card" aria-labelledby="access">[\s\S]*?<\/section>/.exec((await read()).html)![0];
  const rows = async () =>
    [...(await section()).matchAll(/<li>([\s\S]*?)<\/li>/g)].map(([, row]) =>
      row!
        .replace(/<[^>]*>/g, " ")
        .replace(/\s+/g, " ")
        .replace(/&#x27;/g, "'")
        .trim(),
    );

  test("WEB 7: the page says that nobody else acts for the owner", async () => {
    expect((await read()).html).not.toContain('aria-labelledby="access"'); // comments never were on
    await turnOn(server, site, "anonymous");
    expect(await section()).toContain("your account alone acts here");
  });

  test("WEB 7: webhook, agents' tokens and open codes are listed, with whoever made them", async () => {
    await turnOn(server, site, "anonymous");
    await by(site.manage_token)("PATCH", "settings", { webhook: hook });
    await by(site.manage_token)("POST", "tokens", { name: "Support", scopes: ["read", "see_pending"] });
    await by(ann.person.session_token)("POST", "tokens", { name: "docs-bot", scopes: ["reply"], expires_in_days: 7 });
    await by(site.manage_token)("POST", "owner-code", {});
    const listed = await rows();
    expect(listed[0]).toBe("hooks.example Webhook: thread.created · Set with a manage_token Remove the webhook");
    expect(listed.slice(1, 3).toSorted()).toEqual([
      expect.stringMatching(
        /^Support Agent: read, see_pending · Made just now with a manage_token · Never used · Until .* Revoke Support$/,
      ),
      expect.stringMatching(
        /^docs-bot Agent: reply · Made just now by your account · Never used · Until .* Revoke docs-bot$/,
      ),
    ]);
    expect(listed[3]).toMatch(/^Owner code Not used yet · Ends in (4|5) minutes · Made with a manage_token$/);
    expect(listed).toHaveLength(4);
  });

  test("A25 an agent has its badge where it answered and where it decided", async () => {
    await turnOn(server, site, "anonymous");
    const id = await visitor().comment("Is it so?");
    const agent = { id: "a_x", name: "Support", kind: "agent" } as const;
    const { notes } = server.running.store;
    const { site_id } = site;
    const answer = { site_id, id: newCommentId(), thread_id: id, by: agent, text: "It is", canonical: null } as const;
    await notes.reply({
      ...{ ...answer, network: null, most_waiting: Infinity },
      ...{ visibility: "public", as: { kind: "public" } },
    });
    await notes.decide({ site_id, id, action: "resolve", by: agent, note: null, event_id: newNoteEventId() });
    const { text } = await read("?show=resolved");
    expect(text).toMatch(/Support Agent just now It is/);
    expect(text).toMatch(/Resolved by Support Agent just now/);
  });

  test("WEB 1.9: the name of an agent is text", async () => {
    const made = await by(site.manage_token)("POST", "tokens", {
      name: "<img src=x onerror=alert(1)>",
      scopes: ["read"],
    });
    expect(made.status).toBe(201);
    const html = await section();
    expect([html.includes("<img"), html.includes("&lt;img src=x onerror=alert(1)&gt;")]).toEqual([false, true]);
  });

  test("WEB 7: each has a button that ends it, on a frozen site too", async () => {
    await turnOn(server, site, "anonymous");
    await by(site.manage_token)("PATCH", "settings", { webhook: hook });
    await by(site.manage_token)("POST", "tokens", { name: "Support", scopes: ["read"] });
    server.freeze(site);
    const action = /action="([^"]*\/comments\/tokens\/[^"]*\/revoke)"/.exec(await section())![1]!;
    const revoked = await ann.send(action, {});
    expect([revoked.status, revoked.location]).toEqual([303, `${pathOf()}?show=open&done=agent-revoked`]);
    expect((await ann.read(revoked.location!)).text).toContain("The agent's token is revoked");
    const again = await ann.send(action, {});
    expect(again.status).toBe(404);
    const removed = await send("webhook/remove", {});
    expect([removed.status, removed.location]).toEqual([303, `${pathOf()}?show=open&done=webhook-removed`]);
    expect((await settings())["webhook"]).toBeNull();
    expect(await rows()).toEqual([]);
  });

  test("WEB 7: they end nothing of another account's site, and nothing without the proof of a page", async () => {
    const { token_id } = (await (
      await by(site.manage_token)("POST", "tokens", { name: "Support", scopes: ["read"] })
    ).json()) as { token_id: string };
    const bob = await visitorOf(server);
    expect((await bob.send(`${pathOf()}/tokens/${token_id}/revoke`, {})).status).toBe(404);
    expect((await ann.send(`${pathOf()}/tokens/${token_id}/revoke`, { csrf: "x" })).status).toBe(403);
    expect(await rows()).toHaveLength(1);
  });
});

describe("webhook", () => {
  test("COMMENTS 2: the page shows how it goes, the last letters, and a button that sends one again", async () => {
    await using other = await startServer({ ...FREE, SVC_WEBHOOKS: "on", SVC_WEBHOOKS_ALLOW: "127.0.0.0/8" });
    const ben = await visitorOf(other);
    const own = await ben.deploy({ "index.html": "<!doctype html><title>x</title>x", "guide.html": GUIDE });
    const call = ownerCalls(other, own, own.manage_token);
    const there = startReceiver();
    there.answer = 503;
    try {
      const page = () => ben.read(pathOf(own));
      await turnOn(other, own, "anonymous");
      expect((await page()).text).not.toContain("Webhook");
      const webhook = { url: there.url, events: ["thread.created"], secret: "sixteen letters or more" };
      expect((await call("PATCH", "settings", { webhook })).status).toBe(200);
      expect((await page()).text).toContain("0 waiting, 0 lost, nothing was taken yet");
      await new Commenter(other, own).comment("Hello");
      await until(async () => (await page()).text.includes("Its receiver stopped taking letters"));
      const { text, html } = await page();
      expect(text).toContain("it answered 503");
      expect(text).toContain("1 waiting, 0 lost");
      const [, letter] = /name="letter" value="(msg_\w+)"/.exec(html)!;
      there.answer = 200;
      const sent = await ben.send(`${pathOf(own)}/resend`, { letter: letter! });
      expect([sent.status, sent.location]).toEqual([303, expect.stringContaining("done=resent")]);
      await until(() => there.received.length === 2);
      await until(async () => (await page()).text.includes("Taken"));
      expect((await page()).text).not.toContain("stopped taking letters");
      expect((await ben.send(`${pathOf(own)}/resend`, { letter: "msg_unknown" })).status).toBe(404);
      there.answer = 410;
      await new Commenter(other, own).comment("Anybody there?");
      await until(async () => (await page()).text.includes("Its receiver answered 410"));
      expect((await page()).text).toContain("set a webhook anew: svc comments webhook <url>.");
    } finally {
      there.stop();
    }
  });
});
