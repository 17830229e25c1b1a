/** A small page, and the record of the site that it was deployed to. */
import { bearer } from "../kit/people.ts";
import type { DeployResult, TestServer } from "../kit/server.ts";

interface SiteRecord {
  live_version_id: string;
  expires_at: number;
  spa: object;
  versions: { version_id: string; title: string | null; created_at: string; files: number; bytes: number }[];
}

export const page = (text: string) => ({ "index.html": `<!doctype html><title>${text}</title><p>${text}` });

/** Records on a server that starts later than this is called. */
export const records =
  (started: () => TestServer) =>
  async ({ site_id, manage_token }: DeployResult): Promise<SiteRecord> =>
    (await (await started().api(`/sites/${site_id}`, { headers: bearer(manage_token) })).json()) as SiteRecord;
