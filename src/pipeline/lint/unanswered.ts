/** A reference that no file answers, and its origin. */
import type { Reference, Use } from "../references/reference.ts";

/** The place of a reference. */
export interface Origin {
  /** The file to change. */
  file: string;
  /** The bases that the address is resolved against; in a part of a page, all possible ones. */
  bases: readonly string[];
  /** The page has a base element, which moves every address. */
  moved?: boolean;
  /** Its placeholders in links are filled in by a script. */
  filled_in?: boolean;
}

export interface Unanswered extends Reference {
  origin: Origin;
  /** Percent-encoded. */
  path: string;
  /** Decoded, without the slash at the beginning; null where it means nothing. */
  name: string | null;
  /** Something in the site has this last name: otherwise no other place is worth asking. */
  may_exist: boolean;
}

export const isScript = (use: Use): boolean => use === "script" || use === "module" || use === "worker";
