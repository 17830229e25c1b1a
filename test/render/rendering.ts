/** A server with the render engine on, and what it says of a deploy once it has looked. */
import { chromiumPath } from "../../scripts/chromium.ts";
import { type Contents, type DeployResult, type Setting, startServer, type TestServer } from "../kit/server.ts";

export const PATIENCE_MS = 60_000;

export interface Render {
  version_id: string;
  status: "pending" | "done" | "failed";
  reason?: string;
  screenshot_key?: string;
  console: { level: string; text: string; url: string | null; line: number | null }[];
  failed_requests: { url: string; method: string; status: number | null; reason: string }[];
  dom_summary: { title: string; headings: string[]; links: number; images: number; text_length: number } | null;
  warnings: { code: string; message: string; path?: string; fix_recipe: string }[];
}

export interface SiteRecord {
  live_version_id: string;
  versions: { version_id: string; render?: Pick<Render, "status" | "warnings"> }[];
  render?: Render;
}

type Managed = Pick<DeployResult, "site_id" | "manage_token">;

export const authorized = ({ manage_token }: Pick<Managed, "manage_token">) => ({
  headers: { authorization: `Bearer ${manage_token}` },
});

export const startRenderer = async (...settings: Setting[]): Promise<TestServer> =>
  startServer({ SVC_RENDER: "chrome", SVC_CHROME: await chromiumPath() }, ...settings);

export async function recordOf(server: TestServer, site: Managed): Promise<SiteRecord> {
  const answer = await server.api(`/sites/${site.site_id}`, authorized(site));
  if (answer.status !== 200) throw new Error(`GET /sites/:id was answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as SiteRecord;
}

/** Of the live version, once it has been looked at. */
export async function seen(server: TestServer, site: Managed): Promise<Render> {
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await Bun.sleep(50)) {
    const { render } = await recordOf(server, site);
    if (render !== undefined && render.status !== "pending") return render;
  }
  throw new Error("nobody looked at the version");
}

/** A machine that does something else meanwhile may let no page end in its time. */
const LOOKS = 3;
const ran_late = ({ reason = "" }: Render): boolean =>
  /^The page (was given up after \d+ seconds|did not come to rest in time)/.test(reason);

/** Deploys a site and waits until it was looked at: once more as a new site where the page ran out of its time. */
export async function look(server: TestServer, files: Contents | string): Promise<Render & { site: DeployResult }> {
  const contents = typeof files === "string" ? { "index.html": files } : files;
  for (let left = LOOKS - 1; ; left--) {
    const site = await server.deploy(contents);
    const render = await seen(server, site);
    if (!ran_late(render)) return { ...render, site };
    if (left === 0) throw new Error(`${LOOKS} looks ran late: ${render.reason}`);
  }
}

export const page = (body: string, head = ""): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A page</title>${head}</head><body>${body}</body></html>`;
export const script = (code: string): string => `<script>${code}</script>`;
/** What holds the engine for eight seconds, or as long as it is `asking`, and takes next to no processor time. */
export const ASKS = "const asking = setInterval(() => fetch('/?' + Math.random()), 100)";
