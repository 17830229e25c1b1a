/** CONTRACT 4.4: manage tokens end by their owner's word, at a claim, and with a reset of the account. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { auditRows, openFile } from "../kit/database.ts";
import { operator } from "../kit/operator.ts";
import { bearer, call, cookieOf, csrfOf, PASSWORD, type Person, signInByForm, signUp, submit } from "../kit/people.ts";
import { type DeployResult, startServer, ZIP } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { decoded, type Seen, visitorOf } from "../kit/visitor.ts";
import { zipOf } from "../kit/zip.ts";
import { expired, ownership, page } from "./owned.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

let ann: Person;
let ben: Person;
const server = await sharedServer();
beforeAll(async () => {
  [ann, ben] = [await signUp(server), await signUp(server)];
});

const { owned, claim, post } = ownership(() => server);

/** What each route says to a manage_token of the site. */
const opens = async ({ site_id }: { site_id: string }, token: string, at = server) => {
  const headers = bearer(token);
  const body = zipOf(page("by token"));
  return [
    (await call(at, "GET", `/sites/${site_id}`, undefined, headers)).status,
    (await at.api(`/sites/${site_id}/deploys`, { method: "POST", body, headers: { ...ZIP, ...headers } })).status,
  ];
};
const [WORKS, ENDED] = [
  [200, 200],
  [401, 401],
];
const revoke = (site_id: string, headers: Record<string, string>, at = server) =>
  call(at, "DELETE", `/sites/${site_id}/manage-tokens`, undefined, headers);

async function redeployed({ site_id }: DeployResult, person: Person, at = server): Promise<string> {
  const headers = { ...ZIP, ...person.bearer };
  const answer = await at.api(`/sites/${site_id}/deploys`, { method: "POST", body: zipOf(page("again")), headers });
  return ((await answer.json()) as DeployResult).manage_token;
}

/** Takes back what the seventh step of the schema added. */
const COMMENT_TABLES = [
  "webhook_states",
  "webhook_deliveries",
  "webhook_outbox",
  "threads",
  "comments",
  "comment_settings",
  "comment_people",
  "comment_events",
  "comment_reports",
  "agent_tokens",
  "owner_codes",
  "passcode_networks",
];

function asSchema6(data_dir: string): void {
  using db = openFile(data_dir, "db", false);
  for (const statement of [
    "drop table deploy_tokens",
    "drop table notices",
    "drop table previews",
    "drop index audit_invited",
    "drop index audit_repeated",
    "drop index versions_withheld",
    "drop index versions_left",
    "drop index versions_by_site",
    "create index versions_by_site on versions (site_id)",
    ...["live_since", "live_until", "listed_no", "withhold"].map(
      (column) => `alter table versions drop column ${column}`,
    ),
    ...["skew", "stats"].map((column) => `alter table sites drop column ${column}`),
    "alter table accounts drop column disabled_reason",
    "alter table sites drop column disabled_with_account",
    "drop index reports_by_site",
    "alter table reports drop column closed_at",
    "drop table pictures",
    "drop table renders",
    ...COMMENT_TABLES.map((name) => `drop table ${name}`),
    ...["comments_changes", "owner_epoch"].map((column) => `alter table sites drop column ${column}`),
    "drop table receipts",
    "drop index sites_by_deploy",
    "drop index sites_by_name",
    "alter table sites drop column deployed_at",
    "drop index tokens_by_account",
    "alter table tokens drop column account_id",
    "drop table sign_in_networks",
    "drop table former_slugs",
    ...["domains", "certificates", "acme_challenges"].map((name) => `drop table ${name}`),
    ...["access_hash", "access_set_at", "access_epoch"].map((column) => `alter table sites drop column ${column}`),
    "PRAGMA user_version = 6",
  ]) {
    db.run(statement);
  }
}

