/** WEB 7: an owner answers from the dashboard: the box in each thread, what was reported beside it, what is folded, and the way
 *  to a thread on the site. */
import { beforeEach, describe, expect, test } from "bun:test";
import { Commenter, ownerCalls, turnOn } from "../comments/commenter.ts";
import type { DeployResult } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { visitorOf } from "../kit/visitor.ts";

const FREE = { SVC_RATE_COMMENT: "off", SVC_RATE_COMMENT_IDENTITY: "off", SVC_RATE_COMMENT_SITE: "off" };
const PASSAGE = "deploys finish in two seconds";
const guide = (more: string) => `<!doctype html><title>Guide</title><p>On a normal connection ${more}.`;

let site: DeployResult;
const server = await sharedServer(FREE);
const ann = await visitorOf(server);
beforeEach(async () => {
  site = await ann.deploy({ "index.html": "<!doctype html><title>Home</title>x", "guide.html": guide(PASSAGE) });
  await turnOn(server, site, "anonymous");
});

const pathOf = ({ site_id }: Pick<DeployResult, "site_id"> = site): string => `/dashboard/sites/${site_id}/comments`;
const read = (query = "") => ann.read(pathOf() + query);
const visitor = () => new Commenter(server, site);
const reply = (id: string, fields: Record<string, string>, by = ann) =>
  by.send(`${pathOf()}/${id}/reply`, { thread: id, ...fields });

interface Comment {
  text: string;
  by: { name: string; kind: string };
  visibility: string;
}
const seenByAll = async (page = "/"): Promise<Comment[]> => {
  const { threads } = (await (await visitor().send("GET", `threads?page=${page}`)).json()) as {
    threads: { comments: Comment[] }[];
  };
  return threads.flatMap(({ comments }) => comments);
};

describe("a reply", () => {
  test("is public at once as the owner's, and leads back to its thread in the same list", async () => {
    const jonas = visitor();
    const id = await jonas.comment("At neaps, too?");
    await jonas.rename("Jonas");
    const page = await read();
    expect(page.html).toContain(`action="${pathOf()}/${id}/reply"`);
    expect(page.html).toContain('placeholder="Reply to \u2068Jonas\u2069 as Owner…"');
    const sent = await reply(id, { text: "Take\r\nberth 14.", show: "open", cursor: "" });
    expect([sent.status, sent.location]).toEqual([303, `${pathOf()}?show=open&done=replied#${id}`]);
    expect((await seenByAll()).map(({ text, by, visibility }) => [text, by.name, by.kind, visibility])).toEqual([
      ["At neaps, too?", "Jonas", "visitor", "public"],
      ["Take\nberth 14.", "Owner", "owner", "public"],
    ]);
    const after = await ann.read(sent.location!.split("#")[0]!);
    expect(after.text).toContain("Your reply is on the page.");
    expect(after.text).toMatch(/You Owner just now Take berth 14\./);
  });

  test("of one press is one reply, however often it is sent", async () => {
    const id = await visitor().comment("Twice?");
    const [, key] = /name="key" value="([^"]+)"/.exec((await read()).html)!;
    for (let i = 0; i < 2; i++) expect((await reply(id, { text: "Once.", key: key! })).status).toBe(303);
    expect(await seenByAll()).toHaveLength(2);
    for (const odd of ["", "x", "urn:uuid:x", "../../x"])
      expect((await reply(id, { text: `k${odd}`, key: odd })).status).toBe(303);
    expect(await seenByAll()).toHaveLength(6);
  });

  test("of 4,000 characters of any kind is taken whole, and shown as text", async () => {
    const id = await visitor().comment("Long?");
    const text = "\u{1F6A2}".repeat(3960) + "</textarea><b>\u202Ebold\u202C</b>";
    expect([...text].length).toBeLessThanOrEqual(4000);
    expect((await reply(id, { text })).status).toBe(303);
    expect((await seenByAll())[1]!.text).toBe(text);
    const { html } = await read();
    expect(html).not.toContain("</textarea><b>");
    expect(html).toMatch(/<p class="spoken" dir="auto">\u{1F6A2}/u);
  });

  test.each([
    ["", "The comment is empty."],
    [" \u200B\n", "The comment is empty."],
    ["x".repeat(4001), "longer than 4000 characters"],
  ])("of %p is 400: what was typed stays in its own box, with the alert", async (text, said) => {
    const [id, other] = [await visitor().comment("one"), await visitor().comment("two")];
    const { status, html, title } = await reply(id, { text });
    expect([status, title]).toEqual([400, `Error: Comments on ${site.slug} · svc`]);
    expect(html).toContain(said);
    const boxes = [...html.matchAll(/<li class="thread card" id="(c_\w+)">[\s\S]*?<textarea([^>]*)>([^<]*)</g)];
    expect(boxes.map(([, thread, tag, typed]) => [thread, tag!.includes("aria-invalid"), typed!.trim()])).toEqual([
      [other, false, ""],
      [id, true, text.trim()],
    ]);
    expect(await seenByAll()).toHaveLength(2);
  });

  test("is refused of a thread that is gone, another site's, another account's, and without the proof", async () => {
    const id = await visitor().comment("mine");
    const other = await ann.deploy({ "index.html": "other" });
    await turnOn(server, other, "anonymous");
    const foreign = await new Commenter(server, other).comment("not here");
    expect((await reply(foreign, { text: "x" })).status).toBe(422);
    expect((await reply("c_none", { text: "x" })).status).toBe(422);
    expect((await ann.send(`${pathOf()}/x/reply`, { text: "x" })).status).toBe(404);
    const bob = await visitorOf(server);
    expect((await reply(id, { text: "x" }, bob)).status).toBe(404);
    expect((await reply(id, { text: "x", csrf: "x" })).status).toBe(403);
    server.freeze(site);
    expect((await reply(id, { text: "x" })).status).toBe(403);
    expect((await read()).html).not.toContain("<textarea");
    expect(await seenByAll()).toHaveLength(1);
  });

  test("is sent by no token: a manage_token opens no page of the dashboard", async () => {
    const id = await visitor().comment("mine");
    const headers = {
      authorization: `Bearer ${site.manage_token}`,
      "content-type": "application/x-www-form-urlencoded",
    };
    const body = new URLSearchParams({ text: "x" }).toString();
    const { status, headers: told } = await server.api(`${pathOf()}/${id}/reply`, { method: "POST", headers, body });
    expect([status, told.get("location")]).toEqual([303, expect.stringContaining("/signin?")]);
    expect(await seenByAll()).toHaveLength(1);
  });
});

