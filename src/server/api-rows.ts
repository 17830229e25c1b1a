/** The rows that the API of this server answers by, the last of which describes them and those of every site's host. */
import type { Config } from "../config/index.ts";
import type { Route } from "../routes/context.ts";
import { MCP } from "../routes/mcp.ts";
import { describing } from "../routes/openapi.ts";
import { TABLE } from "../routes/table.ts";

export const apiRows = (config: Config): readonly Route[] => [
  ...TABLE,
  ...(config.mcp === "on" ? [MCP] : []),
  describing(config),
];
