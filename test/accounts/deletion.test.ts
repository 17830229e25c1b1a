/** SPEC, "Site lifecycle": deletion, of sites and of the account (CONTRACT 4.4). */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { auditRows } from "../kit/database.ts";
import { bearer, call, signUp } from "../kit/people.ts";
import { NOBODYS_ID, startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { expired, ownership, page } from "./owned.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

const server = await sharedServer();
const ann = await signUp(server, "ann@example.org");
const ben = await signUp(server, "ben@example.org");

const { owned, post } = ownership(() => server);

describe("deletion", () => {
  const remove = (path: string, person = ann, at = server) => call(at, "DELETE", path, undefined, person.bearer);

  test("of one site: gone at the next request, its token learns so, its slug is never given again", async () => {
    const site = await owned(ann, "bye");
    expect<unknown>((await remove(`/account/sites/${site.site_id}`)).body).toEqual({
      ok: true,
      deleted: [site.site_id],
    });
    expect((await server.site(site.slug)).status).toBe(404);
    expect(await call(server, "GET", `/sites/${site.site_id}`, undefined, bearer(site.manage_token))).toMatchObject({
      status: 404,
      body: { code: "unknown_site" },
    });
    for (const person of [ann, ben]) {
      expect((await call(server, "GET", `/sites/${site.site_id}`, undefined, person.bearer)).status).toBe(404);
    }
    expect((await remove(`/account/sites/${site.site_id}`)).status).toBe(404);
    expect(await server.running.store.sites.tombstone(site.slug)).toMatchObject({ reason: "deleted" });
  });

  test("A1 of another's, an anonymous or an unknown site: 404, and nothing is lost", async () => {
    const [his, anonymous] = [await owned(ben, "his"), await server.deploy(page("anonymous"))];
    for (const id of [his.site_id, anonymous.site_id, NOBODYS_ID]) {
      for (const method of ["DELETE", "PATCH"]) {
        const answer = await call(
          server,
          method,
          `/account/sites/${id}`,
          method === "PATCH" ? { label: "x" } : undefined,
          ann.bearer,
        );
        expect([answer.status, answer.body.code]).toEqual([404, "unknown_site"]);
      }
    }
    expect((await server.site(his.slug)).status).toBe(200);
    expect((await server.site(anonymous.slug)).status).toBe(200);
  });

  test("of many: the caller's own go, others are skipped as not_owned, what is not there as not_found", async () => {
    const [one, two, his, anonymous] = [
      await owned(ann, "1"),
      await owned(ann, "2"),
      await owned(ben, "3"),
      await server.deploy(page("4")),
    ];
    const gone = await expired(server);
    const site_ids = [one, his, two, anonymous, gone].map(({ site_id }) => site_id);
    const { status, body } = await post(
      "/account/sites/bulk-delete",
      { site_ids: [...site_ids, NOBODYS_ID, one.site_id] },
      ann,
    );
    expect(status).toBe(200);
    expect<unknown>(body).toEqual({
      ok: true,
      deleted: [one.site_id, two.site_id],
      skipped: [
        { site_id: his.site_id, reason: "not_owned" },
        { site_id: anonymous.site_id, reason: "not_owned" },
        { site_id: gone.site_id, reason: "not_found" },
        { site_id: NOBODYS_ID, reason: "not_found" },
        { site_id: one.site_id, reason: "not_found" },
      ],
    });
  });

  test.each([[[]], [Array.from({ length: 101 }, () => NOBODYS_ID)], ["x"], [null], [[1]], [[null]], [undefined]])(
    "of many by a list of %j is 400",
    async (site_ids) => {
      const answer = await post("/account/sites/bulk-delete", { site_ids }, ann);
      expect([answer.status, answer.body.code]).toEqual([400, "invalid_input"]);
    },
  );

  test("a manage_token never deletes", async () => {
    const site = await owned(ann, "kept");
    const answer = await call(server, "DELETE", `/account/sites/${site.site_id}`, undefined, bearer(site.manage_token));
    expect(answer.status).toBe(401);
    expect((await server.site(site.slug)).status).toBe(200);
  });

  test("of the account: every site it owns and every session end, the address is free again; others stay", async () => {
    const person = await signUp(server, "leaving@example.org");
    const second = await post("/auth/login", { email: person.email, password: "correct horse battery" }, person);
    const sites = [await owned(person, "1"), await owned(person, "2")];
    const { status, body } = await remove("/account", person);
    expect(status).toBe(200);
    expect(body).toMatchObject({ ok: true });
    expect((body.deleted as string[]).toSorted()).toEqual(sites.map(({ site_id }) => site_id).toSorted());
    for (const { slug } of sites) expect((await server.site(slug)).status).toBe(404);
    for (const token of [person.session_token, second.body.session_token]) {
      expect((await call(server, "GET", "/account", undefined, bearer(token))).status).toBe(401);
    }
    expect((await signUp(server, person.email)).account_id).not.toBe(person.account_id);
    expect((await call(server, "GET", "/account", undefined, ann.bearer)).status).toBe(200);
  });

  test("and expiry leave a line in the audit log each", async () => {
    await using own = await startServer();
    const person = await signUp(own);
    const [one, two] = [await owned(person, "1", own), await owned(person, "2", own)];
    const late = await expired(own);
    await remove(`/account/sites/${one.site_id}`, person, own);
    await remove("/account", person, own);
    await own.running.store.sweep(own.now());
    const { account_id } = person;
    expect(auditRows(own.data_dir).map(({ actor, action, site_id }) => [actor, action, site_id])).toEqual([
      [account_id, "delete", one.site_id],
      [account_id, "delete", two.site_id],
      [account_id, "delete-account", null],
      ["expiry", "expire", late.site_id],
    ]);
  });

  test("is told to whoever has a token; versions and files, and blobs that nobody else has, go with the sweep", async () => {
    await using own = await startServer();
    const person = await signUp(own);
    const site = await owned(person, "only here", own);
    await remove(`/account/sites/${site.site_id}`, person, own);
    own.advance(2 * 60 * 60_000);
    expect((await own.running.store.sweep(own.now())).blobs).toBe(1);
    for (const table of ["sites", "versions", "files", "leftovers", "blobs"]) expect(own.rows(table)).toBe(0);
    const former = await call(own, "GET", `/sites/${site.site_id}`, undefined, bearer(site.manage_token));
    expect([former.status, former.body.code]).toEqual([404, "unknown_site"]);
  });
});

describe("each is one transaction: what fails in the middle took no effect", () => {
  test("K22 bulk-attach: all items or none, never a site without an owner and an expiry", async () => {
    await using own = await startServer();
    const person = await signUp(own);
    const sites = [await own.deploy(page("1")), await own.deploy(page("2")), await own.deploy(page("3"))];
    own.breakAt("update", sites[1]!);
    const items = sites.map(({ site_id, manage_token }) => ({ site_id, manage_token }));
    expect((await post("/account/bulk-attach", { sites: items }, person, own)).status).toBe(500);
    for (const { site_id, expires_at } of sites) {
      expect(await own.running.store.sites.byId(site_id)).toMatchObject({ owner_account_id: null, expires_at });
    }
    own.mend();
    const again = await post("/account/bulk-attach", { sites: items }, person, own);
    expect(again.body.attached).toEqual(sites.map(({ site_id }) => site_id));
  });

  test("K23 DELETE /account and bulk-delete: all of it or nothing, audit included", async () => {
    await using own = await startServer();
    const person = await signUp(own);
    const sites = [await owned(person, "1", own), await owned(person, "2", own)];
    own.breakAt("delete", sites[1]!);
    const site_ids = sites.map(({ site_id }) => site_id);
    expect((await post("/account/sites/bulk-delete", { site_ids }, person, own)).status).toBe(500);
    expect((await call(own, "DELETE", "/account", undefined, person.bearer)).status).toBe(500);
    for (const { slug } of sites) expect((await own.site(slug)).status).toBe(200);
    expect((await call(own, "GET", "/account", undefined, person.bearer)).status).toBe(200);
    expect(auditRows(own.data_dir)).toEqual([]);
    own.mend();
    expect((await call(own, "DELETE", "/account", undefined, person.bearer)).body.deleted).toBeArrayOfSize(2);
  });
});
