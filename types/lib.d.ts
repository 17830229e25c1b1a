/** The declarations of the package `svc`. Written by hand; test/house/library-types.ts proves them equal to lib.ts. */

/** A way on from here, for a person (`description`, `command`) and for a program (`action`, `method`, `url`). */
export interface NextAction {
  action: string;
  description: string;
  command?: string;
  method?: string;
  url?: string;
  when?: string;
}

export interface DeployOptions {
  /** Relative path (`/` separators) to bytes. */
  files: ReadonlyMap<string, Uint8Array> | Readonly<Record<string, Uint8Array>>;
  /** An account session token, sent as it is. Without one the site is anonymous and expires. */
  apiKey?: string;
  /** The API host. Default: `DEPLOY_URL`, else the server that gave out this package, else `http://localhost:8787`. */
  baseUrl?: string;
  /** Replaces `fetch`. */
  handle?: (request: Request) => Response | Promise<Response>;
}

export interface DeployResult {
  /** The live URL. */
  url: string;
  slug: string;
  site_id: string;
  /** First 16 hex characters of the SHA-256 of the content: equal content has an equal id. */
  version_id: string;
  /** Epoch milliseconds; null when owned. */
  expires_at: number | null;
  /** The site's own bearer token. The server keeps only its hash: store it, or the site cannot be updated. */
  manage_token: string;
  /** Only on anonymous deploys. */
  claim_token?: string;
  /** Only on anonymous deploys: opened in a browser, it claims the site. */
  claim_url?: string;
  /** Only on owned deploys. */
  owner_account_id?: string;
  next_actions: NextAction[];
  /** What the service fixed. */
  healed: { code: string; message: string; path?: string; reason?: string }[];
  /** What it could not fix, each with the change to make. A deploy can succeed and still serve a broken site. */
  warnings: { code: string; message: string; path?: string; fix_recipe: string }[];
  render: {
    status: "pending" | "done" | "failed";
    /** Why the page could not be seen. */
    reason?: string;
    screenshot_key?: string;
    console: unknown[];
    failed_requests: unknown[];
    dom_summary: unknown;
    /** What the deploy's own warnings could not know. */
    warnings?: { code: string; message: string; path?: string; fix_recipe: string }[];
  };
}

/** Folders tried in this order when none is named. */
export declare const BUILD_DIR_CANDIDATES: readonly [
  "dist",
  "build",
  "out",
  ".output/public",
  ".vercel/output/static",
  "public",
  "_site",
];

/**
 * Deploys files as a new site. Rejects with an Error `deploy failed: <detail>`, whose `cause` is the body that the
 * service answered (with `code`), or what kept the request from arriving.
 *
 * @example
 * const { url, manage_token } = await deploySite({ files: await collectDist("dist") });
 */
export declare function deploySite(options: DeployOptions): Promise<DeployResult>;

/**
 * Reads a folder recursively, or a single file, into a map of relative paths (`/` separators) to bytes. Left out is
 * what never belongs on a site (`.env*`, `.git/`, `node_modules/`, `.DS_Store`, …) and what a `.svcignore` in the
 * folder names. A symbolic link that leaves the folder is an error.
 *
 * @example
 * const files = await collectDist("dist"); // Map { "index.html" => Uint8Array, "assets/app.js" => Uint8Array }
 */
export declare function collectDist(path: string): Promise<Map<string, Uint8Array>>;

/**
 * The folder to deploy: `explicit` as it is when set, else the first of `BUILD_DIR_CANDIDATES` below `cwd` (default:
 * the current directory) that contains an `index.html`. Rejects where there is none, with the command to run instead.
 *
 * @example
 * const files = await collectDist(await resolveDeployDir());
 */
export declare function resolveDeployDir(options?: { cwd?: string; explicit?: string }): Promise<string>;
