/** WEB 6: a site's page, its receipt, its versions and settings. */
import { describe, expect, test } from "bun:test";
import { type DeployResult, startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { visitorOf } from "../kit/visitor.ts";

const server = await sharedServer({ SVC_CONTACT: "abuse@svc.example" });
const ann = await visitorOf(server);

const page = (title: string, body = ""): Record<string, string> => ({
  "index.html": `<!doctype html><html lang="en"><title>${title}</title><p>${title}${body}`,
});
const pathOf = ({ site_id }: Pick<DeployResult, "site_id">): string => `/dashboard/sites/${site_id}`;
const versionHost = (version_id: string, { url }: DeployResult): string => url.replace("://", `://${version_id}--`);

describe("the head", () => {
  test("WEB 6: label, address, state and the pages of the site; since when it is yours stands in its settings", async () => {
    const site = await ann.deploy(page("One"));
    const nameless = await ann.read(pathOf(site));
    expect(nameless.title).toBe(`${site.slug} · svc`);
    await ann.change(site, { label: "Harbour guide" });
    const { status, title, text, html } = await ann.read(pathOf(site));
    expect([status, title]).toEqual([200, "Harbour guide · svc"]);
    expect(html).toMatch(/<h1 dir="auto">\s*Harbour guide\s*<\/h1>/);
    expect(html).toContain(`href="${site.url}" rel="noopener"`);
    expect(text).toContain("Live");
    const tabs = /<nav class="site-tabs"[\s\S]*?<\/nav>/.exec(html)![0];
    expect([...tabs.matchAll(/href="([^"]+)"/g)].map(([, href]) => href!)).toEqual(
      ["", "/versions", "/previews", "/comments", "/statistics", "/rules", "/domains", "/settings"].map(
        (page) => pathOf(site) + page,
      ),
    );
    expect(text).toMatch(/Overview Versions 1 ?Previews Comments Statistics Rules Domains Settings/);
    expect(tabs).toMatch(/aria-current="page"\s*>\s*Overview/);
    expect((await ann.read(`${pathOf(site)}/settings`)).text).toMatch(/Yours since \d+ \w+\. It does not expire\./);
  });

  test.each([
    ["another account's", async () => (await (await visitorOf(server)).deploy(page("his"))).site_id],
    ["an anonymous one", async () => (await server.deploy(page("nobody's"))).site_id],
    [
      "one that is gone",
      async () => {
        const site = await ann.deploy(page("gone"));
        await ann.send(`${pathOf(site)}/delete`, { confirm: site.slug });
        return site.site_id;
      },
    ],
    ["one that never was", async () => `site_${"z".repeat(20)}`],
  ])("WEB 1.5: %s is the same 404 on every page of it", async (_whose, make) => {
    const site_id = await make();
    const unknown = await ann.read("/dashboard/sites/site_nobodys");
    const plain = ({ html, headers }: typeof unknown) =>
      html.replaceAll(headers.get("x-request-id")!, "<id>").replace(/name="csrf" value="[^"]*"/g, "");
    expect(unknown.status).toBe(404);
    expect(unknown.text).toContain("There is no such site in your account");
    for (const path of ["", "/versions", "/previews", "/rules", "/settings", "/changes", "/delete", "/comments"]) {
      const { status, ...shown } = await ann.read(`/dashboard/sites/${site_id}${path}`);
      expect(status).toBe(404);
      expect(plain({ status, ...shown })).toBe(plain(unknown));
    }
    const posts: [string, Record<string, string>][] = [
      ["settings", { label: "mine", spa: "auto" }],
      ["rollback", { version_id: "0".repeat(16) }],
      ["delete", { confirm: "x" }],
      ["comments/settings", { mode: "anonymous" }],
      ["comments/decide", { delete: "c_x" }],
      ["comments/resend", { letter: "msg_x" }],
      ["comments/owner", {}],
      ["previews", { end: "x" }],
      ["skew", { skew: "off" }],
    ];
    for (const [action, fields] of posts) {
      const { status, text } = await ann.send(`/dashboard/sites/${site_id}/${action}`, fields);
      expect(status).toBe(404);
      expect(text).toContain("There is no such site in your account");
    }
  });
});

describe("the receipt", () => {
  const BROKEN = {
    "index.html": `<!doctype html><title>x</title><img src="img/Logo.png"><script src="app.js"></script>`,
    "img/logo.png": "png",
    "app.js": `fetch("http://localhost:3000/api")`,
  };

  test("WEB 6: says what is still wrong with the live version, each with what to do, and stays", async () => {
    const site = await ann.deploy(BROKEN);
    expect(site.warnings.length).toBe(2);
    const { text, html } = await ann.read(pathOf(site));
    expect(text).toMatch(/Live since today, \d\d:\d\d/);
    expect(text).toContain("It is live, but 2 things are broken or risky");
    for (const { message, fix_recipe } of site.warnings) expect(text).toContain(`${fix_recipe} ${message}`);
    expect(html).toContain(`<code dir="auto">index.html</code> names`);
    expect(html).not.toContain("autofocus");
    await ann.redeploy(site, page("all right"));
    const after = await ann.read(pathOf(site));
    expect(after.text).toContain("Checked 1 page and 1 file: nothing is broken.");
    expect(after.text).not.toContain("broken or risky");
    await ann.send(`${pathOf(site)}/rollback`, { version_id: site.version_id });
    expect((await ann.read(pathOf(site))).text).toContain("2 things are broken or risky");
  });

  test("WEB 6: says what was fixed, with the file", async () => {
    const site = await ann.deploy({ "my-site/About.html": "<!doctype html><title>x</title>x" });
    expect(site.healed.length).toBeGreaterThan(0);
    const { text, html } = await ann.read(pathOf(site));
    expect(html).toMatch(/<h3>\s*Fixed for you\s*<\/h3>/);
    for (const { message } of site.healed) expect(text).toContain(message);
  });

  test("WEB 4.6: what was set up where nothing was broken is no fix", async () => {
    const site = await ann.deploy({ "README.md": "# Notes", "docs.svg": "<svg/>" });
    expect(site.healed.map(({ code }) => code)).toEqual(["markdown_rendered"]);
    const { text } = await ann.read(pathOf(site));
    expect(text).toContain("Set up for you One Markdown file");
    expect(text).not.toContain("Fixed for you");
    const app = await ann.deploy({ "page.html": "<!doctype html><title>x</title>x", "200.html": "<title>y</title>y" });
    expect((await ann.read(pathOf(app))).text).toMatch(/Fixed for you .* Set up for you Paths that name no file/);
  });

  test("WEB 4.6: a folder is code where the message names it, and never where it is a word of the sentence", async () => {
    const site = await ann.deploy({ "site/index.html": "<!doctype html><title>x</title>x" });
    const { html } = await ann.read(pathOf(site));
    expect(html).toContain('Everything lay in <code dir="auto">site/</code>, so the site starts inside it.');
  });

  test("WEB 4.6: what one change would fix stands together, and past six groups the rest is folded", async () => {
    const pages = Array.from({ length: 9 }, (_, i) => `<script src="gone${i}.js"></script>`).join("");
    const site = await ann.deploy({ "index.html": `<!doctype html><title>x</title>${pages}` });
    const recipes = new Set(site.warnings.map(({ fix_recipe }) => fix_recipe));
    expect(recipes.size).toBe(9);
    const { html } = await ann.read(pathOf(site));
    const [open, folded] = html.split("Show all") as [string, string];
    expect(open.match(/<p class="fix">/g)).toHaveLength(6);
    expect(folded.match(/<p class="fix">/g)).toHaveLength(3);
    expect(html.match(/<summary>\s*Show all/g)).toHaveLength(1);
  });

  test("WEB 4.6: a version from before receipts were kept says so", async () => {
    const site = await ann.deploy(page("old"));
    server.forgetReceipts(site);
    const { text } = await ann.read(pathOf(site));
    expect(text).toContain("No receipt was kept with this version.");
    expect(text).not.toContain("Fixed for you");
  });

  test("WEB 6: after a deploy here the focus is on its heading, with how much was published and how fast", async () => {
    const site = await ann.deploy(page("One"));
    const { html, text } = await ann.read(`${pathOf(site)}?done=deployed&ms=612`);
    expect(html).toMatch(/<h2[^>]*tabindex="-1"\s+autofocus>/);
    expect(text).toMatch(/Your new version is live 1 file, \d+ B · live in 0\.6 s/);
    for (const ms of ["", "x", "-1", "1e9", "12345678"]) {
      expect((await ann.read(`${pathOf(site)}?done=deployed&ms=${ms}`)).text).not.toContain("live in");
    }
    expect((await ann.read(`${pathOf(site)}?done=constructor`)).text).toContain("Live since today");
    const again = await ann.read(`${pathOf(site)}?done=unchanged`);
    expect(again.text).toContain("No changes: this version is live already");
  });

  test("WEB 6: says what changed since the version before, with the changes and the way back", async () => {
    const site = await ann.deploy({ ...page("One"), "a.txt": "a", "b.txt": "b" });
    const first = await ann.read(pathOf(site));
    expect(first.text).not.toContain("the version that was live before");
    const two = await ann.redeploy(site, { ...page("Two"), "a.txt": "a", "c.txt": "c", "d.txt": "d" });
    const { text, html } = await ann.read(pathOf(site));
    expect(text).toContain(
      "2 added, 1 changed, 1 removed, 1 unchanged beside the version that was live before: index.html, …",
    );
    expect(html).toContain(`href="${pathOf(site)}/changes?from=${site.version_id}&amp;to=${two.version_id}"`);
    expect(text).toMatch(/Go back to today, \d\d:\d\d/);
    expect(text).not.toContain("None of the old files");
    const { location } = await ann.send(`${pathOf(site)}/rollback`, { version_id: site.version_id });
    const back = await ann.read(location!);
    expect(back.text).toContain("1 added, 1 changed, 2 removed, 1 unchanged beside the version that was live before");
    expect(back.text).toMatch(/Go forward to today, \d\d:\d\d/);
    expect(back.html).toContain(`href="${pathOf(site)}/changes?from=${two.version_id}&amp;to=${site.version_id}"`);
  });

  test("WEB 6: where nothing of the old site is left, it says so as a warning", async () => {
    const site = await ann.deploy({ "a.html": "<title>A</title>a", "b.html": "<title>B</title>b" });
    await ann.redeploy(site, { "index.html": "<title>Other</title>x" });
    const { text, html } = await ann.read(pathOf(site));
    expect(text).toContain("None of the old files is in this version.");
    expect(html).toMatch(/class="part warn-part">\s*<h3>[\s\S]{0,400}None of the old files/);
  });

  test("WEB 6: no way back leads to a version that is withheld", async () => {
    const site = await ann.deploy({ ...page("One"), "k.js": `"${["sk", "live"].join("_")}_4eC39HqLyjWDarjtT1zdp7dc"` });
    await ann.redeploy(site, page("Two"));
    expect((await ann.read(pathOf(site))).text).not.toContain("Go back to");
  });

  test("WEB 4.6: programs are told how to go on, without a token", async () => {
    const site = await ann.deploy(page("One"));
    const { text, html } = await ann.read(pathOf(site));
    expect(text).toContain("Tokens and commands");
    expect(text).toContain(`svc update --site ${site.site_id}`);
    expect(html).not.toContain("svc_manage_");
  });
});

describe("versions", () => {
  test("WEB 6: newest first, 20 a page, each with time, what changed, the beginning of its id, files and size", async () => {
    const site = await ann.deploy(page("Version 0"));
    const ids = [site.version_id];
    for (let i = 1; i < 45; i++) ids.unshift((await ann.redeploy(site, page(`Version ${i}`))).version_id);
    const shown = (html: string) => [...html.matchAll(/<code title="([0-9a-f]{16})">/g)].map(([, id]) => id!);
    const newest = await ann.read(pathOf(site));
    expect(shown(newest.html)).toEqual(ids.slice(0, 4));
    expect(newest.text).toContain("The newest 4 of 45 All versions");
    const first = await ann.read(`${pathOf(site)}/versions`);
    expect(shown(first.html)).toEqual(ids.slice(0, 20));
    expect(first.text).toContain("Page 1 of 3 Next");
    expect(first.text).toMatch(
      new RegExp(`Today, \\d\\d:\\d\\d Live 1 changed: index\\.html · ${ids[0]!.slice(0, 8)} · 1 file, \\d+ B`),
    );
    expect(first.html).toContain(`href="${versionHost(ids[1]!, site)}" rel="noopener"`);
    expect(first.html).toContain(`href="${pathOf(site)}/changes?from=${ids[2]}&amp;to=${ids[1]}"`);
    const last = await ann.read(`${pathOf(site)}/versions?page=99`);
    expect(shown(last.html)).toEqual(ids.slice(40));
    expect(last.text).toContain("Previous Page 3 of 3");
    expect(last.html).toContain(`href="${pathOf(site)}/versions?page=2"`);
  }, 60_000);

  test("WEB 6: versions stand under the last seven days and their months", async () => {
    await using own = await startServer();
    const bob = await visitorOf(own);
    const site = await bob.deploy(page("Old"));
    own.advance(40 * 86_400_000);
    await bob.redeploy(site, page("Yesterday"));
    own.advance(86_400_000);
    await bob.redeploy(site, page("Now"));
    const { html } = await bob.read(`${pathOf(site)}/versions`);
    const headings = [...html.matchAll(/<h2 class="day">\s*([^<]*?)\s*<\/h2>/g)].map(([, words]) => words!);
    expect([headings.length, headings[0]]).toEqual([2, "The last 7 days"]);
    expect(headings[1]).toMatch(/^[A-Z][a-z]+ 20\d\d$/);
    expect(html).toMatch(/Yesterday, \d\d:\d\d/);
  });

  test("WEB 6: one click makes an earlier version live, and says which; the live one again is the same", async () => {
    const site = await ann.deploy(page("One"));
    const two = await ann.redeploy(site, page("Two"));
    for (const version_id of [site.version_id, site.version_id, two.version_id]) {
      const { status, location } = await ann.send(`${pathOf(site)}/rollback`, { version_id });
      expect([status, location]).toEqual([303, `${pathOf(site)}?done=live`]);
      const { text } = await ann.read(location!);
      expect(text).toMatch(/The version of today, \d\d:\d\d is live\./);
      const served = await (await server.site(site.slug)).text();
      expect(served).toContain(version_id === site.version_id ? "One" : "Two");
    }
  });

  test.each(["", "0123456789abcdef", "<script>", "x".repeat(5000)])("WEB 6: the version %p is unknown", async (id) => {
    const site = await ann.deploy(page("One"));
    const { status, text } = await ann.send(`${pathOf(site)}/rollback`, { version_id: id });
    expect(status).toBe(404);
    expect(text).toContain("Unknown version");
  });

  test("WEB 6: no button makes the live version live", async () => {
    const site = await ann.deploy(page("One"));
    const two = await ann.redeploy(site, page("Two"));
    const { html } = await ann.read(pathOf(site));
    expect(html).toContain(`value="${site.version_id}"`);
    expect(html).not.toContain(`value="${two.version_id}"`);
    expect((await ann.read(`${pathOf(site)}/versions`)).html).not.toContain(`value="${two.version_id}"`);
  });
});

describe("settings", () => {
  test("WEB 6: label and single-page app are saved, and shown again", async () => {
    const site = await ann.deploy(page("One"));
    const { location } = await ann.send(`${pathOf(site)}/settings`, { label: "  Harbour guide ", spa: "on" });
    expect(location).toBe(`${pathOf(site)}/settings?done=saved`);
    const { html, text } = await ann.read(location!);
    expect(html).toMatch(/name="label"\s+type="text"\s+value="Harbour guide"/);
    expect(html).toMatch(/value="on"\s+checked/);
    expect(text).toContain("Automatic (now off)");
    expect((await server.site(site.slug, "/deep/link")).status).toBe(200);
    await ann.send(`${pathOf(site)}/settings`, { label: " ", spa: "auto" });
    const after = (await server.running.store.sites.byId(site.site_id))!;
    expect([after.label, after.spa_override]).toEqual([null, null]);
    await ann.send(`${pathOf(site)}/settings`, { label: "🙂".repeat(80), spa: "off" });
    expect((await ann.read(pathOf(site))).title).toBe(`${"🙂".repeat(80)} · svc`);
  });

  test.each([
    ["a label of 81 characters", { label: "x".repeat(81), spa: "on" }, "a label has at most 80 characters"],
    ["a label of 81 emoji", { label: "🙂".repeat(81), spa: "auto" }, "a label has at most 80 characters"],
    ["another value", { label: "ok", spa: "maybe" }, "choose when this is a single-page app"],
    ["no value", { label: "ok", spa: "" }, "choose when this is a single-page app"],
  ])("WEB 6: %s is 400, keeps what was typed and saves nothing", async (_what, fields, why) => {
    const site = await ann.deploy(page("One"));
    const shown = await ann.send(`${pathOf(site)}/settings`, fields);
    expect(shown.status).toBe(400);
    expect(shown.title).toStartWith("Error: ");
    expect(shown.html).toMatch(/role="alert"/);
    expect(shown.text).toContain(`Nothing was saved: ${why}`);
    expect(shown.html).toContain(`value="${fields.label}"`);
    const marked = why.includes("label")
      ? /name="label"[^>]*aria-invalid="true"/
      : /radiogroup"[^>]*aria-invalid="true"/;
    expect(shown.html).toMatch(marked);
    expect((await server.running.store.sites.byId(site.site_id))!.label).toBeNull();
  });
});

describe("the sections of the settings", () => {
  test("WEB 6: an index leads to each that is there, and to what is set elsewhere", async () => {
    const site = await ann.deploy(page("One"));
    const { html } = await ann.read(`${pathOf(site)}/settings`);
    const index = /<nav class="sections"[\s\S]*?<\/nav>/.exec(html)![0];
    const hrefs = [...index.matchAll(/href="([^"]+)"/g)].map(([, href]) => href!);
    const here = hrefs.filter((href) => href.startsWith("#"));
    expect(here).toEqual(["#settings", "#visitors", "#address", "#former", "#delete"]);
    const headed = [...html.matchAll(/<section class="card" aria-labelledby="(\w+)">\s*<h2 id="\1"/g)];
    expect(headed.map(([, id]) => `#${id}`)).toEqual(here);
    for (const href of hrefs.filter((href) => href.startsWith("/"))) {
      const [path, id] = href.split("#");
      const { status, html } = await ann.read(path!);
      expect([href, status, id === undefined || html.includes(`id="${id}"`)]).toEqual([href, 200, true]);
    }
  });

  test("BEYOND 4: files of former versions are given or not, as the API has it; a frozen site keeps its setting", async () => {
    const site = await ann.deploy(page("One"));
    const skew = async () => {
      const answer = await server.api(`/sites/${site.site_id}/settings`, { headers: ann.person.bearer });
      return ((await answer.json()) as { skew: boolean }).skew;
    };
    expect((await ann.read(`${pathOf(site)}/settings`)).text).toContain("and pictures, for 7 days.");
    const { status, location } = await ann.send(`${pathOf(site)}/skew`, { skew: "off" });
    expect([status, location, await skew()]).toEqual([303, `${pathOf(site)}/settings?done=saved`, false]);
    expect((await ann.read(location!)).text).toContain("Give files of former versions");
    expect((await ann.send(`${pathOf(site)}/skew`, { skew: "maybe" })).status).toBe(400);
    await ann.send(`${pathOf(site)}/skew`, { skew: "on" });
    expect(await skew()).toBe(true);
    server.freeze(site);
    expect((await ann.send(`${pathOf(site)}/skew`, { skew: "off" })).status).toBe(403);
    expect(await skew()).toBe(true);
  });

  test("BEYOND 0: with SVC_SKEW=off there is nothing to choose", async () => {
    await using own = await startServer({ SVC_SKEW: "off" });
    const bob = await visitorOf(own);
    const { text } = await bob.read(`${pathOf(await bob.deploy(page("One")))}/settings`);
    expect(text).not.toContain("Files of former versions");
  });
});

describe("a site that is held", () => {
  test("WEB 6: one in quarantine says what that means, why, and whom to ask, and takes versions", async () => {
    const site = await ann.deploy(page("One"));
    server.quarantine(site);
    const { text, html } = await ann.read(pathOf(site));
    expect(text).toContain("This site is in quarantine: its pages load and send nothing elsewhere.");
    expect(text).toContain("x");
    expect(html).toContain('<a href="mailto:abuse@svc.example">');
    expect(html).toContain("data-zone");
  });

  test.each([
    ["frozen", "The operator has frozen this site"],
    ["disabled", "The operator has disabled this site: Reported as <b>phishing</b>"],
  ] as const)(
    "WEB 6: one that is %s takes no version, says why and whom to ask; label and deletion go on",
    async (state, why) => {
      const site = await ann.deploy(page("One"));
      await ann.redeploy(site, page("Two"));
      if (state === "frozen") server.freeze(site);
      else server.disable(site, "Reported as <b>phishing</b>");
      const { text, html } = await ann.read(pathOf(site));
      expect(text).toContain(why);
      expect(html).toContain('<a href="mailto:abuse@svc.example">');
      expect(text).toContain(state === "frozen" ? "Frozen" : "Disabled");
      expect(text).not.toContain("New version");
      expect(html).not.toContain("data-zone");
      // What nobody can see is not offered.
      expect(text.includes("Open site")).toBe(state === "frozen");
      expect(html).not.toContain('name="version_id"');
      const refused = await ann.send(`${pathOf(site)}/rollback`, { version_id: site.version_id });
      expect(refused.status).toBe(state === "frozen" ? 403 : 451);
      expect(refused.html).toMatch(/role="alert"/);
      const saved = await ann.send(`${pathOf(site)}/settings`, { label: "still", spa: "auto" });
      expect(saved.status).toBe(303);
      expect((await ann.read("/dashboard")).text).toContain(`still`);
      const deleted = await ann.send(`${pathOf(site)}/delete`, { confirm: site.slug });
      expect(deleted.location).toBe("/dashboard?done=deleted");
    },
  );
});

describe("deleting", () => {
  test("WEB 6: asks for the slug, says what goes, and does nothing by being opened", async () => {
    const site = await ann.deploy(page("One"));
    await ann.redeploy(site, page("Two"));
    const { title, text } = await ann.read(`${pathOf(site)}/delete`);
    expect(title).toBe(`Delete ${site.slug}? · svc`);
    expect(text).toContain("2 versions");
    expect(text).toContain(`Type ${site.slug} to confirm`);
    expect((await server.site(site.slug)).status).toBe(200);
  });

  test.each(["", "label", " x", "SLUG"])("WEB 6: %p deletes nothing", async (typed) => {
    const site = await ann.deploy(page("One"));
    const confirm = typed === "SLUG" ? site.slug.toUpperCase() : typed;
    const { status, text, title } = await ann.send(`${pathOf(site)}/delete`, { confirm });
    expect(status).toBe(400);
    expect(title).toStartWith("Error: ");
    expect(text).toContain(`Nothing was deleted. Type ${site.slug} to confirm.`);
    expect((await server.site(site.slug)).status).toBe(200);
  });

  test("WEB 6: the slug, with spaces around it, deletes the site for good", async () => {
    const site = await ann.deploy(page("One"));
    const { status, location } = await ann.send(`${pathOf(site)}/delete`, { confirm: ` ${site.slug} ` });
    expect([status, location]).toEqual([303, "/dashboard?done=deleted"]);
    expect((await server.site(site.slug)).status).toBe(404);
    expect((await ann.read(pathOf(site))).status).toBe(404);
  });
});
