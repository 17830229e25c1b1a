/** `svc tokens revoke`: whoever has a manage_token of the site writes to it no longer; its owner's session still does. */
import { ask } from "../../service/api.ts";
import { ApiFailure } from "../../service/refusal.ts";
import type { Context, Given } from "../../command.ts";
import { usage } from "../../failure.ts";
import { svc } from "../../invocation.ts";
import { requireSession } from "../../service/which-server.ts";
import { chooseSite, siteGone } from "../chosen-site.ts";
import { isLinkOf } from "../find-link.ts";
import { green, text } from "../../terminal/text.ts";
import { count } from "../../terminal/units.ts";
import { REVOKED } from "../../service/wire-account.ts";

/** This machine's own is ended with the others: the next update is given a fresh one by the session. */
function forgetTokens({ links }: Context, isOurs: ReturnType<typeof isLinkOf>): void {
  try {
    links.edit((link) => (isOurs(link) ? { ...link, manage_token: null } : link));
  } catch {
    // The tokens have ended: that a link could not be saved is no failure of it.
  }
}

export async function tokens(context: Context, given: Given): Promise<void> {
  if (given.argument !== "revoke") {
    throw usage(`What can be done with tokens is: ${svc("tokens revoke")}. For deploy tokens: ${svc("token create")}`);
  }
  const site = chooseSite(context, given, undefined);
  const { site_id, server } = site;
  const credential = requireSession(context.env, server, "tokens revoke");
  const call = { method: "DELETE", path: `/sites/${site_id}/manage-tokens`, credential, repeatable: true } as const;
  const body = await ask(server, call, REVOKED).catch((error: unknown) => {
    throw error instanceof ApiFailure && error.code === "unknown_site" ? siteGone(context, site) : error;
  });
  forgetTokens(context, isLinkOf(site_id, server));
  if (given.json) return context.terminal.json(body);
  context.terminal.say(
    text`\n  ${green("✓")} ${count(body.revoked, "manage_token")} ended: only your account changes the site`,
  );
}
