/** Thousands of sites and versions, as copies of one that was really deployed: over HTTP they would take minutes. */
import type { Database } from "bun:sqlite";
import { openFile } from "./database.ts";

const NUMBERS = "with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)";

/** All columns of a table but `without`, and the same with some of them changed: whatever columns it has. */
function columns(db: Database, table: string, changed: Record<string, string>, without = ""): [string, string] {
  const rows = db.query<{ name: string }, []>(`PRAGMA table_info(${table})`).all();
  const names = rows.map(({ name }) => name).filter((name) => name !== without);
  return [names.join(", "), names.map((name) => changed[name] ?? `${table}.${name}`).join(", ")];
}

function copyFiles(db: Database, version_no: number, to: string): void {
  const [names, values] = columns(db, "files", { version_no: "versions.version_no" });
  db.run(
    `insert into files (${names}) select ${values} from files join versions on ${to} where files.version_no = ?1`,
    [version_no],
  );
}

const firstVersion = (db: Database, site_id: string): number =>
  db
    .query<{ version_no: number }, [string]>("select version_no from versions where site_id = ? order by version_no")
    .get(site_id)!.version_no;

function inOne(data_dir: string, work: (db: Database) => void): void {
  using db = openFile(data_dir, "db", false);
  db.transaction(() => work(db)).immediate();
}

/** The site gets so many versions more, each with the files of its first. */
export function addVersions(data_dir: string, { site_id }: { site_id: string }, count: number): void {
  inOne(data_dir, (db) => {
    const first = firstVersion(db, site_id);
    const [names, values] = columns(
      db,
      "versions",
      { version_id: "printf('%016x', n.i)", listed_no: "listed_no + n.i" },
      "version_no",
    );
    db.run(`${NUMBERS} insert into versions (${names}) select ${values} from n, versions where version_no = ?2`, [
      count,
      first,
    ]);
    copyFiles(db, first, `versions.site_id = '${site_id}' and versions.version_no > ?1`);
  });
}

/** So many sites more like this one, with its owner or its expiry. The nth is called `<name>-<n>`; the name has four
 *  letters, with which the ids begin. */
export function addSites(data_dir: string, { site_id }: { site_id: string }, count: number, name = "many"): void {
  const id = `printf('site_${name}%016d', n.i)`;
  inOne(data_dir, (db) => {
    const first = firstVersion(db, site_id);
    const copy = (table: string, changed: Record<string, string>, without?: string) => {
      const [names, values] = columns(db, table, changed, without);
      const copied = `select ${values} from n, ${table} where ${table}.site_id = ?2 order by n.i`;
      db.run(`${NUMBERS} insert into ${table} (${names}) ${copied}`, [count, site_id]);
    };
    copy("sites", { site_id: id, slug: `printf('${name}-%d', n.i)` });
    copy("versions", { site_id: id }, "version_no");
    copy("tokens", { site_id: id, hash: "printf('%s-%d', tokens.hash, n.i)" });
    copyFiles(db, first, `versions.site_id glob 'site_${name}0*'`);
  });
}
