/** The render engine, where the operator turned it on: a thread of one process, which looks every half second for versions
 *  that nobody has looked at yet. No deploy and no page waits for it. */
import type { Config } from "../../config/index.ts";
import { countingFailures, every, loggedBy } from "../../run/every.ts";
import { createLog, type Log } from "../../run/log.ts";
import { slotOf } from "../../run/metrics.ts";
import { openFigures } from "../../store/index.ts";
import type { Figures } from "../../store/upkeep.ts";
import { threadUrl } from "../../run/runtime.ts";
import { sideThread } from "../side-thread.ts";
import type { RenderData, RenderOrder, RenderReply } from "./order.ts";

const LOOK_MS = 500;
const STOP_MS = 2000;
const NOTHING = { stop: async () => {} };

/** Where a program of this machine reaches the server. */
function localAddress({ host, port, tls_cert }: Config): string {
  const anywhere: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1" };
  const name = anywhere[host] ?? (host.includes(":") ? `[${host}]` : host);
  return `${tls_cert === null ? "http" : "https"}://${name}:${port}`;
}

type Looked = Extract<RenderReply, { looked: unknown }>;

function note({ looked, waiting }: Looked, log: Log, figures: Figures): void {
  const { site_id, slug, version_id, status, reason, warnings, ms } = looked;
  figures.add(slotOf(status === "done" ? "svc_renders_done_total" : "svc_renders_failed_total"), 1);
  figures.set(slotOf("svc_renders_waiting"), waiting);
  log.record("render", { site_id, slug, version_id, status, ms, warnings, reason });
}

/** `config`: with the addresses under which the sites are reached. `fatal` ends the process. */
export function startRendering(
  config: Config,
  now: () => number,
  fatal: (error: unknown) => void,
): { stop(): Promise<void> } {
  if (config.render === "off") return NOTHING;
  const { data_dir, base_url, sites_domain, chrome } = config;
  const log = createLog(config.log, now);
  const figures = openFigures(data_dir);
  const failed = loggedBy(log, "render");
  const looked = countingFailures(failed);
  const stopped = Promise.withResolvers<void>();
  const workerData: RenderData = { data_dir, base_url, sites_domain, server: localAddress(config), chrome };
  const thread = sideThread<RenderOrder, RenderReply>({
    make: () => new Worker(threadUrl("./src/server/rendering/thread.ts"), { workerData } as WorkerOptions),
    heard(reply) {
      if (reply === "stopped") return stopped.resolve();
      if ("looked" in reply) return note(reply, log, figures);
      if ("say" in reply) return log.event(`render: ${reply.say}`);
      if ("done" in reply) return looked(reply.error);
      looks.stop();
      void end();
      fatal(new Error(reply.fatal));
    },
    broke: looked,
  });
  /** Resolves when no process of it is left. */
  async function end(): Promise<void> {
    if (thread.tell("stop")) await Promise.race([stopped.promise, Bun.sleep(STOP_MS)]);
    thread.end();
  }
  const looks = every(LOOK_MS, () => thread.order({ now: now() }), failed);
  return {
    async stop() {
      looks.stop();
      await end();
      await log.close();
    },
  };
}
