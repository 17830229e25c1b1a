/** RELIABILITY A26: one network has a share of what a site takes in comments, and no more: it silences nobody else, and never the
 *  owner. */
import { describe, expect, test } from "bun:test";
import { read } from "../kit/database.ts";
import { startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { type Answered, Caller, type CommentedSite, commentedSite, FREELY, idOf, PASSCODE } from "./commented.ts";

const BEHIND_PROXY = { ...FREELY, SVC_TRUST_PROXY: "127.0.0.1" };
const DEFAULTS = { ...BEHIND_PROXY, SVC_RATE_COMMENT_SITE: "300/1h" };
const server = await sharedServer(DEFAULTS);

const HONEST = ["198.51.100.7", "192.0.2.9", "2001:db8:77:1::5"];
const codeOf = ({ status, body }: Answered): string => `${status} ${body?.code ?? ""}`.trim();

async function statuses(posts: Iterable<Promise<Answered>>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const answer of await Promise.all(posts)) {
    const code = codeOf(answer);
    counts[code] = (counts[code] ?? 0) + 1;
  }
  return counts;
}

describe("A26 a site's window of comments", () => {
  test.each([
    ["an IPv4 /24", (n: number) => `203.0.113.${n % 250}`],
    ["an IPv6 /48 with a /64 each", (n: number) => `2001:db8:5:${(n + 1).toString(16)}::1`],
  ])("A26 %s posts 300 and has 75; visitors of other networks and the owner still post", async (_, address) => {
    const place = await commentedSite(server);
    const owner = await place.owner();
    const posts = Array.from({ length: 300 }, (_, n) => new Caller(place, address(n)).post(`noise ${n}`));
    expect(await statuses(posts)).toEqual({ "201": 75, "429 rate_limited": 225 });
    for (const at of HONEST) expect(codeOf(await new Caller(place, at).post(`honest from ${at}`))).toBe("201");
    expect(codeOf(await owner.post("The owner answers."))).toBe("201");
    const refused = await new Caller(place, address(1)).post("one more");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3000);
  });

  test("A26 the owner posts and replies when the whole site's window is used up", async () => {
    await using own = await startServer({ ...BEHIND_PROXY, SVC_RATE_COMMENT_SITE: "8/1h" });
    const place = await commentedSite(own);
    const owner = await place.owner();
    for (let n = 0; n < 4; n++) {
      const posts = Array.from({ length: 3 }, (_, k) => new Caller(place, `10.0.${n}.1`).post(`noise ${n} ${k}`));
      expect(await statuses(posts)).toEqual({ "201": 2, "429 rate_limited": 1 });
    }
    expect(codeOf(await new Caller(place, HONEST[0]!).post("too late"))).toBe("429 rate_limited");
    const said = await owner.post("The owner begins a thread.");
    expect(codeOf(said)).toBe("201");
    expect(codeOf(await owner.answer("and answers in it", idOf(said)))).toBe("201");
    own.advance(3_601_000);
    expect(codeOf(await new Caller(place, HONEST[0]!).post("an hour later"))).toBe("201");
  });

  test("A26 a post that is refused for what it says uses up nothing of the share", async () => {
    await using own = await startServer({ ...BEHIND_PROXY, SVC_RATE_COMMENT_SITE: "4/1h" });
    const place = await commentedSite(own);
    const caller = new Caller(place, HONEST[0]!);
    for (let n = 0; n < 5; n++) expect(codeOf(await caller.post("x", "/nowhere.html"))).toBe("422 unknown_page");
    expect(codeOf(await caller.post("on a page"))).toBe("201");
    expect(codeOf(await caller.post("one more"))).toBe("429 rate_limited");
  });
});

