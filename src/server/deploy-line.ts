/** The log's line of a deploy or a preview, beside the access log's (CONTRACT 7). */
import type { DeployFacts, Exchange } from "../http/exchange.ts";
import type { Log } from "../run/log.ts";

/** A tenth of a millisecond is as exact as a person wants it. */
const rounded = (ms: number): number => Math.round(ms * 10) / 10;
const roundedAll = (stages: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(stages).map(([stage, ms]) => [stage, rounded(ms)]));

type Line = (log: Pick<Log, "record">, members: Parameters<Log["record"]>[1]) => void;

/** Each name is written out: the manual tells of every line that stands in the source. */
const LINES: Record<DeployFacts["event"], { done: Line; refused: Line }> = {
  deploy: {
    done: (log, members) => log.record("deploy", members),
    refused: (log, members) => log.record("deploy_refused", members),
  },
  preview: {
    done: (log, members) => log.record("preview", members),
    refused: (log, members) => log.record("preview_refused", members),
  },
};

export function logDeploy(
  log: Pick<Log, "record">,
  { code, request_id }: Exchange,
  { event, by, site_id, slug, done }: DeployFacts,
  { status, ms }: { status: number; ms: number },
): void {
  const site = { site_id: site_id ?? null, slug: slug ?? null };
  if (!done || code !== null) {
    return LINES[event].refused(log, { code, status, request_id, by, ...site, ms: rounded(ms) });
  }
  const { version_id, files, bytes, stages, healed, warnings } = done;
  const what = { version_id, by, files, bytes, ms: rounded(ms), stages: roundedAll(stages), healed, warnings };
  LINES[event].done(log, { request_id, ...site, ...what });
}
