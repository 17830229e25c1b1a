/** What serving keeps, as a chain: the row of a slug → a version of the site → what a path of it is answered with → the
 *  body of a file → that body in one coding. */
import type { Coding } from "../http/codings.ts";
import type { HeaderEdit } from "../rules/header-table.ts";
import type { VersionRules } from "../rules/index.ts";
import type { RedirectRule } from "../rules/types.ts";
import type { ShownPreview } from "../store/previews.ts";
import type { StoredFile, StoredManifest } from "../store/versions.ts";
import type { Bytes, Site, Tombstone, Version } from "../base/types.ts";
import type { Kept } from "./budget.ts";

/** What a slug means. It holds for as long as the store's counter stays at `generation`. */
export interface Row extends Kept {
  readonly slug: string;
  readonly generation: number;
  readonly site: Site | null;
  /** Of a site that is gone. */
  readonly tombstone: Tombstone | null;
  /** Null where there is no site, and once the version was pushed out. */
  live: LoadedVersion | null;
  /** What the site's previews show; null: nobody asked yet. */
  previews: readonly ShownPreview[] | null;
}

export interface Entries<Value> {
  readonly size: number;
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
  values(): Iterable<Value>;
  clear(): void;
}

/** A version never changes, so nothing here is ever invalidated; what is kept for it goes with it. */
export interface LoadedVersion extends Kept {
  readonly version: Version;
  /** `c3` where its pages have the comments' script; else empty. */
  readonly dress: string;
  /** What its own `_redirects` and `_headers` say. */
  readonly rules: VersionRules;
  /** Null once it was pushed out: what was answered before needs it no more. */
  manifest: KeptManifest | null;
  /** By path of the file; of the site's own 404 pages, and of shells below the root, behind a NUL, which no name has. */
  readonly bodies: Entries<Body>;
  /** By path of the request; where a rule looks at more than that, by that too, behind a NUL. */
  readonly answers: Entries<Answer>;
  /** The row it is live in: neither must hold on to the other once that is pushed out. */
  row: Row | null;
}

export interface KeptManifest extends Kept {
  readonly of: LoadedVersion;
  readonly files: StoredManifest;
}

/** Which step of BEYOND 1 found it. */
export type FoundBy = "file" | "index" | "clean_url" | "rule" | "spa_fallback" | "skew";

export interface FileAnswer extends Kept {
  readonly kind: "file";
  readonly by: FoundBy;
  /** The rule that shows it there. */
  readonly rule: RedirectRule | null;
  /** The former version that it is of, for a page that was loaded from that (BEYOND 4). */
  readonly skew: string | null;
  readonly body: Body;
  readonly etag: string;
  /** Where its comments are told; null of what is no page, and where comments are off. */
  readonly link: string | null;
  /** Null where the answer depends on the path alone. */
  readonly vary: string | null;
  /** Of the site's `_headers`, on the live host and on a version's own; null: none. */
  readonly edits: HeaderEdits | null;
  /** The 304, and the 200 of a file that goes out from the disk, by policy. */
  unchanged: ResponseInit[] | null;
  whole: { headers: Headers }[] | null;
  /** The URL of the shortcut that leads here. */
  shortcut: string | null;
}

/** By kind of host. */
export interface HeaderEdits {
  live: readonly HeaderEdit[];
  version: readonly HeaderEdit[];
}

export interface RedirectAnswer extends Kept {
  readonly kind: "redirect";
  /** Null: of a folder. */
  readonly rule: RedirectRule | null;
  readonly location: string;
  /** 308 of a folder; a rule's own. */
  readonly status: number;
  /** What the browser wants it for decides. */
  readonly by_use: boolean;
}

export interface UnmatchedAnswer extends Kept {
  readonly kind: "unmatched";
  /** The rule that gave the page. */
  readonly rule: RedirectRule | null;
  /** The fallback document, where the path may be a route of a single-page app. */
  readonly shell: FileAnswer | null;
  /** The site's own 404 page. */
  readonly page: Body | null;
  /** As a file's. */
  readonly edits: HeaderEdits | null;
  /** While the store's counter stays at this, no former version has anything here: for as long the shield finds it less
   *  and less. */
  bare_at: number | null;
  /** As a file's. */
  shortcut: string | null;
}

export type Answer = FileAnswer | RedirectAnswer | UnmatchedAnswer;

/** A file of a version. */
export interface Body {
  readonly file: StoredFile;
  /** Whether codings are negotiated for its type at all. */
  readonly coded: boolean;
  readonly content: Content;
}

export type PageOf = Pick<Version, "site_id" | "version_id">;

/** What goes out for a file. A page has its version's attribution in it, so its content is the version's own; all other
 *  content belongs to the blob, whichever sites and versions have it. */
export interface Content {
  readonly stored: StoredFile;
  /** Of a page: whose attribution is in it. Null for what is no page. */
  readonly page_of: PageOf | null;
  /** Of a page: whether the comments' script is in it. */
  readonly commented: boolean;
  /** Of a page: whether it goes out below the root, where it may need a `<base>`. */
  readonly deep: boolean;
  /** Too large for memory as it is: identity goes out from the disk. */
  readonly from_disk: boolean;
  readonly forms: Record<Coding, Form | undefined>;
}

/** Content in one coding. */
export interface Form extends Kept {
  readonly of: Content;
  readonly coding: Coding;
  /** Of the body as it goes out. */
  readonly size: number;
  /** A Blob, for a Response shares it where it would copy bytes: three times cheaper at 200 KB, and slow readers hold
   *  nothing. Null: a compression that does not make the body smaller; identity that goes out from the disk. */
  readonly blob: Blob | null;
  /** What stands between the bytes of the file, in identity that goes out from the disk. */
  readonly inserted: readonly Inserted[];
  /** Whole responses with this form. Nearly every form has one answer under one policy: a map takes more than the page. */
  first: KeptResponse | null;
  /** By policy. They go with the form whose body they share, and with the answer, or when their room is wanted. */
  others: WeakMap<FileAnswer, Response>[] | null;
  /** Of a 404 page: what all its answers share, by policy. */
  missing: { status: number; headers: Headers }[] | null;
}

/** Of the service, in a page. */
export interface Inserted {
  /** Bytes of the file that stand before it. */
  at: number;
  bytes: Bytes;
}

interface KeptResponse {
  readonly answer: FileAnswer;
  readonly policy: number;
  readonly response: Response;
}
