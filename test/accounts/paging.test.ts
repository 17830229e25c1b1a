/** CONTRACT 4.4: lists are told in pages, so that no account and no site makes an answer that others wait for. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Home, json } from "../kit/cli.ts";
import { cpuOfAsync } from "../kit/cpu.ts";
import { addSessions, addSites, addVersions, idOfVersion, write } from "../kit/database.ts";
import { fakeServer } from "../kit/fake-server.ts";
import { bearer, call, type Person, signUp } from "../kit/people.ts";
import { type DeployResult } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";

setDefaultTimeout(120_000);

const MANY = 5000;
let person: Person;
/** Has `MANY` more versions than its first one, which is the oldest; the newest is live. */
let site: DeployResult;
const server = await sharedServer();
beforeAll(async () => {
  person = await signUp(server);
  site = await server.deploy({ "index.html": "first" });
  addVersions(server.data_dir, site, MANY);
  addSites(server.data_dir, person, MANY);
});

/** Newest first. */
const VERSIONS = () => [...Array.from({ length: MANY }, (_, n) => idOfVersion(MANY - n)), site.version_id];

interface Body {
  code?: string;
  field?: string;
  versions: { version_id: string }[];
  more?: boolean;
  sites: { site_id: string }[];
  cursor: string | null;
  sessions: { session_id: string }[];
}

async function get(path: string, by: Record<string, string>) {
  const response = await server.api(path, { headers: by });
  const text = await response.text();
  return { status: response.status, bytes: text.length, body: JSON.parse(text) as Body };
}
const record = (query = "") => get(`/sites/${site.site_id}${query}`, bearer(site.manage_token));
const list = (query = "") => get(`/account/sites${query}`, person.bearer);

describe("GET /sites/:id", () => {
  test("tells at most 1,000 versions, newest first, and that there are more", async () => {
    const { body, bytes } = await record();
    expect(body.versions.map(({ version_id }) => version_id)).toEqual(VERSIONS().slice(0, 1000));
    expect(body.more).toBe(true);
    expect(bytes).toBeLessThan(200_000);
  });

  test.each([1, 7, 999, 1000])(
    "a page of %i goes on before the last one, to the end, where nothing is left",
    async (limit) => {
      const seen: string[] = [];
      const wanted = limit < 100 ? 3 * limit : MANY + 1;
      for (let query = `?limit=${limit}`; seen.length < wanted;) {
        const { body } = await record(query);
        seen.push(...body.versions.map(({ version_id }) => version_id));
        expect("more" in body).toBe(seen.length <= MANY);
        query = `?limit=${limit}&before=${seen.at(-1)}`;
      }
      expect(seen).toEqual(VERSIONS().slice(0, seen.length));
      if (wanted > MANY) expect((await record(`?before=${site.version_id}`)).body.versions).toEqual([]);
    },
  );

  test("the live version decides `spa` on every page, also where it is not on it", async () => {
    const { body } = await record(`?limit=2&before=${idOfVersion(3)}`);
    expect(body.versions.map(({ version_id }) => version_id)).toEqual([idOfVersion(2), idOfVersion(1)]);
    expect(body).toMatchObject({ live_version_id: idOfVersion(MANY), spa: { enabled: true, rule: "config" } });
  });

  test("a before that is no version of the site is 404 unknown_version", async () => {
    const { status, body } = await record("?before=0123456789abcdef");
    expect([status, body.code]).toEqual([404, "unknown_version"]);
  });

  test("a PATCH answers with the first page", async () => {
    const own = await server.deploy({ "index.html": "own" });
    addVersions(server.data_dir, own, 1100);
    const { claim_token } = own;
    await call(server, "POST", `/sites/${own.site_id}/claim`, { claim_token }, person.bearer);
    const changed = await call(server, "PATCH", `/account/sites/${own.site_id}`, { label: "L" }, person.bearer);
    expect([(changed.body["versions"] as unknown[]).length, changed.body["more"]]).toEqual([1000, true]);
    await call(server, "DELETE", `/account/sites/${own.site_id}`, undefined, person.bearer);
  });
});

describe("GET /account/sites", () => {
  test("tells at most 1,000, newest first; the cursor leads on until it is null", async () => {
    const seen: string[] = [];
    let pages = 0;
    for (let query = ""; query !== "end"; pages++) {
      const { body, bytes } = await list(query);
      expect(bytes).toBeLessThan(300_000);
      seen.push(...body.sites.map(({ site_id }) => site_id));
      query = body.cursor === null ? "end" : `?cursor=${body.cursor}`;
    }
    expect([pages, seen.length, new Set(seen).size]).toEqual([5, MANY, MANY]);
    expect(seen).toEqual(seen.toSorted().reverse()); // as addSites counts them, each ten at one time
  });

  test("a site that comes or goes meanwhile moves no other", async () => {
    const [all, first] = [(await list("?limit=10")).body, (await list("?limit=4")).body];
    const last = first.sites.at(-1)!.site_id;
    write(server.data_dir, "update sites set created_at = '2020-01-01T00:00:00.000Z' where site_id = ?", last);
    const second = (await list(`?limit=6&cursor=${first.cursor}`)).body;
    expect(second.sites).toEqual(all.sites.slice(4));
    write(server.data_dir, "update sites set created_at = (select max(created_at) from sites) where site_id = ?", last);
  });

  test.each(["x", "bm9wZQ", "null", "%00", Buffer.from("2026-01-01T00:00:00.000Z site_'; --").toString("base64url")])(
    "the cursor %j is 400 invalid_input",
    async (cursor) => {
      const { status, body } = await list(`?cursor=${cursor}`);
      expect([status, body.code, body.field]).toEqual([400, "invalid_input", "cursor"]);
    },
  );
});

