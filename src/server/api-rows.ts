/** The rows that the API of this server answers by, the last of which describes them and those of every site's host. */
import { ON_SITE } from "../comments/index.ts";
import type { Config } from "../config/index.ts";
import type { Route } from "../routes/context.ts";
import { MCP } from "../routes/mcp.ts";
import { describing } from "../routes/openapi.ts";
import { TABLE } from "../routes/table.ts";

/** Reports are own-paths' to answer, and feeds stand beside pages, where no file of the site has their name. */
const OF_SITES = [
  ["POST", "/_svc/report"],
  ...ON_SITE,
  ["GET", "/comments.json"],
  ["GET", "/:page.comments.json"],
] as const;

export function apiRows(config: Config): readonly Route[] {
  const rows = [...TABLE, ...(config.mcp === "on" ? [MCP] : [])];
  return [...rows, describing({ rows, site_rows: OF_SITES, config })];
}