describe("DELETE /sites/:id/manage-tokens", () => {
  test("ends the giver's and those of deploys by session, and says how many", async () => {
    const given = await server.deploy(page("given"));
    await claim(given, ann);
    const fresh = await redeployed(given, ann);
    for (const token of [given.manage_token, fresh]) expect(await opens(given, token)).toEqual(WORKS);
    const { status, body } = await revoke(given.site_id, ann.bearer);
    expect(status).toBe(200);
    expect<unknown>(body).toEqual({ ok: true, revoked: 2 });
    for (const token of [given.manage_token, fresh]) expect(await opens(given, token)).toEqual(ENDED);
    expect<unknown>((await revoke(given.site_id, ann.bearer)).body).toEqual({ ok: true, revoked: 0 });
    expect(await opens(given, await redeployed(given, ann))).toEqual(WORKS);
    expect(auditRows(server.data_dir).filter(({ site_id }) => site_id === given.site_id)).toMatchObject([
      { actor: ann.account_id, action: "claim" },
      { actor: ann.account_id, action: "revoke-tokens", reason: "2 of them" },
    ]);
  });

  test("an ended token is 401 after the site is gone, as one that never was", async () => {
    const site = await owned(ann);
    await revoke(site.site_id, ann.bearer);
    await call(server, "DELETE", `/account/sites/${site.site_id}`, undefined, ann.bearer);
    expect(await opens(site, site.manage_token)).toEqual(ENDED);
    expect((await revoke(site.site_id, ann.bearer)).body.code).toBe("unknown_site");
  });

  test("is 403 for a site without an owner and for another's, 404 for one that is gone", async () => {
    const [anonymous, bens, gone] = [await server.deploy(page("a")), await owned(ben), await expired(server)];
    for (const site of [anonymous, bens]) {
      expect(await revoke(site.site_id, ann.bearer)).toMatchObject({ status: 403, body: { code: "forbidden" } });
      expect(await opens(site, site.manage_token)).toEqual(WORKS);
    }
    expect((await revoke(gone.site_id, ann.bearer)).status).toBe(404);
  });

  test("by cookie it needs the proof of a page of ours", async () => {
    const site = await owned(ann);
    const { cookie, csrf } = await signInByForm(server, ann);
    const { host, origin } = new URL(server.base_url);
    expect((await revoke(site.site_id, { cookie, host, origin })).body.code).toBe("cross_origin");
    expect((await revoke(site.site_id, { cookie, host, origin, "svc-csrf": csrf })).body.revoked).toBe(1);
  });

  test.each<[string, (site: DeployResult) => void]>([
    ["frozen", (site) => server.freeze(site)],
    ["disabled", (site) => server.disable(site, "spam")],
  ])("goes on while the site is %s", async (_, act) => {
    const site = await owned(ann);
    act(site);
    expect((await revoke(site.site_id, ann.bearer)).body.revoked).toBe(1);
  });

  test("a change by a token that was accepted before it ended is refused in its transaction", async () => {
    const site = await owned(ann);
    await revoke(site.site_id, ann.bearer);
    const { store } = server.running;
    const by = { token_hash: new Bun.CryptoHasher("sha256").update(site.manage_token).digest("hex") };
    const rollback = store.rollback({ site_id: site.site_id, by, version_id: site.version_id });
    expect(await rollback.catch(({ code }: { code: string }) => code)).toBe("unauthorized");
  });
});

describe("a claim with revoke_manage_tokens", () => {
  const claimWith = ({ site_id, claim_token }: DeployResult, revoke_manage_tokens: unknown) =>
    post(`/sites/${site_id}/claim`, { claim_token, revoke_manage_tokens }, ann);

  test("ends the giver's access with the claim; without it, the giver goes on", async () => {
    const [kept, left, ended] = [
      await server.deploy(page("k")),
      await server.deploy(page("l")),
      await server.deploy(page("e")),
    ];
    expect((await claim(kept, ann)).status).toBe(200);
    expect((await claimWith(left, false)).status).toBe(200);
    const { status, body } = await claimWith(ended, true);
    expect(status).toBe(200);
    expect(Object.keys(body).toSorted()).toEqual(["expires_at", "ok", "owner_account_id", "site_id", "url"]);
    for (const site of [kept, left]) expect(await opens(site, site.manage_token)).toEqual(WORKS);
    expect(await opens(ended, ended.manage_token)).toEqual(ENDED);
  });

  test("said again by the owner it ends the giver's, and not what the owner's deploys were given since", async () => {
    const site = await server.deploy(page("again"));
    await claim(site, ann);
    const hers = await redeployed(site, ann);
    expect((await claimWith(site, true)).status).toBe(200);
    expect(await opens(site, site.manage_token)).toEqual(ENDED);
    expect(await opens(site, hers)).toEqual(WORKS);
  });

  test("that fails ends nothing", async () => {
    const [site, bens] = [await server.deploy(page("kept")), await server.deploy(page("ben's"))];
    expect((await claimWith({ ...site, claim_token: "svc_claim_x" }, true)).status).toBe(401);
    expect(await claimWith(site, "yes")).toMatchObject({ status: 400, body: { code: "invalid_input" } });
    await claim(bens, ben);
    expect((await claimWith(bens, true)).status).toBe(409);
    for (const one of [site, bens]) expect(await opens(one, one.manage_token)).toEqual(WORKS);
  });
});