describe("A26 what waits for the owner", () => {
  test("A26 twenty of one network, then 409 for it alone; what is decided makes room", async () => {
    const place = await commentedSite(server, "approved");
    const spammer = new Caller(place, "203.0.113.5");
    const posts = Array.from({ length: 25 }, (_, n) => new Caller(place, `203.0.113.${n}`).post(`noise ${n}`));
    expect(await statuses(posts)).toEqual({ "201": 20, "409 site_full": 5 });
    const honest = await new Caller(place, HONEST[0]!).post("an honest question");
    expect([codeOf(honest), honest.headers.get("svc-visibility")]).toEqual(["201", "pending"]);
    const { items } = (await place.api("queue")).body;
    expect(items).toHaveLength(21);
    await place.decide(items[1].id, "reject");
    await place.decide(items[2].id, "approve");
    expect(codeOf(await spammer.stranger().post("again 1"))).toBe("201");
    expect(codeOf(await spammer.stranger().post("again 2"))).toBe("201");
    const refused = await spammer.stranger().post("again 3");
    expect([codeOf(refused), refused.body.error]).toEqual([
      "409 site_full",
      "20 comments from your network wait for this site's owner: try again after the owner has looked at them.",
    ]);
  });

  test("A26 an edit that would wait is refused there, too, and the comment stays as it was", async () => {
    const place = await commentedSite(server);
    const caller = new Caller(place, "203.0.113.5");
    const id = await caller.say("harmless");
    const links = (n: number) => `see https://a.example/${n} https://b.example/${n} https://c.example/${n}`;
    for (let n = 0; n < 20; n++) expect(codeOf(await caller.stranger().post(links(n)))).toBe("201");
    expect(codeOf(await caller.edit(id, links(99)))).toBe("409 site_full");
    expect(await place.visitor().texts()).toEqual(["harmless"]);
    expect(codeOf(await caller.edit(id, "harmless still"))).toBe("200");
  });

  test("A26 where SVC_RATE_COMMENT_SITE is off, the people of one office wait in any number", async () => {
    await using own = await startServer(BEHIND_PROXY);
    const place = await commentedSite(own, "approved");
    const posts = Array.from({ length: 25 }, (_, n) => new Caller(place, "10.0.0.7").post(`question ${n}`));
    expect(await statuses(posts)).toEqual({ "201": 25 });
  });
});

describe("A26 reject-all", () => {
  const rejectAll = (place: CommentedSite, id: string, body: unknown) =>
    place.api(`${id}/reject-all`, { method: "POST", body });

  test("A26 all of a visitor, or of a network with its visitors without a cookie; others' words stay", async () => {
    const place = await commentedSite(server);
    const [ann, neighbour, far] = [
      new Caller(place, "203.0.113.5"),
      new Caller(place, "203.0.113.200"),
      new Caller(place, HONEST[0]!),
    ];
    const first = await ann.say("ann's first");
    const root = await far.say("far away");
    await ann.reply("ann's reply", root);
    await ann.post("https://a.example https://b.example https://c.example"); // waits
    const beside = await neighbour.say("beside");
    const mine = await (await place.owner()).say("the owner's");
    expect((await rejectAll(place, first, { of: "visitor", note: "spam" })).body).toEqual({ rejected: 3 });
    expect(await place.visitor().texts()).toEqual(["far away", "beside", "the owner's"]);
    await ann.stranger().say("under another name");
    expect((await rejectAll(place, beside, { of: "network" })).body).toEqual({ rejected: 2 });
    expect((await rejectAll(place, beside, { of: "network" })).body).toEqual({ rejected: 0 });
    expect(await place.visitor().texts()).toEqual(["far away", "the owner's"]);
    expect((await place.api("queue?state=rejected")).body.items).toHaveLength(5);
    expect(JSON.stringify((await place.api(`${first}/history`)).body)).toContain("spam");
    expect(codeOf(await place.decide(beside, "approve"))).toBe("200");
    expect(await place.visitor().texts()).toEqual(["far away", "beside", "the owner's"]);
    const wrong = [
      await rejectAll(place, mine, { of: "visitor" }),
      await rejectAll(place, first, { of: "country" }),
      await rejectAll(place, first, {}),
      await rejectAll(place, "c_nothing", { of: "network" }),
    ];
    expect(wrong.map(codeOf)).toEqual(["400 invalid_input", "400 invalid_input", "400 invalid_input", "404 not_found"]);
  });

  test("A26 more than fit into one transaction", async () => {
    await using own = await startServer(BEHIND_PROXY);
    const place = await commentedSite(own);
    const posts = Array.from({ length: 230 }, (_, n) => new Caller(place, "203.0.113.5").post(`noise ${n}`));
    expect(await statuses(posts)).toEqual({ "201": 230 });
    const [{ id }] = (await place.visitor().threads()).threads;
    expect((await rejectAll(place, id, { of: "network" })).body).toEqual({ rejected: 230 });
    expect(await place.visitor().texts()).toEqual([]);
  });

  test("A26 the network is kept as a keyed hash of its site, told to nobody, and goes with the comment", async () => {
    const [place, other] = [await commentedSite(server), await commentedSite(server)];
    const ann = new Caller(place, "203.0.113.5");
    const id = await ann.say("one");
    await new Caller(other, "203.0.113.5").say("one");
    const hashes = ({ site }: CommentedSite) =>
      read<{ network: string | null }>(
        server.data_dir,
        `select network from comments where site_id = '${site.site_id}'`,
      ).map(({ network }) => network);
    const [[hash], [elsewhere]] = [hashes(place), hashes(other)];
    expect(hash).toMatch(/^[\w-]{22}$/);
    expect(elsewhere).not.toBe(hash!);
    const owner = await place.owner();
    const told = [
      (await place.api("threads")).text,
      (await place.api(`${id}/history`)).text,
      (await owner.send("threads?page=/guide.html")).text,
      (await ann.send("me/export")).text,
    ].join();
    for (const secret of [hash!, "203.0.113", "network"]) expect(told).not.toContain(secret);
    await ann.send("me", { method: "DELETE" });
    expect(hashes(place)).toEqual([null]);
    const gone = await new Caller(place, HONEST[0]!).say("two");
    await place.decide(gone, "reject");
    await (await place.accountOwner()).send(gone, { method: "DELETE" });
    expect(hashes(place)).toEqual([null, null]);
  });
});

