/** Limits that all workers count alike (CONTRACT 4.4), and the headers that tell of them. */
import { networkOf } from "./context.ts";
import type { Config } from "../config/index.ts";
import { Refusal } from "../base/errors.ts";
import type { RateRule } from "../config/rates.ts";
import { type Rates, rateWindows, type RateWindow, type Standing } from "../base/rates.ts";

export interface Counted {
  headers: Record<string, string>;
  /** Takes the count of this call back. */
  undo(): Promise<void>;
}

/** Calls that come before one that the rule is for are counted apart: so many times as many of them there may be. */
const BEFORE = { plan: 2, look: 1, zip: 1 } as const;
type Before = keyof typeof BEFORE;

/** Counts a call; throws 429 `rate_limited` if it is one too many. */
export type Limiter = (rule: RateRule, subject: string, before?: Before) => Promise<Counted>;

const UNLIMITED: Counted = { headers: {}, undo: async () => {} };
const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));
const nameOf = (rule: string): string => rule.replace(/^rate_/, "").replaceAll("_", "-");

/** The headers of the IETF draft (every window has a name of its own) and of its forerunners. */
function headersOf(rule: string, windows: readonly Standing[]): Record<string, string> {
  const name = (index: number) => JSON.stringify(index === 0 ? nameOf(rule) : `${nameOf(rule)}-${index + 1}`);
  const tightest = windows.reduce((a, b) =>
    b.remaining < a.remaining || (b.remaining === a.remaining && b.reset_ms > a.reset_ms) ? b : a,
  );
  const { count, remaining, reset_ms } = tightest;
  return {
    "ratelimit-policy": windows.map((w, i) => `${name(i)};q=${w.count};w=${seconds(w.window_ms)}`).join(", "),
    ratelimit: `${name(windows.indexOf(tightest))};r=${remaining};t=${seconds(reset_ms)}`,
    "ratelimit-limit": String(count),
    "ratelimit-remaining": String(remaining),
    "ratelimit-reset": String(seconds(reset_ms)),
  };
}

function rateLimited(headers: Record<string, string>): Refusal {
  const wait = headers["ratelimit-reset"]!;
  const message = `Too many tries: wait ${wait === "1" ? "a second" : `${wait} seconds`} and try again.`;
  return new Refusal("rate_limited", message, { retry_after: Number(wait) }, { ...headers, "retry-after": wait });
}

/** The same by windows that no setting names. */
export type WindowLimiter = (name: string, subject: string, windows: readonly RateWindow[]) => Promise<Counted>;

export const windowLimiter =
  (rates: Rates): WindowLimiter =>
  async (name, subject, windows) => {
    if (windows.length === 0) return UNLIMITED;
    const { allowed, windows: standing, undo } = await rates.take(name, subject, windows);
    const headers = headersOf(name, standing);
    if (!allowed) throw rateLimited(headers);
    return { headers, undo };
  };

export function limiter(rates: Rates, config: Config): Limiter {
  const limit = windowLimiter(rates);
  return (rule, subject, before) => {
    const windows = rateWindows(config[rule])!;
    if (before === undefined) return limit(rule, subject, windows);
    return limit(
      `${rule}_${before}`,
      subject,
      windows.map((window) => ({ ...window, count: BEFORE[before] * window.count })),
    );
  };
}

/** A call that is to be counted, and the headers of its answer. */
interface LimitedCall {
  parts: { limit: Limiter };
  client_address(): string;
  headers: Record<string, string>;
}

/** Counts a deploy of the account's sites, with any credential. */
export async function limitAccount(
  { parts, headers }: Omit<LimitedCall, "client_address">,
  account_id: string,
  before?: Before,
): Promise<void> {
  Object.assign(headers, (await parts.limit("rate_owned", account_id, before)).headers);
}

/** Counts a call of the client's network: an IPv4 address or an IPv6 /64. */
export async function limitClient(
  { parts, client_address, headers }: LimitedCall,
  rule: RateRule,
  before?: Before,
): Promise<Counted> {
  const counted = await parts.limit(rule, networkOf(client_address()), before);
  Object.assign(headers, counted.headers);
  return counted;
}
