/** The quarantine of a site whose pages look suspicious (PIPELINE 3): started by a deploy, ended by an operator. */
import type { Quarantined } from "../upkeep.ts";
import type { Site } from "../../base/types.ts";
import { type Db, type Op, statement } from "./db.ts";

/** Reasons that are kept of a site which gathers ever more. */
const MOST = 20;

const signalsOf = ({ quarantine }: Pick<Site, "quarantine">): string[] =>
  quarantine === null ? [] : (JSON.parse(quarantine) as string[]);

const start = statement(
  `update sites set quarantine = ?1 where site_id = ?2 and (cleared_version_no is null or cleared_version_no <
     (select version_no from versions where site_id = ?2 and version_id = ?3))`,
);

/** Inside the deploy's transaction, after the version's row is there. */
export function* quarantine(site: Site, version_id: string, suspicions: readonly string[]): Op<void> {
  // An owner can be asked: there a warning is enough.
  if (suspicions.length === 0 || site.owner_account_id !== null) return;
  const signals = [...new Set([...signalsOf(site), ...suspicions])].slice(0, MOST);
  yield* start.do(JSON.stringify(signals), site.site_id, version_id);
}

const quarantined = statement<Site>("select * from sites where quarantine is not null order by created_at, site_id");

/** Newest last. */
export const quarantineListing = (db: Db) => async (): Promise<Quarantined[]> =>
  (await db.read(quarantined.all())).map((site) => {
    const { site_id, slug, created_at } = site;
    return { site_id, slug, created_at, signals: signalsOf(site) };
  });
