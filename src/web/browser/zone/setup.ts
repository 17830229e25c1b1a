/** The values that the page gives the script: limits, addresses and proofs come from the server with each page. */
import type { UploadLimits } from "./questions.ts";

export interface Setup extends UploadLimits {
  /** Address of the worker. */
  worker: string;
  /** Proof that this page makes a write; null if nobody is signed in. */
  csrf: string | null;
  /** Whether a deploy without an account wants a proof of work. */
  challenge: boolean;
  /** Whether sites are made by accounts alone (`SVC_ANONYMOUS=off`). */
  accounts_only: boolean;
  /** The site that gets a version here; null for a new site. */
  site_id: string | null;
  live_version_id: string | null;
}

export function setupOf(zone: HTMLElement): Setup {
  const { maxFiles, maxBytes, maxZipBytes, worker, csrf, challenge, accountsOnly, site, live } = zone.dataset;
  return {
    max_files: Number(maxFiles),
    max_bytes: Number(maxBytes),
    max_zip_bytes: Number(maxZipBytes),
    worker: worker!,
    csrf: csrf || null,
    challenge: challenge === "pow",
    accounts_only: accountsOnly !== undefined,
    site_id: site || null,
    live_version_id: live || null,
  };
}
