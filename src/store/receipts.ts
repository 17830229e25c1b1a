/** Receipts: what the service said of a deploy, kept with the version that it made. They are bounded, for the receipt of two
 *  hundred files with odd names is a megabyte, and there are as many receipts as versions. */
import type { BuiltVersion, Checked, Healed, Warning } from "../base/types.ts";
import { listFrom, ofList, type Op, statement } from "./operation.ts";

/** Bytes of both lists together, as they are written down. */
const MOST_BYTES = 64 * 1024;

/** How the uploaded files of a version differ from those of the one that was live before. */
export interface ChangeCounts {
  /** The version_id of that one; it may have been deleted since. */
  against: string;
  added: number;
  changed: number;
  removed: number;
  same: number;
}

/** The first path of each kind, to tell versions apart by; null where there is none, or where it is long. */
export type NamedChanges = Readonly<Record<"added" | "changed" | "removed", string | null>>;

export type VersionChanges = ChangeCounts & { named: NamedChanges };

/** The receipt of the deploy that made a version. */
export interface Receipt {
  healed: readonly Healed[];
  warnings: readonly Warning[];
  /** How many entries did not fit. */
  left_out: number;
  /** Null if the receipt is older than such figures are. */
  checked: Checked | null;
  /** The renderer that made pages of it; null if none did, or if nobody noted it down. */
  renderer: number | null;
  /** As `checked`; and null for the first version of a site. */
  changes: VersionChanges | null;
}

type ToReceipt = Pick<BuiltVersion, "healed" | "warnings" | "renderer">;
type VersionFigures = Pick<BuiltVersion, "checked"> & { changes: VersionChanges | null };

/** The entries of `list`, whole and in their order, that fit into what is left of `room`. */
function fitting(list: readonly unknown[], room: number): { texts: string[]; bytes: number } {
  const texts: string[] = [];
  let bytes = 2;
  for (const entry of list) {
    const text = JSON.stringify(entry);
    bytes += Buffer.byteLength(text) + 1;
    if (bytes > room) return { texts, bytes: bytes - Buffer.byteLength(text) - 1 };
    texts.push(text);
  }
  return { texts, bytes };
}

const listOf = (texts: readonly string[]): string => `[${texts.join(",")}]`;

/** The lists as they are stored. If not all fits, warnings come first: they are what is still to be done. */
function written({ healed, warnings }: Omit<ToReceipt, "renderer">) {
  const warned = fitting(warnings, MOST_BYTES - 2);
  const fixed = fitting(healed, MOST_BYTES - warned.bytes);
  return {
    healed: listOf(fixed.texts),
    warnings: listOf(warned.texts),
    left_out: healed.length + warnings.length - fixed.texts.length - warned.texts.length,
  };
}

/** The bytes that a receipt takes of the database. */
function receiptBytes(said: Omit<ToReceipt, "renderer">): number {
  const { healed, warnings } = written(said);
  return Buffer.byteLength(healed) + Buffer.byteLength(warnings);
}

/** The same for a stored row. */
export const RECEIPT_SQL = "octet_length(healed) + octet_length(warnings)";

const FIGURES =
  "checked_pages, checked_links, checked_files, against, added, changed, removed, same, named_added, named_changed, named_removed";
const PLACES = Array(FIGURES.split(",").length).fill("?").join(", ");

/** The figures in that order. */
function figuresOf({ checked: { pages, links, files }, changes }: VersionFigures): (number | string | null)[] {
  if (changes === null) return [pages, links, files, ...Array<null>(8).fill(null)];
  const { against, added, changed, removed, same, named } = changes;
  return [pages, links, files, against, added, changed, removed, same, named.added, named.changed, named.removed];
}

const insert = statement(
  `insert into receipts (version_no, left_out, warned, healed, warnings, renderer, ${FIGURES})
   values (?, ?, ?, ?, ?, ?, ${PLACES})`,
);

function keepReceipt(version_no: number, said: ToReceipt & VersionFigures): Op<void> {
  const { healed, warnings, left_out } = written(said);
  return insert.do(version_no, left_out, said.warnings.length, healed, warnings, said.renderer, ...figuresOf(said));
}

const setFigures = statement(
  `update receipts set (${FIGURES}) = (${PLACES})
   where version_no = (select version_no from versions where site_id = ? and version_id = ?)`,
);

/** A version was deployed again: its figures are those of the last time. What was fixed and warned of follows from the files. */
const keepFigures = (site_id: string, version_id: string, figures: VersionFigures): Op<void> =>
  setFigures.do(...figuresOf(figures), site_id, version_id);

/** Takes the names of a version's files out of receipts of other versions of its site: the version is about to be deleted. */
const forgetNames = statement(
  `update receipts set named_removed = null
   where against = (select version_id from versions where version_no = ?1) and named_removed is not null
     and (select site_id from versions where versions.version_no = receipts.version_no)
       = (select site_id from versions where version_no = ?1)`,
);

/** The columns of a row's figures: all null in receipts that are older than they are. */
interface FigureColumns {
  checked_pages: number | null;
  checked_links: number | null;
  checked_files: number | null;
  against: string | null;
  added: number | null;
  changed: number | null;
  removed: number | null;
  same: number | null;
  named_added: string | null;
  named_changed: string | null;
  named_removed: string | null;
}

const checkedIn = ({ checked_pages: pages, checked_links: links, checked_files: files }: FigureColumns) =>
  pages === null ? null : { pages, links: links!, files: files! };

function changesIn({ against, added, changed, removed, same, ...row }: FigureColumns): VersionChanges | null {
  if (against === null) return null;
  const counts = { against, added: added!, changed: changed!, removed: removed!, same: same! };
  return { ...counts, named: { added: row.named_added, changed: row.named_changed, removed: row.named_removed } };
}

const ofVersion = statement<
  { healed: string; warnings: string; left_out: number; renderer: number | null } & FigureColumns
>(
  `select healed, warnings, left_out, renderer, ${FIGURES} from versions join receipts using (version_no)
   where site_id = ? and version_id = ?`,
);

function* receiptOf(site_id: string, version_id: string): Op<Receipt | null> {
  const row = yield* ofVersion.get(site_id, version_id);
  if (row === null) return null;
  const { healed, warnings, left_out, renderer } = row;
  const lists = { healed: JSON.parse(healed), warnings: JSON.parse(warnings), left_out, renderer };
  return { ...lists, checked: checkedIn(row), changes: changesIn(row) };
}

const changesOfPage = statement<FigureColumns & { version_id: string }>(
  `select version_id, ${FIGURES} from versions join receipts using (version_no)
   where site_id = ?1 and version_id in (${listFrom(2)}) and (against is null or exists (
     select 1 from versions as before where before.site_id = ?1 and before.version_id = against and before.listed_no is not null))`,
);

/** The changes of several versions of a site by version_id; those without figures, or whose version before is
 *  gone, are left out. */
function* changesOfVersions(site_id: string, version_ids: readonly string[]): Op<Map<string, VersionChanges>> {
  const found = new Map<string, VersionChanges>();
  for (const row of yield* ofList(version_ids, (list) => changesOfPage.all(site_id, ...list))) {
    const changes = changesIn(row);
    if (changes !== null) found.set(row.version_id, changes);
  }
  return found;
}

/** Receipts as rows. */
export const receipts = {
  bytes: receiptBytes,
  keep: keepReceipt,
  keepFigures,
  forgetNames: (version_no: number): Op<void> => forgetNames.do(version_no),
  changesOf: changesOfVersions,
  of: receiptOf,
};
