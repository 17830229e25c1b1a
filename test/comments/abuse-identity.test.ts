/** The abuse tests of COMMENTS 4 about who somebody is: cookies, guesses, grants, names, tokens, hosts. */
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { expectAlike } from "../kit/cpu.ts";
import { read } from "../kit/database.ts";
import { local, startProcess, temporaryFolder } from "../kit/process.ts";
import { type DeployResult, startServer, ZIP } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";
import { type Answered, CommentedSite, commentedSite, FREELY, PAGES, PASSCODE, type Visitor } from "./commented.ts";

const server = await sharedServer(FREELY);

const codeOf = ({ status, body }: Answered): string => `${status} ${body?.code}`;

describe("(2) tossed, doubled, truncated, re-encoded, other-site, other-label, old-key cookies", () => {
  /** What the bearer of this cookie is, and what their post is answered. */
  async function worth(visitor: Visitor, cookie: string): Promise<[string, string]> {
    const who = visitor.place.visitor();
    const headers = { cookie };
    const { body } = await who.send("threads?page=/guide.html", { headers });
    return [body.viewer.id, codeOf(await who.send("me", { method: "PATCH", body: { name: "New" }, headers }))];
  }
  const NOBODY: [null, string] = [null, "401 no_identity"];

  async function cast() {
    const place = await commentedSite(server);
    const [ann, eve] = [place.visitor(), place.visitor()];
    await ann.say("ann");
    await eve.say("eve");
    return { place, ann, eve, mine: ann.value("svc_cmt"), theirs: eve.value("svc_cmt") };
  }

  test("two that count are none: reads as a stranger, writes 409, and they are cleared", async () => {
    const { ann, mine, theirs } = await cast();
    for (const cookie of [`svc_cmt=${theirs}; svc_cmt=${mine}`, `svc_cmt=${mine}; svc_cmt=${mine}`]) {
      expect(await worth(ann, cookie)).toEqual([null as never, "409 identity_conflict"]);
    }
    const who = ann.place.visitor();
    const answer = await who.send("threads?page=/", { headers: { cookie: `svc_cmt=${theirs}; svc_cmt=${mine}` } });
    const cleared = answer.headers.getSetCookie();
    expect(cleared.every((line) => line.startsWith("svc_cmt=; ") && line.endsWith("Max-Age=0"))).toBeTrue();
    expect(cleared.some((line) => line.includes("Domain=localhost; Path=/_svc/comments/;"))).toBeTrue();
    // A sibling may plant one for a single address: there the browser sends it before all others.
    expect(cleared.some((line) => line.includes("Domain=localhost; Path=/_svc/comments/threads;"))).toBeTrue();
  });

  test("one that counts beside others that do not is the one that counts", async () => {
    const { ann, mine } = await cast();
    const { id } = (await ann.send("me")).body;
    expect(await worth(ann, `svc_cmt=v1.x.y.z; svc_cmt=${mine}; svc_cmt=`)).toEqual([id, "200 undefined"]);
  });

  test("every cut, every changed character and every other writing of the same bytes is none", async () => {
    const { ann, mine } = await cast();
    const [version, kid, payload, mac] = mine.split(".") as [string, string, string, string];
    const flip = (text: string) => (text.startsWith("A") ? "B" : "A") + text.slice(1);
    const last = mac.at(-1)!;
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const sibling = alphabet[alphabet.indexOf(last) ^ 1]!;
    const forged = [
      mine.slice(0, -1),
      mine.slice(1),
      `${mine}A`,
      `${mine}=`,
      [version, kid, payload, mac.slice(0, -1) + sibling].join("."),
      [version, kid, `${payload}=`, mac].join("."),
      [version, kid, flip(payload), mac].join("."),
      [version, kid, payload, flip(mac)].join("."),
      [version, "zz", payload, mac].join("."),
      ["v2", kid, payload, mac].join("."),
      [version, kid, payload].join("."),
      encodeURIComponent(mine).replaceAll(".", "%2E"),
      Buffer.from(mine).toString("base64"),
      "x".repeat(5000),
    ];
    for (const value of forged)
      expect([value, ...(await worth(ann, `svc_cmt=${value}`))]).toEqual([value, ...NOBODY] as never);
  });

  test("another site's is none here, and neither is another cookie of this site under its name", async () => {
    const { place, ann } = await cast();
    const other = await commentedSite(server);
    const there = other.visitor();
    await there.say("x");
    expect(await worth(ann, `svc_cmt=${there.value("svc_cmt")}`)).toEqual(NOBODY as never);
    const owner = await place.owner();
    await place.turn("passcode");
    await ann.send("passcode", { method: "POST", body: { passcode: PASSCODE } });
    const [own, grant, mine] = [owner.value("svc_cmt_own"), ann.value("svc_cmt_pass"), ann.value("svc_cmt")];
    await place.turn("anonymous");
    for (const value of [own, grant]) expect(await worth(ann, `svc_cmt=${value}`)).toEqual(NOBODY as never);
    for (const value of [grant, mine]) {
      const { status } = await place.visitor().send("queue", { headers: { cookie: `svc_cmt_own=${value}` } });
      expect(status).toBe(401);
    }
    await place.turn("passcode");
    for (const value of [own, mine]) {
      const { status } = await place.visitor().send("threads?page=/", { headers: { cookie: `svc_cmt_pass=${value}` } });
      expect(status).toBe(401);
    }
  });

  test("an older key's counts until it is 400 days old, the newest one signs, and one that is gone counts no more", async () => {
    await using own = await startServer(FREELY);
    const place = await commentedSite(own);
    own.giveAway(place.site);
    const ann = place.visitor();
    await ann.say("by the first key");
    const { id } = (await ann.send("me")).body;
    const [first, kid] = [ann.value("svc_cmt"), ann.value("svc_cmt").split(".")[1]];
    await own.stop();
    own.advance(91 * 86_400_000);
    await own.start([FREELY]);
    expect((await ann.send("me", { headers: { cookie: `svc_cmt=${first}` } })).body.id).toBe(id);
    expect(ann.value("svc_cmt").split(".")[1]).not.toBe(kid);
    const secrets = JSON.parse(readFileSync(join(own.data_dir, "secrets"), "utf8")) as Record<string, string>;
    expect(Object.keys(secrets).filter((name) => name.startsWith("comment_visitor."))).toHaveLength(2);
    await own.stop();
    own.advance(400 * 86_400_000);
    await own.start([FREELY]);
    const stranger = place.visitor();
    expect((await stranger.send("me", { headers: { cookie: `svc_cmt=${first}` } })).status).toBe(401);
  });

  test("who knows the format and not the key signs nothing", async () => {
    const { ann, mine, place } = await cast();
    const kid = mine.split(".")[1]!;
    const said = { i: "x".repeat(22), s: place.site.site_id, n: "Owner", t: Math.floor(server.now() / 1000) };
    const payload = Buffer.from(JSON.stringify(said)).toString("base64url");
    for (const key of ["", "svc_cmt", kid]) {
      const mac = createHmac("sha256", key).update(`svc_cmt\0v1\0${kid}${payload}`).digest("base64url");
      expect(await worth(ann, `svc_cmt=v1.${kid}.${payload}.${mac}`)).toEqual(NOBODY as never);
    }
  });
});

