/** `bun run demo [--port N] [--data-dir DIR]`: starts a server, deploys examples/hello to it with the real CLI, keeps serving. */
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Service } from "../src/server/service.ts";
import { cliEnvironment, install, main, ROOT, say, StepFailed } from "./run.ts";

const HELLO = join("examples", "hello");

/** The server in this process, so that it ends with the demo. Its log is off: the terminal belongs to the demo. */
async function startServer(port: string, data_dir: string): Promise<Service> {
  // Imported only now: the packages are installed by now.
  const [{ readConfig }, { startService }] = await Promise.all([
    import("../src/config/index.ts"),
    import("../src/server/service.ts"),
  ]);
  try {
    return await startService(readConfig(["--port", port, "--data-dir", data_dir, "--log", "off"], {}), {
      now: Date.now,
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const hint = /port/i.test(reason) ? "\nTo take another one: npx -y bun@1.4.5 run demo --port 8788" : "";
    throw new StepFailed(`The server did not start. ${reason}${hint}`);
  }
}

/** Runs the CLI to its end. */
async function cli(args: string[], base_url: string): Promise<{ code: number; url: string; messages: string }> {
  const child = Bun.spawn([process.execPath, "cli.ts", ...args, "--quiet"], {
    cwd: ROOT,
    env: cliEnvironment(base_url),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, messages, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, url: stdout.trim(), messages };
}

/** The folder's site: the one of an earlier demo where it is still there, else a new one. Its URL. */
async function deploy(base_url: string): Promise<string> {
  const again = await cli(["update", HELLO], base_url);
  if (again.code === 0) return again.url;
  const first = await cli([HELLO], base_url);
  if (first.code !== 0) throw new StepFailed(`The deploy failed. ${first.messages.trim()}`);
  return first.url;
}

/** npx and the terminal may both send Ctrl-C: a second signal does nothing more. */
const stopped = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => resolve());
  });

/** The service ends a process whose threads have died (its log is off here). */
function endWithService(): void {
  say("The server ended: one of its threads died. `npx -y bun@1.4.5 run start` shows why.");
  process.exit(1);
}

await main(async () => {
  const { values } = parseArgs({
    options: { port: { type: "string", default: "8787" }, "data-dir": { type: "string", default: "svc-data" } },
  });
  const stop = stopped();
  await install("packages", ROOT);
  process.on("SIGUSR2", endWithService);
  const service = await startServer(values.port, values["data-dir"]);
  try {
    const { base_url } = service.config;
    const url = await deploy(base_url);
    say(`\n  ${HELLO} is live. Open it in a browser:\n`);
    process.stdout.write(`      ${url}\n`);
    say(`\n  Deploy a folder of yours from a second terminal, anywhere:\n`);
    say(`      npx -y --allow-remote=root ${base_url}/svc.tgz ./your-folder\n`);
    say(`  The server at ${base_url} keeps its sites in ${values["data-dir"]}. Ctrl-C stops it.`);
    await stop;
  } finally {
    await service.stop();
  }
  return 0;
});
