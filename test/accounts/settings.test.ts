/** BEYOND 0: the settings of a site, and who may change them. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { hashToken } from "../../src/base/tokens.ts";
import { write } from "../kit/database.ts";
import { bearer, call, signUp } from "../kit/people.ts";
import { sharedServer } from "../kit/shared.ts";
import { ownership, page } from "./owned.ts";

setDefaultTimeout(60_000);

const server = await sharedServer();
const ann = await signUp(server);

const { owned, claim } = ownership(() => server);
const AT_FIRST = { skew: true, stats: true, password: false, primary_domain: null, domains: 0, previews: 0 };

async function ask(method: "GET" | "PATCH", site_id: string, headers: Record<string, string>, body?: unknown) {
  const answer = await call(server, method, `/sites/${site_id}/settings`, body, headers);
  return { status: answer.status, body: answer.body as unknown as Record<string, unknown> };
}
const settings = (site_id: string, headers: Record<string, string>) => ask("GET", site_id, headers);
const change = (site_id: string, body: unknown, headers: Record<string, string>) =>
  ask("PATCH", site_id, headers, body);

describe("BEYOND 0: GET /sites/:id/settings", () => {
  test("says what is on, and what is not built as off, to the manage_token and the owner", async () => {
    const { site_id, manage_token } = await owned(ann);
    for (const headers of [bearer(manage_token), ann.bearer]) {
      const answer = await settings(site_id, headers);
      expect([answer.status, answer.body]).toEqual([200, AT_FIRST]);
    }
  });

  test("counts the previews that are shown now, as GET /account/usage does", async () => {
    const cas = await signUp(server);
    const { site_id, version_id } = await owned(cas);
    server.standAt(server.now());
    for (const [name, ends] of [
      ["pr-1", 60_000],
      ["pr-2", 1],
      ["over", 0],
    ] as const) {
      const row = `insert into previews (site_id, name, version_no, created_at, expires_at)
        select site_id, ?, version_no, created_at, ? from versions where site_id = ? and version_id = ?`;
      write(server.data_dir, row, name, server.now() + ends, site_id, version_id);
    }
    expect((await settings(site_id, cas.bearer)).body).toEqual({ ...AT_FIRST, previews: 2 });
    expect((await call(server, "GET", "/account/usage", undefined, cas.bearer)).body).toMatchObject({ previews: 2 });
    server.standAt(null);
  });
});

describe("BEYOND 0: PATCH /sites/:id/settings", () => {
  test("by a manage_token that commits after a claim changes nothing", async () => {
    const { site_id, manage_token } = await owned(ann);
    const by = { token_hash: hashToken(manage_token) };
    const late = server.running.store.ownership.changeSettings(site_id, { skew: 0 }, by);
    expect(await late.catch(({ code }: { code: string }) => code)).toBe("unauthorized");
    expect((await settings(site_id, ann.bearer)).body).toEqual(AT_FIRST);
  });

  test("changes what is named and nothing else, answers what holds, and is kept through deploy and claim", async () => {
    const site = await server.deploy(page("changed"));
    const token = bearer(site.manage_token);
    expect((await change(site.site_id, { skew: false }, token)).body).toEqual({ ...AT_FIRST, skew: false });
    expect((await change(site.site_id, { stats: false }, token)).body).toEqual({
      ...AT_FIRST,
      skew: false,
      stats: false,
    });
    expect((await change(site.site_id, { skew: true, stats: false }, token)).body).toMatchObject({ skew: true });
    await server.redeploy(site, page("changed again"));
    expect((await claim(site, ann)).status).toBe(200);
    expect((await settings(site.site_id, token)).body).toEqual({ ...AT_FIRST, stats: false });
  });

  test("is the manage_token's while nobody owns the site, and the owner's alone from then on", async () => {
    const site = await server.deploy(page("claimed"));
    const token = bearer(site.manage_token);
    expect((await change(site.site_id, { skew: false }, token)).status).toBe(200);
    await claim(site, ann);
    const refused = await change(site.site_id, { skew: true }, token);
    expect([refused.status, refused.body.code]).toEqual([401, "unauthorized"]);
    expect((await settings(site.site_id, token)).body).toMatchObject({ skew: false });
    expect((await change(site.site_id, { skew: true }, ann.bearer)).body).toEqual(AT_FIRST);
  });

  test.each([
    ["nothing", {}],
    ["no known field", { password: true, previews: 3 }],
    ["a word", { skew: "off" }],
    ["a number", { skew: 0 }],
    ["null", { stats: null }],
    ["one right and one wrong", { skew: false, stats: 1 }],
    ["a name of objects", JSON.parse('{"__proto__": {"skew": false}}') as object],
  ])("of %s is 400 invalid_input and changes nothing", async (_, body) => {
    const { site_id, manage_token } = await server.deploy(page("wrong"));
    const answer = await change(site_id, body, bearer(manage_token));
    expect([answer.status, answer.body.code]).toEqual([400, "invalid_input"]);
    expect((await settings(site_id, bearer(manage_token))).body).toEqual(AT_FIRST);
  });

  test("is 403 of a frozen site and 451 of a disabled one, whose settings can be read", async () => {
    const [frozen, disabled] = [await server.deploy(page("frozen")), await server.deploy(page("disabled"))];
    server.freeze(frozen);
    server.disable(disabled, "phishing");
    for (const [{ site_id, manage_token }, status, code] of [
      [frozen, 403, "site_frozen"],
      [disabled, 451, "site_disabled"],
    ] as const) {
      const answer = await change(site_id, { skew: false }, bearer(manage_token));
      expect([answer.status, answer.body.code]).toEqual([status, code]);
      expect((await settings(site_id, bearer(manage_token))).body).toEqual(AT_FIRST);
    }
  });
});
