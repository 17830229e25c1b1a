/** Versions that are shown beside the live one, by a name or by their own address alone (BEYOND 7). */
import type { RolledBack, WriteBy } from "./changes.ts";
import type { PreviewAddresses, ShownPreview } from "./serving.ts";

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

export interface Previews extends PreviewAddresses {
  /** Newest first; those that have not ended. */
  list(site_id: string): Promise<ListedPreview[]>;
  /** Makes its version live and ends it. `renders`: a browser shall look at the version. Throws `unknown_version` where
   *  there is none. */
  promote(preview: NamedPreview & { keep_versions: number | null; renders: boolean }): Promise<PromotedPreview>;
  /** Nothing that is or was live moves. Throws as `promote`. */
  end(preview: NamedPreview): Promise<void>;
}
