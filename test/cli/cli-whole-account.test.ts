/** BEYOND 9: `svc export` and `svc import`, between two servers. */
import { readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Home, json } from "../kit/cli.ts";
import { call, type Person, signUp } from "../kit/people.ts";
import { slugOf, type TestServer } from "../kit/server.ts";
import { shared, sharedServer } from "../kit/shared.ts";

setDefaultTimeout(120_000);

const [from, to] = await Promise.all([sharedServer(), sharedServer()]);
const [ann, bea] = [await signUp(from), await signUp(to)];

async function signedIn(server: TestServer, person: Person | null): Promise<Home> {
  const home = shared(await Home.make(server.base_url));
  if (person !== null) expect((await home.run(["login", "--token", person.session_token])).code).toBe(0);
  return home;
}
const [home, other] = [await signedIn(from, ann), await signedIn(to, bea)];

interface Made {
  site_id: string;
  slug: string;
  versions: string[];
}
/** Newest first, as the server lists them. */
async function record(server: TestServer, site_id: string, person: Person): Promise<Record<string, unknown>> {
  return (await call(server, "GET", `/sites/${site_id}`, undefined, person.bearer)).body;
}
const idsIn = (site: Record<string, unknown>): string[] =>
  (site["versions"] as { version_id: string }[]).map(({ version_id }) => version_id);

async function site(name: string, contents: Record<string, string>[]): Promise<Made> {
  const versions: string[] = [];
  let site_id = "";
  let slug = "";
  for (const [i, files] of contents.entries()) {
    const folder = await home.write(`${name}-${i}`, files);
    const ran = i === 0 ? ["--json", folder] : ["update", folder, "--site", site_id, "--json"];
    const made = json(await home.run(ran));
    [site_id, slug] = [String(made["site_id"]), slugOf(made["url"])];
    versions.push(String(made["version_id"]));
  }
  return { site_id, slug, versions };
}

let garden: Made;
let app: Made;
const folder = home.path("all");
const there = (path: string) => join(folder, path);
const ranJson = async (on: Home, ...words: string[]) => json(await on.run([...words, "--json"]));

beforeAll(async () => {
  garden = await site("garden", [
    { "index.html": "<title>One</title>one", "é/ü.txt": "é" },
    { "only/here/a.html": "<title>Two</title>two", "only/here/b.txt": "b" },
    { "index.html": "<title>Three</title>three", ".hidden": "x" },
  ]);
  app = await site("app", [{ "index.html": "<title>App</title>app" }]);
  await call(from, "POST", `/sites/${garden.site_id}/rollback`, { version_id: garden.versions[1] }, ann.bearer);
  await call(from, "PATCH", `/account/sites/${garden.site_id}`, { label: "Garden club" }, ann.bearer);
  await call(from, "PATCH", `/account/sites/${app.site_id}`, { spa: true }, ann.bearer);
  await call(from, "PATCH", `/sites/${app.site_id}/settings`, { skew: false }, ann.bearer);
}, 120_000);

