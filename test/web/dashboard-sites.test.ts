/** WEB 5: the list of an account's sites, and deleting several of them. */
import { beforeAll, describe, expect, test } from "bun:test";
import { sharedServer } from "../kit/shared.ts";
import { seen, type Visitor, visitorOf } from "../kit/visitor.ts";

const server = await sharedServer();

const page = (title: string): Record<string, string> => ({
  "index.html": `<!doctype html><title>${title}</title><p>x`,
});

/** Names of the list, in its order. */
const listed = (html: string): string[] =>
  [...html.matchAll(/aria-label="Select ([^"]*)"/g)].map(([, name]) => name!.replaceAll("&amp;", "&"));

describe("many sites", () => {
  let ann: Visitor;
  let slugs: string[];
  beforeAll(async () => {
    ann = await visitorOf(server);
    slugs = [];
    for (let i = 0; i < 120; i++) {
      server.advance(1000);
      slugs.push((await ann.deploy(page(`Page ${i}`))).slug);
    }
  }, 60_000);

  test("WEB 5: 50 sites stand on a page, the last deployed first, with the way to the others", async () => {
    const first = await ann.read("/dashboard");
    expect(first.status).toBe(200);
    expect(listed(first.html)).toEqual(slugs.toReversed().slice(0, 50));
    expect(first.text).toContain("120 sites");
    expect(first.text).toContain("Page 1 of 3 Next");
    expect(first.text).not.toContain("Previous");
    const second = await ann.read("/dashboard?page=2");
    expect(listed(second.html)).toEqual(slugs.toReversed().slice(50, 100));
    expect(second.text).toContain("Previous Page 2 of 3 Next");
  });

  test.each([
    ["3", 3],
    ["4", 3],
    ["999999999", 3],
    ["99999999999999999999", 1],
    ["0", 1],
    ["-1", 1],
    ["1e1", 1],
    ["x", 1],
    ["", 1],
  ])("WEB 5: ?page=%s is page %i: past the end the last, nonsense the first", async (text, number) => {
    const { text: shown } = await ann.read(`/dashboard?page=${text}`);
    expect(shown).toContain(`Page ${number} of 3`);
  });

  test("WEB 5: filters stay in the links of the pages", async () => {
    const { html, text } = await ann.read("/dashboard?q=page&sort=created&page=2");
    expect(text).toContain("120 of 120 sites match “page”");
    expect(html).toContain('href="/dashboard?q=page&amp;sort=created"');
    expect(html).toContain('href="/dashboard?q=page&amp;sort=created&amp;page=3"');
  });

  test("WEB 10: a full page of sites weighs less than 40 KB over the wire", async () => {
    const response = await server.api("/dashboard", {
      headers: { cookie: ann.cookie, accept: "text/html", "accept-encoding": "gzip" },
      decompress: false,
    } as RequestInit);
    expect((await response.arrayBuffer()).byteLength).toBeLessThan(20_000);
  });

  test("WEB 5: more than 100 at a time are refused, before anything is asked", async () => {
    const ids = Array.from({ length: 101 }, (_, i) => `site=site_${i}`).join("&");
    const { status, text, title } = await ann.read(`/dashboard/delete?${ids}`);
    expect(status).toBe(400);
    expect(title).toStartWith("Error: ");
    expect(text).toContain("Select at most 100 sites at a time");
  });
});

describe("a row", () => {
  test("WEB 5: says the time that it is sorted by, and when it was made only if that is a day or more before", async () => {
    const bob = await visitorOf(server);
    const site = await bob.deploy(page("First"));
    server.advance(3 * 86_400_000);
    const said = async (query = "") =>
      /((?:Deployed|Made) [^·]*?) Delete selected/.exec((await bob.read(`/dashboard${query}`)).text)![1];
    expect([await said(), await said("?sort=created"), await said("?sort=name")]).toEqual([
      "Deployed 3 days ago",
      "Made 3 days ago",
      "Deployed 3 days ago",
    ]);
    await bob.redeploy(site, page("Second"));
    expect([await said(), await said("?sort=created")]).toEqual([
      "Deployed just now Made 3 days ago",
      "Made 3 days ago",
    ]);
  });

  test("WEB 5: has the title only where it says more than the name", async () => {
    const bob = await visitorOf(server);
    const [same, other] = [await bob.deploy(page("Junior week")), await bob.deploy(page("Tides"))];
    await bob.change(same, { label: "Junior week" });
    await bob.change(other, { label: "Harbour guide" });
    const { text } = await bob.read("/dashboard");
    expect(text).toContain(`Junior week ${new URL(same.url).host} Deployed`);
    expect(text).toContain(`Harbour guide ${new URL(other.url).host} · Tides Deployed`);
  });
});

