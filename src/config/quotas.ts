/** What strangers may take up, as settings (BEYOND 9). Each has a variable and no flag. */

import { sizeText } from "../base/units.ts";
import { integer, orOff, percent, quotaSize, type Setting } from "./setting.ts";

const bound = (
  name: string,
  fallback: string,
  meaning: string,
  allowed: string,
  parse: (text: string) => number | undefined,
): Setting<number | null> => ({
  flag: null,
  variables: [`SVC_${name}`],
  fallback,
  meaning,
  allowed: `${allowed}, or off`,
  parse: orOff(parse),
});

const quota = (name: string, fallback: string, meaning: string): Setting<number | null> => ({
  ...bound(`QUOTA_${name}`, fallback, meaning, "a size such as 64KB, 500MB or 5GB", quotaSize),
  show: sizeText,
});

export const QUOTA_SETTINGS = {
  quota_account: quota("ACCOUNT", "5GB", "what an account's sites hold"),
  quota_address: quota("ADDRESS", "500MB", "what the unowned sites of one client address hold"),
  keep_versions: bound(
    "KEEP_VERSIONS",
    "1000",
    "versions a site keeps; older ones are removed after a deploy",
    "a number from 1 to 1000000",
    integer(1, 1_000_000),
  ),
  disk_high: bound(
    "DISK_HIGH",
    "90%",
    "use of the disk from which deploys without an account are refused",
    "a share from 1% to 100%",
    percent,
  ),
};