describe("svc export", () => {
  test("writes a zip for each version, oldest first, and what the sites are; no token is in it", async () => {
    const { code, out, err } = await home.run(["export", "all"]);
    expect([code, out]).toEqual([0, `${folder}\n`]);
    expect(err).toContain("2 sites with 4 versions");
    const read = JSON.parse(await readFile(there("export.json"), "utf8")) as Record<string, unknown>;
    const version = (slug: string, version_id: string, title: string | null) => ({
      version_id,
      title,
      created_at: expect.any(String) as unknown,
      zip: `${slug}/${version_id}.zip`,
    });
    expect(read).toEqual({
      format: 1,
      exported_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as unknown,
      sites: [
        {
          site_id: garden.site_id,
          slug: garden.slug,
          label: "Garden club",
          live_version_id: garden.versions[1],
          spa: null,
          settings: { skew: true, stats: true },
          domains: [],
          versions: ["One", null, "Three"].map((title, i) => version(garden.slug, garden.versions[i]!, title)),
        },
        {
          site_id: app.site_id,
          slug: app.slug,
          label: null,
          live_version_id: app.versions[0],
          spa: true,
          settings: { skew: false, stats: true },
          domains: [],
          versions: [version(app.slug, app.versions[0]!, "App")],
        },
      ],
    });
    for (const path of await readdir(folder, { recursive: true })) {
      const { mode } = await stat(there(path));
      expect([path, mode & 0o077]).toEqual([path, 0]);
    }
    expect(JSON.stringify(read)).not.toMatch(/svc_(manage|session|claim)/);
  });

  test("each zip is the server's, byte for byte", async () => {
    const [version] = garden.versions;
    const response = await from.api(`/sites/${garden.site_id}/versions/${version}/zip`, { headers: ann.bearer });
    const written = await readFile(there(`${garden.slug}/${version}.zip`));
    expect(Buffer.from(await response.arrayBuffer()).equals(written)).toBe(true);
  });

  test("begun again it fetches only what is missing or damaged", async () => {
    expect(await ranJson(home, "export", "all")).toMatchObject({ versions: 4, fetched: { zips: 0, bytes: 0 } });
    const [one, two, three] = garden.versions.map((id) => there(`${garden.slug}/${id}.zip`));
    const whole = await readFile(one!);
    await rm(one!);
    await writeFile(two!, whole); // a zip of another version is none of this
    await writeFile(three!, whole.subarray(0, 40));
    expect(await ranJson(home, "export", "all")).toMatchObject({ ok: true, folder, fetched: { zips: 3 } });
    expect((await readFile(one!)).equals(whole)).toBe(true);
    expect(await ranJson(home, "export", "all")).toMatchObject({ fetched: { zips: 0 } });
  });

  test("wants an account, and writes into ./svc-export by itself", async () => {
    const nobody = await signedIn(from, null);
    const refused = await nobody.run(["export"]);
    expect([refused.code, refused.out]).toEqual([1, ""]);
    expect(refused.err).toContain("needs your account");
    const place = await home.write("place", { "x.txt": "x" });
    expect((await home.run(["export"], { cwd: place })).out).toBe(`${join(place, "svc-export")}\n`);
  });
});

