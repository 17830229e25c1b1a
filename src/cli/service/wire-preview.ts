/** What the API answers of previews (BEYOND 7). */
import { ADDRESS, BOOLEAN, fields, listOf, NUMBER, orNull, TEXT, TIME } from "./shape.ts";
import { HEALED, PATHS, type Receipt, WARNINGS } from "./wire.ts";

export type { Receipt };

export interface PreviewResult extends Receipt {
  url: string;
  version_url: string;
  name: string | null;
  site_id: string;
  version_id: string;
  live_url: string;
  /** Epoch milliseconds. */
  expires_at: number;
  changed: boolean;
  files: { added: string[]; changed: string[]; removed: string[] };
}

export const PREVIEW_RESULT = fields<PreviewResult>({
  url: ADDRESS,
  version_url: ADDRESS,
  name: orNull(TEXT),
  site_id: TEXT,
  version_id: TEXT,
  live_url: ADDRESS,
  expires_at: NUMBER,
  changed: BOOLEAN,
  files: fields<PreviewResult["files"]>({ added: PATHS, changed: PATHS, removed: PATHS }),
  healed: HEALED,
  warnings: WARNINGS,
});

export interface PreviewRow {
  name: string | null;
  url: string;
  version_id: string;
  title: string | null;
  created_at: string;
  /** Epoch milliseconds. */
  expires_at: number;
}

export const PREVIEWS = fields<{ previews: PreviewRow[] }>({
  previews: listOf(
    fields<PreviewRow>({
      name: orNull(TEXT),
      url: ADDRESS,
      version_id: TEXT,
      title: orNull(TEXT),
      created_at: TIME,
      expires_at: NUMBER,
    }),
  ),
});
