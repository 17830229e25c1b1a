/** rsync to its own daemon on this machine: what it sends and how long it takes. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { until } from "../../test/kit/until.ts";

interface Synced {
  /** Of both directions from the client's side: what it sent. */
  sent: number;
  ms: number;
}

export interface Rsync {
  version: string;
  sync(from: string): Promise<Synced>;
  stop(): Promise<void>;
}

function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}

async function answers(port: number): Promise<boolean> {
  const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } }).catch(() => null);
  socket?.end();
  return socket !== null;
}

async function run(argv: string[]): Promise<string> {
  const child = Bun.spawn(argv, { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`${argv[0]} ended with ${code}: ${err}`);
  return out;
}

/** Null where it is not installed. It flushes what it writes, as a deploy does. */
export async function startRsync(root: string): Promise<Rsync | null> {
  const program = Bun.which("rsync");
  if (program === null) return null;
  const [port, target, config] = [freePort(), join(root, "synced"), join(root, "rsyncd.conf")];
  await mkdir(target, { recursive: true });
  await Bun.write(config, `use chroot = no\n[site]\npath = ${target}\nread only = no\nuid = ${process.getuid!()}\n`);
  const flags = ["--daemon", "--no-detach", `--port=${port}`, "--address=127.0.0.1", `--config=${config}`];
  const daemon = Bun.spawn([program, ...flags], { stdio: ["ignore", "ignore", "ignore"] });
  await until(() => answers(port));
  const to = `rsync://127.0.0.1:${port}/site/`;
  return {
    version: /version (\S+)/.exec(await run([program, "--version"]))![1]!,
    async sync(from) {
      const started = performance.now();
      const out = await run([program, "-a", "-z", "--delete", "--fsync", "--stats", `${from}/`, to]);
      const ms = performance.now() - started;
      return { ms, sent: Number(/Total bytes sent: ([\d,]+)/.exec(out)![1]!.replaceAll(",", "")) };
    },
    async stop() {
      daemon.kill();
      await daemon.exited;
    },
  };
}
