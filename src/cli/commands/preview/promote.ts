/** `svc promote`: what a preview shows is live, byte for byte. */
import type { Context, Given } from "../../command.ts";
import { Failure, usage } from "../../failure.ts";
import { svc } from "../../invocation.ts";
import { ask } from "../../service/api.ts";
import { ApiFailure } from "../../service/refusal.ts";
import { ROLLED_BACK } from "../../service/wire.ts";
import { dim, green, text } from "../../terminal/text.ts";
import { chooseSite, openSite, rollbackCommand, touchLink } from "../chosen-site.ts";
import { forSite } from "./asking.ts";
import { namedPreview, slugIn } from "./name.ts";

export async function promote(context: Context, given: Given): Promise<void> {
  if (given.argument === undefined) throw usage(`Which preview? ${svc("previews")} lists them.`);
  const opened = await openSite(context, chooseSite(context, given, undefined), 1);
  const { record, server, credential, site_id } = opened;
  const name = namedPreview(given.argument, slugIn(record.url));
  const call = { method: "POST", path: `/sites/${site_id}/previews/${name}/promote`, credential } as const;
  const body = await ask(server, { ...call, repeatable: false }, ROLLED_BACK).catch((error: unknown) => {
    const isUnknown = error instanceof ApiFailure && error.code === "unknown_version";
    if (!isUnknown) return forSite(context, opened)(error);
    throw new Failure("unknown_version", `The site has no preview ${name}. ${svc("previews")} lists them.`);
  });
  touchLink(context, opened, record);
  if (given.json) return context.terminal.json(body);
  const changed = body.version_id !== body.previous_version_id;
  context.terminal.say(
    text`\n  ${green("✓")} ${changed ? `Version ${body.version_id} is live` : "No changes (already live)"}`,
  );
  context.terminal.url(body.url);
  if (!changed) return;
  context.terminal.say(dim(text`  Back again: ${rollbackCommand(context, opened, body.previous_version_id)}\n`));
}
