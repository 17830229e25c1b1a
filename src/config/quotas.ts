/** What strangers may take up, as settings (BEYOND 9). Each has a variable and no flag. */

import { integer, orOff, percent, type Setting, size } from "./setting.ts";

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

const SIZE = "a size such as 64k, 500m or 5g";

export const QUOTA_SETTINGS = {
  quota_account: bound("QUOTA_ACCOUNT", "5g", "bytes that an account's sites hold", SIZE, size),
  quota_address: bound("QUOTA_ADDRESS", "500m", "bytes that unowned sites of one client address hold", SIZE, size),
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
