/** The facts that a check of `doctor` is given, and its findings. */
import type { Config } from "../config/index.ts";
import type { Peeked } from "../store/operations.ts";

/** `skip` means that there is nothing to check. */
type FindingStatus = "ok" | "warn" | "fail" | "skip";

export interface Finding {
  status: FindingStatus;
  /** One sentence or several; for `warn` and `fail` they say what to do. */
  message: string;
}

export interface Patient {
  config: Config;
  /** The data directory's own record of itself; null if there is none yet. */
  kept: Peeked | null;
  /** Epoch milliseconds. */
  now: number;
}

const GRAVITY: readonly FindingStatus[] = ["skip", "ok", "warn", "fail"];

/** The worst findings of several, as one. */
export function worst(findings: readonly Finding[]): Finding {
  const gravest = GRAVITY.findLast((status) => findings.some((one) => one.status === status)) ?? "ok";
  const worstOnes = findings.filter(({ status }) => status === gravest);
  return { status: gravest, message: worstOnes.map(({ message }) => message).join(" ") };
}
