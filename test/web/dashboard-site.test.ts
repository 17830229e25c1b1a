/** WEB 6: a site's page, its receipt, its versions and settings. */
import { describe, expect, test } from "bun:test";
import { type DeployResult } from "../kit/server.ts";
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
  test("WEB 6: label, address, state, since when, and that it does not expire", async () => {
    const site = await ann.deploy(page("One"));
    const nameless = await ann.read(pathOf(site));
    expect(nameless.title).toBe(`${site.slug} · svc`);
    await ann.change(site, { label: "Harbour guide" });
    const { status, title, text, html } = await ann.read(pathOf(site));
    expect([status, title]).toEqual([200, "Harbour guide · svc"]);
    expect(html).toMatch(/<h1 dir="auto">\s*Harbour guide\s*<\/h1>/);
    expect(html).toContain(`href="${site.url}" rel="noopener"`);
    expect(text).toContain("Live");
    expect(text).toMatch(/Yours since \d+ \w+\. It does not expire\./);
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
    for (const path of ["", "/changes", "/delete", "/comments"]) {
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
    expect(text).toContain(`Version ${site.version_id} is live`);
    expect(text).toContain("2 warnings It is live, but not all right yet.");
    for (const { message, fix_recipe } of site.warnings) expect(text).toContain(`${message} To do: ${fix_recipe}`);
    expect(html).toContain(`<code dir="auto">index.html</code> names`);
    expect(html).not.toContain("autofocus");
    const mended = await ann.redeploy(site, page("all right"));
    const after = await ann.read(pathOf(site));
    expect(after.text).toContain(`Version ${mended.version_id} is live`);
    expect(after.text).not.toContain("warning");
    await ann.send(`${pathOf(site)}/rollback`, { version_id: site.version_id });
    expect((await ann.read(pathOf(site))).text).toContain("2 warnings");
  });

  test("WEB 6: says what was fixed, with the file", async () => {
    const site = await ann.deploy({ "my-site/About.html": "<!doctype html><title>x</title>x" });
    expect(site.healed.length).toBeGreaterThan(0);
    const { text, html } = await ann.read(pathOf(site));
    expect(html).toMatch(/<h3>\s*Fixed for you\s*<\/h3>/);
    for (const { message } of site.healed) expect(text).toContain(message);
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
    expect(open.match(/To do: /g)).toHaveLength(6);
    expect(folded.match(/To do: /g)).toHaveLength(3);
    expect(html.match(/<summary>\s*Show all/g)).toHaveLength(1);
  });

  test("WEB 4.6: a version from before receipts were kept says so", async () => {
    const site = await ann.deploy(page("old"));
    server.forgetReceipts(site);
    const { text } = await ann.read(pathOf(site));
    expect(text).toContain("No receipt was kept with this version.");
    expect(text).not.toContain("Fixed for you");
  });

  test("WEB 6: after a deploy here the focus is on its heading, with the address to hand on", async () => {
    const site = await ann.deploy(page("One"));
    const { html, text } = await ann.read(`${pathOf(site)}?done=deployed`);
    expect(html).toMatch(/<h2[^>]*tabindex="-1"\s+autofocus>/);
    expect(html).toMatch(/class="url">\s*<a\s+href="[^"]+"\s+rel="noopener"/);
    expect(text).toContain("It is yours and does not expire.");
    const again = await ann.read(`${pathOf(site)}?done=unchanged`);
    expect(again.text).toContain("No changes: this version is live already");
  });

  test("WEB 4.6: programs are told how to go on, without a token", async () => {
    const site = await ann.deploy(page("One"));
    const { text, html } = await ann.read(pathOf(site));
    expect(text).toContain("For programs and the command line");
    expect(text).toContain(`svc update --site ${site.site_id}`);
    expect(html).not.toContain("svc_manage_");
  });
});

describe("versions", () => {
  test("WEB 6: newest first, 20 a page, each with title, id, time, files and size", async () => {
    const site = await ann.deploy(page("Version 0"));
    const ids = [site.version_id];
    for (let i = 1; i < 45; i++) ids.unshift((await ann.redeploy(site, page(`Version ${i}`))).version_id);
    const shown = (html: string) => [...html.matchAll(/<code>([0-9a-f]{16})<\/code>\s*·/g)].map(([, id]) => id!);
    const first = await ann.read(pathOf(site));
    expect(shown(first.html)).toEqual(ids.slice(0, 20));
    expect(first.text).toContain("Page 1 of 3 Next");
    expect(first.text).toMatch(new RegExp(`Version 44 Live ${ids[0]} · just now · 1 file, \\d+ B`));
    expect(first.html).toContain(`href="${versionHost(ids[1]!, site)}" rel="noopener"`);
    expect(first.html).toContain(`href="${pathOf(site)}/changes?to=${ids[1]}"`);
    const last = await ann.read(`${pathOf(site)}?page=99`);
    expect(shown(last.html)).toEqual(ids.slice(40));
    expect(last.text).toContain("Previous Page 3 of 3");
    expect(last.html).toContain(`href="${pathOf(site)}?page=2"`);
  }, 60_000);

  test("WEB 6: one click makes an earlier version live, and says which; the live one again is the same", async () => {
    const site = await ann.deploy(page("One"));
    const two = await ann.redeploy(site, page("Two"));
    for (const version_id of [site.version_id, site.version_id, two.version_id]) {
      const { status, location } = await ann.send(`${pathOf(site)}/rollback`, { version_id });
      expect([status, location]).toEqual([303, `${pathOf(site)}?done=live`]);
      const { text } = await ann.read(location!);
      expect(text).toContain(`Version ${version_id} is live.`);
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
  });
});

describe("settings", () => {
  test("WEB 6: label and single-page app are saved, and shown again", async () => {
    const site = await ann.deploy(page("One"));
    const { location } = await ann.send(`${pathOf(site)}/settings`, { label: "  Harbour guide ", spa: "on" });
    expect(location).toBe(`${pathOf(site)}?done=saved`);
    const { html, text } = await ann.read(location!);
    expect(html).toMatch(/name="label"\s+type="text"\s+value="Harbour guide"/);
    expect(html).toMatch(/value="on"\s+checked/);
    expect(text).toContain("Decide by the files (now off)");
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

describe("a site that is held", () => {
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
      // What nobody can see is not the page's first button.
      const look = /<a class="([^"]*)"[^>]*>\s*Open site/.exec(html)![1];
      expect(look).toBe(state === "frozen" ? "button primary" : "button");
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
