/** Data folders as programs of earlier schemas left them (test/fixtures/upgrades): each was made by the server of its time, over
 *  HTTP, and has what that one could keep: sites, an account, comments, a webhook, tokens, a preview. */
import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { FIXTURES } from "./paths.ts";
import { decoded } from "./visitor.ts";

const FOLDER = join(FIXTURES, "upgrades");

interface OldSite {
  slug: string;
  site_id: string;
  manage_token: string | null;
  /** Of its first version, and of the live one. */
  first: string;
  live: string;
  /** In the live index page. */
  text: string;
  owned?: true;
}

/** What was put into it, over HTTP. */
export interface OldFacts {
  schema: number;
  sites: OldSite[];
  account: { email: string; password: string };
  /** The slug of a site that its owner deleted. */
  gone: string;
  /** On the owned site. */
  comments: string[];
  webhook: { url: string; secret: string } | null;
  /** The name of a deploy token. */
  token: string | null;
  preview: { url: string; text: string } | null;
}

/** Their schemas. Schema 6 landed together with 7; no server that knew 1 alone could be started. */
export const OLD_SCHEMAS: readonly number[] = readdirSync(FOLDER)
  .map((name) => Number(/^schema-(\d+)\.json\.gz$/.exec(name)?.[1]))
  .toSorted((a, b) => a - b);

/** Makes the folder. What of it has an end is given one in 2100. */
export async function unpackOldFolder(schema: number, data_dir: string): Promise<OldFacts> {
  const name = `schema-${String(schema).padStart(2, "0")}.json.gz`;
  const packed = await Bun.file(join(FOLDER, name)).bytes();
  const { facts, files } = JSON.parse(Buffer.from(Bun.gunzipSync(packed)).toString()) as {
    facts: OldFacts;
    files: Record<string, string>;
  };
  for (const [path, bytes] of Object.entries({ ...files, "lock.db": "" })) {
    mkdirSync(dirname(join(data_dir, path)), { recursive: true, mode: 0o700 });
    writeFileSync(join(data_dir, path), Buffer.from(bytes, "base64"), { mode: 0o600 });
  }
  mkdirSync(join(data_dir, "tmp"), { mode: 0o700 });
  return facts;
}

interface Reached {
  port: number;
}

const api = ({ port }: Reached, path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${port}${path}`, init);
const onSite = (server: Reached, slug: string, path = "/") =>
  api(server, path, { redirect: "manual", headers: { host: `${slug}.localhost` } });
const textOf = async (server: Reached, slug: string, path = "/") =>
  decoded(await (await onSite(server, slug, path)).text());

/** Throws where something that was put into it is not there any more, or otherwise. */
export async function expectOldFacts(server: Reached, facts: OldFacts): Promise<void> {
  for (const { slug, first, text } of facts.sites) {
    expect(await textOf(server, slug)).toContain(text);
    expect(await textOf(server, `${first}--${slug}`)).toContain(text.replace("second", "first"));
    expect(await textOf(server, slug, "/guide/")).toContain("two seconds");
  }
  expect((await onSite(server, facts.gone)).status).toBe(404);
  const { email, password } = facts.account;
  const body = JSON.stringify({ email, password });
  const signed = await api(server, "/auth/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  expect(signed.status).toBe(200);
  const { session_token } = (await signed.json()) as { session_token: string };
  const headers = { authorization: `Bearer ${session_token}` };
  const listed = (await (await api(server, "/account/sites", { headers })).json()) as { sites: { slug: string }[] };
  const owned = facts.sites.filter((site) => site.owned).map(({ slug }) => slug);
  expect(listed.sites.map(({ slug }) => slug)).toEqual(owned);
  if (facts.comments.length > 0) {
    const feed = await (await onSite(server, owned[0]!, "/_svc/comments/feed.json")).text();
    for (const text of facts.comments) expect(feed).toContain(text);
  }
  if (facts.preview !== null) {
    expect(await textOf(server, new URL(facts.preview.url).hostname.split(".")[0]!)).toContain(facts.preview.text);
  }
  const { tokens } = (await (await api(server, "/account/tokens", { headers })).json()) as {
    tokens: { name: string }[];
  };
  expect(tokens.map(({ name }) => name)).toEqual(facts.token === null ? [] : [facts.token]);
}

/** The tables of a database with their rows, by name, and the schema: what two ways to the same end must agree in. */
export function shapeOf(data_dir: string): { schema: unknown; rows: Record<string, number> } {
  using db = new Database(join(data_dir, "db"), { readonly: true });
  const schema = db.query("select name, sql from sqlite_schema where sql is not null order by name").all();
  const names = db
    .query<{ name: string }, []>("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'")
    .all();
  const counted = names.map(({ name }) => [
    name,
    db.query<{ n: number }, []>(`select count(*) as n from ${name}`).get()!.n,
  ]);
  return { schema, rows: Object.fromEntries(counted) };
}

/** Copies the versions of its owned site so often that an upgrade takes long enough to be met. */
export function enlarge(data_dir: string, { sites }: OldFacts, copies: number): void {
  using db = new Database(join(data_dir, "db"));
  const { site_id } = sites.find((site) => site.owned)!;
  const others = (table: string, ...but: string[]) =>
    db
      .query<{ name: string }, []>(`PRAGMA table_info(${table})`)
      .all()
      .map(({ name }) => name)
      .filter((name) => !but.includes(name))
      .join(", ");
  const version = others("versions", "version_no", "version_id", "live_until");
  const file = others("files", "version_no");
  db.transaction(() => {
    const add = db.query<{ version_no: number }, [string]>(
      `insert into versions (version_id, ${version}) select lower(hex(randomblob(8))), ${version} from versions
       where site_id = ? order by version_no limit 1 returning version_no`,
    );
    const fill = db.query(
      `insert into files (version_no, ${file}) select ?, ${file} from files
       where version_no = (select min(version_no) from versions where site_id = ?)`,
    );
    for (let n = 0; n < copies; n++) fill.run(add.get(site_id)!.version_no, site_id);
    // As the quota of an account counts them, in a schema that has it: `verify` counts again.
    if (!others("sites").includes("stored_versions")) return;
    db.run(
      `update sites set stored_versions = stored_versions + ?1, stored_disk = stored_disk + ?1 * (
         select sum(2 * octet_length(path) + 64) from files where version_no = (
           select min(version_no) from versions where site_id = ?2)) where site_id = ?2`,
      [copies, site_id],
    );
  })();
}
