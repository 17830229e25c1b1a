/** `POST /_svc/report` on a site's host: a report to the operator about a site; open to all (CONTRACT 6). */
import { answerJson } from "../http/answers.ts";
import { readFields, stringMember } from "../http/body.ts";
import { networkOf, type RequestContext } from "../http/context.ts";
import { refuseForeignOrigin } from "../http/csrf.ts";
import type { Limiter } from "../http/rate-limit.ts";
import type { Store } from "../store/index.ts";
import { newReportId } from "../base/tokens.ts";
import type { Site } from "../base/types.ts";

const LONGEST = { reason: 200, text: 5000, email: 254 };

interface ReportParts {
  store: Pick<Store, "reports">;
  now: () => number;
  limit: Limiter;
  /** A report was taken. */
  taken(): void;
}

/** A member that may be left out or empty. */
function optional(fields: Readonly<Record<string, unknown>>, name: "text" | "email"): string | null {
  const value = Object.hasOwn(fields, name) ? fields[name] : null;
  return value === null || value === "" ? null : stringMember(fields, name, LONGEST[name]);
}

/** `site`: as visitors see it; a site that they cannot see cannot be reported. */
export function createTakeReport({ store, now, limit, taken }: ReportParts) {
  return async (context: RequestContext, { site_id, slug }: Site): Promise<Response> => {
    const { request, exchange, client_address } = context;
    // Before it is counted: else another site's page would use up its visitor's reports, or send them in their name.
    refuseForeignOrigin(context);
    const { headers } = await limit("rate_report", networkOf(client_address()));
    const fields = await readFields(request);
    const report_id = newReportId();
    await store.reports.add({
      report_id,
      site_id,
      slug,
      reason: stringMember(fields, "reason", LONGEST.reason),
      text: optional(fields, "text"),
      email: optional(fields, "email"),
      created_at: new Date(now()).toISOString(),
    });
    taken();
    return answerJson({ report_id }, exchange, 202, headers);
  };
}