describe("a thread", () => {
  test("of more than four replies folds its middle; what waits for the owner unfolds it", async () => {
    const id = await visitor().comment("root");
    const writer = visitor();
    for (let i = 1; i <= 4; i++) await writer.reply(id, `reply ${i}`);
    expect((await read()).html).not.toContain('class="more"');
    for (let i = 5; i <= 7; i++) await writer.reply(id, `reply ${i}`);
    const { html, text } = await read();
    expect(text).toContain("Show 4 more replies");
    const folded = /<details class="more"\s*>([\s\S]*?)<\/details>\s*<ol/.exec(html)![1]!;
    expect([...folded.matchAll(/reply (\d)/g)].map(([, n]) => n)).toEqual(["3", "4", "5", "6"]);
    const queue = await ownerCalls(server, site, site.manage_token)("GET", "threads");
    const { threads } = (await queue.json()) as { threads: { comments: { id: string }[] }[] };
    await visitor().report(threads[0]!.comments[4]!.id, "abuse", "rude");
    expect((await read()).html).toMatch(/<details class="more" open>/);
  });

  test("says reports where they are, and “It is fine” ends them, “Hide it” hides the comment", async () => {
    const [good, bad] = [await visitor().comment("good"), await visitor().comment("bad")];
    for (let i = 0; i < 5; i++) await visitor().report(bad, "spam", `<i>ad ${i}</i>`);
    await visitor().report(good, "privacy", "");
    const { html, text } = await read();
    expect(text).toContain("Reported as spam just now: “<i>ad 4</i>”");
    expect(text).toContain("and 2 more reports");
    expect(text).toContain("Reported for privacy just now It is fine Hide it");
    expect(html).toMatch(/class="waits"[^>]*>\s*Reported/);
    const decide = (fields: Record<string, string>) => ann.send(`${pathOf()}/decide`, { show: "open", ...fields });
    expect((await decide({ approve: good })).location).toBe(`${pathOf()}?show=open&done=comment-approved`);
    expect((await decide({ reject: bad })).location).toBe(`${pathOf()}?show=open&done=rejected`);
    expect((await read()).text).not.toContain("Reported as");
    const hidden = await read("?show=rejected");
    expect(hidden.text).toMatch(/bad Show again Delete/);
  });

  test("whose passage is gone says since when, and links to the version that had it", async () => {
    await visitor().comment("kept", { page: "/guide.html", exact: "normal connection" });
    await visitor().comment("lost", { page: "/guide.html", exact: PASSAGE });
    server.advance(3 * 86_400_000);
    const day = new Date(server.now()).getUTCDate();
    await server.redeploy(site, {
      "index.html": "<!doctype html><title>Home</title>x",
      "guide.html": guide("all is new"),
    });
    const { html, text } = await read();
    expect(text).toMatch(new RegExp(`Passage gone since ${day} \\w+`));
    expect(html).toMatch(/<blockquote class="passage gone"/);
    expect(html.match(new RegExp(`${site.version_id}--`, "g"))).toHaveLength(1); // the kept one says no version
  });

  test("on a page without a title, or that is gone, has the path; a title is text", async () => {
    const evil = await ann.deploy({ "index.html": "<title>&lt;b&gt;Evil\u202E</title>x", "plain file.html": "<p>x" });
    await turnOn(server, evil, "anonymous");
    const writer = new Commenter(server, evil);
    await writer.comment("one");
    await writer.comment("two", { page: "/plain%20file.html" });
    const { html, text } = await ann.read(pathOf(evil));
    expect([html.includes("<b>Evil"), text.includes("<b>Evil"), text.includes("/plain file.html")]).toEqual([
      false,
      true,
      true,
    ]);
    server.disable(evil, "Reported");
    expect((await ann.read(pathOf(evil))).text).toContain("/index.html");
  });
});

