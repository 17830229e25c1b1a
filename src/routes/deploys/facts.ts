/** The log's line about a deploy, a preview, or another change of a site (CONTRACT 7), noted while it is on its way: no
 *  token, no file's name. */
import type { Deployed } from "../../deploy/job.ts";
import type { ChangeFacts, DeployFacts, Exchange } from "../../http/exchange.ts";
import type { Site } from "../../base/types.ts";
import type { Caller } from "../caller.ts";

/** Null for a credential that opens nothing here. */
function named(caller: Caller): string | null {
  if (caller.kind === "account") return caller.account_id;
  if (caller.kind === "site") return "manage_token";
  if (caller.kind === "deploy") return caller.token_id;
  return caller.kind === "anonymous" ? "anonymous" : null;
}

/** From here on the log has a line for the answer. */
export const beginFacts = (exchange: Exchange, event: DeployFacts["event"]): DeployFacts =>
  (exchange.deploy = { event, by: null });

export const noteCaller = ({ deploy }: Exchange, caller: Caller): void => void (deploy && (deploy.by = named(caller)));

export function noteSite({ deploy }: Exchange, { site_id, slug }: Pick<Site, "site_id" | "slug">): void {
  if (deploy) Object.assign(deploy, { site_id, slug });
}

export const noteReceived = ({ deploy }: Exchange, ms: number): void => void (deploy && (deploy.receiving_ms = ms));

type Changed = Pick<ChangeFacts, "event" | "from" | "version_id"> & { site: Pick<Site, "site_id" | "slug"> };

/** The change has been made: from here on the log has a line for it. */
export function noteChange(exchange: Exchange, caller: Caller, { site, ...moved }: Changed): void {
  exchange.change = { by: named(caller), site_id: site.site_id, slug: site.slug, ...moved };
}

const codes = (entries: readonly { code: string }[]): string[] => entries.map(({ code }) => code);

export function noteDeployed(exchange: Exchange, deployed: Deployed): void {
  const { site, version_id, files, bytes, healed, warnings } = deployed;
  noteSite(exchange, site);
  const receiving = exchange.deploy?.receiving_ms;
  const stages = { ...(receiving !== undefined && { receiving }), ...deployed.stages };
  const done = { version_id, files, bytes, stages, healed: codes(healed), warnings: codes(warnings) };
  if (exchange.deploy) exchange.deploy.done = done;
}
