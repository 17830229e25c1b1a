/** What is served beside the live version, as settings (BEYOND 0). Each has a variable and no flag. */
import { durationText } from "../base/units.ts";
import { duration, orOff, type Setting } from "./setting.ts";

const skew: Setting<number | null> = {
  flag: null,
  variables: ["SVC_SKEW"],
  fallback: "7d",
  meaning: "how long a former version gives its scripts, styles and pictures to pages that are open",
  allowed: "a duration such as 30s, 15m, 12h or 14d, or off",
  parse: orOff(duration),
  show: durationText,
};

export const SERVING_SETTINGS = { skew };
