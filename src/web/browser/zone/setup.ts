/** The values that the page gives the script: limits, addresses and proofs come from the server with each page. */
import type { UploadLimits } from "./questions.ts";
import { Unreachable } from "./worker-calls.ts";

export interface Setup extends UploadLimits {
  /** Address of the worker. */
  worker: string;
  /** Proof that this page makes a write; null if nobody is signed in. */
  csrf: string | null;
  /** Whether a deploy without an account wants a proof of work. */
  challenge: boolean;
  /** The site that gets a version here; null where a new site is made. */
  site_id: string | null;
  live_version_id: string | null;
}

export function setupOf(zone: HTMLElement): Setup {
  const { maxFiles, maxBytes, maxZipBytes, worker, csrf, challenge, site, live } = zone.dataset;
  return {
    max_files: Number(maxFiles),
    max_bytes: Number(maxBytes),
    max_zip_bytes: Number(maxZipBytes),
    worker: worker!,
    csrf: csrf || null,
    challenge: challenge === "pow",
    site_id: site || null,
    live_version_id: live || null,
  };
}

/** The token of this page as it would be now: null where the session has ended. Throws `Unreachable` where the server
 *  does not say. */
export async function freshToken(signal: AbortSignal): Promise<string | null> {
  const { pathname } = location;
  const response = await fetch(pathname, { headers: { accept: "text/html" }, signal });
  if (response.status >= 500) throw new Unreachable();
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  return page.querySelector<HTMLElement>("[data-zone]")?.dataset["csrf"] || null;
}
