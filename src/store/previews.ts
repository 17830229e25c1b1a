/** Versions that are shown beside the live one, by a name or by their own address alone (BEYOND 7). */
import type { RolledBack, WriteBy } from "./changes.ts";

/** What an address of a preview shows. */
export interface ShownPreview {
  /** Null: the version's own address alone. */
  name: string | null;
  version_id: string;
  /** Epoch milliseconds: from then on it shows nothing, swept or not. */
  expires_at: number;
  /** Of a version that was never live, and ends with the last preview that shows it: what tells its row from any other.
   *  Null of one that is or was live. */
  only: string | null;
}

/** As lists show it. */
export interface ListedPreview extends Omit<ShownPreview, "only"> {
  title: string | null;
  /** ISO 8601, of its last deploy. */
  created_at: string;
}

/** `preview`: its name, or the id of its version: then all that show that version are meant. */
export interface NamedPreview {
  site_id: string;
  by: WriteBy;
  preview: string;
}

export interface PromotedPreview extends RolledBack {
  version_id: string;
}

export interface Previews {
  /** Newest first; those that have not ended. */
  list(site_id: string): Promise<ListedPreview[]>;
  /** Those that have ended and are not swept yet among them. */
  shown(site_id: string): Promise<ShownPreview[]>;
  /** Makes its version live and ends it. `renders`: a browser shall look at the version. Throws `unknown_version` where
   *  there is none. */
  promote(preview: NamedPreview & { keep_versions: number | null; renders: boolean }): Promise<PromotedPreview>;
  /** Nothing that is or was live moves. Throws as `promote`. */
  end(preview: NamedPreview): Promise<void>;
}