describe("svc import", () => {
  test("makes each site anew: all versions with the same ids, the same one live, label and settings", async () => {
    const { code, out } = await other.run(["import", folder]);
    expect(code).toBe(0);
    const lines = out.trimEnd().split("\n");
    expect(lines.map((line) => line.split(" ")[0])).toEqual([garden.slug, app.slug]);
    const done = JSON.parse(await readFile(there("import.json"), "utf8")) as Record<string, Record<string, Made>>;
    const [new_garden, new_app] = [garden, app].map(({ site_id }) => done[to.base_url]![site_id]!);
    for (const [made, old] of [
      [new_garden!, garden],
      [new_app!, app],
    ] as const) {
      // prettier-ignore
      const seen = await record(to, made.site_id, bea);
      expect(idsIn(seen).toReversed()).toEqual(old.versions);
      expect(made.site_id).not.toBe(old.site_id);
    }
    const [seen, single] = [await record(to, new_garden!.site_id, bea), await record(to, new_app!.site_id, bea)];
    expect([seen["label"], seen["live_version_id"]]).toEqual(["Garden club", garden.versions[1]!]);
    expect([single["label"], single["spa"]]).toEqual([null, { enabled: true, rule: "setting" }]);
    const settings = await call(to, "GET", `/sites/${new_app!.site_id}/settings`, undefined, bea.bearer);
    expect(settings.body).toMatchObject({ skew: false, stats: true });
    const asked = await from.api(`/sites/${garden.site_id}/versions/live/files`, { headers: ann.bearer });
    const { files } = (await asked.json()) as { files: { path: string }[] };
    expect(files.length).toBe(2);
    for (const { path } of files) {
      const live = await from.site(garden.slug, `/${path}`);
      const now = await to.site(slugOf(lines[0]!.split(" ")[1]), `/${path}`);
      expect([live.status, (await now.text()).replaceAll(new_garden!.site_id, garden.site_id)]).toEqual([
        200,
        await live.text(),
      ]);
    }
  });

  test("run again it changes nothing, and says the same", async () => {
    const first = await other.run(["import", folder]);
    const sites = (await call(to, "GET", "/account/sites", undefined, bea.bearer)).body.sites;
    expect([first.code, sites.length]).toEqual([0, 2]);
    expect((await other.run(["import", folder])).out).toBe(first.out);
  });

  test("a site that wants a password wants a new one there, which is said, and is never public", async () => {
    const [fay, gil] = [await signUp(from), await signUp(to)];
    const [source, target] = [await signedIn(from, fay), await signedIn(to, gil)];
    const made = json(
      await source.run(["--json", await source.write("shut", { "index.html": "<title>x</title>secret" })]),
    );
    const at = `/sites/${String(made["site_id"])}/access`;
    await call(from, "PUT", at, { password: "open sesame 1" }, fay.bearer);
    const all = source.path("all");
    await source.run(["export", all]);
    const ran = await target.run(["import", all]);
    const [, url = ""] = ran.out.trim().split(" ");
    expect((await to.site(slugOf(url))).status).toBe(401);
    const [, password = ""] = /need a new password: (\S+)/.exec(ran.err)!;
    const basic = { authorization: `Basic ${btoa(`:${password}`)}` };
    expect((await to.site(slugOf(url), "/", { headers: basic })).status).toBe(200);
    expect(json(await target.run(["import", all, "--json"]))["sites"]).toMatchObject([{ url, password }]);
    expect(await readFile(join(all, "export.json"), "utf8")).not.toContain("sesame");
  });

  test("links and notes that somebody laid into the folder lead nowhere else", async () => {
    const place = await home.write("planted", {});
    await home.run(["export", "planted"]);
    const victim = home.path("victim.txt");
    await writeFile(victim, "mine");
    await symlink(victim, join(place, "import.json.part"));
    await symlink(victim, join(place, "export.json.part"));
    const hal = await signUp(to);
    const person = await signedIn(to, hal);
    const mine = json(
      await person.run(["--json", await person.write("mine", { "index.html": "<title>mine</title>" })]),
    );
    const entry = { site_id: mine["site_id"], slug: "x", url: "http://x", versions: [], done: false, password: null };
    const note = (told: unknown) => writeFile(join(place, "import.json"), JSON.stringify(told));
    for (const told of [
      { [to.base_url]: { [garden.site_id]: entry } },
      { [to.base_url]: { [garden.site_id]: { ...entry, site_id: "../account" } } },
      { [to.base_url]: 5 },
      { [to.base_url]: { x: {} } },
      [],
      "x",
    ]) {
      await note(told);
      const { code, out, err } = await person.run(["import", place]);
      expect([told, code, out]).toEqual([told, 1, ""]);
      expect(err).not.toContain("svc itself has a fault");
    }
    const seen = await record(to, String(mine["site_id"]), hal);
    expect(idsIn(seen)).toEqual([String(mine["version_id"])]);
    await rm(join(place, "import.json"));
    expect((await person.run(["import", place])).code).toBe(0);
    expect((await home.run(["export", "planted"])).code).toBe(0);
    expect(await readFile(victim, "utf8")).toBe("mine");
  });

  test("stopped half-way it goes on where it was", async () => {
    const half = await home.write("half", {});
    await home.run(["export", "half"]);
    const cleo = await signUp(to);
    const third = await signedIn(to, cleo);
    const [first, second] = garden.versions;
    await third.run(["import", half]);
    const path = join(half, "import.json");
    const done = JSON.parse(await readFile(path, "utf8")) as Record<string, Record<string, Made & { done: boolean }>>;
    const one = done[to.base_url]![garden.site_id]!;
    await call(to, "POST", `/sites/${one.site_id}/rollback`, { version_id: first }, cleo.bearer);
    await writeFile(path, JSON.stringify({ [to.base_url]: { [garden.site_id]: { ...one, versions: [first, second], done: false } } })); // prettier-ignore
    expect((await third.run(["import", half])).code).toBe(0);
    const seen = await record(to, one.site_id, cleo);
    expect([seen["live_version_id"], new Set(idsIn(seen))]).toEqual([garden.versions[1]!, new Set(garden.versions)]);
    expect((await call(to, "GET", "/account/sites", undefined, cleo.bearer)).body.sites.length).toBe(3);
  });

  test.each<[string, (folder: string) => Promise<unknown>, RegExp]>([
    ["no export", (at) => rm(join(at, "export.json")), /has no export\.json: svc export <folder>/],
    ["no JSON", (at) => writeFile(join(at, "export.json"), "{"), /is no JSON/],
    [
      "another format",
      (at) => writeFile(join(at, "export.json"), `{"format":2,"sites":[]}`),
      /no export that this svc knows/,
    ],
    [
      "a zip that is missing",
      (at) => rm(join(at, garden.slug, `${garden.versions[0]}.zip`)),
      /is missing\. Nothing was sent/,
    ],
    [
      "a zip that is cut off",
      (at) => writeFile(join(at, garden.slug, `${garden.versions[2]}.zip`), "PK"),
      /is damaged/,
    ],
    [
      "a live version without a zip",
      async (at) => {
        const read = await readFile(join(at, "export.json"), "utf8");
        await writeFile(
          join(at, "export.json"),
          read.replace(/"live_version_id": "[0-9a-f]+"/, '"live_version_id": "0123456789abcdef"'),
        );
      },
      /has no zip of the version of .* that was live/,
    ],
    [
      "a name that is none",
      async (at) => {
        const read = await readFile(join(at, "export.json"), "utf8");
        await writeFile(join(at, "export.json"), read.replace(`"slug": "${garden.slug}"`, '"slug": "\\u001b[31mx"'));
      },
      /names a site in a way that svc does not know/,
    ],
    [
      "a path that leaves the folder",
      async (at) => {
        const read = await readFile(join(at, "export.json"), "utf8");
        await writeFile(join(at, "export.json"), read.replaceAll(`${garden.slug}/`, `../${garden.slug}/`));
      },
      /is not in its folder/,
    ],
  ])("%s is refused, and nothing is sent", async (name, spoil, said) => {
    const at = home.path(name.replaceAll(" ", "-"));
    expect((await home.run(["export", at])).code).toBe(0);
    await spoil(at);
    const dora = await signUp(to);
    const { code, out, err } = await (await signedIn(to, dora)).run(["import", at]);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(said);
    expect((await call(to, "GET", "/account/sites", undefined, dora.bearer)).body.sites).toEqual([]);
  });
});

test("BEYOND 9: an export that comes too quickly waits as long as the server says", async () => {
  const slow = await sharedServer({ SVC_RATE_OWNED: "2/3s" });
  const eve = await signUp(slow);
  const place = await signedIn(slow, eve);
  const files = await place.write("site", { "index.html": "<title>x</title>" });
  for (let n = 0; n < 4; n++) {
    await place.write("site", { "index.html": `<title>${n}</title>` });
    const ran = n === 0 ? [files] : ["update", files];
    for (let tried = 0; (await place.run(ran)).code !== 0 && tried < 5; tried++) await Bun.sleep(3000);
  }
  expect(await ranJson(place, "export", "all")).toMatchObject({
    ok: true,
    sites: 1,
    versions: 4,
    fetched: { zips: 4 },
  });
});
