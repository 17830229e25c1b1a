/** How long what is shown beside the live version stays, as a setting (BEYOND 7). */
import { durationText } from "../base/units.ts";
import { duration, type Setting } from "./setting.ts";

const preview_ttl: Setting<number> = {
  flag: null,
  variables: ["SVC_PREVIEW_TTL"],
  fallback: "30d",
  meaning: "lifetime of a preview since its last deploy",
  allowed: "a duration such as 30s, 15m, 12h or 14d",
  parse: duration,
  show: durationText,
};

export const PREVIEW_SETTINGS = { preview_ttl };
