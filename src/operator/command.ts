/** The context that a command of svc-server works with, and the findings of `doctor`. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import type { Command, CallWords } from "../command/index.ts";
import type { Config } from "../config/index.ts";
import type { Operations, Peeked } from "../store/operations.ts";
import type { ServerAddress } from "../store/upkeep.ts";

export interface OperatorContext {
  data_dir: string;
  /** The settings. A base URL or sites domain that is not set is that of the server's last start. */
  config(): Promise<Config>;
  /** The same without opening the data directory: `address` is where the server was at its last start. */
  settings(address: ServerAddress | null): Config;
  print(text: string): void;
  /** Prints to stderr: for what is no result. */
  note(text: string): void;
  /** The store, opened at the first call and closed after the command. */
  open(): Promise<Operations>;
}

export type OperatorCommand = Command<OperatorContext>;
export type { CallWords };

export const JSON_FLAG = { name: "json" } as const;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const folders = new Set<string>();

/** Those that whoever started this does not have it ignore, as nohup does with SIGHUP. */
function heeded(): (typeof SIGNALS)[number][] {
  const status = existsSync("/proc/self/status") ? readFileSync("/proc/self/status", "utf8") : "";
  const ignored = Number.parseInt(/^SigIgn:\s*([0-9a-f]+)/m.exec(status)?.[1]?.slice(-8) ?? "0", 16);
  return SIGNALS.filter((signal) => ((ignored >> (constants.signals[signal] - 1)) & 1) === 0);
}

function removeFolder(folder: string): void {
  folders.delete(folder);
  rmSync(folder, { recursive: true, force: true });
}

function end(_: unknown, signal: number): void {
  folders.forEach(removeFolder);
  process.exit(128 + signal);
}

/** Works in a new folder of this call's own, which goes with it, also at a signal: there may be keys in it. */
export async function inFolder<T>(what: string, work: (folder: string) => Promise<T>): Promise<T> {
  if (folders.size === 0) for (const signal of heeded()) process.on(signal, end);
  const folder = mkdtempSync(join(tmpdir(), `svc-${what}-`));
  folders.add(folder);
  try {
    return await work(folder);
  } finally {
    removeFolder(folder);
    if (folders.size === 0) for (const signal of SIGNALS) process.off(signal, end);
  }
}

// Findings of a check of `doctor`, and the facts that it is given.

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
