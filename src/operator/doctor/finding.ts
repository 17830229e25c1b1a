/** What a check is given, and what it finds. */
import type { Config } from "../../config/index.ts";
import type { Peeked } from "../../store/operations.ts";

/** `skip`: there is nothing to check. */
type Status = "ok" | "warn" | "fail" | "skip";

export interface Finding {
  status: Status;
  /** One sentence or several. Of `warn` and `fail` it says what to do. */
  message: string;
}

export interface Patient {
  config: Config;
  /** What the data directory says of itself; null where there is none yet. */
  kept: Peeked | null;
  /** Epoch milliseconds. */
  now: number;
}

export type Check = (patient: Patient) => Finding | Promise<Finding>;

const GRAVITY: readonly Status[] = ["skip", "ok", "warn", "fail"];

/** The worst of several, with all that is as bad. */
export function worst(findings: readonly Finding[]): Finding {
  const gravest = GRAVITY.findLast((status) => findings.some((one) => one.status === status)) ?? "ok";
  const told = findings.filter(({ status }) => status === gravest);
  return { status: gravest, message: told.map(({ message }) => message).join(" ") };
}
