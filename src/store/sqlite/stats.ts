/** The counts of sites' visits, of all processes together (BEYOND 11): added, read and forgotten in `DATA/stats.db`. */
import type { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  type CountedDay,
  dateOf,
  KEPT_DAYS,
  MOST_NAMES,
  type NameCount,
  type NameKind,
  OTHER,
  type SiteStatistics,
  VisitorSketch,
} from "../../base/statistics.ts";
import { statsSalt } from "../disk/stats-salt.ts";
import { type Db, listFrom, ofList, statement } from "../operation.ts";
import type { ReadStatistics, StatisticsTables, StoredDay, StoredName } from "../upkeep.ts";
import { statsFile } from "./stats-file.ts";

const counted = statement<{ site_id: string }>(
  `select site_id from sites where stats = 1 and site_id in (${listFrom(1)})`,
);

/** Those of the sites whose visits are counted: none that is gone. */
async function countedOf(main: Pick<Db, "read">, site_ids: readonly string[]): Promise<Set<string>> {
  const rows = await main.read(() => ofList(site_ids, (list) => counted.all(...list)));
  return new Set(rows.map(({ site_id }) => site_id));
}

// Adding.

const ADD_DAY = `insert into days values (?1, ?2, ?3, ?4, ?5, ?6) on conflict do update set
  views = views + excluded.views, bots = bots + excluded.bots, misses = misses + excluded.misses,
  visitors = excluded.visitors`;
const ADD_NAME = `insert into names values (?1, ?2, ?3, ?4, ?5, ?6) on conflict do update set
  count = count + excluded.count, internal = internal + excluded.internal`;
const ADD_TO_NAME = `update names set count = count + ?5, internal = internal + ?6
  where site_no = ?1 and kind = ?2 and day = ?3 and name = ?4`;
const NAMES = "select count(*) as count from names where site_no = ? and kind = ? and day = ? and name <> ?";

const siteNo = (db: Database, site_id: string): number | undefined =>
  db.query<{ site_no: number }, [string]>("select site_no from sites where site_id = ?").get(site_id)?.site_no;

function addNames(db: Database, site_no: number, kind: NameKind, day: number, names: readonly NameCount[]): void {
  if (names.length === 0) return;
  const place = [site_no, kind, day] as const;
  let room = MOST_NAMES[kind] - db.query<{ count: number }, (string | number)[]>(NAMES).get(...place, OTHER)!.count;
  const add = db.query(ADD_NAME);
  const addTo = db.query(ADD_TO_NAME);
  for (const [name, count, internal] of names) {
    if (addTo.run(...place, name, count, internal).changes > 0) continue;
    const fits = name === OTHER || room-- > 0;
    add.run(...place, fits ? name : OTHER, count, internal);
  }
}

function addDay(db: Database, { site_id, day, views, bots, misses, visitors, ...names }: CountedDay): void {
  const site_no =
    siteNo(db, site_id) ?? Number(db.query("insert into sites (site_id) values (?)").run(site_id).lastInsertRowid);
  const stored = db.query<{ visitors: Uint8Array }, [number, number]>(
    "select visitors from days where site_no = ? and day = ?",
  );
  const before = stored.get(site_no, day)?.visitors;
  const sketch = VisitorSketch.of(visitors);
  if (before !== undefined) sketch.merge(before);
  db.query(ADD_DAY).run(site_no, day, views, bots, misses, sketch.bytes());
  for (const kind of ["paths", "referrers", "missed"] as const) addNames(db, site_no, kind, day, names[kind]);
}

// Reading.

/** Entries of a list of an answer. */
const MOST_LISTED = 100;

const DAYS = "select day, views, bots, misses, visitors from days where site_no = ? and day between ? and ?";
const NAMED = `select name, sum(count) as count, sum(internal) as internal from names
  where site_no = ? and kind = ? and day between ? and ? group by name order by 2 desc, name limit ?`;

const NOTHING = { views: 0, visitors: 0, bots: 0, misses: 0 };

function readDays(stored: readonly StoredDay[], from: number, to: number) {
  const found = new Map(stored.map((one) => [one.day, one]));
  const totals = { ...NOTHING };
  const days: SiteStatistics["days"] = [];
  for (let day = from; day <= to; day++) {
    const one = found.get(day);
    const { views, bots, misses } = one ?? NOTHING;
    const counts = { views, visitors: one ? VisitorSketch.of(one.visitors).visitors : 0, bots, misses };
    days.push({ date: dateOf(day), ...counts });
    for (const name of ["views", "visitors", "bots", "misses"] as const) totals[name] += counts[name];
  }
  return { totals, days };
}

/** Finds the line for each missed path, out of the paths of the live version's files. */
export type RuleFor = (files: readonly string[], missed: readonly string[]) => (string | null)[];

const liveFiles = statement<{ path: string }>(
  `select path from sites join versions on versions.site_id = sites.site_id
     and versions.version_id = sites.live_version_id join files using (version_no) where sites.site_id = ?`,
);

