/** WEB 9 and 10 on the dashboard: what axe finds, shifts, weight and width of each page in each of its states. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type DeployResult, startServer, type TestServer } from "../kit/server.ts";
import { type Visitor, visitorOf } from "../kit/visitor.ts";
import { type Browser, openBrowser } from "./chromium.ts";
import { enter } from "./entering.ts";
import { atEdges, axeFinds, filledButtons, inScheme, loadOf, LOOKS, lowTargets, sized, watchLoads } from "./health.ts";

let server: TestServer;
let browser: Browser;
let ann: Visitor;
let nobody: Visitor;
const sites: Record<"plain" | "long" | "rtl" | "ruled" | "frozen" | "disabled", DeployResult> = {} as never;

const LONG = "Wm".repeat(100);
const RTL = "מרחבא بالعالم";
const RULES = `/a/* /b/:splat 302!\n/${RTL.replace(" ", "")} /${LONG}\n/${LONG} https://example.org/${LONG} 301\nnowhere\n/b/x /a/x`;
const page = (title: string, body = ""): Record<string, string> => ({
  "index.html": `<!doctype html><html lang="en"><title>${title}</title><h1>x</h1>${body}`,
});

beforeAll(async () => {
  // No DNS server is there: a domain that is added waits.
  server = await startServer({ SVC_CONTACT: "abuse@svc.example", SVC_DNS: "127.0.0.1:1" });
  browser = await openBrowser();
  await watchLoads(browser);
  [ann, nobody] = [await visitorOf(server), await visitorOf(server)];
  sites.plain = await ann.deploy(page("Tides and moorings"));
  const broken = Array.from({ length: 9 }, (_, i) => `<img src="${i}${LONG}.png">`).join("");
  const long_paths = Object.fromEntries(["a", "b", "c"].map((name) => [`${name}/${LONG}.txt`, name]));
  sites.long = await ann.deploy({ ...page(LONG, broken), ...long_paths });
  await ann.change(sites.long, { label: LONG.slice(0, 80) });
  await ann.redeploy(sites.long, { ...page(LONG, broken), [`a/${LONG}.txt`]: "changed", [`${RTL}.txt`]: "new" });
  sites.rtl = await ann.deploy({ [`${RTL}/About us.html`]: "<!doctype html><title>x</title>" });
  await ann.change(sites.rtl, { label: RTL });
  sites.ruled = await ann.deploy({
    ...page("Rules"),
    "404.html": "<title>Gone</title>",
    _redirects: `${RULES}\n${Array.from({ length: 300 }, (_, i) => `/old-${i} /new-${i} 301`).join("\n")}`,
    _headers: `/*\n  X-One: 1\n  Set-Cookie: a=b\n  X-Long: ${LONG}\n/${LONG}/*\n  ! X-One\nnothing\n`,
  });
  for (const state of ["frozen", "disabled"] as const) sites[state] = await ann.deploy(page(state));
  server.freeze(sites.frozen);
  server.disable(sites.disabled, `Reported: ${LONG}`);
  for (let i = 0; i < 60; i++) await ann.deploy(page(`${i} ${LONG}`));
}, 120_000);
afterAll(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
});

const siteAt = (name: keyof typeof sites, more = "") => `/dashboard/sites/${sites[name].site_id}${more}`;
/** Sends the form with that action once its fields are set, without the browser's own checks. */
const submit = (action: string, fields: Record<string, string>) => `(() => {
  const names = ${JSON.stringify(Object.keys(fields))};
  const form = [...document.querySelectorAll('main form[action*="${action}"]')]
    .find((one) => names.every((name) => one.elements[name] !== undefined));
  for (const [name, value] of Object.entries(${JSON.stringify(fields)})) form.elements[name].value = value;
  setTimeout(() => form.submit());
})()`;

