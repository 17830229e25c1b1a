/** The quarantine of a site whose pages look suspicious (PIPELINE.md 3): started by a deploy, ended by an operator. */
import type { Database } from "bun:sqlite";
import type { Site } from "../../types.ts";

/** Reasons that are kept of a site which gathers ever more. */
const MOST = 20;

export interface Quarantined {
  site_id: string;
  slug: string;
  created_at: string;
  /** One sentence each, with the file and the signal. */
  signals: string[];
}

export const signalsOf = ({ quarantine }: Pick<Site, "quarantine">): string[] =>
  quarantine === null ? [] : (JSON.parse(quarantine) as string[]);

/** For use inside the deploy's transaction, after the version's row is there. */
export function quarantineWriter(
  db: Database,
): (site: Site, version_id: string, suspicions: readonly string[]) => void {
  const start = db.prepare<unknown, [string, string, string]>(
    `update sites set quarantine = ?1 where site_id = ?2 and (cleared_version_no is null or cleared_version_no <
       (select version_no from versions where site_id = ?2 and version_id = ?3))`,
  );
  return (site, version_id, suspicions) => {
    // An owner can be asked: there a warning is enough.
    if (suspicions.length === 0 || site.owner_account_id !== null) return;
    const signals = [...new Set([...signalsOf(site), ...suspicions])].slice(0, MOST);
    start.run(JSON.stringify(signals), site.site_id, version_id);
  };
}

/** Newest last. */
export function quarantineListing(db: Database): () => Promise<Quarantined[]> {
  const all = db.prepare<Site, []>("select * from sites where quarantine is not null order by created_at, site_id");
  return async () =>
    all.all().map((site) => {
      const { site_id, slug, created_at } = site;
      return { site_id, slug, created_at, signals: signalsOf(site) };
    });
}
