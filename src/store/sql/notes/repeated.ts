/** Whether somebody says what was said before: spam waits for the owner in every mode (COMMENTS 4). */
import { createHash } from "node:crypto";
import { type Op, statement } from "../db.ts";

/** Shorter ones say the same by chance. */
const LONG = 40;
const BYTES = 6;

/** Of `comments.text_hash`. */
export const hashOf = (text: string): number => createHash("sha256").update(text).digest().readUIntBE(0, BYTES);

// What is there twice is the same text: no two of them are likely to share a hash.
const saidBy = statement(
  "select 1 from comments where site_id = ?1 and text_hash = ?2 and comment_no <> ?3 and text = ?4 and person_id = ?5 limit 1",
);
const saidByAnybody = statement(
  "select 1 from comments where site_id = ?1 and text_hash = ?2 and comment_no <> ?3 and text = ?4 limit 1",
);

/** `instead_of`: comment_no of the one whose text this is to be; 0 of a new one. */
export function* isRepeated(site_id: string, person_id: string, text: string, instead_of = 0): Op<boolean> {
  const values = [site_id, hashOf(text), instead_of, text] as const;
  if ([...text].length >= LONG) return (yield* saidByAnybody.get(...values)) !== null;
  return (yield* saidBy.get(...values, person_id)) !== null;
}
