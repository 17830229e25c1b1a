/** WEB 5 and 6: an account's sites and a site's versions, a page at a time, and what changed between two versions. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { AskedSites } from "../../src/store/account-sites.ts";
import { openOperations } from "../../src/store/operations.ts";
import { addSites, addVersions, idOfVersion } from "../kit/database.ts";
import { bearer, call, type Person, signUp } from "../kit/people.ts";
import { type Contents, type DeployResult } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

let ann: Person;
const made: Record<string, DeployResult> = {};
const server = await sharedServer();
beforeAll(async () => {
  ann = await signUp(server);
  const other = await signUp(server);
  await own({ "index.html": "<title>needle of another account</title>" }, other);
  for (const [name, label, title] of SITES) {
    server.advance(1000);
    made[name] = await own({ "index.html": title === null ? `${name}` : `<title>${title}</title>${name}` });
    if (label !== null) await relabel(made[name]!, label);
  }
});

/** Oldest first: name here, label, title of the page. */
const SITES: readonly (readonly [string, string | null, string | null])[] = [
  ["beta", "beta", "Second letter"],
  ["percent", "100% sure", "Per cent"],
  ["under", "a_b", "Under score"],
  ["back", "c\\d", "Back slash"],
  ["capital", "Alpha", "First LETTER"],
  ["umlaut", "Äpfel und Öl", "Grüße aus KÖLN"],
  ["greek", "ΟΔΟΣ", "οδός"],
  ["cyrillic", "Привет", null],
  ["wide", "ＦＵＬＬ width", "ﬁne print"],
];

async function own(files: Contents, by: Person = ann): Promise<DeployResult> {
  return (await (await server.post(zipOf(files), by.bearer)).json()) as DeployResult;
}
const relabel = ({ site_id }: DeployResult, label: string) =>
  call(server, "PATCH", `/account/sites/${site_id}`, { label }, ann.bearer);
const page = (asked: Partial<AskedSites> = {}, account_id = ann.account_id) =>
  server.running.store.ownership.page(account_id, { q: "", sort: "deployed", page: 1, per_page: 50, ...asked });
/** Their names here. */
const names = async (asked: Partial<AskedSites>) => {
  const known = new Map(Object.entries(made).map(([name, { site_id }]) => [site_id, name]));
  return (await page(asked)).rows.map(({ site }) => known.get(site.site_id));
};

