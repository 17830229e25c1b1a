/** Receipts: what the service said of a deploy, kept with the version that it made. They are bounded, for the receipt of two
 *  hundred files with odd names is a megabyte, and there are as many receipts as versions. */
import type { BuiltVersion, Healed, Warning } from "../base/types.ts";
import { type Op, statement } from "./operation.ts";

/** Bytes of both lists together, as they are written down. */
const MOST_BYTES = 64 * 1024;

/** The receipt of the deploy that made a version. */
export interface Receipt {
  healed: readonly Healed[];
  warnings: readonly Warning[];
  /** How many entries did not fit. */
  left_out: number;
}

type ToReceipt = Pick<BuiltVersion, "healed" | "warnings">;

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
function written({ healed, warnings }: ToReceipt) {
  const warned = fitting(warnings, MOST_BYTES - 2);
  const fixed = fitting(healed, MOST_BYTES - warned.bytes);
  return {
    healed: listOf(fixed.texts),
    warnings: listOf(warned.texts),
    left_out: healed.length + warnings.length - fixed.texts.length - warned.texts.length,
  };
}

/** The bytes that a receipt takes of the database. */
function receiptBytes(said: ToReceipt): number {
  const { healed, warnings } = written(said);
  return Buffer.byteLength(healed) + Buffer.byteLength(warnings);
}

/** The same for a stored row. */
export const RECEIPT_SQL = "octet_length(healed) + octet_length(warnings)";

const insert = statement(
  "insert into receipts (version_no, left_out, warned, healed, warnings) values (?, ?, ?, ?, ?)",
);

function keepReceipt(version_no: number, said: ToReceipt): Op<void> {
  const { healed, warnings, left_out } = written(said);
  return insert.do(version_no, left_out, said.warnings.length, healed, warnings);
}

const ofVersion = statement<{ healed: string; warnings: string; left_out: number }>(
  `select healed, warnings, left_out from versions join receipts using (version_no)
   where site_id = ? and version_id = ?`,
);

function* receiptOf(site_id: string, version_id: string): Op<Receipt | null> {
  const row = yield* ofVersion.get(site_id, version_id);
  if (row === null) return null;
  return { healed: JSON.parse(row.healed), warnings: JSON.parse(row.warnings), left_out: row.left_out };
}

/** Receipts as rows. */
export const receipts = {
  bytes: receiptBytes,
  keep: keepReceipt,
  of: receiptOf,
};