/** Whose page, its path, what it says, and what is done there first. */
const STATES: [state: string, who: () => Visitor, path: () => string, says: string, act?: string][] = [
  ["the empty list", () => nobody, () => "/dashboard", "No sites yet"],
  ["the list", () => ann, () => "/dashboard", "66 sites"],
  ["the list after a deletion", () => ann, () => "/dashboard?done=deleted&page=2", "It is deleted."],
  ["a search without a match", () => ann, () => "/dashboard?q=no-such-name", "Show all sites"],
  [
    "the question before a deletion",
    () => ann,
    () => `/dashboard/delete?site=${sites.long.site_id}&site=${sites.rtl.site_id}`,
    "Delete 2 sites?",
  ],
  [
    "the same, refused",
    () => ann,
    () => `/dashboard/delete?site=${sites.long.site_id}`,
    "Nothing was deleted",
    submit("/dashboard/delete", { confirm: "no" }),
  ],
  ["a site", () => ann, () => siteAt("plain"), "Publish a new version"],
  ["its versions", () => ann, () => siteAt("long", "/versions"), "The last 7 days"],
  ["its previews", () => ann, () => siteAt("plain", "/previews"), "No previews"],
  ["a site without domains", () => ann, () => siteAt("plain", "/domains"), "No domain of its own yet"],
  [
    "a site with a domain that waits",
    () => ann,
    () => siteAt("rtl", "/domains"),
    "The domain is added.",
    submit("/domains", { domain: `${"long-".repeat(11)}name.of-a-garden-society.example.org` }),
  ],
  [
    "a domain that was refused",
    () => ann,
    () => siteAt("long", "/domains"),
    "is no name of a domain",
    submit("/domains", { domain: LONG }),
  ],
  ["the domains of a frozen site", () => ann, () => siteAt("frozen", "/domains"), "No domain of its own yet"],
  ["its statistics", () => ann, () => siteAt("long", "/statistics"), "Statistics"],
  ["a site without rules", () => ann, () => siteAt("plain", "/rules"), "No rules yet"],
  ["a site's rules", () => ann, () => siteAt("ruled", "/rules"), "Page 1 of 4"],
  ["rules with a warning alone", () => ann, () => siteAt("ruled", "/rules?show=warned"), "leads nowhere"],
  ["a redirect, explained", () => ann, () => siteAt("ruled", `/rules?url=/a/${LONG}`), "Leads to"],
  ["a 404, explained", () => ann, () => siteAt("ruled", "/rules?url=/none&method=HEAD"), "the site's own 404 page"],
  [
    "an address that is refused",
    () => ann,
    () => siteAt("ruled", "/rules"),
    "has no such host",
    submit("/rules", { url: "https://example.org/" }),
  ],
  ["a frozen site's rules", () => ann, () => siteAt("frozen", "/rules"), "has frozen this site"],
  ["its settings", () => ann, () => siteAt("long", "/settings"), "Single-page app"],
  ["a site with long names and many warnings", () => ann, () => siteAt("long"), "Show all"],
  ["a site from right to left", () => ann, () => siteAt("rtl"), "Fixed for you"],
  ["a site after a deploy", () => ann, () => siteAt("long", "?done=deployed&ms=612"), "live in 0.6 s"],
  ["a site after a rollback", () => ann, () => siteAt("long", "?done=live"), "is live."],
  [
    "a site whose settings were refused",
    () => ann,
    () => siteAt("plain", "/settings"),
    "Nothing was saved",
    submit("/settings", { label: "x".repeat(81) }),
  ],
  ["a frozen site", () => ann, () => siteAt("frozen"), "has frozen this site"],
  ["a disabled site", () => ann, () => siteAt("disabled"), "has disabled this site"],
  ["changes", () => ann, () => siteAt("long", "/changes"), "1 changed, 1 added, 2 removed, 1 the same"],
  [
    "no changes",
    () => ann,
    () => siteAt("long", `/changes?from=${sites.long.version_id}&to=${sites.long.version_id}`),
    "same files",
  ],
  ["the question before a site's end", () => ann, () => siteAt("long", "/delete"), "to confirm"],
  ["the account", () => ann, () => "/dashboard/account", "Sessions"],
  [
    "the account with a password refused",
    () => ann,
    () => "/dashboard/account",
    "The password is wrong",
    submit("/password", { current_password: "wrong password", new_password: "another long password" }),
  ],
  ["the question before the account's end", () => ann, () => "/dashboard/account/delete", "66 sites"],
  ["no such site", () => ann, () => "/dashboard/sites/site_x", "There is no such site in your account"],
];

const LARGEST = 40 * 1024;

describe.each(STATES)("%s", (_state, who, path, says, act) => {
  test("WEB 10: nothing for axe in light and dark, no shift, no scroll sideways, few bytes", async () => {
    await enter(browser, server, who());
    for (const [width, scheme] of LOOKS) {
      await inScheme(browser, scheme);
      await sized(browser, width);
      await browser.visit(server.base_url + path(), act ? "" : says);
      if (act) await browser.evaluate(act);
      const { text, failures } = await browser.shows(says);
      expect(text).toContain(says);
      const refused = act !== undefined || says.startsWith("There is no");
      expect(failures.filter((failure) => !(refused && /^4\d\d /.test(failure)))).toEqual([]);
      const { shifted, bytes, beyond } = await loadOf(browser);
      expect([scheme, width, shifted, beyond]).toEqual([scheme, width, 0, 0]);
      expect(bytes).toBeLessThan(LARGEST);
      expect(await atEdges(browser)).toEqual([]);
      expect((await filledButtons(browser)).slice(1)).toEqual([]);
      expect(await axeFinds(browser)).toEqual([]);
    }
  }, 60_000);
});

test("WEB 9: what is pressed is 24 px high at least, 44 where it is touched", async () => {
  await enter(browser, server, ann);
  for (const path of [
    "/dashboard?page=2",
    siteAt("long"),
    siteAt("ruled", "/rules?url=/a/b"),
    siteAt("plain", "/settings"),
    siteAt("rtl", "/domains"),
    "/dashboard/account",
  ]) {
    expect([path, ...(await lowTargets(browser, server.base_url + path))]).toEqual([path]);
  }
}, 60_000);
