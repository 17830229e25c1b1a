/** BEYOND 15: how much of a deploy was checked and what it changed, in the header `Svc-Receipt` and kept with the version. */
import { describe, expect, test } from "bun:test";
import { read, write } from "../kit/database.ts";
import { Home } from "../kit/cli.ts";
import { operate } from "../kit/operator.ts";
import { bearer, call, signUp } from "../kit/people.ts";
import { type Contents, type DeployResult, startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";

const server = await sharedServer();

/** Members of the header, those of time apart: it is there, and it is a number of milliseconds. */
function figuresIn(response: Response): Record<string, number> {
  const header = response.headers.get("svc-receipt") ?? "";
  const { ms, ...figures } = Object.fromEntries(
    header.split(", ").map((member) => {
      const [name, value] = member.split("=");
      return [name, Number(value)];
    }),
  ) as Record<string, number>;
  expect(ms).toBeGreaterThan(0);
  expect(ms).toBeLessThan(60_000);
  return figures;
}

const post = (path: string, files: Contents, token?: string, headers: Record<string, string> = {}) =>
  server.api(path, {
    method: "POST",
    body: zipOf(files),
    headers: { "content-type": "application/zip", ...(token !== undefined && bearer(token)), ...headers },
  });
const made = async (files: Contents, headers: Record<string, string> = {}) => {
  const response = await post("/sites", files, undefined, headers);
  return { figures: figuresIn(response), site: (await response.json()) as DeployResult };
};
const receiptOf = async ({ site_id, manage_token }: DeployResult, version_id: string) =>
  (await call(server, "GET", `/sites/${site_id}/versions/${version_id}/receipt`, undefined, bearer(manage_token))).body;

const page = (...links: string[]) =>
  `<!doctype html><title>P</title>${links.map((link) => `<a href="${link}">x</a>`).join("")}`;

describe("what was checked", () => {
  const pages = { "index.html": page("a.html", "b.html"), "a.html": page("./b.html"), "b.html": page("/") };
  const cases: [what: string, files: Contents, pages: number, links: number, checked: number][] = [
    ["each page, each link once, each text", { ...pages, "logo.png": "PNG" }, 3, 4, 3],
    [
      "a path that one file names five times",
      { ...pages, "b.html": page("/", "/#a", "/?q", "/", "/index.html") },
      3,
      5,
      3,
    ],
    [
      "stylesheets, scripts and what they name",
      {
        "index.html": `${page()}<link rel=stylesheet href=s.css><script src=a.js></script>`,
        "s.css": "a { background: url(x.svg) }",
        "x.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
        "a.js": "fetch('data.json')",
        "data.json": "{}",
      },
      1,
      4,
      5,
    ],
    ["no other host", { "index.html": page("https://example.org/", "mailto:a@example.org", "data:,x") }, 1, 0, 1],
    ["a missing target, too", { "index.html": page("gone.html") }, 1, 1, 1],
    [
      "Markdown and its links, whether they lead to a page or not",
      {
        "README.md": "# T\n\n[a](a.md) [gone](gone.md) ![p](p.png)",
        "a.md": "# A\n\n[back](README.md#t)",
        "p.png": "PNG",
      },
      2,
      4,
      2,
    ],
    ["no page that svc made of nothing: a list of files", { "a.png": "PNG", "b.txt": "text" }, 0, 0, 1],
  ];
  test.each(cases)("%s", async (_, files, expected_pages, links, checked) => {
    const { figures, site } = await made(files);
    expect(figures).toMatchObject({ pages: expected_pages, links, checked });
    expect((await receiptOf(site, site.version_id)).checked).toEqual({ pages: expected_pages, links, files: checked });
  });
});

describe("what was uploaded", () => {
  test("files and bytes are those of the upload, pages that svc made and dropped files apart", async () => {
    const { figures } = await made({ "README.md": "# Title", "a.md": "# A", ".env": "SECRET=1" });
    expect(figures).toEqual({ files: 2, bytes: 10, pages: 2, links: 0, checked: 2 });
  });
});

describe("what changed", () => {
  const first = { "index.html": page(), "a.txt": "a", "b.txt": "b", "c.txt": "c" };
  const second = { "index.html": page(), "a.txt": "A", "c.txt": "c", "d.txt": "d", "e.txt": "e" };
  const change = { added: 2, changed: 1, removed: 1, same: 2 };

  test("is not said of a first version", async () => {
    const { figures, site } = await made(first);
    expect(Object.keys(figures)).toEqual(["files", "bytes", "pages", "links", "checked"]);
    expect(await receiptOf(site, site.version_id)).toMatchObject({ live: true, changes: null });
  });

  test("is said of a redeploy, against what was live; in a dry run and a preview as well", async () => {
    const { site } = await made(first);
    const deploys = `/sites/${site.site_id}/deploys`;
    expect(figuresIn(await post(`${deploys}?dry_run=1`, second, site.manage_token))).toMatchObject(change);
    const previewed = await post(`/sites/${site.site_id}/previews?name=next`, second, site.manage_token);
    expect(figuresIn(previewed)).toMatchObject(change);
    const response = await post(deploys, second, site.manage_token);
    expect(figuresIn(response)).toMatchObject(change);
    const { version_id } = (await response.json()) as DeployResult;
    const receipt = await receiptOf(site, version_id);
    expect(receipt).toMatchObject({ version_id, live: true, files: 5, healed: [], warnings: [] });
    expect(receipt.changes).toEqual({ against: site.version_id, ...change });
    expect((await receiptOf(site, site.version_id)).live).toBe(false);
  });

  test("of equal content everything is the same, and the kept receipt stays what it was", async () => {
    const { site } = await made(first);
    const { version_id } = await server.redeploy(site, second);
    const again = await post(`/sites/${site.site_id}/deploys`, second, site.manage_token);
    expect(figuresIn(again)).toMatchObject({ added: 0, changed: 0, removed: 0, same: 5 });
    expect((await receiptOf(site, version_id)).changes).toMatchObject(change);
  });

  test("of a version that was deployed twice the last deploy counts", async () => {
    const { site } = await made(first);
    await server.redeploy(site, second);
    await server.redeploy(site, first);
    const back = { added: 1, changed: 1, removed: 2, same: 2 };
    expect((await receiptOf(site, site.version_id)).changes).toMatchObject(back);
  });

  test("an answer that its Idempotency-Key repeats has the first one's figures", async () => {
    const headers = { "idempotency-key": "k".repeat(30) };
    const [one, two] = [await made(first, headers), await made(first, headers)];
    expect(two.site.site_id).toBe(one.site.site_id);
    expect(two.figures).toEqual(one.figures);
  });

  test("a deploy that another one overtakes is compared with what was live when it went live", async () => {
    const { site } = await made(first);
    const sent = Array.from({ length: 6 }, (_, n) => server.redeploy(site, { ...first, "n.txt": `${n}` }));
    const ids = (await Promise.all(sent)).map(({ version_id }) => version_id);
    const changes = await Promise.all(
      ids.map(async (id) => (await receiptOf(site, id)).changes as Record<string, unknown>),
    );
    for (const { against, added, changed } of changes) {
      const was_first = against === site.version_id;
      expect([added, changed]).toEqual(was_first ? [1, 0] : [0, 1]);
    }
    expect(new Set(changes.map(({ against }) => against)).size).toBe(ids.length);
  });
});

describe("what is kept", () => {
  test("a version from before these figures has none, and one from before receipts nothing at all", async () => {
    await using own = await startServer();
    const site = await own.deploy({ "index.html": page() });
    const path = `/sites/${site.site_id}/versions/${site.version_id}/receipt`;
    const ask = async () => (await call(own, "GET", path, undefined, bearer(site.manage_token))).body;
    write(own.data_dir, "update receipts set checked_pages = null, checked_links = null, checked_files = null");
    expect(await ask()).toMatchObject({ checked: null, changes: null, healed: [], warnings: [] });
    write(own.data_dir, "delete from receipts");
    expect(await ask()).toMatchObject({ checked: null, changes: null, healed: null, warnings: null });
  });

  test("the receipt is the site's keepers' alone", async () => {
    const { site } = await made({ "index.html": page() });
    const { site: other } = await made({ "index.html": page("x") });
    const path = `/sites/${site.site_id}/versions/${site.version_id}/receipt`;
    expect((await call(server, "GET", path)).status).toBe(401);
    expect((await call(server, "GET", path, undefined, bearer(other.manage_token))).status).toBe(401);
    const unknown = path.replace(site.version_id, other.version_id);
    const answer = await call(server, "GET", unknown, undefined, bearer(site.manage_token));
    expect([answer.status, answer.body.code]).toEqual([404, "unknown_version"]);
  });

  test("the deletion of a version takes its files' names out of the next one's receipt", async () => {
    await using own = await startServer();
    const person = await signUp(own);
    const files = { "index.html": page(), "secret-plan.txt": "x" };
    const site = (await (await own.post(zipOf(files), person.bearer)).json()) as DeployResult;
    const path = `/sites/${site.site_id}/versions/${site.version_id}`;
    await own.redeploy(site, { "index.html": page() });
    const named = () => read(own.data_dir, "select named_removed from receipts where against is not null");
    expect(named()).toEqual([{ named_removed: "secret-plan.txt" }]);
    expect((await call(own, "DELETE", path, undefined, person.bearer)).status).toBe(200);
    expect(named()).toEqual([{ named_removed: null }]);
    await operate(own.data_dir, "verify");
  });
});

test("the command line says it; --json is as SPEC has it", async () => {
  await using home = await Home.make(server.base_url);
  await home.write("site", { "index.html": page("a.html"), "a.html": page() });
  const { err } = await home.run(["site"]);
  expect(err).toContain("  Checked 2 pages, 1 link and 2 files: nothing is broken.");
  expect(err).not.toContain("unchanged");
  await home.write("site", { "a.html": page("gone.html"), "b.txt": "b" });
  const update = await home.run(["update", "site"]);
  expect(update.err).toContain("  1 added, 1 changed, 1 unchanged\n  Checked 2 pages, 2 links and 3 files.\n");
  const dry = await home.run(["update", "site", "--dry-run"]);
  expect(dry.err).toContain("  Checked 2 pages, 2 links and 3 files.\n");
});