describe("(5) guessed ids and passcodes", () => {
  test("an id says nothing of others: 100 of them share nothing that grows", async () => {
    const place = await commentedSite(server);
    const ann = place.visitor();
    const ids: string[] = [];
    for (let i = 0; i < 20; i++) ids.push(await ann.say(`n ${i}`));
    expect(ids.every((id) => /^c_[0-9a-z]{20}$/.test(id))).toBeTrue();
    expect(ids.toSorted()).not.toEqual(ids);
    expect(new Set(ids.map((id) => id.slice(2, 5))).size).toBeGreaterThan(15);
  });

  test("5 wrong passcodes in 10 minutes of a client, 50 an hour of a site, then 429; right ones do not count", async () => {
    await using own = await startServer({ ...FREELY, SVC_RATE_PASSCODE: "5/10m" });
    const place = await commentedSite(own, "passcode");
    const enter = async (passcode: string) =>
      codeOf(await place.visitor().send("passcode", { method: "POST", body: { passcode } }));
    for (let i = 0; i < 7; i++) expect(await enter(PASSCODE)).toBe("204 undefined");
    for (let i = 0; i < 5; i++) expect(await enter(`wrong ${i}`)).toBe("401 wrong_passcode");
    expect(await enter(PASSCODE)).toBe("429 rate_limited");
    own.advance(10 * 60_000 + 1);
    expect(await enter(PASSCODE)).toBe("204 undefined");
    // Each time that they are used up the wait is twice as long.
    for (const minutes of [20, 40]) {
      for (let i = 0; i < 5; i++) expect(await enter(`wrong again ${i}`)).toBe("401 wrong_passcode");
      own.advance((minutes - 1) * 60_000);
      expect(await enter(PASSCODE)).toBe("429 rate_limited");
      own.advance(60_000 + 1);
      expect(await enter(PASSCODE)).toBe("204 undefined");
    }

    await using free = await startServer(FREELY);
    const other = await commentedSite(free, "passcode");
    const guess = async (passcode: string) =>
      codeOf(await other.visitor().send("passcode", { method: "POST", body: { passcode } }));
    for (let i = 0; i < 50; i++) await guess(`wrong ${i}`);
    expect(await guess(PASSCODE)).toBe("429 rate_limited");
  });

  test("one that nobody had time to look at is no wrong one", async () => {
    await using own = await startServer({ ...FREELY, SVC_RATE_PASSCODE: "5/10m" });
    const place = await commentedSite(own, "passcode");
    const others = await Promise.all(Array.from({ length: 12 }, () => commentedSite(own, "passcode")));
    const enter = async (at: CommentedSite, passcode: string) =>
      codeOf(await at.visitor().send("passcode", { method: "POST", body: { passcode } }));
    let refused = 0;
    for (let round = 0; refused < 5 && round < 5; round++) {
      const crowd = others.flatMap((other) => Array.from({ length: 4 }, () => enter(other, PASSCODE)));
      for (let n = 0; n < 3; n++) refused += (await enter(place, PASSCODE)) === "503 unavailable" ? 1 : 0;
      await Promise.all(crowd);
    }
    expect(refused).toBeGreaterThanOrEqual(5);
    expect(await enter(place, PASSCODE)).toBe("204 undefined");
  });

  test("a wrong one is told alike whether one is set or not: in body and in time", async () => {
    const [set, unset] = [await commentedSite(server, "passcode"), await commentedSite(server, "anonymous")];
    const enter = (place: typeof set, passcode: unknown) =>
      place.visitor().send("passcode", { method: "POST", body: { passcode } });
    const said = async (place: typeof set) => {
      const { status, body } = await enter(place, "wrong one");
      return [status, body.code, body.error];
    };
    expect(await said(set)).toEqual(await said(unset));
    for (const odd of ["", 7, null, "x".repeat(100_000)]) expect((await enter(set, odd)).status).toBeOneOf([401, 413]);
    // The processor's time, for the hash is worked out off the thread; one request is nearly all hash.
    let tries = 0;
    const guess = (place: typeof set) => async () => {
      if (++tries % 40 === 0) server.advance(61 * 60_000); // 50 an hour of a site
      expect((await enter(place, "wrong one")).status).toBe(401);
    };
    await expectAlike(0.05, 150, { set: guess(set), unset: guess(unset) });
  }, 60_000);

  test("a guessed id takes as long whether there is none, or it waits, was rejected, or is of another site", async () => {
    const [place, other] = [await commentedSite(server, "approved"), await commentedSite(server)];
    const ann = place.visitor();
    const [waits, rejected, elsewhere] = [
      await ann.say("waits"),
      await ann.say("rejected"),
      await other.visitor().say("x"),
    ];
    await place.decide(rejected, "reject");
    const stranger = place.visitor();
    const none = `c_${"z".repeat(20)}`;
    const said = new Set<string>();
    const ask = (id: string) => async () => {
      for (let n = 0; n < 60; n++) {
        const { status, body } = await stranger.send(id);
        said.add(`${status} ${body.code} ${body.error}`);
      }
    };
    await expectAlike(0.05, 300, {
      none: ask(none),
      waits: ask(waits),
      rejected: ask(rejected),
      elsewhere: ask(elsewhere),
    });
    expect(said.size).toBe(1);
  }, 120_000);
});

