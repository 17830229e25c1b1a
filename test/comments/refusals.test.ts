/** COMMENTS, rulings 9, 12 and 13: in which order writes are refused, identities, limits, reports, frozen sites. */
import { describe, expect, test } from "bun:test";
import { type DeployResult, startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";
import { type Answered, type CommentedSite, commentedSite, FREELY, PASSCODE, type Visitor } from "./commented.ts";

const server = await sharedServer(FREELY);

const FOREIGN = { origin: "https://evil.example" };
const WRITES: readonly (readonly [method: string, path: string, moderates?: true])[] = [
  ["POST", ""],
  ["PUT", "c_x"],
  ["DELETE", "c_x"],
  ["PATCH", "me"],
  ["DELETE", "me"],
  ["POST", "view"],
  ["POST", "c_x/approve", true],
  ["POST", "c_x/reject", true],
  ["POST", "c_x/resolve", true],
  ["POST", "c_x/reopen", true],
];
const ENTRIES = [
  ["POST", "passcode"],
  ["POST", "owner"],
] as const;

const codeOf = async (who: Visitor, method: string, path: string, headers = {}): Promise<string> => {
  const { status, body } = await who.send(path, { method, body: {}, headers });
  return `${status} ${body?.code}`;
};

describe("COMMENTS, ruling 12: refusals in their order", () => {
  test("the site's own state, then comments_off, before all else", async () => {
    const place = await commentedSite(server, "off");
    const ann = place.visitor();
    for (const [method, path] of [...WRITES, ...ENTRIES, ["POST", "c_x/report"] as const]) {
      expect([path, await codeOf(ann, method, path, FOREIGN)]).toEqual([path, "404 comments_off"]);
    }
    server.disable(place.site, "spam");
    expect(await codeOf(ann, "POST", "", FOREIGN)).toBe("451 site_disabled");
    server.enable(place.site);
    server.expire(place.site);
    expect(await codeOf(ann, "POST", "", FOREIGN)).toBe("410 site_expired");
    server.remove(place.site);
    expect(await codeOf(ann, "POST", "", FOREIGN)).toBe("404 unknown_host");
  });

  test("then cross_origin, then site_frozen, then passcode_required, then identity_conflict", async () => {
    const [place, other] = [await commentedSite(server, "passcode"), await commentedSite(server, "passcode")];
    const ann = place.visitor();
    server.freeze(place.site);
    for (const [method, path] of WRITES) {
      expect([path, await codeOf(ann, method, path, FOREIGN)]).toEqual([path, "403 cross_origin"]);
      if (path !== "view") expect([path, await codeOf(ann, method, path)]).toEqual([path, "403 site_frozen"]);
    }
    const bob = other.visitor();
    for (const [method, path, moderates] of WRITES) {
      if (moderates || path === "view") continue;
      expect([path, await codeOf(bob, method, path)]).toEqual([path, "401 passcode_required"]);
    }
  });

  test("then 429, and only then the body", async () => {
    await using own = await startServer({ ...FREELY, SVC_RATE_COMMENT: "1/1h" });
    const place = await commentedSite(own);
    const ann = place.visitor();
    expect(await codeOf(ann, "POST", "")).toBe("400 invalid_annotation");
    expect(await codeOf(ann, "POST", "")).toBe("429 rate_limited");
  });
});

describe("COMMENTS, ruling 12: a frozen site", () => {
  test("takes passcode, owner, settings, codes, tokens and reports; nothing else; it is read", async () => {
    const place = await commentedSite(server, "passcode");
    const guest = place.visitor();
    await guest.send("passcode", { method: "POST", body: { passcode: PASSCODE } });
    const id = await guest.say("before");
    server.freeze(place.site);
    const fresh = place.visitor();
    expect((await fresh.send("passcode", { method: "POST", body: { passcode: PASSCODE } })).status).toBe(204);
    expect((await fresh.send(`${id}/report`, { method: "POST", body: { reason: "spam" } })).status).toBe(202);
    expect(await fresh.texts()).toEqual(["before"]);
    const owner = await place.owner();
    expect((await owner.send("queue?state=reported")).body.items).toHaveLength(1);
    const api = async (method: string, path: string, body?: object) =>
      (await place.api(path, { method, ...(body && { body }) })).status;
    expect(await api("PATCH", "settings", { mode: "anonymous" })).toBe(200);
    expect(await api("POST", "tokens", { name: "x", scopes: ["read"] })).toBe(201);
    expect(await api("GET", "threads")).toBe(200);
    for (const action of ["approve", "reject", "resolve", "reopen"]) {
      expect((await place.decide(id, action)).body).toMatchObject({ code: "site_frozen" });
    }
    expect(await codeOf(guest, "POST", "")).toBe("403 site_frozen");
    expect(await codeOf(guest, "DELETE", id)).toBe("403 site_frozen");
  });
});

describe("COMMENTS, ruling 12: reports", () => {
  const report = (who: Visitor, id: string, body: unknown, headers: Record<string, string> = {}) =>
    who.send(`${id}/report`, { method: "POST", body, headers });

  test("are 202 whether the id exists, is hidden or not, without Origin, and read no cookie", async () => {
    const place = await commentedSite(server, "approved");
    const ann = place.visitor();
    const id = await ann.say("waits");
    const stranger = place.visitor();
    const answers = [
      await report(stranger, id, { reason: "spam" }),
      await report(stranger, "c_none", { reason: "other", text: "x" }),
      await report(stranger, id, { reason: "abuse" }, FOREIGN),
      await report(ann, id, { reason: "abuse" }),
      await report(stranger, id, new URLSearchParams({ reason: "privacy" })),
    ];
    expect(answers.map(({ status, text }) => [status, text])).toEqual(Array(5).fill([202, '{"ok":true}']));
    expect((await place.api("queue?state=reported")).body.items[0].reports).toHaveLength(4);
    expect(await ann.texts()).toEqual(["waits"]);
  });
  test.each([
    [{}],
    [{ reason: "dull" }],
    [{ reason: "spam", text: 7 }],
    ["{"],
    [`{"reason":"spam","text":"${"x".repeat(2001)}"}`],
  ])("%j is 400 invalid_input", async (body) => {
    const place = await commentedSite(server);
    const refused = await report(place.visitor(), "c_x", body, { "content-type": "application/json" });
    expect([refused.status, refused.body.code]).toEqual([400, "invalid_input"]);
  });
  test("past three an hour are 202 and dropped", async () => {
    await using own = await startServer({ ...FREELY, SVC_RATE_REPORT: "3/1h" });
    const place = await commentedSite(own);
    const ann = place.visitor();
    const id = await ann.say("x");
    for (let i = 0; i < 5; i++) expect((await report(ann, id, { reason: "spam" })).status).toBe(202);
    expect((await place.api("queue?state=reported")).body.items[0].reports).toHaveLength(3);
  });
});

describe("COMMENTS, ruling 13: limits", () => {
  const posting = async (settings: Record<string, string>) => {
    const own = await startServer({ ...FREELY, ...settings });
    return { own, place: await commentedSite(own) };
  };
  const limited = async (place: CommentedSite, visitor: Visitor, n: number) => {
    const { status, body, headers } = await visitor.post(`number ${n}`);
    return status === 429 ? `429 ${body.code} ${Number(headers.get("retry-after")) > 0}` : status;
  };

  test("10 a minute of a client: posts, edits, deletions and renames; not reads, reports or moderation", async () => {
    const { own, place } = await posting({ SVC_RATE_COMMENT: "4/1m" });
    await using _ = own;
    const [ann, owner] = [place.visitor(), await place.owner()];
    const id = await ann.say("one");
    expect((await ann.edit(id, "two")).status).toBe(200);
    expect((await ann.send("me", { method: "PATCH", body: { name: "Ann" } })).status).toBe(200);
    expect((await ann.send(id, { method: "DELETE" })).status).toBe(204);
    expect(await limited(place, ann, 5)).toBe("429 rate_limited true");
    expect((await ann.threads()).threads).toEqual([]);
    expect((await ann.send(`${id}/report`, { method: "POST", body: { reason: "spam" } })).status).toBe(202);
    expect((await owner.send(`${id}/approve`, { method: "POST" })).status).toBe(404);
    own.advance(61_000);
    expect(await limited(place, ann, 6)).toBe(201);
  });
  test("30 an hour of a visitor, and what is refused does not count for them", async () => {
    const { own, place } = await posting({ SVC_RATE_COMMENT_IDENTITY: "2/1h" });
    await using _ = own;
    const [ann, bob] = [place.visitor(), place.visitor()];
    expect(await limited(place, ann, 1)).toBe(201);
    for (let i = 0; i < 3; i++) expect((await ann.post("", "/guide.html")).status).toBe(400);
    expect(await limited(place, ann, 2)).toBe(201);
    expect(await limited(place, ann, 3)).toBe("429 rate_limited true");
    expect(await limited(place, bob, 4)).toBe(201);
  });
  test("300 an hour of a site and a quarter of them of a network, another site's are its own", async () => {
    const { own, place } = await posting({ SVC_RATE_COMMENT_SITE: "8/1h" });
    await using _ = own;
    for (let i = 0; i < 2; i++) expect(await limited(place, place.visitor(), i)).toBe(201);
    expect(await limited(place, place.visitor(), 3)).toBe("429 rate_limited true");
    const other = await commentedSite(own);
    expect(await limited(other, other.visitor(), 4)).toBe(201);
  });
  test("3 renames a day of a visitor", async () => {
    const { own, place } = await posting({ SVC_RATE_RENAME: "3/1d" });
    await using _ = own;
    const ann = place.visitor();
    await ann.say("x");
    const rename = async (name: string) => (await ann.send("me", { method: "PATCH", body: { name } })).status;
    const said = [
      await rename("A1"),
      await rename("owner"),
      await rename("A2"),
      await rename("A3"),
      await rename("A4"),
    ];
    expect(said).toEqual([200, 422, 200, 200, 429]);
  });
  test("1,000,000 bytes a page, by posts, replies and edits: whoever reads it gets them all", async () => {
    const place = await commentedSite(server);
    const ann = place.visitor();
    // 8,000 bytes: two for each é, six for the quotation mark in HTML.
    const long = (n: number) => `${String(n).padStart(4, "0")}"${"é".repeat(3995)}`;
    const thread = await ann.say(long(0));
    const short = await ann.say("x");
    for (let n = 1; n < 124; n++) await ann.say(long(n));
    const full = [409, "page_full"];
    const said = async (answer: Promise<Answered>) => [(await answer).status, (await answer).body.code];
    expect(await said(ann.post(long(249)))).toEqual(full);
    expect(await said(ann.answer(long(250), thread))).toEqual(full);
    expect(await said(ann.edit(short, long(251)))).toEqual([200, undefined]);
    expect(await said(ann.post("y"))).toEqual(full);
    expect(await said(ann.edit(short, "z"))).toEqual([200, undefined]);
    expect(await said(ann.post("y"))).toEqual([201, undefined]);
    expect(await said(ann.post(long(252), "/index.html"))).toEqual([201, undefined]);
  });
  test("200 replies a thread", async () => {
    const place = await commentedSite(server);
    const ann = place.visitor();
    const root = await ann.say("root");
    for (let i = 0; i < 200; i++) await ann.reply(`reply ${i}`, root);
    const refused = await ann.answer("one more", root);
    expect([refused.status, refused.body.code]).toEqual([409, "thread_full"]);
  });
});

describe("COMMENTS, rulings 12 and 18: bodies", () => {
  test("without one nothing is asked of its type", async () => {
    const place = await commentedSite(server);
    const [ann, owner] = [place.visitor(), await place.owner()];
    const id = await ann.say("x");
    for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
      const headers = { "content-type": type };
      const { status } = await owner.send(`${id}/resolve`, { method: "POST", headers });
      expect([type, status]).toEqual([type, 200]);
      const empty = await ann.send("", { method: "POST", headers });
      expect([type, empty.status, empty.body.code]).toEqual([type, 400, "invalid_annotation"]);
    }
  });
  test("past a limit the body is not looked at: a passcode's either", async () => {
    await using own = await startServer({ ...FREELY, SVC_RATE_PASSCODE: "2/10m" });
    const place = await commentedSite(own, "passcode");
    const headers = { "content-type": "application/json" };
    const enter = async (sent: object | string) => {
      const { status, body } = await place.visitor().send("passcode", { method: "POST", body: sent, headers });
      return `${status} ${body.code}`;
    };
    expect(await enter("{")).toBe("400 invalid_json");
    for (const passcode of ["wrong one", "wrong two"]) expect(await enter({ passcode })).toBe("401 wrong_passcode");
    expect(await enter("{")).toBe("429 rate_limited");
  });
});

