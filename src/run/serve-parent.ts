/** A child's side: it heeds the server that started it and nobody else, and dies with it. */
import { writeFileSync } from "node:fs";
import { dieWithParent } from "./parent-death.ts";

/** Where there is one: who kills for want of memory takes a child and not the server. */
function volunteerToDie(name: string): void {
  try {
    writeFileSync("/proc/self/oom_score_adj", "1000");
    writeFileSync("/proc/self/comm", name);
  } catch {
    // no Linux
  }
}

/** What reaches the whole group (Ctrl-C, a service manager's stop) is the server's to answer: it ends this process.
 *  `name` is what process lists show, at most 15 bytes. */
export function serveParent<To>(name: string, onMessage: (message: To) => unknown): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  process.on("disconnect", () => process.exit());
  dieWithParent(true);
  if (!process.connected) process.exit(); // it ended before the kernel was asked
  volunteerToDie(name);
  process.on("message", onMessage);
}
