/** Visits as browsers and programs make them, and what the owner is told of them. */
import { call } from "../kit/people.ts";
import { bearer } from "../kit/people.ts";
import { rawBytes } from "../kit/raw-http.ts";
import type { DeployResult, TestServer } from "../kit/server.ts";

export const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0";

/** The headers of a browser's navigation. */
export const NAVIGATION = {
  "user-agent": FIREFOX,
  accept: "text/html,application/xhtml+xml,*/*;q=0.8",
  "sec-fetch-dest": "document",
  "sec-fetch-mode": "navigate",
} as const;

export interface Statistics {
  site_id: string;
  from: string;
  to: string;
  enabled: boolean;
  totals: { views: number; visitors: number; bots: number; misses: number };
  visitors_are: string;
  days: { date: string; views: number; visitors: number; bots: number; misses: number }[];
  paths: { path: string; views: number }[];
  referrers: { host: string; views: number }[];
  misses: { path: string; hits: number; internal: number; rule: string | null }[];
}

type Managed = Pick<DeployResult, "site_id" | "manage_token">;

export async function statistics(server: TestServer, site: Managed, query = "days=1"): Promise<Statistics> {
  const { status, body } = await call(server, "GET", `/sites/${site.site_id}/stats?${query}`, undefined, bearer(site.manage_token)); // prettier-ignore
  if (status !== 200) throw new Error(`statistics were answered ${status}: ${JSON.stringify(body)}`);
  return body as unknown as Statistics;
}

/** Exactly these headers and those that HTTP itself needs: `fetch` adds others. */
export async function visit(
  server: Pick<TestServer, "port">,
  slug: string,
  path = "/",
  headers: Readonly<Record<string, string>> = NAVIGATION,
  method = "GET",
): Promise<number> {
  const fields = { host: `${slug}.localhost:${server.port}`, connection: "close", ...headers };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const answer = await rawBytes(server.port, Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`));
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer.toString("latin1"))?.[1]);
}
