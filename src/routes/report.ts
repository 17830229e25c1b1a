/** `POST /_svc/report` on a site's host: anybody may tell the operator what is wrong with a site (CONTRACT.md 6). */
import { clientAddress, networkOf } from "../http/client-address.ts";
import type { Config } from "../config/index.ts";
import { Refusal } from "../errors.ts";
import type { Exchange } from "../http/exchange.ts";
import { siteState } from "../site-state.ts";
import type { Store } from "../store/index.ts";
import { newReportId } from "../tokens.ts";
import type { Site } from "../types.ts";
import { answerJson } from "../http/answers.ts";
import type { Limiter } from "../http/rate-limit.ts";
import { readFields, stringMember } from "../http/body.ts";

export const REPORT_PATH = "/_svc/report";

const LONGEST = { reason: 200, text: 5000, email: 254 };

export interface ReportParts {
  config: Config;
  store: Pick<Store, "sites" | "reports">;
  now: () => number;
  limit: Limiter;
  /** A report was taken. */
  taken(): void;
}

/** The site as visitors see it: one that they cannot see takes no reports. A frozen one does. */
async function reportedSite(slug: string, { store, now, config }: ReportParts): Promise<Site> {
  const site = await store.sites.bySlug(slug);
  if (!site) {
    const gone = await store.sites.tombstone(slug);
    throw gone?.reason === "expired" ? expired() : new Refusal("unknown_host", "There is no site here to report.");
  }
  const state = siteState(site, now());
  if (state === "expired") throw expired();
  if (state === "disabled") {
    throw new Refusal(
      "site_disabled",
      "The operator of this service has disabled this site already.",
      { reason: site.disabled_reason, ...(config.contact !== null && { appeal: config.contact }) },
      { link: `<${config.base_url}>; rel="blocked-by"` },
    );
  }
  return site;
}

const expired = (): Refusal => new Refusal("site_expired", "This site has expired: there is nothing left to report.");

/** A member that may be left out or empty. */
function optional(fields: Readonly<Record<string, unknown>>, name: "text" | "email"): string | null {
  const value = Object.hasOwn(fields, name) ? fields[name] : null;
  return value === null || value === "" ? null : stringMember(fields, name, LONGEST[name]);
}

export function createReports(parts: ReportParts) {
  const addressOf = clientAddress(parts.config.trust_proxy);
  return async (request: Request, { slug }: { slug: string }, exchange: Exchange): Promise<Response> => {
    const site = await reportedSite(slug, parts);
    if (request.method !== "POST") {
      throw new Refusal("method_not_allowed", "Reports are sent with POST.", {}, { allow: "POST" });
    }
    const from = addressOf(exchange.peer.address(), () => request.headers.get("x-forwarded-for"));
    const { headers } = await parts.limit("rate_report", networkOf(from));
    const fields = await readFields(request);
    const report_id = newReportId();
    await parts.store.reports.add({
      report_id,
      site_id: site.site_id,
      slug: site.slug,
      reason: stringMember(fields, "reason", LONGEST.reason),
      text: optional(fields, "text"),
      email: optional(fields, "email"),
      created_at: new Date(parts.now()).toISOString(),
    });
    parts.taken();
    return answerJson({ report_id }, exchange, 202, headers);
  };
}
