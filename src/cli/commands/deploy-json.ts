/** The object that `--json` prints after a deploy (SPEC). */
import type { Receipt } from "../service/wire.ts";
import type { Content } from "./content.ts";

interface Published extends Receipt {
  url: string;
  site_id: string;
  version_id: string;
  /** Epoch milliseconds, as the API has it. */
  expires_at: number | null;
  manage_token?: string | null;
  claim_token?: string | null;
  owner_account_id?: string;
}

export const isoTime = (epoch_ms: number | null): string | null =>
  epoch_ms === null ? null : new Date(epoch_ms).toISOString();

/** The host that serves this version for good (CONTRACT 2). */
export function versionUrl(url: string, version_id: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${version_id}--${host}`;
}

export const deployJson = (published: Published, { source, files, bytes }: Content, elapsed_ms: number) => ({
  ok: true,
  url: published.url,
  site_id: published.site_id,
  version_id: published.version_id,
  expires_at: isoTime(published.expires_at),
  manage_token: published.manage_token ?? null,
  claim_token: published.claim_token ?? null,
  owner_account_id: published.owner_account_id ?? null,
  source,
  files: files.size,
  bytes,
  elapsed_ms,
  healed: published.healed,
  warnings: published.warnings,
  version_url: versionUrl(published.url, published.version_id),
});
