/** What a browser saw of a version (CONTRACT 9), and what waits to be looked at. */
import type { Bytes } from "../base/types.ts";
import type { Receipt, Stored } from "./serving.ts";

type RenderStatus = "pending" | "done" | "failed";

/** What the lint could not see. Shaped like a receipt's warning. */
export interface RenderWarning {
  code: "script_error" | "failed_request" | "blank_page";
  message: string;
  path?: string;
  fix_recipe: string;
}

/** What is told of a page beside its warnings. */
export interface RenderSeen {
  console: { level: string; text: string; url: string | null; line: number | null }[];
  failed_requests: { url: string; method: string; status: number | null; reason: string }[];
  dom_summary: { title: string; headings: string[]; links: number; images: number; text_length: number } | null;
}

export type PictureSize = "desktop" | "phone";

/** A version that waits. */
export interface RenderTask {
  version_no: number;
  site_id: string;
  slug: string;
  version_id: string;
  /** This one counted. */
  tries: number;
  /** What its deploy was told; null where none was kept. */
  receipt: Receipt | null;
}

export interface RenderOutcome {
  status: Exclude<RenderStatus, "pending">;
  reason: string | null;
  seen: RenderSeen;
  warnings: readonly RenderWarning[];
  pictures: Readonly<Record<PictureSize, Bytes | null>>;
}

/** Of one version, as lists show it. */
export interface RenderBrief {
  version_id: string;
  status: RenderStatus;
  reason: string | null;
  warnings: RenderWarning[];
  /** Whether it has a picture. */
  pictured: boolean;
}

export interface Renders {
  /** The next in turn, those of owners first; null where none waits. Those that are too many are given up. */
  take(): Promise<RenderTask | null>;
  /** False where the version is gone, or was asked for again. */
  settle(task: Pick<RenderTask, "version_no">, outcome: RenderOutcome): Promise<boolean>;
  waiting(): Promise<number>;
  /** Null: nobody asked for it. */
  of(site_id: string, version_id: string): Promise<(RenderBrief & RenderSeen) | null>;
  /** By version_id: of a thousand versions the warnings alone have megabytes, so of those that are shown. */
  ofVersions(site_id: string, version_ids: readonly string[]): Promise<ReadonlyMap<string, RenderBrief>>;
  picture(site_id: string, version_id: string, size: PictureSize): Promise<Stored | null>;
}