describe("the claim page", () => {
  const BOX =
    /<input\s+type="checkbox"[^>]*\sname="revoke_manage_tokens"\s+value="true"\s+(checked)?[^>]*>\s*<span>Someone else deployed this site: end their access/;
  const open = async (site_id: string, cookie: string) =>
    await (await server.api(`/claim/${site_id}`, { headers: { cookie, accept: "text/html" } })).text();

  test.each([
    ["ticked", { revoke_manage_tokens: "true" }, ENDED],
    ["not ticked, as it comes", {}, WORKS],
  ])("has a box, not ticked, that ends the giver's access: %s", async (_, box, expected) => {
    const site = await server.deploy(page("by hand"));
    const { cookie } = await signInByForm(server, ann);
    const form = await open(site.site_id, cookie);
    expect(BOX.exec(form)).not.toBeNull();
    expect(BOX.exec(form)![1]).toBeUndefined();
    const fields = { csrf: csrfOf(form), claim_token: site.claim_token!, ...box };
    expect((await submit(server, `/claim/${site.site_id}`, fields, { cookie })).status).toBe(303);
    expect(await opens(site, site.manage_token)).toEqual(expected);
  });

  test("keeps the box as it was sent where the claim fails", async () => {
    const site = await server.deploy(page("typed wrong"));
    const cookie = cookieOf(await submit(server, "/signin", { email: ann.email, password: PASSWORD }))!;
    const csrf = csrfOf(await open(site.site_id, cookie));
    const again = async (box: Record<string, string>) => {
      const answer = await submit(server, `/claim/${site.site_id}`, { csrf, claim_token: "wrong", ...box }, { cookie });
      return BOX.exec(await answer.text())![1];
    };
    expect(await again({ revoke_manage_tokens: "true" })).toBe("checked");
    expect(await again({})).toBeUndefined();
  });
});