describe("A26 wrong passcodes", () => {
  const enter = async (place: CommentedSite, address: string, passcode: string) =>
    codeOf(await new Caller(place, address).send("passcode", { method: "POST", body: { passcode } }));

  test("A26 from ten /64s of one /48 lock nobody else out, and are those of one client", async () => {
    await using own = await startServer({ ...BEHIND_PROXY, SVC_RATE_PASSCODE: "5/10m" });
    const place = await commentedSite(own, "passcode");
    const tries: string[] = [];
    for (let n = 0; n < 50; n++) tries.push(await enter(place, `2001:db8:5:${n % 10}::1`, `guess number ${n}`));
    expect(tries.filter((code) => code === "401 wrong_passcode")).toHaveLength(5);
    expect(tries.filter((code) => code === "429 rate_limited")).toHaveLength(45);
    for (const address of HONEST) expect(await enter(place, address, PASSCODE)).toBe("204");
  }, 30_000);

  test("A26 of fifty networks in an hour slow new ones; who gave the right one before comes in", async () => {
    await using own = await startServer({ ...BEHIND_PROXY, SVC_RATE_PASSCODE: "5/10m" });
    const place = await commentedSite(own, "passcode");
    expect(await enter(place, "198.51.100.7", PASSCODE)).toBe("204");
    expect(await enter(place, "2001:db8:77:1::5", PASSCODE)).toBe("204");
    for (let n = 0; n < 50; n++) expect(await enter(place, `10.${n}.0.1`, "not this")).toBe("401 wrong_passcode");
    expect(await enter(place, "192.0.2.9", PASSCODE)).toBe("429 rate_limited");
    expect(await enter(place, "198.51.100.7", PASSCODE)).toBe("204");
    // Another /64 of the same customer.
    expect(await enter(place, "2001:db8:77:2::9", PASSCODE)).toBe("204");
    const kept = read<{ network_hash: string }>(own.data_dir, "select network_hash from passcode_networks");
    expect(kept.map(({ network_hash }) => /^[\w-]{22}$/.test(network_hash))).toEqual([true, true]);
    own.advance(3_601_000);
    expect(await enter(place, "192.0.2.9", PASSCODE)).toBe("204");
  }, 60_000);
});