/** The answer to an owner's question, out of what is stored. */
export async function siteStatistics(
  { days, named }: ReadStatistics,
  { from, to }: { from: number; to: number },
  rulesFor: (missed: readonly string[]) => Promise<(string | null)[]>,
): Promise<SiteStatistics> {
  const [paths, referrers, missed] = [
    await named("paths", MOST_LISTED),
    await named("referrers", MOST_LISTED),
    await named("missed", MOST_LISTED),
  ];
  const rules = await rulesFor(missed.map(({ name }) => name));
  return {
    ...readDays(days, from, to),
    paths: paths.map(({ name, count }) => ({ path: name, views: count })),
    referrers: referrers.map(({ name, count }) => ({ host: name, views: count })),
    misses: missed.map(({ name, count, internal }, i) => ({ path: name, hits: count, internal, rule: rules[i]! })),
  };
}

/** Finds the line for each missed path, out of the paths of the live version's files. */
export const rulesOf =
  (main: Pick<Db, "read">, site_id: string, ruleFor: RuleFor) =>
  async (missed: readonly string[]): Promise<(string | null)[]> => {
    const files = missed.length === 0 ? [] : await main.read(() => liveFiles.all(site_id));
    return ruleFor(
      files.map(({ path }) => path),
      missed,
    );
  };

// Forgetting.

const siteIds = (db: Database): string[] =>
  db
    .query<{ site_id: string }, []>("select site_id from sites")
    .all()
    .map(({ site_id }) => site_id);

/** Text that was deleted is in the log, too, until it is brought into the database. */
const emptyLog = (db: Database): void => void db.run("pragma wal_checkpoint(truncate)");

/** A transaction a site: others write in between. */
function forgetSites(db: Database, site_ids: readonly string[]): void {
  if (site_ids.length === 0) return;
  const remove = db.query("delete from sites where site_id = ?");
  for (const site_id of site_ids) remove.run(site_id);
  emptyLog(db);
}

/** Sites among these that count no more. */
async function uncountedOf(main: Pick<Db, "read">, site_ids: readonly string[]): Promise<string[]> {
  const counted = await countedOf(main, site_ids);
  return site_ids.filter((site_id) => !counted.has(site_id));
}

/** A transaction a site: others write in between. */
function forgetOld(db: Database, today: number): void {
  const oldest = today - KEPT_DAYS + 1;
  const sites = db.query<{ site_no: number }, [number]>("select distinct site_no from days where day < ?").all(oldest);
  const [days, names] = [
    db.query("delete from days where site_no = ? and day < ?"),
    db.query("delete from names where site_no = ? and kind = ? and day < ?"),
  ];
  for (const { site_no } of sites) {
    db.transaction(() => {
      days.run(site_no, oldest);
      for (const kind of Object.keys(MOST_NAMES)) names.run(site_no, kind, oldest);
    }).immediate();
  }
  if (sites.length > 0) emptyLog(db);
}

/** The statistics of a data directory. `main`: the store's database, which says which sites count. Nothing here is for a thread
 *  that answers requests: each call waits for the disk, and for other processes' writes. */
export function openStats(
  data_dir: string,
  main: Pick<Db, "read">,
  tell: (sentence: string) => void,
): StatisticsTables {
  const { work, close } = statsFile.keepOpen(data_dir, tell);
  /** Sites of which nobody has looked since their last counts whether they still count. */
  const unsure = new Set<string>();
  async function forgetEnded(): Promise<void> {
    const ended = await uncountedOf(main, [...unsure]);
    work((db) => forgetSites(db, ended));
    unsure.clear();
  }
  return {
    /** Adds counts in one transaction. Those of a site that is gone, or counts no more, are dropped: before, and once more after,
     *  for whoever turns it off meanwhile removes what was there before. What fails after it is done with the next. */
    async add(days) {
      const site_ids = [...new Set(days.map(({ site_id }) => site_id))];
      const counted = await countedOf(main, site_ids);
      work((db) => {
        const addAll = db.transaction(() => {
          for (const one of days) if (counted.has(one.site_id)) addDay(db, one);
        });
        addAll.immediate();
      });
      for (const site_id of counted) unsure.add(site_id);
      await forgetEnded().catch(() => {}); // the counts are in: whoever adds them once more adds them twice
    },
    async read(site_id, from, to) {
      const site_no = work((db) => siteNo(db, site_id)) ?? 0;
      return {
        days: work((db) => db.query<StoredDay, number[]>(DAYS).all(site_no, from, to)),
        named: async (kind, most) =>
          work((db) => db.query<StoredName, (string | number)[]>(NAMED).all(site_no, kind, from, to, most)),
      };
    },
    async beginDay(day) {
      const salt = work((db) => db.transaction(() => statsSalt.turn(data_dir, day)).immediate());
      work((db) => forgetOld(db, day));
      return salt;
    },
    close,
  };
}

/** Removes what is stored of sites that are gone, or count no more. If the file cannot be written now, the next sweep does it:
 *  the deletion itself has happened. */
export async function forgetUncountedSites(data_dir: string, main: Pick<Db, "read">): Promise<void> {
  if (!existsSync(join(data_dir, statsFile.name))) return;
  let file: ReturnType<typeof statsFile.open> | null = null;
  try {
    file = statsFile.open(data_dir, false);
    const { db } = file;
    forgetSites(db, await uncountedOf(main, siteIds(db)));
  } catch {
    // A full or failing disk, or a lock that others hold; who counts the next visit finds a damaged file, and says so.
  } finally {
    file?.db.close();
  }
}
