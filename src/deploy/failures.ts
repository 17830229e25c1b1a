/** The refusals for a deploy that was ended, died or never began. The log has the rest, for the operator. */
import { Refusal } from "../base/errors.ts";
import { visible } from "../base/visible.ts";
import type { DeployStep } from "./upload-file.ts";

const SOON = { "retry-after": "1" };

export const busy = (): Refusal =>
  new Refusal("unavailable", "The server is busy with other deploys. Try again in a moment.", {}, SOON);

export const stopping = (): Refusal =>
  new Refusal("unavailable", "The server is restarting, and nothing was stored. Try again in a moment.", {}, SOON);

/** `while unpacking a.html`: the log's words too. */
export const during = ({ stage, file }: DeployStep): string => `while ${stage}${file ? ` ${visible(file)}` : ""}`;

const whereOf = ({ stage, file }: DeployStep) => ({ stage, ...(file !== null && { path: file }) });

export const tooLong = (step: DeployStep, deadline_ms: number): Refusal =>
  new Refusal(
    "too_complex",
    `The deploy could not be read within ${deadline_ms / 1000} seconds: it hung ${during(step)}. ` +
      "Make that file simpler or leave it out, then deploy again.",
    whereOf(step),
  );

export const tooLarge = (step: DeployStep, memory_bytes: number): Refusal =>
  new Refusal(
    "too_complex",
    `The deploy could not be read within ${Math.round(memory_bytes / (1 << 20))} MB of memory: it took more ${during(step)}. ` +
      "Make that file simpler or leave it out, then deploy again.",
    whereOf(step),
  );

/** A bug of the runtime that this very upload may bring about again. */
const crashed = (step: DeployStep): Refusal =>
  new Refusal(
    "internal",
    `The program that reads deploys crashed ${during(step)}, and nothing was stored. ` +
      "Leave that file out or try again; if it stays, tell the server's operator.",
    whereOf(step),
  );

/** An operator, a service manager, or a kernel that is out of memory. */
const ended = (): Refusal =>
  new Refusal(
    "unavailable",
    "The process that read this deploy was ended from outside, and nothing was stored. Try again in a moment.",
    {},
    SOON,
  );

/** No Retry-After: a program that obeys it would repeat a first deploy, and make a second site where the first one is. */
const outcomeUnknown = (): Refusal =>
  new Refusal(
    "unavailable",
    "The process that stored this deploy died before it could answer. Look whether your change is there before you repeat it.",
  );

const FROM_OUTSIDE: ReadonlySet<string> = new Set(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"]);

/** For a process that ended by itself, or by a signal that was not the pool's. */
export function died(signal: string | null, step: DeployStep, publishing: boolean): Refusal {
  if (publishing) return outcomeUnknown();
  return signal !== null && FROM_OUTSIDE.has(signal) ? ended() : crashed(step);
}

/** The machine has no process, no descriptor or no memory left, or the program's file is gone. */
export const notStarted = (): Refusal =>
  new Refusal(
    "unavailable",
    "The server could not start the program that reads deploys, and nothing was stored. Try again in a moment.",
    {},
    SOON,
  );

/** On a system whose kernel does not keep a running program's file, an upgrade under a running server ends its deploys. */
export const exchanged = (): Refusal =>
  new Refusal(
    "unavailable",
    "The server was upgraded and must be restarted before it takes deploys. Nothing was stored; tell its operator.",
    {},
    { "retry-after": "60" },
  );