describe("(17) names that would be taken for the owner's", () => {
  test.each([
    "owner",
    "Owner",
    "оwner",
    "0wner",
    "o w n e r",
    "OWNER!",
    "Öwner",
    "ｏｗｎｅｒ",
    "own\u00ader",
    "ᴏᴡɴᴇʀ",
    "øwner",
    "σwnєr",
    "ovvner",
    "🅞wner",
    "🆂🆅🅲",
    "🇴🇼🇳🇪🇷",
    "Adrnin",
    "Aclmin",
    "admin",
    "My Site",
  ])("%s is 422 name_reserved", async (name) => {
    const place = await commentedSite(server);
    const ann = place.visitor();
    await ann.say("x");
    if (name === "My Site") server.label(place.site, "my site");
    const refused = await ann.send("me", { method: "PATCH", body: { name } });
    expect(codeOf(refused)).toBe("422 name_reserved");
  });
});

describe("names that are nobody's", () => {
  test.each([
    ["🦊", 200],
    ["李", 200],
    ["7", 200],
    ["!!!", 400],
    ["\u3164", 400],
    ["\u2800", 400],
    ["· ·", 400],
  ])("%j is %i: a name needs something to be known by", async (name, status) => {
    const ann = (await commentedSite(server)).visitor();
    await ann.say("x");
    expect((await ann.send("me", { method: "PATCH", body: { name } })).status).toBe(status);
  });
});

