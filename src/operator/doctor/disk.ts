/** Whether the disk has room for deploys. */
import { diskUse, freeBytes, hasRoomFor } from "../../store/operations.ts";
import { humanSize } from "../../base/units.ts";
import type { Finding, Patient } from "./finding.ts";
import { nearestThere } from "./places.ts";

const WAYS = "make room, or give the server a larger disk (svc-server sites tells who takes how much)";

export function disk({ config }: Patient): Finding {
  const folder = nearestThere(config.data_dir);
  const use = Math.floor(diskUse(folder));
  const state = `${humanSize(freeBytes(folder))} are free at ${folder}, and ${use} % of its bytes or inodes are in use`;
  if (!hasRoomFor(folder, config.max_bytes, config.max_files)) {
    return { status: "fail", message: `${state}: deploys are refused (507). Sites stay online; ${WAYS}.` };
  }
  if (config.disk_high !== null && use >= config.disk_high) {
    return {
      status: "warn",
      message: `${state}: from ${config.disk_high} % on (SVC_DISK_HIGH) deploys without an account are refused; ${WAYS}.`,
    };
  }
  return { status: "ok", message: `${state}.` };
}
