/** `POST /_svc/report` on a site's host: anybody may tell the operator what is wrong with a site (CONTRACT 6). */
import type { Config } from "../config/index.ts";
import { answerJson } from "../http/answers.ts";
import { readFields, stringMember } from "../http/body.ts";
import { askedOrigin, clientAddress, networkOf } from "../http/client-address.ts";
import { refuseForeignOrigin } from "../http/csrf.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Limiter } from "../http/rate-limit.ts";
import type { Store } from "../store/index.ts";
import { newReportId } from "../base/tokens.ts";
import type { Site } from "../base/types.ts";

const LONGEST = { reason: 200, text: 5000, email: 254 };

interface Parts {
  config: Pick<Config, "trust_proxy" | "base_url">;
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

/** `site`: as visitors see it; of one that they cannot see nobody reports anything. */
export function createTakeReport({ config, store, now, limit, taken }: Parts) {
  const clientAddressOf = clientAddress(config.trust_proxy);
  const originOf = askedOrigin(config.trust_proxy, config.base_url);
  return async (request: Request, { site_id, slug }: Site, exchange: Exchange): Promise<Response> => {
    // Before it is counted: else another site's page would use up its visitor's reports, or send them in their name.
    refuseForeignOrigin({ request, origin: originOf(request, () => exchange.address()) });
    const from = clientAddressOf(exchange.address(), () => request.headers.get("x-forwarded-for"));
    const { headers } = await limit("rate_report", networkOf(from));
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