describe("the way to a thread on the site", () => {
  const ownerLink = (html: string) => /href="([^"]*#svc-owner=[^"]*)"/.exec(html)?.[1]?.replaceAll("&amp;", "&");

  test("everybody's thread has a link; one that others do not see a button that makes the owner's link to it", async () => {
    const id = await visitor().comment("seen", { page: "/guide.html", exact: PASSAGE });
    expect((await read()).html).toMatch(new RegExp(`href="${site.url}/guide.html#svc-${id}"[^>]*>Show on the page`));
    await turnOn(server, site, "approved");
    const waits = await visitor().comment("waits", { page: "/guide.html" });
    expect((await read()).html).toMatch(new RegExp(`form="as-owner" name="thread" value="${waits}"`));
    const { html, status } = await ann.send(`${pathOf()}/owner`, { thread: waits });
    expect([status, ownerLink(html)]).toEqual([
      200,
      expect.stringMatching(new RegExp(`^${site.url}/guide.html#svc-owner=svc_owner_[\\w-]+&svc-${waits}$`)),
    ]);
  });

  test("the button of the page leads to the newest open thread; nonsense to the start page", async () => {
    expect((await read()).html).toMatch(/name="thread" value=""/);
    await visitor().comment("old");
    const newest = await visitor().comment("new", { page: "/guide.html" });
    expect((await read()).html).toMatch(new RegExp(`name="thread" value="${newest}"[^>]*>\\s*Open as owner`));
    for (const thread of ["c_none", "x", ""]) {
      const { html } = await ann.send(`${pathOf()}/owner`, { thread });
      expect(ownerLink(html)).toMatch(new RegExp(`^${site.url}/#svc-owner=svc_owner_[\\w-]+$`));
    }
  });
});

test("where comments never were on, one button turns them on", async () => {
  const fresh = await ann.deploy({ "index.html": "fresh" });
  const { html } = await ann.read(pathOf(fresh));
  expect(html).toMatch(/name="mode" value="anonymous"[\s\S]{0,200}Turn on comments/);
  const { status } = await ann.send(`${pathOf(fresh)}/settings`, { mode: "anonymous" });
  expect([status, (await ann.read(pathOf(fresh))).text.includes("No open threads")]).toEqual([303, true]);
});

test("the list of sites says what waits, and a press away is the box to answer", async () => {
  const bob = await visitorOf(server);
  const own = await bob.deploy({ "index.html": "<!doctype html><title>Bob</title>x" });
  const badges = async () =>
    [...(await bob.read("/dashboard")).html.matchAll(/<a class="badge[^"]*" href="([^"]+)"\s*>([^<]+)<\/a/g)].map(
      ([, href, words]) => [words, href!.slice(pathOf(own).length)],
    );
  expect(await badges()).toEqual([]);
  await turnOn(server, own, "anonymous");
  const by = () => new Commenter(server, own);
  const first = await by().comment("one");
  await by().comment("two");
  expect(await badges()).toEqual([["2 open", ""]]);
  await by().report(first, "spam", "");
  await turnOn(server, own, "approved");
  await by().comment("three");
  expect(await badges()).toEqual([
    ["1 to approve", "?show=pending"],
    ["1 reported", "?show=reported"],
    ["3 open", ""],
  ]);
  expect((await bob.read(pathOf(own))).html).toContain(`${pathOf(own)}/${first}/reply`);
});
