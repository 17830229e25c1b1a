/** COMMENTS 6, the tools: what an agent sees and does, by the scopes of its token. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { UNIT_MS } from "../../src/base/units.ts";
import { type Commented, commentedSite, startCommented } from "./agents.ts";
import { call, request, send } from "./mcp-calls.ts";

const ALL = ["read", "reply", "resolve", "see_pending"];
let world: Commented;
beforeAll(async () => {
  world = await startCommented({ SVC_MCP: "on", SVC_RATE_MCP: "off" });
});
afterAll(() => world.server[Symbol.asyncDispose]());

const fresh = (mode?: string) => commentedSite(world.server, mode);
const idsOf = ({ structuredContent }: Awaited<ReturnType<typeof call>>): string[] =>
  structuredContent!.threads.map(({ thread_id }: { thread_id: string }) => thread_id);
const list = async (site: Commented, token: string, args: object = {}) =>
  idsOf(await call(site, token, "list_threads", args));
const why = ({ isError, content }: Awaited<ReturnType<typeof call>>) => (isError ? content[0]!.text : null);

describe("COMMENTS 6: scopes", () => {
  const TOOLS: Record<string, string[]> = {
    read: ["list_threads", "get_thread"],
    reply: ["reply"],
    resolve: ["resolve", "reopen"],
    see_pending: [],
  };
  test.each(Object.keys(TOOLS))("with %s alone the other tools are not listed, and refuse", async (scope) => {
    const site = await fresh();
    const { id } = await site.comment("Here");
    const token = await site.token([scope]);
    const { body } = await send(site, request("tools/list"), { token });
    expect(body.result.tools.map(({ name }: { name: string }) => name)).toEqual(TOOLS[scope]!);
    for (const [needed, names] of Object.entries(TOOLS)) {
      for (const name of names) {
        const args = {
          ...(name !== "list_threads" && { thread_id: id }),
          ...(name === "reply" && { text: "x", request_id: "1" }),
        };
        const result = await call(site, token, name, args);
        if (needed === scope) expect(why(result)).toBeNull();
        else expect(why(result)).toContain(`lacks the scope ${needed}`);
      }
    }
  });

  test("tools come in one order, with what they do to the world and what they give", async () => {
    const token = await world.token(["see_pending", "resolve", "reply", "read"]);
    const { body } = await send(world, request("tools/list"), { token });
    const tools = body.result.tools as {
      name: string;
      annotations: object;
      inputSchema: object;
      outputSchema: object;
    }[];
    expect(tools.map(({ name }) => name)).toEqual(["list_threads", "get_thread", "reply", "resolve", "reopen"]);
    const hints = tools.map(({ annotations }) => annotations);
    expect(hints[0]).toMatchObject({ readOnlyHint: true });
    expect(hints[1]).toMatchObject({ readOnlyHint: true });
    expect(hints[2]).toMatchObject({ readOnlyHint: false, destructiveHint: false });
    expect(hints[3]).toMatchObject({ readOnlyHint: false, idempotentHint: true });
    expect(hints[4]).toMatchObject({ readOnlyHint: false, idempotentHint: true });
    for (const { inputSchema, outputSchema } of tools) {
      expect(inputSchema).toMatchObject({ type: "object" });
      expect(outputSchema).toMatchObject({ type: "object" });
    }
  });

  test("no tool deploys, approves, rejects or deletes", async () => {
    const token = await world.token(ALL);
    for (const name of ["deploy", "approve", "reject", "delete", "rollback"]) {
      const { body } = await send(world, request("tools/call", { name, arguments: {} }), { token });
      expect(body.error).toMatchObject({ code: -32602 });
    }
  });
});

describe("COMMENTS 6: list_threads", () => {
  let site: Commented;
  let token: string;
  const ids: string[] = [];
  beforeAll(async () => {
    site = await fresh();
    token = await site.token(["read"]);
    for (let n = 0; n < 6; n++) ids.push((await site.comment(`No ${n}`, { page: n < 4 ? "/guide.html" : "/" })).id);
    await site.decide(ids[0]!, "resolve");
  });
  const newestFirst = (...numbers: number[]) => numbers.map((n) => ids[n]!);

  test("shows the open ones, newest first, and others where they are asked for", async () => {
    expect(await list(site, token)).toEqual(newestFirst(5, 4, 3, 2, 1));
    expect(await list(site, token, { status: "resolved" })).toEqual(newestFirst(0));
    expect(await list(site, token, { status: "all" })).toEqual(newestFirst(5, 4, 3, 2, 1, 0));
  });

  test("of one page, however its address is written", async () => {
    for (const page of ["/guide.html", "/guide"])
      expect(await list(site, token, { page })).toEqual(newestFirst(3, 2, 1));
    for (const page of ["/", "/index.html"]) expect(await list(site, token, { page })).toEqual(newestFirst(5, 4));
    expect(await list(site, token, { page: "/none" })).toEqual([]);
  });

  test("by slices, to the end", async () => {
    const first = await call(site, token, "list_threads", { limit: 2 });
    const second = await call(site, token, "list_threads", { limit: 2, cursor: first.structuredContent!.next_cursor });
    const third = await call(site, token, "list_threads", { limit: 2, cursor: second.structuredContent!.next_cursor });
    expect([first, second, third].map(idsOf)).toEqual([newestFirst(5, 4), newestFirst(3, 2), newestFirst(1)]);
    expect(third.structuredContent!.next_cursor).toBeNull();
    const other = await call(site, token, "list_threads", {
      status: "all",
      cursor: first.structuredContent!.next_cursor,
    });
    expect(why(other)).toContain("none of this list");
  });

  test.each([
    [{ limit: 0 }, "positive whole number"],
    [{ limit: -1 }, "positive whole number"],
    [{ limit: 1.5 }, "positive whole number"],
    [{ limit: "5" }, "positive whole number"],
    [{ status: "closed" }, "open, resolved, all"],
    [{ since: "yesterday" }, "2026-11-21T09:30:00Z"],
    [{ cursor: "x" }, "none of this list"],
    [{ page: 7 }, '"page"'],
    [{ nonsense: 1 }, "nothing else"],
  ])("%j is a failure that says what is right: %s", async (args, words) => {
    expect(why(await call(site, token, "list_threads", args))).toContain(words);
  });

  test("a limit over 50 is 50", async () => {
    const many = await fresh();
    const reader = await many.token(["read"]);
    for (let n = 0; n < 51; n++) await many.comment(`No ${n}`);
    for (const args of [{}, { limit: 50 }, { limit: 51 }, { limit: 1e15 }]) {
      const result = await call(many, reader, "list_threads", args);
      expect(idsOf(result)).toHaveLength(50);
      expect(result.structuredContent!.next_cursor).toBeString();
    }
  });

  test("since: what was written or changed from then on", async () => {
    const later = await fresh();
    const reader = await later.token(["read"]);
    const [old, answered] = [await later.comment("Old"), await later.comment("To be answered")];
    world.server.advance(UNIT_MS.h);
    const since = new Date(world.server.now()).toISOString();
    expect(await list(later, reader, { since })).toEqual([]);
    await later.answer(answered.id, "An answer");
    const young = await later.comment("New");
    expect(await list(later, reader, { since })).toEqual([young.id, answered.id]);
    expect(await list(later, reader, { since: "2020-01-01" })).toEqual([young.id, answered.id, old.id]);
  });
});

describe("COMMENTS 6: what waits for approval", () => {
  test("is told to a token that may see it, and to no other; a waiting thread and a missing one give one error", async () => {
    const site = await fresh("approved");
    const [seeing, blind] = [await site.token(ALL), await site.token(["read", "reply", "resolve"])];
    const shown = await site.comment("Shown");
    await site.decide(shown.id, "approve");
    const before = await call(site, blind, "list_threads", { status: "all" });
    const { id } = await site.comment("Waiting");
    await site.answer(shown.id, "A waiting answer");
    expect(await list(site, seeing)).toEqual([id, shown.id]);
    expect(await call(site, blind, "list_threads", { status: "all" })).toEqual(before);
    expect((await call(site, seeing, "get_thread", { thread_id: id })).structuredContent).toMatchObject({
      visibility: "pending",
      comments: [{ untrusted_text: "Waiting", visibility: "pending" }],
    });
    for (const name of ["get_thread", "reply", "resolve", "reopen"]) {
      const more = name === "reply" ? { text: "x", request_id: "1" } : {};
      const [hidden, missing] = [
        await call(site, blind, name, { thread_id: id, ...more }),
        await call(site, blind, name, { thread_id: "c_missing", ...more }),
      ];
      expect(hidden).toEqual(missing);
      expect(why(hidden)).toContain("unknown_thread");
    }
    const read = await call(site, blind, "get_thread", { thread_id: shown.id });
    expect(read.structuredContent!.comments).toHaveLength(1);
  });

  test("ruling 16: an agent's reply is public at once, in approved mode too", async () => {
    const site = await fresh("approved");
    const token = await site.token(["reply"]);
    const { id } = await site.comment("Shown");
    await site.decide(id, "approve");
    const said = await call(site, token, "reply", { thread_id: id, text: "Thanks", request_id: "1" });
    expect(said.structuredContent!.comment).toMatchObject({
      visibility: "public",
      by: { kind: "agent", name: "docs-bot" },
    });
    const feed = (await (await world.server.site(site.site.slug, "/comments.json")).json()) as { orderedItems: any[] };
    expect(feed.orderedItems.at(-1)).toMatchObject({
      body: { value: "Thanks" },
      creator: { type: "Software", name: "docs-bot" },
    });
  });

  test("rejected posts are none of theirs, whatever their scopes", async () => {
    const site = await fresh("approved");
    const token = await site.token(ALL);
    const { id } = await site.comment("Rejected");
    await site.decide(id, "reject");
    expect(await list(site, token, { status: "all" })).toEqual([]);
    expect(why(await call(site, token, "get_thread", { thread_id: id }))).toContain("unknown_thread");
  });
});

describe("COMMENTS 6: reply, resolve, reopen", () => {
  test("a reply under one request_id is added once, and another token's request_id is another", async () => {
    const site = await fresh();
    const [one, two] = [await site.token(["reply", "read"]), await site.token(["reply"], "other-bot")];
    const { id } = await site.comment("Question");
    const reply = { thread_id: id, text: "Answer", request_id: "r1" };
    const results = [
      await call(site, one, "reply", reply),
      await call(site, one, "reply", reply),
      await call(site, two, "reply", reply),
    ];
    expect(results.map(({ structuredContent }) => structuredContent!.repeated)).toEqual([false, true, false]);
    const { structuredContent: thread } = await call(site, one, "get_thread", { thread_id: id });
    const names = thread!.comments.map(({ by }: { by: { name: string } }) => by.name);
    expect(names.slice(1)).toEqual(["docs-bot", "other-bot"]);
  });

  test("whatever its request_id, the feed's canonical is an IRI (COMMENTS 1)", async () => {
    const site = await fresh();
    const token = await site.token(["reply"]);
    const { id } = await site.comment("Question");
    for (const request_id of ["fix 1 <of> 2", 'a"b\u202e\u0000', "r\u00e4\n", "plain-1"]) {
      const done = await call(site, token, "reply", { thread_id: id, text: `As ${request_id.length}`, request_id });
      expect(done.isError).toBe(false);
    }
    const answer = await world.server.site(site.site.slug, "/_svc/comments/feed.json");
    const { orderedItems } = (await answer.json()) as { orderedItems: { canonical?: string }[] };
    const sent = orderedItems.flatMap(({ canonical }) => canonical ?? []).filter((one) => one.startsWith("mcp:"));
    expect(sent).toHaveLength(4);
    for (const canonical of sent) expect(canonical).toMatch(/^mcp:[\w.~!*'()%-]+$/);
  });

  test.each([
    [{ text: "" }, '"text"'],
    [{ text: "   " }, "empty"],
    [{ text: "x".repeat(4001) }, "4000"],
    [{ text: "a\0b" }, "NUL"],
    [{ text: 7 }, '"text"'],
    [{ request_id: undefined }, '"request_id" is missing'],
    [{ request_id: "" }, '"request_id"'],
    [{ thread_id: undefined }, '"thread_id" is missing'],
  ])("a reply with %j is a failure: %s", async (wrong, words) => {
    const token = await world.token(["reply"]);
    const { id } = await world.comment("Question");
    expect(why(await call(world, token, "reply", { thread_id: id, text: "x", request_id: "1", ...wrong }))).toContain(
      words,
    );
  });

  test("an id of a reply is no thread", async () => {
    const token = await world.token(ALL);
    const { id } = await world.comment("Question");
    const answer = await world.answer(id, "Answer");
    expect(why(await call(world, token, "get_thread", { thread_id: answer.id }))).toContain("unknown_thread");
  });

  test("done twice is done once; the owner reads who, why and in which version, and visitors see the status alone", async () => {
    const site = await fresh();
    const token = await site.token(["resolve", "read"]);
    const { id } = await site.comment("Typo");
    const note = "Corrected";
    const { version_id } = site.site;
    for (const changed of [true, false]) {
      const { structuredContent } = await call(site, token, "resolve", { thread_id: id, note, version_id });
      expect(structuredContent).toEqual({ thread_id: id, status: "resolved", changed });
    }
    for (const changed of [true, false]) {
      const { structuredContent } = await call(site, token, "reopen", { thread_id: id });
      expect(structuredContent).toEqual({ thread_id: id, status: "open", changed });
    }
    const history = await (await site.manage(`${id}/history`)).text();
    expect(history.match(/"resolved"/g)).toHaveLength(1);
    expect(history).toContain(`Corrected (version ${version_id})`);
    expect(history).toContain('"type":"Software","name":"docs-bot"');
    expect(await (await world.server.site(site.site.slug, "/comments.json")).text()).not.toContain("Corrected");
  });

  test("a version that the site does not have is a failure", async () => {
    const token = await world.token(["resolve"]);
    const { id } = await world.comment("Typo");
    const result = await call(world, token, "resolve", { thread_id: id, version_id: "0000000000000000" });
    expect(why(result)).toContain("unknown_version");
  });
});

describe("COMMENTS 6: sites that are not as usual", () => {
  test("ruling 12: of a frozen site agents read, and write nothing", async () => {
    const site = await fresh();
    const token = await site.token(ALL);
    const { id } = await site.comment("Before");
    world.server.freeze(site.site);
    expect(await list(site, token)).toEqual([id]);
    for (const [name, more] of [
      ["reply", { text: "x", request_id: "1" }],
      ["resolve", {}],
      ["reopen", {}],
    ] as const) {
      expect(why(await call(site, token, name, { thread_id: id, ...more }))).toContain("site_frozen");
    }
  });

  test("where comments are off it is 404, on a disabled site 451, on one that is over 404", async () => {
    const of = async (site: Commented, token: string) => {
      const { status, body } = await send(site, request("ping"), { token });
      return [status, body.code];
    };
    const [off, disabled, over] = [await fresh(), await fresh(), await fresh()];
    const tokens = await Promise.all([off, disabled, over].map((site) => site.token(["read"])));
    await off.configure({ mode: "off" });
    world.server.disable(disabled.site, "abuse");
    world.server.expire(over.site);
    expect(await of(off, tokens[0]!)).toEqual([404, "comments_off"]);
    expect(await of(disabled, tokens[1]!)).toEqual([451, "site_disabled"]);
    expect(await of(over, tokens[2]!)).toEqual([404, "unknown_site"]);
  });

  test("an erased comment is a gap that says nothing, and its thread goes on", async () => {
    const site = await fresh();
    const token = await site.token(["read", "reply", "resolve"]);
    const { id, cookie } = await site.comment("To be erased");
    await site.answer(id, "An answer");
    const init = { method: "DELETE", headers: { cookie, "sec-fetch-site": "same-origin" } };
    expect((await world.server.site(site.site.slug, "/_svc/comments/me", init)).status).toBe(204);
    const listed = await call(site, token, "list_threads", {});
    expect(listed.structuredContent!.threads).toMatchObject([
      { thread_id: id, by: null, untrusted_text: null, replies: 1 },
    ]);
    const read = await call(site, token, "get_thread", { thread_id: id });
    expect(read.structuredContent!.comments).toMatchObject([{ by: null }, { untrusted_text: "An answer" }]);
    const replied = await call(site, token, "reply", { thread_id: id, text: "Mine", request_id: "gap" });
    expect(replied.structuredContent).toMatchObject({ thread_id: id });
    const resolved = await call(site, token, "resolve", { thread_id: id });
    expect(resolved.structuredContent).toEqual({ thread_id: id, status: "resolved", changed: true });
  });
});

describe("COMMENTS 6: 60 calls in a minute for each token", () => {
  test("the 61st is 429 with Retry-After; greetings are counted apart, and another token has its own", async () => {
    await using server = (await startCommented({ SVC_MCP: "on" })).server;
    const site = await commentedSite(server);
    const [token, other] = [await site.token(["read"]), await site.token(["read"])];
    for (let n = 0; n < 3; n++) await send(site, request("initialize"), { token });
    for (let n = 0; n < 60; n++) expect((await send(site, request("tools/list"), { token })).status).toBe(200);
    const { status, headers, body } = await send(site, request("tools/list"), { token });
    expect([status, body.code]).toEqual([429, "rate_limited"]);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect(headers.get("ratelimit-policy")).toBe('"mcp";q=60;w=60');
    expect((await send(site, request("initialize"), { token })).status).toBe(200);
    expect((await send(site, request("tools/list"), { token: other })).status).toBe(200);
    server.advance(UNIT_MS.m);
    expect((await send(site, request("tools/list"), { token })).status).toBe(200);
  });
});
