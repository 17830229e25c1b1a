/** Previews as the tests make, list, promote and end them. */
import type { Warning } from "../../src/base/types.ts";
import { bearer } from "../kit/people.ts";
import { type Contents, type DeployResult, type TestServer, ZIP } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";

export interface Made {
  url: string;
  version_url: string;
  name: string | null;
  site_id: string;
  slug: string;
  version_id: string;
  live_url: string;
  expires_at: number;
  changed: boolean;
  files: { added: string[]; changed: string[]; removed: string[] };
  healed: unknown[];
  warnings: Warning[];
}

export interface Listed {
  name: string | null;
  url: string;
  version_url: string;
  version_id: string;
  title: string | null;
  created_at: string;
  expires_at: number;
}

type Managed = Pick<DeployResult, "site_id" | "manage_token">;

export const pageOf = (text: string, more: Record<string, string> = {}): Record<string, string> => ({
  "index.html": `<!doctype html><title>${text}</title><p>${text}`,
  ...more,
});

/** What a server is asked about previews, with the site's manage_token unless another one is given. */
export function previewing(server: () => TestServer) {
  const ask = ({ site_id, manage_token }: Managed, method: string, path: string, token = manage_token) =>
    server().api(`/sites/${site_id}/previews${path}`, { method, headers: bearer(token) });

  const post = ({ site_id, manage_token }: Managed, files: Contents, query = ""): Promise<Response> =>
    server().api(`/sites/${site_id}/previews${query}`, {
      method: "POST",
      body: zipOf(files),
      headers: { ...ZIP, ...bearer(manage_token) },
    });

  return {
    post,
    ask,
    /** Throws with the whole answer where it is refused. */
    async make(site: Managed, files: Contents, name?: string): Promise<Made> {
      const response = await post(site, files, name === undefined ? "" : `?name=${name}`);
      const text = await response.text();
      if (response.status !== 200) throw new Error(`a preview was answered ${response.status}: ${text}`);
      return JSON.parse(text) as Made;
    },
    async list(site: Managed): Promise<Listed[]> {
      return ((await (await ask(site, "GET", "")).json()) as { previews: Listed[] }).previews;
    },
    promote: (site: Managed, name: string) => ask(site, "POST", `/${name}/promote`),
    /** By its host's first label. */
    text: async (label: string, path = "/"): Promise<string> => (await server().site(label, path)).text(),
  };
}
