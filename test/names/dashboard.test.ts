/** BEYOND 17 in the dashboard: "Address" in a site's settings, by its form and by a person in a real browser. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { byRole, fill, named, press } from "../browser/by-role.ts";
import { openBrowser } from "../browser/chromium.ts";
import { enter } from "../browser/entering.ts";
import { type DeployResult } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { visitorOf } from "../kit/visitor.ts";
import { naming } from "./named.ts";

setDefaultTimeout(60_000);

const server = await sharedServer({ SVC_RATE_SLUG: "12/1d" });
const ann = await visitorOf(server);
const { at, url } = naming(() => server);
const page = { "index.html": "<!doctype html><title>Tides</title>tides" };
const pathOf = ({ site_id }: DeployResult): string => `/dashboard/sites/${site_id}`;

test("BEYOND 17: the form changes the address, says so, and lists the former names", async () => {
  const site = await ann.deploy(page);
  const before = await ann.read(`${pathOf(site)}/settings`);
  expect(before.text).not.toContain("Former names");
  const sent = await ann.send(`${pathOf(site)}/slug`, { slug: " tide-tables " });
  expect([sent.status, sent.location]).toEqual([303, `${pathOf(site)}/settings?done=renamed`]);
  const after = await ann.read(sent.location!);
  expect(after.text).toContain("The site has a new address.");
  expect(after.text).toContain(`Former names, which lead here: ${site.slug}.`);
  expect(after.html).toContain(`href="${url("tide-tables", "")}"`);
  expect((await at(site.slug)).location).toBe(url("tide-tables"));
  const again = await ann.send(`${pathOf(site)}/slug`, { slug: "tide-tables" });
  expect([again.status, again.location]).toEqual([303, `${pathOf(site)}/settings`]);
});

test.each([
  ["tide_tables", 400, "lower-case letters"],
  ["", 400, "3 to 40 characters"],
  ["l0gin", 400, "looks like login"],
  ["taken-tides", 409, "another site's"],
  [`"><script>alert(1)</script>`, 400, "lower-case letters"],
])("BEYOND 17: %p is shown again with what was wrong, and the site keeps its name", async (slug, status, says) => {
  const other = await ann.deploy(page);
  await ann.send(`${pathOf(other)}/slug`, { slug: "taken-tides" });
  const site = await ann.deploy(page);
  const sent = await ann.send(`${pathOf(site)}/slug`, { slug });
  expect([sent.status, sent.text]).toEqual([status, expect.stringContaining(says)]);
  expect(sent.html).not.toContain("<script>alert");
  expect((await at(site.slug)).status).toBe(200);
});

test("BEYOND 17: another account's form, a page of another origin and one without its proof change nothing", async () => {
  const site = await ann.deploy(page);
  const bob = await visitorOf(server);
  expect((await bob.send(`${pathOf(site)}/slug`, { slug: "bobs-tides" })).status).toBe(404);
  const forged = await server.api(`${pathOf(site)}/slug`, {
    method: "POST",
    headers: { cookie: ann.cookie, origin: url(site.slug, "") },
    body: new URLSearchParams({ slug: "stolen-tides" }),
  });
  expect(forged.status).toBe(403);
  for (const host of ["bobs-tides", "stolen-tides"]) expect((await at(host)).status).toBe(404);
});

test("BEYOND 17: a person gives the site a name, opens it there, and takes the former one back", async () => {
  const browser = await openBrowser();
  await using _ = { [Symbol.asyncDispose]: () => browser.close() };
  const person = await enter(browser, server, await visitorOf(server));
  const site = await person.deploy(page);
  const { failures } = await browser.visit(`${server.base_url}${pathOf(site)}/settings`);
  expect(await named(browser, "heading")).toContain("Address");
  await fill(browser, "textbox", "Name", "www");
  await press(browser, "button", "Change the address");
  await byRole(browser, "StaticText", /kept for the service/);
  await fill(browser, "textbox", "Name", "sea-and-tide");
  await press(browser, "button", "Change the address");
  await byRole(browser, "StaticText", /new address/);
  await byRole(browser, "link", `sea-and-tide.localhost:${server.port}`);
  await fill(browser, "textbox", "Name", site.slug);
  await press(browser, "button", "Change the address");
  await byRole(browser, "link", `${site.slug}.localhost:${server.port}`);
  expect((await at("sea-and-tide")).location).toBe(url(site.slug));
  expect(failures.filter((failure) => !failure.includes("400"))).toEqual([]);
});
