/** BEYOND 11 on a site's page: visits in figures, bars and lists, the lines that mend broken links, and the switch. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { visitorOf } from "../kit/visitor.ts";
import { NAVIGATION, visit } from "../statistics/visiting.ts";

setDefaultTimeout(60_000);

const server = await sharedServer();
const ann = await visitorOf(server);
const pathOf = ({ site_id }: { site_id: string }): string => `/dashboard/sites/${site_id}/statistics`;
const FILES = {
  "index.html": "<!doctype html><title>Home</title>",
  "pricing.html": "<!doctype html><title>Pricing</title>",
};

test("before the first visit the page says how one is seen, and what is typed in a terminal", async () => {
  const site = await ann.deploy(FILES);
  const { text } = await ann.read(pathOf(site));
  for (const said of ["No visits in this time", `svc stats --site ${site.site_id}`, "Count visits: on"])
    expect(text).toContain(said);
});

test("totals, a bar and a row of the table for each day, and lists whose names are harmless", async () => {
  const site = await ann.deploy(FILES);
  for (let i = 0; i < 3; i++) await visit(server, site.slug, "/", { ...NAVIGATION, referer: "https://news.example/" });
  for (const path of ["/pricng", "/%E2%80%AEgpj.exe", "/<script>alert(1)</script>"])
    await visit(server, site.slug, path);
  const { text, html } = await ann.read(`${pathOf(site)}?days=7`);
  for (const said of [
    "Views 3 ",
    "Visitors 1 ",
    "Broken links 3 ",
    "news.example 3",
    "\\u{202e}gpj.exe",
    "/pricng /pricing 301",
  ]) {
    expect(text).toContain(said);
  }
  expect(html).not.toContain("<script>alert");
  expect(html).not.toContain("\u202e");
  expect(html.match(/<g\b/g)).toHaveLength(7);
  expect(html.match(/<th scope="row"/g)).toHaveLength(7);
  expect(html).toMatch(/data-copy="rule-\d"/);
});

test.each([
  ["", 30],
  ["?days=7", 7],
  ["?days=90", 90],
  ["?days=400", 400],
  ["?days=31", 30],
  ["?days=<x>", 30],
])("the address with %j shows %i days, and its link is the current one", async (query, days) => {
  const site = await ann.deploy(FILES);
  await visit(server, site.slug);
  const { html } = await ann.read(pathOf(site) + query);
  expect(html.match(/<th scope="row"/g)).toHaveLength(days);
  expect(html).toMatch(new RegExp(`aria-current="page"\\s*>\\s*${days} days`));
});

test("of a long list ten are shown, and the others are folded", async () => {
  const site = await ann.deploy(FILES);
  for (let n = 0; n < 12; n++) await visit(server, site.slug, `/gone-for-good-${n}`);
  expect((await ann.read(pathOf(site))).html).toMatch(/<summary>\s*2 more\s*<\/summary>/);
});

test("the switch stops counting and deletes the figures, and begins it again", async () => {
  const site = await ann.deploy(FILES);
  await visit(server, site.slug);
  const off = await ann.send(pathOf(site), { stats: "off" });
  expect([off.status, off.location]).toEqual([303, `${pathOf(site)}?done=not-counting`]);
  const { text } = await ann.read(off.location!);
  for (const said of ["what was counted is deleted", "Visits are not counted", "Count visits: off"])
    expect(text).toContain(said);
  await visit(server, site.slug);
  const on = await ann.send(pathOf(site), { stats: "on" });
  expect([on.status, on.location]).toEqual([303, `${pathOf(site)}?done=counting`]);
  expect((await ann.read(pathOf(site))).text).toContain("No visits in this time");
  await visit(server, site.slug);
  expect((await ann.read(pathOf(site))).text).toContain("Views 1 ");
});

test("a form without its button, and one of a frozen site, change nothing", async () => {
  const site = await ann.deploy(FILES);
  const strange = await ann.send(pathOf(site), { stats: "maybe" });
  expect([strange.status, strange.text]).toEqual([400, expect.stringContaining("Nothing was changed")]);
  server.freeze(site);
  expect((await ann.send(pathOf(site), { stats: "off" })).status).toBe(403);
});

test("where the operator counts nothing the page says so, and has no switch", async () => {
  await using other = await startServer({ SVC_STATS: "off" });
  const ben = await visitorOf(other);
  const { text } = await ben.read(pathOf(await ben.deploy(FILES)));
  expect(text).toContain("The operator of this server has turned statistics off");
  expect(text).not.toContain("Count visits");
});
