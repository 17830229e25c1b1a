/** svc-server with a clock that a test moves: `SVC_TEST_CLOCK` names a file of one number, the milliseconds that it is
 *  ahead. The file is mapped, so every process on the data directory has the new time at once. Beside serving it knows
 *  `gc` and `backup <dir>`, which go by that clock too; with `--workers` it supervises others like itself. */
import { readConfig } from "../../../src/config/index.ts";
import { startService } from "../../../src/server/service.ts";
import { WORKER_COMMAND } from "../../../src/run/program.ts";
import { runWorker, supervise } from "../../../src/server/workers.ts";
import { openOperations } from "../../../src/store/operations.ts";

const mapped = Bun.mmap(process.env.SVC_TEST_CLOCK!, { shared: true });
const ahead = new Float64Array(mapped.buffer, mapped.byteOffset, 1);
const now = (): number => Date.now() + Math.round(ahead[0]!);

async function serve(flags: string[]): Promise<void> {
  const config = readConfig(flags, process.env);
  const service = config.workers > 1 ? await supervise(config, process.env, now) : await startService(config, { now });
  process.on("SIGTERM", () => void service.stop().then(() => process.exit(0)));
  process.stdout.write(`svc-server listening on ${service.config.base_url} (by the test's clock)\n`);
}

async function operate(command: string, data_dir: string, folder = ""): Promise<void> {
  const operations = openOperations({ data_dir, now });
  try {
    const done = command === "gc" ? operations.sweep(now(), false) : operations.backUp(folder, false);
    process.stdout.write(`${JSON.stringify(await done)}\n`);
  } finally {
    operations.close();
  }
}

const [command = "", ...rest] = process.argv.slice(2);
try {
  if (command.startsWith("--")) await serve([command, ...rest]);
  else if (command === WORKER_COMMAND) await runWorker(now);
  else await operate(command, rest[0]!, rest[1]);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(1);
}