test.each(["0", "1001", "-1", "1e2", "", "10000", "all"])(
  "?limit=%s is 400 invalid_input on both lists",
  async (limit) => {
    for (const { status, body } of [await record(`?limit=${limit}`), await list(`?limit=${limit}`)]) {
      expect([status, body.code, body.field]).toEqual([400, "invalid_input", "limit"]);
    }
  },
);

test("GET /account/sessions tells at most 1,000, newest first, and that there are more", async () => {
  const one = await signUp(server);
  expect("more" in (await get("/account/sessions", one.bearer)).body).toBe(false);
  addSessions(server.data_dir, one, 1500);
  const { body, bytes } = await get("/account/sessions", one.bearer);
  expect([body.sessions.length, body.more]).toEqual([1000, true]);
  expect(bytes).toBeLessThan(300_000);
  const ids = body.sessions.map(({ session_id }) => session_id);
  expect(ids).toEqual(ids.toSorted().reverse());
});

describe("svc follows the pages", () => {
  test("versions and rollback by a prefix, of a site with more than one page", async () => {
    await using home = await Home.make(server.base_url);
    const by = ["--site", site.site_id, "--token", site.manage_token];
    const { out } = await home.run(["versions", ...by]);
    expect(
      out
        .trimEnd()
        .split("\n")
        .map((row) => row.split(" ")[0]),
    ).toEqual(VERSIONS());
    const rows = json(await home.run(["versions", ...by, "--json"]))["versions"] as { version_id: string }[];
    expect(rows.map(({ version_id }) => version_id)).toEqual(VERSIONS());
    const back = json(await home.run(["rollback", site.version_id.slice(0, 12), ...by, "--json"]));
    expect(back["version_id"]).toBe(site.version_id);
    expect(json(await home.run(["rollback", ...by, "--json"]))["code"]).toBe("no_previous_version");
    await home.run(["rollback", idOfVersion(2), ...by]);
    // The one before the live one stands on the sixth page.
    expect(json(await home.run(["rollback", ...by, "--json"]))["version_id"]).toBe(idOfVersion(1));
    await home.run(["rollback", idOfVersion(MANY), ...by]);
  });

  test("list, and usage", async () => {
    await using home = await Home.make(server.base_url);
    const env = { SVC_TOKEN: person.session_token };
    expect(JSON.parse((await home.run(["list"], { env })).out)).toHaveLength(MANY);
    const { code, out } = await home.run(["usage"], { env });
    expect([code, out]).toEqual([0, `0 B of 5 GB in ${MANY} sites with ${MANY} versions\n`]);
    const body = { bytes: 0, quota_bytes: 5 * 1024 ** 3, sites: MANY, versions: MANY };
    expect(json(await home.run(["usage", "--json"], { env }))).toMatchObject({ ok: true, ...body });
  });

  test("usage without a session: exit 1 and the way to get one", async () => {
    await using home = await Home.make(server.base_url);
    const { code, out, err } = await home.run(["usage"]);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain("svc usage needs your account: run svc login, or set SVC_TOKEN.");
  });

  test("a server that always says more does not hold it for good", async () => {
    const versions = [{ version_id: "0123456789abcdef", title: null, created_at: "2026-11-22T00:00:00.000Z" }];
    const fake = fakeServer((path) =>
      Response.json(
        path === "/account/sites"
          ? { sites: [], cursor: "same" }
          : {
              site_id: "site_x",
              url: "http://x.localhost",
              expires_at: null,
              live_version_id: "",
              versions,
              more: true,
            },
      ),
    );
    await using home = await Home.make(fake.url);
    const { out, code } = await home.run(["versions", "--site", "site_x", "--token", "t"]);
    expect([code, out]).toEqual([0, "0123456789abcdef 2026-11-22T00:00:00.000Z\n"]);
    expect((await home.run(["list"], { env: { SVC_TOKEN: "s" } })).out).toBe("[]\n");
    await fake.stop();
  });
});

test("a page costs what it tells, however long the list behind it is", async () => {
  const [short, alone] = [await server.deploy({ "index.html": "short" }), await signUp(server)];
  const asks = async (paths: [string, Record<string, string>][]) => {
    for (let n = 0; n < 40; n++) for (const [path, by] of paths) await get(path, by);
  };
  const long_lists: Parameters<typeof asks>[0] = [
    [`/sites/${site.site_id}?limit=1`, bearer(site.manage_token)],
    ["/account/sites?limit=1", person.bearer],
    ["/account/usage", person.bearer],
  ];
  const short_lists: typeof long_lists = [
    [`/sites/${short.site_id}?limit=1`, bearer(short.manage_token)],
    ["/account/sites?limit=1", alone.bearer],
    ["/account/usage", alone.bearer],
  ];
  await asks([...long_lists, ...short_lists]);
  const [few, many] = [await cpuOfAsync(() => asks(short_lists)), await cpuOfAsync(() => asks(long_lists))];
  expect(many / few).toBeLessThan(4); // sorting 5,000 rows alone is 5 ms, and a call is less than one
});
