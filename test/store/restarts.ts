/** Start after start on one port and one data directory, each right after kill -9 of the one before, whose workers have not
 *  ended yet. Every start must come up by itself, and find all that was answered. */
import { childrenOf, parentOf, type ServerProcess, startProcess } from "../kit/process.ts";
import { checkServed, send, type TrackedSite } from "../kit/tracked-sites.ts";
import { until } from "../kit/until.ts";

export interface RestartReport {
  starts: number;
  /** Milliseconds from the kill to the ready line. */
  slowest: number;
}

/** Throws at the first start that does not come up, or that has lost something. */
export async function restarts(
  data_dir: string,
  starts: number,
  onStart: (n: number) => void = () => {},
): Promise<RestartReport> {
  const start = (port: string) =>
    startProcess(["--data-dir", data_dir, "--workers", "2", "--log", "off", "--port", port]);
  let server: ServerProcess = await start("0");
  const port = String(server.port);
  const made = await send(server, "/sites", "restarted", 1);
  const site: TrackedSite = { name: "restarted", ...made, acked: 1, in_flight: null };
  let slowest = 0;
  for (let n = 1; n <= starts; n++) {
    const killed = [server.pid, ...childrenOf(server.pid)];
    const at = performance.now();
    server.kill("SIGKILL");
    await server.exited;
    server = await start(port);
    slowest = Math.max(slowest, performance.now() - at);
    // On this one port a worker of before may still take a connection and end with it: it is asked when they are gone.
    await until(() => killed.every((pid) => parentOf(pid) === null));
    await checkServed(server, site);
    await send(server, `/sites/${site.site_id}/deploys`, site.name, ++site.acked, site.manage_token);
    onStart(n);
  }
  await server.end();
  return { starts, slowest: Math.round(slowest) };
}
