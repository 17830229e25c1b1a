/** A call about a site's previews. */
import type { Context } from "../../command.ts";
import { Failure } from "../../failure.ts";
import { ApiFailure } from "../../service/refusal.ts";
import { type OpenedSite, siteGone } from "../chosen-site.ts";

/** With its site, where that has an end. */
export const endOf = (expires_at: number, { record }: Pick<OpenedSite, "record">): number =>
  Math.min(expires_at, record.expires_at ?? Infinity);

/** What the server says of the site, and not of what was asked. */
export const forSite =
  (context: Context, site: OpenedSite) =>
  (error: unknown): never => {
    if (!(error instanceof ApiFailure)) throw error;
    if (error.code === "unknown_site") throw siteGone(context, site);
    if (error.code !== "not_found" && error.code !== "method_not_allowed") throw error;
    const { origin } = site.server;
    throw new Failure(
      "not_found",
      `The server ${origin} knows no previews: it is older than this svc. Upgrade it first.`,
    );
  };
