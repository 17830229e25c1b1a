/** The limits on calls as settings (CONTRACT 4.4). Each has a variable and no flag. */
import { rateWindows } from "../base/rates.ts";
import type { Setting } from "./setting.ts";

const rate = (name: string, fallback: string, meaning: string): Setting<string> => ({
  flag: null,
  variables: [`SVC_RATE_${name}`],
  fallback,
  meaning,
  allowed: "<count>/<window> such as 10/1m, several joined by commas, or off",
  parse: (text: string): string | undefined => (rateWindows(text) ? text : undefined),
});

export const RATE_SETTINGS = {
  rate_claim: rate("CLAIM", "10/1m", "claims per client address"),
  rate_bulk_attach: rate("BULK_ATTACH", "10/1m", "bulk-attaches per client address"),
  rate_sign_in: rate("SIGN_IN", "10/1m", "sign-ins and sign-ups per client address"),
  rate_sign_in_account: rate("SIGN_IN_ACCOUNT", "5/1m", "sign-ins per account name and client address together"),
  rate_sign_in_name: rate(
    "SIGN_IN_NAME",
    "100/1h",
    "sign-ins per account name, from addresses that never signed in to it",
  ),
  rate_device_start: rate("DEVICE_START", "300/15m", "device logins begun per client address"),
  rate_device_code: rate("DEVICE_CODE", "10/1m", "device codes entered per client address"),
  rate_deploy: rate("DEPLOY", "10/1m,60/1h", "anonymous new sites per client address"),
  rate_redeploy: rate(
    "REDEPLOY",
    "30/1m,300/1h",
    "redeploys and dry runs of sites without an owner, per client address; twice as many plans",
  ),
  rate_owned: rate("OWNED", "60/1m,1200/1h", "deploys, redeploys and dry runs per account; twice as many plans"),
  rate_report: rate("REPORT", "3/1h", "abuse reports per client address"),
  rate_comment: rate("COMMENT", "10/1m", "comments per client address"),
  rate_comment_identity: rate("COMMENT_IDENTITY", "30/1h", "comments per visitor"),
  rate_comment_site: rate("COMMENT_SITE", "300/1h", "comments per site"),
  rate_passcode: rate("PASSCODE", "5/10m", "wrong passcodes per client address"),
  rate_owner_code: rate("OWNER_CODE", "60/1m", "wrong codes of a site's owner per client address"),
  rate_moderation: rate("MODERATION", "600/1m", "decisions and settings of comments per site"),
  rate_rename: rate("RENAME", "3/1d", "renames per visitor"),
  rate_access: rate("ACCESS", "5/10m", "wrong passwords of sites per client address"),
  rate_slug: rate("SLUG", "5/1d", "changes of sites' names per account"),
  rate_domain: rate("DOMAIN", "20/1h", "domains added or verified per account"),
  rate_mcp: rate("MCP", "60/1m", "MCP calls per token"),
};

export type RateRule = keyof typeof RATE_SETTINGS;
