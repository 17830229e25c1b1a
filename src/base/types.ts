/** The vocabulary that every folder may use: nouns, errors, ids, units, addresses; it imports no folder. This file has
 *  the nouns. A field that is shown has the same name from column to JSON. */

/** A plain `Uint8Array` is no `BodyInit`: bytes that may become a body are never shared memory. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** `docs/a.html` → bytes. Never a leading slash, `/` separators, NFC. */
export type Files = ReadonlyMap<string, Bytes>;

/** The limits of one deploy. Bytes are uncompressed unless said otherwise. */
export interface Limits {
  max_files: number;
  max_bytes: number;
  /** Length of the zip itself. */
  max_zip_bytes: number;
}

/** The facts that an upload is judged by besides its files: about the service, and about the site that it is for. */
export interface SiteContext {
  sites_domain: string;
  /** The operator's address for appeals. */
  contact: string | null;
  /** The text of DATA/brands.txt. */
  brands: string;
  /** Null for a new site: its name is drawn when it is stored. */
  slug: string | null;
  /** The heading of a list of its files: the slug; for a new site the first one that is tried (once in ten million deploys
   *  the next one is taken). */
  name?: string;
  anonymous: boolean;
  /** The owner's setting for unknown paths; null or left out means as detected. */
  spa_override?: 0 | 1 | null | undefined;
}

type HealedCode =
  | "index_case_fixed"
  | "index_from_single_html"
  | "index_generated"
  | "markdown_rendered"
  | "spa_fallback"
  | "backslash_paths"
  | "stripped_root_folder"
  | "encoding_fixed";

/** A fault that the service fixed on the caller's behalf. */
export interface Healed {
  code: HealedCode;
  message: string;
  path?: string;
  reason?: string;
}

export type WarningCode =
  | "missing_asset"
  | "case_mismatch"
  | "wrong_base_path"
  | "unbuilt_source"
  | "localhost_url"
  | "mixed_content"
  | "server_code"
  | "possible_secret"
  | "secret_file_dropped"
  | "case_collision"
  | "reserved_path"
  | "name_encoding_guessed"
  | "windows_unsafe_name"
  | "markdown_too_complex"
  | "suspicious_content"
  | "index_elsewhere"
  | "missing_title"
  | "broken_link"
  | "template_placeholder"
  | "private_network_url"
  | "huge_asset"
  | "shown_as_code"
  | "not_judged"
  | "invalid_rule"
  | "rule_adjusted"
  | "rule_shadowed"
  | "redirect_loop"
  | "external_redirect"
  | "header_refused"
  | "rules_over_limit";

/** A fault that the service could not fix. `fix_recipe` is one imperative sentence that a program or a person can carry out. */
export interface Warning {
  code: WarningCode;
  message: string;
  path?: string;
  fix_recipe: string;
}

/** A warning in the making. Its getters word it when it is shown: a hostile upload has a hundred thousand. */
export interface Finding extends Warning {
  /** The file to change. */
  path: string;
  /** The address that the file names, as written. */
  target: string;
  /** The file that is missing, if files may name it in different ways. */
  cause?: string;
}

/** The stage in which a text takes too long and its thread is ended. A thread that is in a regular expression goes on all the
 *  same, so the process of this deploy must not be given another one. */
export const GIVING_UP_ON_MARKDOWN = "giving up on Markdown";

/** The step that a deploy is at, in words for a person. */
type DeployStage =
  | "unpacking"
  | "joining"
  | "reading its rules"
  | "rendering Markdown"
  | typeof GIVING_UP_ON_MARKDOWN
  | "making pages of Markdown"
  | "making an index"
  | "reading the index"
  | "looking for abuse in"
  | "looking for secrets in"
  | "following references"
  | "describing"
  | "publishing";

/** Called at each stage and file, so that a deadline can say where a deploy hung. */
export type Progress = (stage: DeployStage, file?: string) => void;

/** The upload on its way through the pipeline: a stage takes a Draft and returns a Draft. */
export interface Draft {
  /** Everything that will be served: uploaded files and those that a stage made. */
  readonly files: Files;
  /** Paths in `files` that the service made. They count towards no limit and never replace an uploaded file. */
  readonly made: ReadonlySet<string>;
  /** Name of the folder that was stripped, so that a generated page can be called after it. */
  readonly stripped_folder: string | null;
  readonly healed: readonly Healed[];
  readonly warnings: readonly Warning[];
  /** Warnings about links, which are reported with those of the lint. */
  readonly findings?: readonly Finding[];
  /** For a file that the service made: the part of it that somebody wrote. The service's own frame is not judged. */
  readonly written?: ReadonlyMap<string, Bytes>;
}

export type SpaRule =
  "config" | "copied_404" | "own_404" | "fallback_200" | "history_router" | "shell" | "prerendered_shell" | "none";

/** Whether unknown paths get the index, and the rule of PIPELINE 2 that decided. `setting` means that the owner decided. */
export interface Spa {
  enabled: boolean;
  rule: SpaRule | "setting";
}

