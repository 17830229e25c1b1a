/** COMMENTS 4, ruling 11: with a site everything of its comments goes. */
import { describe, expect, test } from "bun:test";
import { read, write } from "../kit/database.ts";
import { operate } from "../kit/operator.ts";
import { sharedServer } from "../kit/shared.ts";
import { visitorOf } from "../kit/visitor.ts";
import { CommentedSite, commentedSite, FREELY, PASSCODE } from "./commented.ts";

const server = await sharedServer(FREELY);

const TABLES = [
  "comments",
  "threads",
  "comment_people",
  "comment_settings",
  "comment_events",
  "comment_reports",
  "agent_tokens",
  "owner_codes",
  "passcode_networks",
  "webhook_states",
  "webhook_outbox",
  "webhook_deliveries",
];

const rowsOf = ({ site_id }: { site_id: string }) =>
  TABLES.map((table) => {
    const [found] = read<{ n: number }>(
      server.data_dir,
      `select count(*) as n from ${table} where site_id = ?`,
      site_id,
    );
    return [table, found!.n > 0] as const;
  });
const ALL = TABLES.map((table) => [table, true] as const);
const NONE = TABLES.map((table) => [table, false] as const);

const LETTERS = [
  ["webhook_outbox", "", ""],
  ["webhook_deliveries", ", at, outcome, status, tries", ", created_at, 'delivered', 200, 1"],
] as const;

/** Something in every table. */
async function fill(place: CommentedSite): Promise<void> {
  await place.turn("passcode");
  const ann = place.visitor();
  await ann.send("passcode", { method: "POST", body: { passcode: PASSCODE } });
  await place.turn("approved");
  const id = await ann.say("x");
  await ann.reply("y", id);
  await place.decide(id, "approve");
  await ann.send(`${id}/report`, { method: "POST", body: { reason: "spam" } });
  await place.api("tokens", { method: "POST", body: { name: "x", scopes: ["read"] } });
  await place.api("owner-code", { method: "POST", body: {} });
  const webhook = { url: "https://hooks.example/", events: ["thread.created"], secret: "sixteen letters or more" };
  await place.api("settings", { method: "PATCH", body: { webhook } });
  // Nothing is sent by this server.
  for (const [table, columns, values] of LETTERS) {
    write(
      server.data_dir,
      `insert into ${table} (id, site_id, type, comment_no, created_at${columns})
       select 'msg_' || comment_no, site_id, 'thread.created', comment_no, created_at${values} from comments where site_id = ?`,
      place.site.site_id,
    );
  }
  expect(rowsOf(place.site)).toEqual(ALL);
}

test("COMMENTS, As built: of what its authors delete a site remembers 5,000, and all of what is there", async () => {
  const place = await commentedSite(server);
  const { site_id } = place.site;
  const ann = place.visitor();
  const [last] = [await ann.say("deleted last"), await ann.say("kept")];
  write(
    server.data_dir,
    `with recursive n(n) as (select 1 union all select n + 1 from n where n < 5200)
     insert into comments (id, site_id, thread_no, text, state, was_public, created_at, modified_at, public_no, own_no)
     select 'c_gone_' || n, ?1, (select thread_no from comments where site_id = ?1 and text = 'kept'), null, 'deleted', 1, '', '', n, n
     from n`,
    site_id,
  );
  expect((await ann.send(last, { method: "DELETE" })).status).toBe(204);
  const states = read(
    server.data_dir,
    "select state, count(*) as n from comments where site_id = ? group by state order by state",
    site_id,
  );
  expect(states).toEqual([
    { state: "deleted", n: 5001 },
    { state: "public", n: 1 },
  ]);
  expect([(await ann.send(last)).status, await ann.texts()]).toEqual([410, ["kept"]]);
});

describe("COMMENTS, ruling 11: what goes with a site", () => {
  test("deleted by its owner: all of it, at once; another site's stays", async () => {
    const person = await visitorOf(server);
    const [gone, kept] = [await person.deploy({ "index.html": "a", "guide.html": "" }), await commentedSite(server)];
    await fill(new CommentedSite(server, gone));
    await fill(kept);
    const deleted = await server.api(`/account/sites/${gone.site_id}`, {
      method: "DELETE",
      headers: person.person.bearer,
    });
    expect(deleted.status).toBe(200);
    expect([rowsOf(gone), rowsOf(kept.site)]).toEqual([NONE, ALL]);
  });
  test("with the account: all of it, at once", async () => {
    const person = await visitorOf(server);
    const site = await person.deploy({ "index.html": "b", "guide.html": "" });
    await fill(new CommentedSite(server, site));
    expect((await server.api("/account", { method: "DELETE", headers: person.person.bearer })).status).toBe(200);
    expect(rowsOf(site)).toEqual(NONE);
  });
  test("deleted by the operator: all of it", async () => {
    const place = await commentedSite(server);
    await fill(place);
    await operate(server.data_dir, "delete", place.site.site_id);
    expect(rowsOf(place.site)).toEqual(NONE);
  });
  test("expired: unseen at once, all of it gone with the sweep", async () => {
    const place = await commentedSite(server);
    await fill(place);
    server.expire(place.site);
    expect((await place.visitor().send("threads?page=/")).status).toBe(410);
    await server.running.store.sweep(server.now());
    expect(rowsOf(place.site)).toEqual(NONE);
  });
});