describe("ownership.page", () => {
  test("tells each site whole, with the title and time of its live version", async () => {
    const { rows, ...figures } = await page();
    expect(figures).toEqual({ page: 1, pages: 1, matching: 9, total: 9 });
    const [newest] = rows;
    expect(newest!.site).toEqual((await server.running.store.sites.byId(made.wide!.site_id))!);
    expect(newest!.live).toEqual({
      title: "ﬁne print",
      created_at: newest!.site.deployed_at,
      warned: 0,
      seen_warned: 0,
      pictured: false,
    });
    expect(rows.every(({ site }) => site.owner_account_id === ann.account_id)).toBeTrue();
  });

  test("in three orders, searched or not", async () => {
    const newest = SITES.map(([name]) => name).toReversed();
    expect(await names({ sort: "created" })).toEqual(newest);
    expect(await names({ sort: "deployed" })).toEqual(newest);
    expect((await names({ sort: "name" })).slice(0, 5)).toEqual(["percent", "under", "capital", "beta", "back"]);
    for (const sort of ["created", "deployed", "name"] as const) {
      const whole = await names({ sort });
      const found = await names({ sort, q: "-" }); // each slug has one
      expect(found).toEqual(whole);
    }
  });

  test("a deploy brings a site to the top of `deployed`, going back takes it down again", async () => {
    const site = made.beta!;
    server.advance(1000);
    const again = await server.redeploy(site, { "index.html": "<title>New words</title>" });
    expect((await names({})).at(0)).toBe("beta");
    expect((await names({ sort: "created" })).at(-1)).toBe("beta");
    expect(await names({ q: "new words" })).toEqual(["beta"]);
    await server.rollback(site, site.version_id);
    expect([(await names({})).at(-1), await names({ q: "new words" })]).toEqual(["beta", []]);
    await server.rollback(site, again.version_id);
    expect((await names({})).at(0)).toBe("beta");
    await server.rollback(site, site.version_id);
  });

  test.each([
    ["a label", "alph", ["capital"]],
    ["a label in another case", "ALPHA", ["capital"]],
    ["a title in another case", "letter", ["capital", "beta"]],
    ["a sign of LIKE", "%", ["percent"]],
    ["another", "a_b", ["under"]],
    ["a backslash", "\\", ["back"]],
    ["umlauts in another case", "äPFEL", ["umlaut"]],
    ["capitals of them in a title", "köln", ["umlaut"]],
    ["Greek capitals, by a final sigma's other form", "οδο", ["greek"]],
    ["Cyrillic", "ПРИВ", ["cyrillic"]],
    ["full width", "full", ["wide"]],
    ["a ligature", "FINE", ["wide"]],
    ["nothing of anybody", "needle of another account", []],
    ["a quote", "' or 1=1 --", []],
  ])("finds %s: %s", async (_, q, found) => {
    expect(await names({ q, sort: "created" })).toEqual(found);
    expect(await page({ q })).toMatchObject({ matching: found.length, total: 9 });
  });

  test("finds a slug and a site_id, whole and in part", async () => {
    const { slug, site_id } = made.greek!;
    for (const q of [slug, slug.toUpperCase(), site_id, site_id.slice(5, 20)])
      expect(await names({ q })).toEqual(["greek"]);
  });

  test("pages: past the end is the last, before the first the first", async () => {
    const of = async (asked: Partial<AskedSites>) => {
      const { rows, ...figures } = await page({ per_page: 4, ...asked });
      return { rows: rows.length, ...figures };
    };
    const all = { pages: 3, matching: 9, total: 9 };
    expect(await of({ page: 2 })).toEqual({ rows: 4, page: 2, ...all });
    expect(await of({ page: 3 })).toEqual({ rows: 1, page: 3, ...all });
    expect(await of({ page: 4 })).toEqual({ rows: 1, page: 3, ...all });
    expect(await of({ page: 1e15, q: "letter", per_page: 1 })).toEqual({
      rows: 1,
      page: 2,
      pages: 2,
      matching: 2,
      total: 9,
    });
    expect(await of({ page: 0 })).toEqual({ rows: 4, page: 1, ...all });
    expect(await of({ q: "no such thing", page: 7 })).toEqual({ rows: 0, page: 1, pages: 1, matching: 0, total: 9 });
  });

  test("an account without sites has one empty page", async () => {
    const { account_id } = await signUp(server);
    expect(await page({}, account_id)).toEqual({ rows: [], page: 1, pages: 1, matching: 0, total: 0 });
    expect(await page({ q: "x" }, account_id)).toEqual({ rows: [], page: 1, pages: 1, matching: 0, total: 0 });
  });

  test("a claimed site stands in the list with the time of its deploy", async () => {
    const bob = await signUp(server);
    const site = await server.deploy({ "index.html": "<title>Claimed</title>" });
    await call(server, "POST", `/sites/${site.site_id}/claim`, { claim_token: site.claim_token }, bob.bearer);
    const { rows } = await page({}, bob.account_id);
    expect(rows.map(({ site, live }) => [site.slug, live.title, live.created_at === site.deployed_at])).toEqual([
      [site.slug, "Claimed", true],
    ]);
  });

  test("six hundred sites: no row is missing, none comes twice, in each order and searched", async () => {
    const many = await signUp(server);
    addSites(server.data_dir, many, 600);
    for (const asked of [{ sort: "deployed" }, { sort: "created" }, { sort: "name" }, { q: "MANY-" }] as const) {
      const seen: string[] = [];
      for (let n = 1; n <= 12; n++) {
        seen.push(...(await page({ ...asked, page: n }, many.account_id)).rows.map(({ site }) => site.site_id));
      }
      expect([seen.length, new Set(seen).size]).toEqual([600, 600]);
    }
  });
});

describe("versions", () => {
  const versions = () => server.running.store.versions;

  test("page: newest first by number, one is live, past the end is the last", async () => {
    const site = await server.deploy({ "index.html": "<title>v0</title>" });
    addVersions(server.data_dir, site, 45);
    const first = await versions().page(site.site_id, { page: 1, per_page: 20 });
    expect(first).toMatchObject({ page: 1, pages: 3, matching: 46 });
    expect(first.rows.map(({ version_id }) => version_id)).toEqual(
      Array.from({ length: 20 }, (_, n) => idOfVersion(45 - n)),
    );
    expect(first.rows.filter(({ live }) => live).map(({ version_id }) => version_id)).toEqual([idOfVersion(45)]);
    expect(first.rows[0]).toMatchObject({ title: "version 45", files: 1, bytes: 5 });
    const last = await versions().page(site.site_id, { page: 99, per_page: 20 });
    expect([last.page, last.rows.length, last.rows.at(-1)!.version_id]).toEqual([3, 6, site.version_id]);
    expect(await versions().page("site_none", { page: 1, per_page: 20 })).toMatchObject({ rows: [], matching: 0 });
  });

  test("before: the one that was made last before it, whichever is live", async () => {
    const first = await server.deploy({ "index.html": "1" });
    const second = await server.redeploy(first, { "index.html": "2" });
    const third = await server.redeploy(first, { "index.html": "3" });
    await server.rollback(first, first.version_id);
    const before = async (version_id: string) => (await versions().before(first.site_id, version_id))?.version_id;
    expect(await before(third.version_id)).toBe(second.version_id);
    expect(await before(second.version_id)).toBe(first.version_id);
    expect([await before(first.version_id), await before("f".repeat(16))]).toEqual([undefined, undefined]);
  });
});

