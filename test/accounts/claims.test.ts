/** SPEC, "Site lifecycle": claim and bulk-attach (CONTRACT 4.4). */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { newToken } from "../../src/base/tokens.ts";
import { expectAlike } from "../kit/cpu.ts";
import { bearer, call, signUp } from "../kit/people.ts";
import { type DeployResult, NOBODYS_ID, startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { expired, ownership, page } from "./owned.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

const DAY = 86_400_000;
const server = await sharedServer();
const ann = await signUp(server, "ann@example.org");
const ben = await signUp(server, "ben@example.org");

const { owned, post, claim, record, robots } = ownership(() => server);

describe("claim", () => {
  test("attaches the site to the account: owned, no expiry, indexable at the next request", async () => {
    const site = await server.deploy(page("claimed"));
    expect(await robots(site.slug)).toBe("noindex");
    const { status, body } = await claim(site, ann);
    expect(status).toBe(200);
    expect<unknown>(body).toEqual({
      ok: true,
      site_id: site.site_id,
      url: site.url,
      owner_account_id: ann.account_id,
      expires_at: null,
    });
    expect(await robots(site.slug)).toBeNull();
    server.advance(15 * DAY);
    await server.running.store.sweep(server.now());
    expect((await server.site(site.slug)).status).toBe(200);
  });

  test("A4 the token is spent: 200 again for the owner, 409 for others, no credential for anything else", async () => {
    const site = await server.deploy(page("spent"));
    const first = await claim(site, ann);
    expect((await claim(site, ann)).body).toEqual(first.body);
    expect(await claim(site, ben)).toMatchObject({ status: 409, body: { code: "already_owned" } });
    const asBearer = await call(server, "GET", `/sites/${site.site_id}`, undefined, bearer(site.claim_token!));
    expect(asBearer.status).toBe(401);
    expect((await server.redeploy(site, page("still managed"))).manage_token).toBe(site.manage_token);
  });

  test("a wrong token, a manage_token, another site's token and an unknown site are one 401 Invalid claim", async () => {
    const [site, other] = [await server.deploy(page("a")), await server.deploy(page("b"))];
    const taken = await server.deploy(page("c"));
    await claim(taken, ben);
    const answers = [
      await claim({ ...site, claim_token: newToken("svc_claim_") }, ann),
      await claim({ ...site, claim_token: site.manage_token }, ann),
      await claim({ ...site, claim_token: other.claim_token }, ann),
      await claim({ ...site, site_id: NOBODYS_ID }, ann),
      await claim({ ...taken, claim_token: newToken("svc_claim_") }, ann),
      await claim({ ...site, site_id: "..%2f" }, ann),
    ];
    for (const { status, body } of answers.slice(0, 5)) {
      expect(status).toBe(401);
      expect<unknown>({ ...body, request_id: null }).toEqual({
        error: "Invalid claim",
        code: "invalid_claim",
        request_id: null,
      });
    }
    expect(answers[5]!.status).toBe(404);
    expect(await record(site.site_id, bearer(site.manage_token))).not.toContainKey("owner_account_id");
  });

  test("a bad token takes as long for a site that exists as for one that does not", async () => {
    const site = await server.deploy(page("timed"));
    const refused = (site_id: string) => () => claim({ site_id, claim_token: newToken("svc_claim_") }, ann);
    await expectAlike(0.1, 600, { known: refused(site.site_id), unknown: refused(NOBODYS_ID) });
  }, 60_000);

  test("of a site that is gone, swept or not: 404 with its former token, 401 with another", async () => {
    await using own = await startServer();
    const person = await signUp(own);
    const site = await expired(own);
    for (const swept of [false, true]) {
      if (swept) await own.running.store.sweep(own.now());
      expect(await claim(site, person, own)).toMatchObject({ status: 404, body: { code: "unknown_site" } });
      const wrong = { ...site, claim_token: newToken("svc_claim_") };
      expect(await claim(wrong, person, own)).toMatchObject({ status: 401, body: { code: "invalid_claim" } });
    }
  });

  test.each<[what: string, act: (site: DeployResult) => void]>([
    ["disabled_reason", (site) => server.disable(site, "spam")],
    ["frozen", (site) => server.freeze(site)],
  ])("goes on while an operator has set %s", async (_, act) => {
    const site = await server.deploy(page("held"));
    act(site);
    expect((await claim(site, ann)).status).toBe(200);
  });

  test("two accounts at once: one gets it", async () => {
    const site = await server.deploy(page("race"));
    const both = await Promise.all([claim(site, ann), claim(site, ben)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  });

  test.each([[{}], [{ claim_token: 1 }], [{ claim_token: "" }], [{ claim_token: "x".repeat(600) }]])(
    "a body of %j is 400 invalid_input",
    async (body) => {
      const answer = await post(`/sites/${NOBODYS_ID}/claim`, body, ann);
      expect([answer.status, answer.body.code]).toEqual([400, "invalid_input"]);
    },
  );
});

describe("bulk-attach", () => {
  const attach = async (sites: unknown, person = ann, at = server) =>
    await post("/account/bulk-attach", { sites }, person, at);
  const item = ({ site_id, manage_token }: DeployResult) => ({ site_id, manage_token });

  test("attaches what it can and skips the rest, each with its reason, in the order of the contract", async () => {
    const [fresh, hers, his, wrong] = [
      await server.deploy(page("fresh")),
      await owned(ann, "hers"),
      await owned(ben, "his"),
      await server.deploy(page("wrong")),
    ];
    const gone = await expired(server);
    const unknown = { site_id: NOBODYS_ID, manage_token: fresh.manage_token };
    const { status, body } = await attach([
      item(fresh),
      { site_id: 7 },
      "text",
      null,
      { site_id: fresh.site_id },
      unknown,
      item(gone),
      { site_id: his.site_id, manage_token: newToken("svc_manage_") },
      { site_id: wrong.site_id, manage_token: wrong.claim_token },
      item(hers),
      item(his),
      item(fresh),
    ]);
    expect(status).toBe(200);
    expect<unknown>(body).toEqual({
      attached: [fresh.site_id],
      skipped: [
        { site_id: null, reason: "invalid_input" },
        { site_id: null, reason: "invalid_input" },
        { site_id: null, reason: "invalid_input" },
        { site_id: fresh.site_id, reason: "invalid_input" },
        { site_id: NOBODYS_ID, reason: "not_found" },
        { site_id: gone.site_id, reason: "not_found" },
        { site_id: his.site_id, reason: "invalid_token" },
        { site_id: wrong.site_id, reason: "invalid_token" },
        { site_id: hers.site_id, reason: "already_yours" },
        { site_id: his.site_id, reason: "already_owned" },
        { site_id: fresh.site_id, reason: "already_yours" },
      ],
    });
    expect(await record(fresh.site_id, ann.bearer)).toMatchObject({
      expires_at: null,
      owner_account_id: ann.account_id,
    });
    expect(await robots(fresh.slug)).toBeNull();
    expect(await record(wrong.site_id, bearer(wrong.manage_token))).not.toContainKey("owner_account_id");
  });

  test("takes 1 to 100 items", async () => {
    const items = Array.from({ length: 101 }, () => ({ site_id: NOBODYS_ID, manage_token: "x" }));
    expect((await attach(items.slice(1))).status).toBe(200);
    for (const sites of [items, [], {}, "x", null, undefined, 1e400]) {
      expect(await attach(sites)).toMatchObject({ status: 400, body: { code: "invalid_input" } });
    }
  });
});

test("K26 a claim at the last millisecond wins or loses whole", async () => {
  await using own = await startServer();
  const person = await signUp(own);
  const [early, late] = [await own.deploy(page("early")), await own.deploy(page("late"))];
  own.advance(early.expires_at! - own.now() - 2000);
  own.expire(late, own.now());
  const [won, lost] = [await claim(early, person, own), await claim(late, person, own)];
  expect([won.status, lost.status]).toEqual([200, 404]);
  own.advance(1000);
  await own.running.store.sweep(own.now());
  expect((await own.site(early.slug)).status).toBe(200);
  expect((await own.site(late.slug)).status).toBe(410);
});
