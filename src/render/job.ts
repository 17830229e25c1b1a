/** The messages to and from the process that looks at a page: plain data. */
import type { Bytes } from "../base/types.ts";
import { withoutUnseen } from "../base/visible.ts";

/** How the browser is started. */
export interface Chromium {
  /** Path of the program. */
  program: string;
  /** Off only where the kernel allows none: what a page breaks out into is then the server's own user. */
  sandbox: boolean;
}

export interface RenderJob extends Chromium {
  /** An empty folder for the browser alone, which the engine removes. */
  folder: string;
  /** The site's start page, as visitors have it. */
  url: string;
  /** Host and port under which the server has this very version. */
  version_host: string;
  /** The server's own address: `http://127.0.0.1:8787`. */
  server: string;
  /** The process is ended after so long. */
  most_ms: number;
}

export interface ConsoleEntry {
  level: "log" | "info" | "warning" | "error" | "debug";
  text: string;
  url: string | null;
  line: number | null;
}

/** An uncaught error. */
export interface PageError {
  text: string;
  url: string | null;
  line: number | null;
  /** Nothing of another host could have kept it away. */
  own: boolean;
}

interface FailedRequest {
  url: string;
  method: string;
  /** Null where no answer came. */
  status: number | null;
  reason: string;
}

/** A failed request, with its kind. `elsewhere`: it went to another host, which the engine does not ask. */
export interface SeenRequest extends FailedRequest {
  kind: string;
  elsewhere: boolean;
}

export interface DomSummary {
  title: string;
  /** The first of them. */
  headings: string[];
  links: number;
  images: number;
  /** Characters of what a visitor can read. */
  text_length: number;
}

export interface Pictures {
  desktop: Bytes | null;
  phone: Bytes | null;
}

export interface PageSeen {
  console: ConsoleEntry[];
  errors: PageError[];
  failed_requests: SeenRequest[];
  /** Null where the page was not seen to its end. */
  dom_summary: DomSummary | null;
  /** Nothing to read, and every pixel alike. */
  blank: boolean;
  pictures: Pictures;
  /** Why the page was not seen to its end; null where it was. */
  reason: string | null;
  /** `late`: its time was over. `killed`: a signal ended the browser, which may be no fault of the page. Null for all else. */
  cut_off: "late" | "killed" | null;
}

export interface Tried {
  /** Null where the browser ran; else why not. */
  trouble: string | null;
}

export type ToRender = { look: RenderJob } | { try: Chromium & { folder: string } };
export type FromRender = { seen: PageSeen } | Tried;

/** WebP bytes of one picture. */
export const MOST_PICTURE_BYTES = 200 * 1024;
/** Characters of each text. */
const LONGEST_TEXT = 500;

/** Cuts a page's text and hides secrets in it: it is stored in the database, which holds no token (RELIABILITY A2). */

/** Ours, of every kind, and the well-known forms of others. */
const TOKENS = /\b(svc_[a-z]+_|fau_|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|sk_live_|rk_live_|AKIA|npm_)[\w-]{8,}/g;

export function kept(value: unknown, longest = LONGEST_TEXT): string {
  const text = withoutUnseen(typeof value === "string" ? value.slice(0, 4 * longest) : "").toWellFormed();
  const shown = text.replace(TOKENS, "$1…").replaceAll("\0", "");
  return shown.length <= longest ? shown : `${shown.slice(0, longest - 1).toWellFormed()}…`;
}