describe("(18) a changed passcode", () => {
  test("ends grants at once, in every process: what counts is in the database", async () => {
    const place = await commentedSite(server, "passcode");
    const [guest, other] = [place.visitor(), place.visitor()];
    for (const one of [guest, other]) await one.send("passcode", { method: "POST", body: { passcode: PASSCODE } });
    expect((await guest.send("threads?page=/")).status).toBe(200);
    await place.api("settings", { method: "PATCH", body: { passcode: "another one" } });
    for (const one of [guest, other]) expect((await one.send("threads?page=/")).status).toBe(401);
    expect((await guest.post("x")).body.code).toBe("passcode_required");
  });

  test("of two workers neither takes an old grant after the answer", async () => {
    await using folder = await temporaryFolder();
    const running = await startProcess(["--data-dir", folder.path, "--workers", "2", "--log", "off"]);
    try {
      const api = (path: string, init: RequestInit = {}) => fetch(local(running) + path, init);
      // A new connection each time: either worker may get it.
      const site = (slug: string, path = "/", init: RequestInit = {}) => {
        const headers = { ...(init.headers as object), host: `${slug}.localhost:${running.port}`, connection: "close" };
        return api(path, { ...init, headers });
      };
      const deployed = await api("/sites", { method: "POST", headers: ZIP, body: zipOf(PAGES) });
      const place = new CommentedSite({ api, site }, (await deployed.json()) as DeployResult);
      await place.turn("passcode");
      const guest = place.visitor();
      await guest.send("passcode", { method: "POST", body: { passcode: PASSCODE } });
      const seen = async () =>
        new Set(
          (await Promise.all(Array.from({ length: 20 }, () => guest.send("threads?page=/")))).map(
            ({ status }) => status,
          ),
        );
      expect(await seen()).toEqual(new Set([200]));
      await place.api("settings", { method: "PATCH", body: { passcode: PASSCODE } });
      expect(await seen()).toEqual(new Set([401]));
    } finally {
      await running.end();
    }
  });
});

