/** The badge of a site's state. No account has a site that has expired. */
import { badge } from "../parts.ts";

export const STATE_BADGES = {
  live: badge("Live", "live"),
  frozen: badge("Frozen", "bad"),
  disabled: badge("Disabled", "bad"),
  expired: null,
} as const;