describe("search and order", () => {
  let ann: Visitor;
  let ids: Record<string, string>;
  beforeAll(async () => {
    ann = await visitorOf(server);
    const made = async (label: string | null, title: string) => {
      server.advance(1000);
      const site = await ann.deploy(page(title));
      if (label !== null) await ann.change(site, { label });
      return site;
    };
    const harbour = await made("Harbour guide", "Tides");
    const zebra = await made("zebra", "100% wool_");
    const hello = await made("مرحبا بالعالم", "Straße");
    const nameless = await made(null, "ΑΘΗΝΑ");
    ids = { harbour: harbour.site_id, nameless: nameless.site_id, slug: nameless.slug, hello: hello.slug };
    server.advance(1000);
    await ann.redeploy(zebra, page("100% wool_"));
    await ann.redeploy(zebra, page("100% Wool_ again"));
  });

  test.each([
    ["HARBOUR", ["Harbour guide"], "a label, in any case"],
    ["  tides ", ["Harbour guide"], "a live title"],
    ["100%", ["zebra"], "a sign that SQL knows"],
    ["wool_ a", ["zebra"], "another, and the live title alone"],
    ["%", ["zebra"], "no pattern"],
    ["_wool", [], "no pattern either"],
    ["بالعالم", ["مرحبا بالعالم"], "letters of other scripts"],
    ["αθηνα", ["<slug>"], "in any case, too"],
    ["nothing like it", [], "none"],
  ])("WEB 5: the search %p finds %p: %s", async (q, names, _why) => {
    const { html, text } = await ann.read(`/dashboard?${new URLSearchParams({ q })}`);
    expect(listed(html)).toEqual(names.map((name) => (name === "<slug>" ? ids.slug! : name)));
    expect(text).toContain(`${names.length} of 4 sites match “${q.trim()}”`);
  });

  test("WEB 5: a few letters are not looked for in site_ids, which are random and begin alike", async () => {
    for (const q of ["site", "site_", ids.nameless!.slice(6, 13)]) {
      expect(listed((await ann.read(`/dashboard?q=${q}`)).html)).toEqual([]);
    }
  });

  test("WEB 5: slugs and site_ids are found, a part of one as well", async () => {
    for (const q of [ids.slug!, ids.nameless!, ids.nameless!.slice(3, 17).toUpperCase()]) {
      expect(listed((await ann.read(`/dashboard?q=${q}`)).html)).toEqual([ids.slug!]);
    }
  });

  test.each([
    ["", ["zebra", "<slug>", "مرحبا بالعالم", "Harbour guide"]],
    ["deployed", ["zebra", "<slug>", "مرحبا بالعالم", "Harbour guide"]],
    ["created", ["<slug>", "مرحبا بالعالم", "zebra", "Harbour guide"]],
    ["nonsense", ["zebra", "<slug>", "مرحبا بالعالم", "Harbour guide"]],
  ])("WEB 5: ?sort=%s", async (sort, names) => {
    const { html } = await ann.read(`/dashboard?sort=${sort}`);
    expect(listed(html)).toEqual(names.map((name) => (name === "<slug>" ? ids.slug! : name)));
  });

  test("WEB 5: by name goes by label, else slug, whatever the case", async () => {
    const names = listed((await ann.read("/dashboard?sort=name")).html);
    expect(names.indexOf("Harbour guide")).toBeLessThan(names.indexOf("zebra"));
    expect(names.toSorted()).toEqual(["Harbour guide", ids.slug!, "zebra", "مرحبا بالعالم"].toSorted());
  });

  test("WEB 5: a search without a match leads back to all sites", async () => {
    const { html, text } = await ann.read("/dashboard?q=no-such-name");
    expect(text).toContain("Show all sites");
    expect(html).toContain('<a href="/dashboard">Show all sites</a>');
  });

  test("WEB 5: a search is at most 100 characters long, and is shown as text", async () => {
    const { html, text } = await ann.read(`/dashboard?q=${encodeURIComponent(`<b>"${"🙂".repeat(200)}`)}`);
    expect(html).not.toContain("<b>");
    expect(text).toContain(`match “<b>"${"🙂".repeat(96)}”`);
  });
});

test("WEB 5: a row tells the state of a site that is held, and else how much is wrong with what is live", async () => {
  const ann = await visitorOf(server);
  const broken = { "index.html": `<!doctype html><title>x</title><img src="a.png"><img src="b.png">` };
  const [site, frozen, disabled] = [await ann.deploy(broken), await ann.deploy(broken), await ann.deploy(broken)];
  server.freeze(frozen);
  server.disable(disabled, "why");
  const { text } = await ann.read("/dashboard?sort=created");
  expect(text).toMatch(
    new RegExp(`${disabled.slug} .* Disabled .*${frozen.slug} .* Frozen .*${site.slug} .* 2 warnings`),
  );
  expect(text.match(/2 warnings/g)).toHaveLength(1);
  await ann.redeploy(site, page("all right"));
  expect((await ann.read("/dashboard")).text).not.toContain("warning");
  server.forgetReceipts(frozen);
  expect((await ann.read("/dashboard")).text).toContain("Frozen");
});

test("WEB 5: a site in quarantine says so in its row and on its pages", async () => {
  const ann = await visitorOf(server);
  const site = await ann.deploy(page("held"));
  expect((await ann.read("/dashboard")).text).not.toContain("Quarantine");
  server.quarantine(site);
  for (const path of ["/dashboard", `/dashboard/sites/${site.site_id}/settings`]) {
    expect((await ann.read(path)).html).toMatch(/class="badge warn"[^>]*>\s*Quarantine/);
  }
});

describe("nothing yet", () => {
  test("WEB 5: whoever has no site is told how to make one", async () => {
    const nobody = await visitorOf(server);
    const { text, html } = await nobody.read("/dashboard");
    expect(text).toContain("0 sites");
    expect(html).toMatch(/<h2>\s*No sites yet\s*<\/h2>/);
    expect(html).toMatch(/href="\/"[^>]*>\s*Publish your first site/);
    expect(text).toContain("svc login svc ./my-site");
    expect(html).not.toContain('type="search"');
  });
});

describe("deleting several", () => {
  const three = async (): Promise<{ ann: Visitor; ids: string[]; slugs: string[] }> => {
    const ann = await visitorOf(server);
    const sites = [await ann.deploy(page("a")), await ann.deploy(page("b")), await ann.deploy(page("c"))];
    await ann.change(sites[0]!, { label: "First one" });
    await ann.redeploy(sites[0]!, page("a2"));
    return { ann, ids: sites.map(({ site_id }) => site_id), slugs: sites.map(({ slug }) => slug) };
  };
  const chosen = (ids: readonly string[]) => ids.map((id): [string, string] => ["site", id]);
  const query = (ids: readonly string[]) => new URLSearchParams(chosen(ids)).toString();
  const left = async (ann: Visitor) => listed((await ann.read("/dashboard")).html).length;

  test("WEB 5: asks first, with name, slug and versions of each, and does nothing by being opened", async () => {
    const { ann, ids, slugs } = await three();
    const { text, title } = await ann.read(`/dashboard/delete?${query(ids.slice(0, 2))}`);
    expect(title).toBe("Delete 2 sites? · svc");
    expect(text).toContain(`First one ${slugs[0]} 2 versions`);
    expect(text).toContain(`${slugs[1]} ${slugs[1]} 1 version`);
    expect(text).toContain("Type delete 2 sites to confirm");
    expect(text).toContain("Delete 2 sites");
    expect(await left(ann)).toBe(3);
  });

  test("WEB 5: the right word deletes those and no others", async () => {
    const { ann, ids, slugs } = await three();
    const { status, location } = await ann.send("/dashboard/delete", [
      ...chosen(ids.slice(0, 2)),
      ["confirm", " delete 2 sites "],
    ]);
    expect([status, location]).toEqual([303, "/dashboard?done=deleted"]);
    const after = await ann.read(location!);
    expect(listed(after.html)).toEqual([slugs[2]!]);
    expect(after.html).toMatch(/role="status"/);
    expect((await server.site(slugs[0]!)).status).toBe(404);
    expect((await server.site(slugs[2]!)).status).toBe(200);
  });

  test.each(["", "delete 3 sites", "Delete 2 sites", "delete 2 site", "delete"])(
    "WEB 5: the word %p is 400, and deletes nothing",
    async (confirm) => {
      const { ann, ids } = await three();
      const { status, title, text, html } = await ann.send("/dashboard/delete", [
        ...chosen(ids.slice(0, 2)),
        ["confirm", confirm],
      ]);
      expect(status).toBe(400);
      expect(title).toStartWith("Error: ");
      expect(text).toContain("Nothing was deleted. Type delete 2 sites to confirm.");
      expect(html).toMatch(/aria-invalid="true"[^>]*aria-describedby="problem/);
      expect(await left(ann)).toBe(3);
    },
  );

  test("WEB 5: one site is named in the singular", async () => {
    const { ann, ids } = await three();
    const { text, title } = await ann.read(`/dashboard/delete?${query([ids[0]!, ids[0]!])}`);
    expect(title).toBe("Delete 1 site? · svc");
    expect(text).toContain("Type delete 1 site to confirm");
    const { status } = await ann.send("/dashboard/delete", { site: ids[0]!, confirm: "delete 1 site" });
    expect(status).toBe(303);
    expect(await left(ann)).toBe(2);
  });

  test("WEB 5: without a site it goes back, and says so; another's and unknown ones are none", async () => {
    const { ann } = await three();
    const bob = await visitorOf(server);
    const his = await bob.deploy(page("his"));
    for (const path of ["/dashboard/delete", `/dashboard/delete?${query([his.site_id, "site_x"])}`]) {
      const { status, location } = await ann.read(path);
      expect([status, location]).toEqual([303, "/dashboard?done=none"]);
    }
    expect((await ann.read("/dashboard?done=none")).text).toContain("No site was selected.");
    const { location } = await ann.read("/dashboard/delete?q=a%26b&sort=name&page=2");
    expect(location).toBe("/dashboard?q=a%26b&sort=name&page=2&done=none");
    const sent = await ann.send("/dashboard/delete", { site: his.site_id, confirm: "delete 1 site" });
    expect(sent.location).toBe("/dashboard?done=none");
    expect(await left(bob)).toBe(1);
  });

  test("WEB 5: of a selection only one's own are deleted", async () => {
    const { ann, ids } = await three();
    const bob = await visitorOf(server);
    const his = await bob.deploy(page("his"));
    const { text } = await ann.read(`/dashboard/delete?${query([ids[0]!, his.site_id])}`);
    expect(text).toContain("Type delete 1 site to confirm");
    await ann.send("/dashboard/delete", [...chosen([ids[0]!, his.site_id]), ["confirm", "delete 1 site"]]);
    expect([await left(ann), await left(bob)]).toEqual([2, 1]);
  });

  test("WEB 1.5: whoever is signed out changes nothing, and comes back to the same question", async () => {
    const { ids } = await three();
    const path = `/dashboard/delete?${query(ids)}`;
    const { host } = new URL(server.base_url);
    const sent = await seen(
      await server.api(path, {
        method: "POST",
        headers: { host, origin: server.base_url, "sec-fetch-site": "same-origin", accept: "text/html" },
        body: new URLSearchParams([...chosen(ids), ["confirm", "delete 3 sites"]]),
      }),
    );
    expect(sent.status).toBe(303);
    expect(sent.location).toBe(`/signin?${new URLSearchParams({ next: path, why: "signed-out" })}`);
    for (const site_id of ids) expect(await server.running.store.sites.byId(site_id)).not.toBeNull();
  });
});