describe("A25 the claim page lists what ends before it ends", () => {
  const make = async (site: DeployResult, token = site.manage_token) => {
    const manage = (method: string, path: string, body: unknown) =>
      call(server, method, `/sites/${site.site_id}/comments/${path}`, body, bearer(token));
    const webhook = {
      url: "https://hooks.evil.example/x",
      events: ["thread.created"],
      secret: "sixteen letters or more",
    };
    expect((await manage("PATCH", "settings", { mode: "anonymous", webhook })).status).toBe(200);
    for (const name of ["Support", "Help"]) {
      expect((await manage("POST", "tokens", { name, scopes: ["read"] })).status).toBe(201);
    }
    expect((await manage("POST", "owner-code", {})).status).toBe(200);
  };
  const fieldsOf = (site: DeployResult, more: Record<string, string> = {}) => ({
    claim_token: site.claim_token!,
    revoke_manage_tokens: "true",
    ...more,
  });
  const LISTED = [
    "1 saved token (manage_token)",
    "2 agents' tokens",
    "1 owner code",
    "the webhook to hooks.evil.example",
    "the hour for which a browser may moderate comments there as the owner",
  ];
  const items = ({ html }: Seen) => {
    const list = /<ul class="bullets">([\s\S]*?)<\/ul>/.exec(html)?.[1] ?? "";
    return [...list.matchAll(/<li>([\s\S]*?)<\/li>/g)].map(([, item]) =>
      decoded(item!.replace(/<[^>]*>/g, ""))
        .replace(/\s+/g, " ")
        .trim(),
    );
  };
  const isClaimed = async ({ site_id }: DeployResult) =>
    (await server.running.store.sites.byId(site_id))!.owner_account_id !== null;

  test("the first press lists it, the second one does it, and the page says what ended", async () => {
    const site = await server.deploy(page("listed"));
    await make(site);
    const dan = await visitorOf(server);
    const path = `/claim/${site.site_id}`;
    const first = await dan.read(path);
    expect(first.html).toMatch(/<button[^>]*data-claim name="look" value="true"/);
    const listed = await dan.send(path, fieldsOf(site, { look: "true" }));
    expect([listed.status, items(listed), await isClaimed(site)]).toEqual([200, LISTED, false]);
    expect(listed.html).toContain(`value="${site.claim_token!}"`);
    expect(listed.html).not.toContain('name="look"');
    expect(await opens(site, site.manage_token)).toEqual(WORKS);
    const done = await dan.send(path, fieldsOf(site));
    expect([done.status, done.location]).toEqual([303, expect.stringMatching(new RegExp(`^${path}\\?ended=`))]);
    const said = await dan.read(done.location!);
    expect([said.text.includes("This site is yours"), items(said)]).toEqual([true, LISTED]);
    expect(await opens(site, site.manage_token)).toEqual(ENDED);
  });

  test("without the box one press claims, and nothing is listed", async () => {
    const site = await server.deploy(page("kept"));
    await make(site);
    const dan = await visitorOf(server);
    const path = `/claim/${site.site_id}`;
    const { claim_token = "" } = site;
    const done = await dan.send(path, { claim_token, look: "true" });
    expect([done.status, done.location, await isClaimed(site)]).toEqual([303, path, true]);
    expect(await opens(site, site.manage_token)).toEqual(WORKS);
  });

  test("a wrong token lists nothing of the site", async () => {
    const site = await server.deploy(page("secret"));
    await make(site);
    const dan = await visitorOf(server);
    const wrong = await dan.send(`/claim/${site.site_id}`, {
      ...fieldsOf(site, { look: "true" }),
      claim_token: "svc_claim_x",
    });
    expect([wrong.status, items(wrong), wrong.text.includes("evil")]).toEqual([401, [], false]);
  });

  test("of a site that has nothing but its manage_token it lists that", async () => {
    const site = await server.deploy(page("plain"));
    const dan = await visitorOf(server);
    const listed = await dan.send(`/claim/${site.site_id}`, fieldsOf(site, { look: "true" }));
    expect(items(listed)).toEqual([LISTED[0]!, LISTED.at(-1)!]);
  });

  test("what an address says ended is believed of the service alone", async () => {
    const [site, other] = [await server.deploy(page("one")), await server.deploy(page("two"))];
    const dan = await visitorOf(server);
    const done = await dan.send(`/claim/${site.site_id}`, fieldsOf(site));
    await dan.send(`/claim/${other.site_id}`, fieldsOf(other));
    const value = new URL(done.location!, server.base_url).searchParams.get("ended")!;
    for (const [at, ended] of [
      [other, value],
      [site, value.slice(0, -1)],
      [site, "1.1.1"],
    ] as const) {
      const seen = await dan.read(`/claim/${at.site_id}?ended=${ended}`);
      expect([seen.status, items(seen)]).toEqual([200, []]);
    }
  });
});

describe("svc-server account reset", () => {
  test("ends the tokens that deploys by the account's sessions were given, and no other", async () => {
    await using own = await startServer();
    const [eve, dan] = [await signUp(own), await signUp(own)];
    const [mine, given, dans] = [
      await ownership(() => own).owned(eve),
      await own.deploy(page("given")),
      await ownership(() => own).owned(dan),
    ];
    await ownership(() => own).claim(given, eve);
    const hers = await redeployed(given, eve, own);
    const reset = await operator(own.data_dir, ["account", "reset", eve.email], { input: "another password\n" });
    expect(reset.code).toBe(0);
    expect(reset.stderr).toContain("the 2 manage_tokens that their deploys were given");
    for (const [site, token] of [
      [mine, mine.manage_token],
      [given, hers],
    ] as const) {
      expect(await opens(site, token, own)).toEqual(ENDED);
    }
    expect(await opens(given, given.manage_token, own)).toEqual(WORKS); // who gave it away: the claim's box is for them
    expect(await opens(dans, dans.manage_token, own)).toEqual(WORKS);
  });

  test("knows which they are in a database that an older version wrote", async () => {
    await using own = await startServer();
    const eve = await signUp(own);
    const people = ownership(() => own);
    const [mine, given] = [await people.owned(eve), await own.deploy(page("given"))];
    await people.claim(given, eve);
    own.advance(15 * 60_000);
    const hers = await redeployed(given, eve, own);
    await own.stop();
    asSchema6(own.data_dir);
    await own.start([]);
    await operator(own.data_dir, ["account", "reset", eve.email], { input: "another password\n" });
    expect(await opens(mine, mine.manage_token, own)).toEqual(ENDED);
    expect(await opens(given, hers, own)).toEqual(ENDED);
    expect(await opens(given, given.manage_token, own)).toEqual(WORKS);
  });
});
