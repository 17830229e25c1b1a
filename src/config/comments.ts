/** What of comments an operator turns on (COMMENTS 2 and 6). Each has a variable and no flag. */
import { networks } from "./networks.ts";
import { oneOf, type Setting } from "./setting.ts";

const turnedOn = (name: string, meaning: string): Setting<"on" | "off"> => ({
  flag: null,
  variables: [`SVC_${name}`],
  fallback: "off",
  meaning,
  allowed: "on or off",
  parse: oneOf("on", "off"),
});

const allow: Setting<string[]> = {
  flag: null,
  variables: ["SVC_WEBHOOKS_ALLOW"],
  fallback: null,
  meaning: "private networks that webhooks may reach all the same",
  allowed: "addresses or CIDR ranges separated by commas, e.g. 10.1.2.0/24",
  parse: networks,
};

export const COMMENT_SETTINGS = {
  mcp: turnedOn("MCP", "agents read and answer comments over MCP"),
  webhooks: turnedOn("WEBHOOKS", "what happens in comments is posted to the address that a site's owner set"),
  webhooks_allow: allow,
};