/** One file of a stored version. `media_type` is the whole Content-Type, with the charset if there is one. */
export interface ManifestFile {
  path: string;
  /** Lower-case hex SHA-256 of the stored bytes: the blob's key. */
  sha256: string;
  bytes: number;
  media_type: string;
  /** Whether the service made it (a generated index, a rendered page); it is no part of the upload. */
  made: boolean;
}

/** How much of an upload the lint read: the receipt says so even if it found nothing (BEYOND 15). */
export interface Checked {
  /** Pages that somebody wrote; lists of files and other pages of the service's own do not count. */
  pages: number;
  /** Distinct pairs of a file and a path of the site that it names, in whatever way. Other hosts are not asked. */
  links: number;
  /** Uploaded files whose content was read. */
  files: number;
}

/** The number of the renderer that makes pages of uploads: Markdown's and lists of files. It goes up by one with each change
 *  that a reader would see; test/markdown/renderer.test.ts fails until it does. Stored versions keep their pages (BEYOND 15). */
export const RENDERER = 1;

/** The version that the pipeline makes of an upload, ready to be stored. */
export interface BuiltVersion {
  /** First 16 hex digits of `digest`. */
  version_id: string;
  /** Lower-case hex SHA-256 over the uploaded content (CONTRACT 2). */
  digest: string;
  title: string | null;
  spa: { enabled: boolean; rule: SpaRule };
  /** Counts what was uploaded, not what the service made. */
  files: number;
  bytes: number;
  manifest: ManifestFile[];
  /** Distinct contents by SHA-256. */
  blobs: ReadonlyMap<string, Bytes>;
  healed: readonly Healed[];
  warnings: readonly Warning[];
  checked: Checked;
  /** The renderer that made pages of it (pipeline/docs); null if no page was made. */
  renderer: number | null;
  /** The messages of `suspicious_content`: with any of them an anonymous site is put in quarantine. */
  suspicions: readonly string[];
}

/** Never changes once stored; going live or rolling back only moves Site.live_version_id. */
export interface Version {
  site_id: string;
  version_id: string;
  digest: string;
  title: string | null;
  /** ISO 8601. */
  created_at: string;
  files: number;
  bytes: number;
  spa_enabled: 0 | 1;
  spa_rule: SpaRule;
  /** 1: a secret was seen in it. While another version is live, its own address shows it to nobody (BEYOND 9). */
  withhold: 0 | 1;
}

export type CommentsMode = "off" | "anonymous" | "passcode" | "approved";

export interface Site {
  site_id: string;
  slug: string;
  label: string | null;
  /** Null while the site is anonymous. */
  owner_account_id: string | null;
  /** ISO 8601. */
  created_at: string;
  /** Epoch milliseconds; null when owned. */
  expires_at: number | null;
  live_version_id: string;
  /** When the live version was made (ISO 8601): the order of the dashboard's list. */
  deployed_at: string;
  /** The owner's setting, which beats the detection; null means as detected. */
  spa_override: 0 | 1 | null;
  frozen: 0 | 1;
  /** The public reason while an operator has disabled the site; null otherwise. */
  disabled_reason: string | null;
  /** Whether it was disabled with its account, and is enabled with it again. */
  disabled_with_account: 0 | 1;
  comments_mode: CommentsMode;
  /** Counts each change of the settings of its comments. */
  comments_changes: number;
  /** An owner's cookie of an older epoch is void. */
  owner_epoch: number;
  /** JSON list of what looks suspicious, until an operator clears the site; null if it is not in quarantine. */
  quarantine: string | null;
  /** The newest version when an operator last cleared it; null for never. */
  cleared_version_no: number | null;
  /** Identifies the site in its rows of `files`: the number of its first version; 0 until that is stored. */
  site_no: number;
  /** Bytes of the distinct uploaded blobs of all its versions: what it takes of a quota. */
  stored_bytes: number;
  /** Bytes that it takes on the disk: with what was made of uploads, in whole blocks, and with its rows. */
  stored_disk: number;
  stored_versions: number;
  /** How often versions of it were removed: a cache entry made under an older count may be of another version. */
  removals: number;
  /** Keyed hash of the network that deployed it; null if it is owned. */
  network: string | null;
  /** Whether addresses that a deploy dropped still give their former files (BEYOND 4). */
  skew: 0 | 1;
  /** Whether visits are counted. */
  stats: 0 | 1;
  /** argon2id of the password that visitors need; null if anybody may see it (BEYOND 8). */
  access_hash: string | null;
  /** ISO 8601; null without a password. */
  access_set_at: string | null;
  /** A grant of an older epoch opens nothing. */
  access_epoch: number;
}

/** The rest of a site that is gone: its slug is never given out again. */
export interface Tombstone {
  site_id: string;
  slug: string;
  reason: "expired" | "deleted";
  gone_at: string;
}

export type TokenKind = "manage" | "claim";
