/** Whether the clock is right, as far as anybody here can tell. */
import type { Finding, Patient } from "./finding.ts";

/** More than clocks of one machine differ. */
const APART_MS = 1000;
const SET = "set it: timedatectl set-ntp true";

/** Whether a time service keeps it; null where nobody tells. */
function isKept(): boolean | null {
  try {
    const asked = Bun.spawnSync(["timedatectl", "show", "--property=NTPSynchronized", "--value"], {
      stdio: ["ignore", "pipe", "ignore"],
      timeout: 2000,
    });
    const said = asked.stdout.toString().trim();
    return asked.exitCode === 0 && said !== "" ? said === "yes" : null;
  } catch {
    return null; // no systemd here
  }
}

export function clock({ kept, now }: Patient): Finding {
  const shows = `It shows ${new Date(now).toISOString()}`;
  const newest = Math.max(...(kept?.deployed_at ?? []).map((at) => Date.parse(at)), -Infinity);
  if (newest > now + APART_MS) {
    const until = new Date(newest).toISOString();
    return {
      status: "fail",
      message: `${shows}, and the last deploys are of up to ${until}: it is behind, or was ahead. ${SET}.`,
    };
  }
  if (isKept() === false) {
    return {
      status: "warn",
      message: `${shows}, and no time service keeps it right; expiry and certificates go by it. ${SET}.`,
    };
  }
  return { status: "ok", message: `${shows}.` };
}