describe("COMMENTS, ruling 9: cookies", () => {
  test("their attributes", async () => {
    const place = await commentedSite(server, "passcode");
    const guest = place.visitor();
    const attributesOf = ({ headers }: { headers: Headers }) =>
      headers.getSetCookie()[0]!.split("; ").slice(1).toSorted();
    const granted = await guest.send("passcode", { method: "POST", body: { passcode: PASSCODE } });
    const BOTH = ["HttpOnly", "Path=/", "SameSite=Lax", "Secure"];
    expect(attributesOf(granted)).toEqual([...BOTH, "Max-Age=2592000"].toSorted());
    expect(attributesOf(await guest.post("x"))).toEqual([...BOTH, "Max-Age=34560000"].toSorted());
    const { body } = await place.api("owner-code", { method: "POST", body: {} });
    const owner = await place.visitor().send("owner", { method: "POST", body: { code: body.code } });
    expect(attributesOf(owner)).toEqual([
      "HttpOnly",
      "Max-Age=3600",
      "Path=/_svc/comments/",
      "SameSite=Strict",
      "Secure",
    ]);
  });
  test("an identity older than 30 days is renewed by any answer, and void after 400", async () => {
    await using own = await startServer(FREELY);
    const place = await commentedSite(own);
    own.giveAway(place.site);
    const ann = place.visitor();
    await ann.say("x");
    const { id } = (await ann.send("me")).body;
    const first = ann.value("svc_cmt");
    const day = 86_400_000;
    own.advance(29 * day);
    expect((await ann.send("threads?page=/")).headers.getSetCookie()).toEqual([]);
    own.advance(2 * day);
    await ann.send("threads?page=/");
    expect(ann.value("svc_cmt")).not.toBe(first);
    expect((await ann.send("me")).body.id).toBe(id);
    own.advance(399 * day);
    expect((await ann.send("me")).body.id).toBe(id);
    own.advance(401 * day);
    expect((await ann.send("me")).body.code).toBe("no_identity");
  });
  test("by any answer below /_svc/comments/: public ones are then for nobody else, and a report reads no cookie", async () => {
    await using own = await startServer(FREELY);
    const place = await commentedSite(own);
    own.giveAway(place.site);
    const ann = place.visitor();
    const id = await ann.say("x");
    const { cookie } = ann;
    own.advance(31 * 86_400_000);
    const ROWS: [method: string, path: string, body?: object][] = [
      ["GET", ""],
      ["OPTIONS", ""],
      ["GET", "feed.json"],
      ["OPTIONS", "feed.json"],
      ["GET", "threads?page=/"],
      ["GET", id],
      ["OPTIONS", id],
      ["GET", "me"],
      ["GET", "me/export"],
      ["GET", "view"],
      ["GET", "queue"],
      ["POST", "passcode", { passcode: "x" }],
      ["POST", "owner", { code: "x" }],
      ["POST", `${id}/approve`, {}],
      ["PUT", id, {}],
      ["DELETE", "c_none"],
    ];
    for (const [method, path, body] of ROWS) {
      const answer = await place.visitor().send(path, { method, headers: { cookie }, ...(body && { body }) });
      const set = answer.headers.getSetCookie().filter((line) => line.startsWith("svc_cmt=v1."));
      expect([method, path, set.length]).toEqual([method, path, 1]);
      expect([method, path, answer.headers.get("cache-control") ?? "no-store"]).not.toEqual([
        method,
        path,
        expect.stringContaining("public"),
      ]);
    }
    const headers = { cookie };
    const reported = await place.visitor().send(`${id}/report`, { method: "POST", body: { reason: "spam" }, headers });
    expect([reported.status, reported.headers.getSetCookie()]).toEqual([202, []]);
    // Beside the pages it is one file for all.
    const companion = await place.visitor().send("/guide.comments.json", { headers });
    expect([companion.headers.getSetCookie(), companion.headers.get("cache-control")]).toEqual([
      [],
      "public, max-age=0, must-revalidate",
    ]);
    const feed = await place.visitor().send("feed.json");
    expect(feed.headers.get("cache-control")).toBe("public, max-age=0, must-revalidate");
  });
  test("under http on another host than localhost comments are turned on with a warning", async () => {
    await using own = await startServer("--base-url", "http://svc.test", "--sites-domain", "sites.test", FREELY);
    const posted = await own.post(zipOf({ "index.html": "x" }), { host: "svc.test" });
    const deployed = (await posted.json()) as DeployResult;
    const answer = await own.api(`/sites/${deployed.site_id}/comments/settings`, {
      method: "PATCH",
      headers: {
        host: "svc.test",
        "content-type": "application/json",
        authorization: `Bearer ${deployed.manage_token}`,
      },
      body: JSON.stringify({ mode: "anonymous" }),
    });
    const body = (await answer.json()) as { mode: string; warnings: { code: string; fix_recipe: string }[] };
    expect([answer.status, body.mode, body.warnings[0]?.code]).toEqual([200, "anonymous", "no_visitor_cookies"]);
  });
});