describe("(20) tokens", () => {
  test("the database holds a hash, and nothing that was answered or logged holds the token", async () => {
    const place = await commentedSite(server);
    const { body } = await place.api("tokens", { method: "POST", body: { name: "bot", scopes: ["read"] } });
    const stored = JSON.stringify(read(server.data_dir, "select * from agent_tokens"));
    expect(stored).not.toContain(body.token);
    expect(stored).toContain(new Bun.CryptoHasher("sha256").update(body.token).digest("hex"));
    expect((await place.api("tokens")).text).not.toContain(body.token);
  });
  test("one is no credential of the API, and none on a site's host", async () => {
    const place = await commentedSite(server, "approved");
    const { body } = await place.api("tokens", {
      method: "POST",
      body: { name: "bot", scopes: ["read", "see_pending"] },
    });
    const headers = { authorization: `Bearer ${body.token}` };
    expect((await place.api("threads", { headers })).status).toBe(401);
    await place.visitor().say("waits");
    expect((await place.visitor().send("threads?page=/guide.html", { headers })).body.threads).toEqual([]);
  });
  test("another site's is not revoked here", async () => {
    const [one, two] = [await commentedSite(server), await commentedSite(server)];
    const { body } = await one.api("tokens", { method: "POST", body: { name: "bot", scopes: ["read"] } });
    expect((await two.api(`tokens/${body.token_id}`, { method: "DELETE" })).status).toBe(404);
    expect((await one.api("tokens")).body.tokens).toHaveLength(1);
  });
});

describe("(22) hostile Host, Origin: null, addresses that rotate", () => {
  test("a write from no origin, from null, or from a sibling is 403 cross_origin", async () => {
    const [place, sibling] = [await commentedSite(server), await commentedSite(server)];
    const ann = place.visitor();
    const FOREIGN: Record<string, string>[] = [
      { origin: "" },
      { origin: "null" },
      { origin: sibling.origin },
      { origin: `${place.origin}.evil.example` },
      { origin: place.origin.replace("http:", "https:") },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "none" },
      { "sec-fetch-site": "same-site", origin: place.origin },
    ];
    for (const headers of FOREIGN) {
      const refused = await ann.send("", { method: "POST", body: ann.annotation("x", `${place.origin}/`), headers });
      expect([headers, codeOf(refused)]).toEqual([headers, "403 cross_origin"]);
    }
    const own = { "sec-fetch-site": "same-origin", origin: place.origin };
    expect((await ann.send("", { method: "POST", body: ann.annotation("x", "/"), headers: own })).status).toBe(201);
  });

  test("a Host of another shape reaches no comments, and moves no address of theirs", async () => {
    const place = await commentedSite(server);
    await place.visitor().say("x");
    const { slug } = place.site;
    for (const host of [`${slug}.evil.example`, `a.${slug}.localhost`, "evil.example"]) {
      const answer = await server.api("/comments.json", { headers: { host } });
      expect([host, answer.status, (await answer.text()).includes("OrderedCollection")]).toEqual([host, 404, false]);
    }
    const { body } = await place.visitor().send("/comments.json", { headers: { "x-forwarded-host": "evil.example" } });
    expect(body.id).toBe(`${place.origin}/comments.json`);
  });

  test("an IPv6 /64 counts as one client", async () => {
    await using own = await startServer({ ...FREELY, SVC_RATE_COMMENT: "2/1m", SVC_TRUST_PROXY: "127.0.0.1" });
    const place = await commentedSite(own);
    const from = async (address: string) => {
      const who = place.visitor();
      const headers = { "x-forwarded-for": address };
      return (await who.send("", { method: "POST", body: who.annotation(address, "/"), headers })).status;
    };
    expect([
      await from("2001:db8:1:2::1"),
      await from("2001:db8:1:2:ffff::2"),
      await from("2001:db8:1:2:a:b:c:d"),
    ]).toEqual([201, 201, 429]);
    expect(await from("2001:db8:1:3::1")).toBe(201);
  });
});