describe("versions.compare", () => {
  const compared = async (from: Contents, to: Contents) => {
    const first = await server.deploy(from);
    const second = await server.redeploy(first, to);
    return server.running.store.versions.compare(first.site_id, first.version_id, second.version_id);
  };

  test("tells what is added, changed and removed by path, with sizes, and counts the rest", async () => {
    const before = { "index.html": "same", "b.txt": "bb", "z.txt": "going", "Ω.txt": "x" };
    const after = { "index.html": "same", "b.txt": "bbbb", "a.txt": "", "Ω.txt": "x", ["__proto__"]: "honest" };
    expect(await compared(before, after)).toEqual({
      added: [
        { path: "__proto__", before: null, after: 6 },
        { path: "a.txt", before: null, after: 0 },
      ],
      changed: [{ path: "b.txt", before: 2, after: 4 }],
      removed: [{ path: "z.txt", before: 5, after: null }],
      unchanged: 2,
    });
  });

  test("uploaded files alone: of pages that were made nothing is told", async () => {
    expect(await compared({ "README.md": "# One" }, { "README.md": "# Two" })).toMatchObject({
      added: [],
      changed: [{ path: "README.md" }],
      removed: [],
      unchanged: 0,
    });
  });

  test("a file that was made and is uploaded now is added", async () => {
    expect(await compared({ "a.txt": "x" }, { "a.txt": "x", "index.html": "own" })).toEqual({
      added: [{ path: "index.html", before: null, after: 3 }],
      changed: [],
      removed: [],
      unchanged: 1,
    });
  });

  test("of the first version everything is added; an unknown one is null, also another site's", async () => {
    const [site, foreign] = [await server.deploy({ "index.html": "1" }), await server.deploy({ "index.html": "2" })];
    const compare = (from: string | null, to: string) => server.running.store.versions.compare(site.site_id, from, to);
    expect(await compare(null, site.version_id)).toMatchObject({ added: [{ path: "index.html" }], unchanged: 0 });
    expect(await compare(null, foreign.version_id)).toBeNull();
    expect(await compare(foreign.version_id, site.version_id)).toBeNull();
    expect(await compare(site.version_id, site.version_id)).toEqual({
      added: [],
      changed: [],
      removed: [],
      unchanged: 1,
    });
  });

  test("says what a dry run says of the same files", async () => {
    const [before, after] = [
      { "index.html": "1", "old.txt": "o" },
      { "index.html": "2", "new.txt": "n" },
    ];
    const site = await server.deploy(before);
    const headers = { "content-type": "application/zip", ...bearer(site.manage_token) };
    const path = `/sites/${site.site_id}/deploys?dry_run=1`;
    const rehearsed = await (await server.api(path, { method: "POST", body: zipOf(after), headers })).json();
    const { version_id } = await server.redeploy(site, after);
    const changes = (await server.running.store.versions.compare(site.site_id, site.version_id, version_id))!;
    const paths = (files: { path: string }[]) => files.map(({ path }) => path);
    const { added, changed, removed } = changes;
    expect((rehearsed as { files: unknown }).files).toEqual({
      added: paths(added),
      changed: paths(changed),
      removed: paths(removed),
    });
  });
});

describe("CONTRACT 7.2 an operator's list, a page at a time", () => {
  const ofSize = (bytes: number) => server.deploy({ "index.html": "x".repeat(bytes) });

  test.each(["created", "stored", "live", "name"] as const)(
    "by %s: what comes or goes between two pages is listed or not, and all others once",
    async (sort) => {
      const mine: DeployResult[] = [];
      for (const bytes of [900_000, 800_000, 700_000, 700_000, 600_000]) mine.push(await ofSize(bytes));
      const operations = openOperations({ data_dir: server.data_dir, now: server.now });
      try {
        const seen: string[] = [];
        let last: Awaited<ReturnType<typeof operations.listing>>[number] | null = null;
        for (;;) {
          const page = await operations.listing(sort, 2, last);
          expect(page.length).toBeLessThanOrEqual(2);
          if (page.length === 0) break;
          seen.push(...page.map(({ site_id }) => site_id));
          last = page.at(-1)!;
          // The row that the next page begins behind is gone by then.
          if (last.site_id === mine[1]!.site_id)
            await operations.actOnSite({ action: "delete", site_id: last.site_id });
        }
        expect(new Set(seen).size).toBe(seen.length);
        const kept = mine.filter((_, n) => n !== 1).map(({ site_id }) => site_id);
        expect(kept.filter((site_id) => !seen.includes(site_id))).toEqual([]);
        const order = mine.map(({ site_id }) => seen.indexOf(site_id));
        if (sort === "stored" || sort === "live") expect([order[0], order[1]]).toEqual([0, 1]);
        if (sort === "created") expect(order).toEqual(order.toSorted((a, b) => a - b));
      } finally {
        for (const { site_id } of mine) await operations.actOnSite({ action: "delete", site_id });
        operations.close();
      }
    },
  );
});
