/** COMMENTS 4, cookie tossing: a sibling site plants its own visitor's `svc_cmt` for the parent domain. Where the victim has
 *  one as well, the two are a conflict; where not, the planted one is known by what only the site's own host can set. */
import { describe, expect, test } from "bun:test";
import { type DeployResult, startServer, ZIP } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";
import { CommentedSite, FREELY, PAGES, type Visitor } from "./commented.ts";

const server = await sharedServer("--base-url", "https://svc.test", "--sites-domain", "svc.test", FREELY);

/** What every browser says of a call by a page's script. */
const BROWSER = { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" };

/** A site under https, as behind a proxy that speaks it. */
async function site(): Promise<CommentedSite> {
  const api = (path: string, init: RequestInit = {}) =>
    server.api(path, { ...init, headers: { ...(init.headers as object), host: "svc.test" } });
  const at = (slug: string, path = "/", init: RequestInit = {}) =>
    server.api(path, { ...init, headers: { ...(init.headers as object), host: `${slug}.svc.test` } });
  const deployed = await api("/sites", { method: "POST", headers: ZIP, body: zipOf(PAGES) });
  const place = new CommentedSite({ api, site: at }, (await deployed.json()) as DeployResult);
  await place.turn("anonymous");
  return place;
}

const HOST = "__Host-svc_cmt";
const viewerOf = async (who: Visitor, headers: Record<string, string> = BROWSER) =>
  (await who.send("threads?page=/guide.html", { headers })).body.viewer.id as string | null;
const post = (who: Visitor, text: string, headers: Record<string, string> = BROWSER) =>
  who.send("", { method: "POST", headers, body: who.annotation(text, `${who.place.origin}/guide.html`) });

/** The attacker, who wrote here, and the victim's browser after a visit to the attacker's site. */
async function planted() {
  const place = await site();
  const [eve, victim] = [place.visitor(), place.visitor()];
  await post(eve, "eve's");
  victim.cookies.set("svc_cmt", eve.value("svc_cmt"));
  return { place, eve, victim, eves: await viewerOf(eve) };
}

describe("(2) a planted identity", () => {
  test("an identity comes with a cookie that no sibling can set, of the same life", async () => {
    const place = await site();
    const answer = await post(place.visitor(), "x");
    const [identity, proof, ...others] = answer.headers.getSetCookie();
    expect([identity!.startsWith("svc_cmt=v1."), proof!.startsWith(`${HOST}=v1.`), others]).toEqual([true, true, []]);
    const attributes = "; HttpOnly; Secure; SameSite=Lax; Path=/; Max-Age=34560000";
    expect(identity!.endsWith(attributes) && proof!.endsWith(attributes)).toBeTrue();
  });

  test("is nobody's in a browser that has no identity of its own: nobody reads, writes or renames as its bearer", async () => {
    const { eve, victim, eves } = await planted();
    const [{ comments }] = (await eve.threads()).threads;
    const tossed = victim.value("svc_cmt");
    const headers = { ...BROWSER, cookie: `svc_cmt=${tossed}` };
    expect(await viewerOf(victim, headers)).toBeNull();
    const asked: [method: string, path: string, body?: object][] = [
      ["GET", "me"],
      ["GET", "me/export"],
      ["PATCH", "me", { name: "Mallory" }],
      ["DELETE", "me"],
    ];
    for (const [method, path, body] of asked) {
      const refused = await victim.place.visitor().send(path, { method, headers, ...(body && { body }) });
      expect([path, refused.status, refused.body.code]).toEqual([path, 401, "no_identity"]);
    }
    const removed = await victim.place.visitor().send(comments[0].id, { method: "DELETE", headers });
    expect([removed.status, removed.body.code]).toEqual([401, "no_identity"]);
    const posted = await post(victim.place.visitor(), "the victim's", headers);
    expect(posted.status).toBe(201);
    expect(posted.body.creator.id.split("/").at(-1)).not.toBe(eves);
  });

  test("is cleared for the parent domain, and the victim's own one, given with the first words, counts from then on", async () => {
    const { victim, eves } = await planted();
    const answer = await post(victim, "the victim's");
    const set = answer.headers.getSetCookie();
    expect(set.some((line) => line.startsWith("svc_cmt=; ") && line.includes("Domain=svc.test; Path=/;"))).toBeTrue();
    // The last of a name is the one that a browser keeps.
    expect(set.filter((line) => line.startsWith("svc_cmt=") && !line.includes("Domain=")).at(-1)).toContain(
      "svc_cmt=v1.",
    );
    expect(set.filter((line) => line.startsWith(`${HOST}=`)).at(-1)).toContain(`${HOST}=v1.`);
    const own = await viewerOf(victim);
    expect([own === null, own === eves]).toEqual([false, false]);
    expect((await victim.send("me", { headers: BROWSER })).body.id).toBe(own);
  });

  test("beside the victim's own one it is a conflict: a stranger's view, 409 for writes, both cleared", async () => {
    const { place, eve } = await planted();
    const victim = place.visitor();
    await post(victim, "the victim's");
    const proof = `${HOST}=${victim.value(HOST)}`;
    for (const both of [
      [eve, victim],
      [victim, eve],
    ].map((two) => two.map((one) => `svc_cmt=${one.value("svc_cmt")}`))) {
      const headers = { ...BROWSER, cookie: [...both, proof].join("; ") };
      expect(await viewerOf(place.visitor(), headers)).toBeNull();
      const refused = await post(place.visitor(), "whose?", headers);
      expect([refused.status, refused.body.code]).toEqual([409, "identity_conflict"]);
      const cleared = refused.headers.getSetCookie();
      expect(cleared.every((line) => / Max-Age=0$/.test(line))).toBeTrue();
      expect(cleared.some((line) => line.startsWith(`${HOST}=; `))).toBeTrue();
    }
  });

  test("the proof of another identity, of another site, or a forged one proves nothing", async () => {
    const { place, eve } = await planted();
    const [victim, other] = [place.visitor(), (await site()).visitor()];
    await post(victim, "the victim's");
    await post(other, "elsewhere");
    const proof = victim.value(HOST);
    const wrong = [eve.value(HOST), other.value(HOST), victim.value("svc_cmt"), `${proof}A`, proof.slice(0, -1), ""];
    for (const value of wrong) {
      const cookie = `svc_cmt=${victim.value("svc_cmt")}; ${HOST}=${value}`;
      expect([value, await viewerOf(place.visitor(), { ...BROWSER, cookie })]).toEqual([value, null]);
    }
    const cookie = `${HOST}=x; ${HOST}=${proof}; svc_cmt=${victim.value("svc_cmt")}`;
    expect(await viewerOf(place.visitor(), { ...BROWSER, cookie })).not.toBeNull();
    // Neither is a proof an identity, nor an identity a proof.
    expect(await viewerOf(place.visitor(), { ...BROWSER, cookie: `svc_cmt=${proof}; ${HOST}=${proof}` })).toBeNull();
  });

  test("a renewal and a rename bring the proof along, DELETE me ends both", async () => {
    const place = await site();
    server.giveAway(place.site);
    const ann = place.visitor();
    await post(ann, "x");
    const id = await viewerOf(ann);
    const first = ann.value(HOST);
    await ann.send("me", { method: "PATCH", body: { name: "Ann" }, headers: BROWSER });
    expect(await viewerOf(ann)).toBe(id);
    server.advance(31 * 86_400_000);
    const renewed = await ann.send("threads?page=/", { headers: BROWSER });
    expect(renewed.headers.getSetCookie().map((line) => line.split("=")[0])).toEqual(["svc_cmt", HOST]);
    expect(await viewerOf(ann)).toBe(id);
    expect(first).not.toBe("");
    await ann.send("me", { method: "DELETE", headers: BROWSER });
    expect(ann.cookie).toBe("");
  });

  test("a program, in whose cookies nobody plants, needs the identity alone, and so does a browser under http", async () => {
    const { eve, place, eves } = await planted();
    const cookie = `svc_cmt=${eve.value("svc_cmt")}`;
    const PROGRAMS: Record<string, string>[] = [{}, { "sec-fetch-site": "same-origin" }, { "sec-fetch-mode": "cors" }];
    for (const headers of PROGRAMS) {
      expect(await viewerOf(place.visitor(), { ...headers, cookie })).toBe(eves);
    }
    await using plain = await startServer(FREELY);
    const there = new CommentedSite(plain, await plain.deploy(PAGES));
    await there.turn("anonymous");
    const ann = there.visitor();
    const set = (await post(ann, "x")).headers.getSetCookie();
    expect([set.length, await viewerOf(ann)]).toEqual([1, expect.stringMatching(/^p_/)]);
  });
});
