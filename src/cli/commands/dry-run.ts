/** `--dry-run`: what a deploy would do, with nothing stored. */
import type { Given } from "../command.ts";
import { tellReceipt } from "./receipt.ts";
import type { Terminal } from "../terminal/index.ts";
import { dim, green, text } from "../terminal/text.ts";
import { count } from "../terminal/units.ts";
import { STOPPED } from "../service/upload.ts";
import type { DryRun, Receipt } from "../service/wire.ts";

export const isDryRun = (given: Given): boolean => given.has("dry-run");

/** What a person is told who stops it once the whole upload is handed over. */
export const stoppedLate = (given: Given): string => (isDryRun(given) ? STOPPED.early : STOPPED.late);

/** A query for `path`, of the parameters that are there. */
export function withQuery(path: string, ...parameters: readonly (string | null)[]): string {
  const query = parameters.filter((parameter) => parameter !== null).join("&");
  return query === "" ? path : `${path}?${query}`;
}

/** The paths go to stdout, marked as `diff` marks them; everything else to stderr. */
export function tellDryRun(terminal: Terminal, given: Given, result: DryRun, receipt: Receipt): void {
  if (given.json) {
    terminal.json({ ok: true, ...result });
    return tellReceipt(terminal, receipt, "nothing");
  }
  const { added, changed, removed } = result.files;
  for (const [mark, paths] of [
    ["+", added],
    ["~", changed],
    ["-", removed],
  ] as const) {
    for (const path of paths) terminal.result(`${mark} ${path}`);
  }
  const none = added.length + changed.length + removed.length === 0;
  const sum = `${count(added.length, "file")} added, ${changed.length} changed, ${removed.length} removed`;
  terminal.say(text`\n  ${green("✓")} ${none ? "No changes" : sum} ${dim("(dry run: nothing was stored)")}`);
  terminal.say(text`  Unknown paths are answered with ${result.spa.enabled ? "the app (single-page app)" : "404"}\n`);
  tellReceipt(terminal, receipt, "nothing");
}
