/** Who sees what of the comments, as conditions of SQL: asked of the rows `c` (a comment) and `r` (the first of its thread)
 *  with the parameters ?1 (site), ?2 (1 for the owner) and ?3 (the visitor's person, or the empty string). */
import type { Viewpoint } from "../../notes.ts";

export type SightValues = readonly [site_id: string, owner: 0 | 1, person_id: string];

export const sightOf = (site_id: string, as: Viewpoint): SightValues => [
  site_id,
  as.kind === "owner" ? 1 : 0,
  as.kind === "visitor" ? as.person_id : "",
];

const isTheirs = (row: string) => `(?2 = 1 or ${row}.person_id = ?3)`;

/** A thread, by its first comment. */
export const sees = (row: "c" | "r"): string =>
  `(${row}.state in ('public', 'erased') or (${row}.state = 'pending' and ${isTheirs(row)}))`;

/** The number of the last change that they could see; 0 where they never saw it. */
export const numberOf = (row: "c" | "r"): string =>
  `case when ${isTheirs(row)} then ${row}.own_no when ${row}.was_public = 1 then ${row}.public_no else 0 end`;

/** What everybody sees: a comment and the first of its thread. */
export const IS_PUBLIC = "c.state = 'public' and r.state in ('public', 'erased')";
