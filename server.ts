/** svc-server: subcommand, configuration, start, signals. What it serves is put together in src/server/service.ts. Each
 *  call loads only what it needs: the code of the server is most of the time that a start takes. */
import { readFileSync } from "node:fs";
import { isatty } from "node:tty";
import packageJson from "./package.json" with { type: "json" };
import { askedFor, type Config, ConfigError, helpText, printConfig, readConfig } from "./src/config/index.ts";
import { readTls } from "./src/config/tls.ts";
import { visibleLine } from "./src/base/visible.ts";
import {
  BACKUP_COMMAND,
  CODING_COMMAND,
  DEPLOY_COMMAND,
  RENDER_COMMAND,
  WEBHOOK_COMMAND,
  WORKER_COMMAND,
} from "./src/run/program.ts";

interface Server {
  stop(): Promise<void>;
}

/** EX_SOFTWARE: the outcome of a write is unknown, a restart into recovery is wanted. */
const EXIT_RECOVER = 70;

const endAtOnce = (): void => process.exit(1);
/** Before the server is up there is nothing to drain. */
const recoverAtOnce = (): void => process.exit(EXIT_RECOVER);
/** A worker treats a second signal as the first: Ctrl-C and a service manager's stop reach all processes of the group, and then
 *  the supervisor's SIGTERM comes too. It ends at once when its supervisor does. */
const goOn = (): void => {};

/** Whether the program that started this (nohup) wants it to outlive the terminal. Only Linux can tell. */
function outlivesTerminal(): boolean {
  try {
    const ignored = /^SigIgn:\s*(\w+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
    return (BigInt(`0x${ignored}`) & 1n) === 1n;
  } catch {
    return false;
  }
}

/** A terminal that closes ends what was started on it. */
const isOnTerminal = (): boolean => [0, 1, 2].some((descriptor) => isatty(descriptor)) && !outlivesTerminal();

/** SIGTERM and SIGINT drain, and so does SIGHUP from a terminal; any other SIGHUP calls `onHangup`. */
function handleSignals(server: Server, onSecond: () => void, onHangup: () => void): void {
  let draining = false;
  const drain = async (code: number) => {
    if (draining) return onSecond();
    draining = true;
    await server.stop();
    process.exit(code);
  };
  process.on("SIGTERM", () => void drain(0));
  process.on("SIGINT", () => void drain(0));
  process.off("SIGUSR2", recoverAtOnce).on("SIGUSR2", () => void (draining || drain(EXIT_RECOVER)));
  // The shell and the kernel may both send it: unlike the others, a second one does not end the process.
  const onTerminal = isOnTerminal();
  process.on("SIGHUP", () => void (draining || (onTerminal ? drain(0) : onHangup())));
}

async function start(config: Config): Promise<Config> {
  process.on("SIGUSR2", recoverAtOnce);
  if (config.workers > 1) {
    const { supervise } = await import("./src/server/workers.ts");
    const supervisor = await supervise(config, process.env, Date.now);
    handleSignals(supervisor, endAtOnce, () => void supervisor.reload());
    return supervisor.config;
  }
  const { startService } = await import("./src/server/service.ts");
  const service = await startService(config, { now: Date.now });
  handleSignals(service, endAtOnce, service.reload);
  return service.config;
}

async function serve(config: Config): Promise<void> {
  readTls(config); // before the data directory is touched or a worker started
  const { base_url, sites_domain } = await start(config);
  process.stdout.write(
    `svc-server listening on ${base_url} (sites at ${new URL(base_url).protocol}//*.${sites_domain})\n`,
  );
}

/** The hidden subcommands: what the server's own processes run. */
const HIDDEN: Readonly<Record<string, () => Promise<unknown>>> = {
  [DEPLOY_COMMAND]: () => import("./src/deploy/worker.ts").then(({ serveDeploys }) => serveDeploys()),
  [CODING_COMMAND]: () => import("./src/coding/worker.ts").then(({ serveCodings }) => serveCodings()),
  [RENDER_COMMAND]: () => import("./src/render/worker.ts").then(({ serveRenders }) => serveRenders()),
  [BACKUP_COMMAND]: () => import("./src/upkeep/backup-worker.ts").then(({ serveBackups }) => serveBackups()),
  [WEBHOOK_COMMAND]: () => import("./src/webhooks/post.ts").then(({ servePosts }) => servePosts()),
  async [WORKER_COMMAND]() {
    process.on("SIGUSR2", recoverAtOnce);
    const { runWorker } = await import("./src/server/workers.ts");
    handleSignals(await runWorker(Date.now), goOn, goOn);
  },
};

async function main(argv: string[]): Promise<void> {
  const [word = ""] = argv;
  if (Object.hasOwn(HIDDEN, word)) return void (await HIDDEN[word]!());
  if (word === "help") return main([...argv.slice(1), "--help"]);
  const { commandsHelp, runOperator } = await import("./src/operator/commands.ts");
  const code = await runOperator(argv, process.env);
  if (code !== null) return void (process.exitCode = code);
  const flags = word === "serve" ? argv.slice(1) : argv;
  const asked = askedFor(flags);
  if (asked === "help") return void process.stdout.write(helpText(commandsHelp()));
  if (asked === "version") return void process.stdout.write(`svc-server ${packageJson.version}\n`);
  const config = readConfig(flags, process.env);
  if (asked === "print-config") return void process.stdout.write(`${printConfig(config)}\n`);
  await serve(config);
}

try {
  await main(process.argv.slice(2));
} catch (thrown) {
  const { sentenceOf } = await import("./src/operator/sentences.ts");
  const error = sentenceOf(thrown);
  process.stderr.write(`svc-server: ${visibleLine(error instanceof Error ? error.message : String(error))}\n`);
  process.exit(error instanceof ConfigError ? 2 : 1);
}
