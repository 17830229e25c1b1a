/** Power cuts: `bun test/torture/power-cut.ts [cuts] [ext4|xfs] [without-fsync]`. Needs Linux, root, loop mounts and mkfs.
 *  The file system with the data directory is shut down without flushing (XFS_IOC_GOINGDOWN, which ext4 knows too), the
 *  server is killed, the file system mounted again, and every answered deploy must be there, whole. With `without-fsync`
 *  (strace makes every fsync a no-op) the check must fail: that shows that it can. */
import { dlopen, FFIType, ptr } from "bun:ffi";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { crashRounds } from "../store/crash.ts";
import { type ServerProcess, SOURCE, temporaryFolder } from "../kit/process.ts";

const [cuts = "24", kind = "ext4", mode = ""] = process.argv.slice(2);
const GOING_DOWN = 0x8004587d;
const WITHOUT_FLUSHING = new Uint32Array([2]);
const { symbols } = dlopen("libc.so.6", {
  ioctl: { args: [FFIType.i32, FFIType.u64, FFIType.ptr], returns: FFIType.i32 },
});

function command(...argv: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(argv);
  if (exitCode !== 0) throw new Error(`${argv.join(" ")}: ${stderr.toString()}`);
}

await using dir = await temporaryFolder();
const image = join(dir.path, "image");
const mounted = join(dir.path, "mounted");
mkdirSync(mounted);
command("truncate", "-s", "400M", image);
command(`mkfs.${kind}`, "-q", image);
const mount = () => command("mount", "-o", "loop", image, mounted);
const unmount = () => command("umount", mounted);

async function cut(server: ServerProcess): Promise<void> {
  const fd = openSync(mounted, "r");
  const failed = symbols.ioctl(fd, GOING_DOWN, ptr(WITHOUT_FLUSHING)) !== 0;
  closeSync(fd);
  server.kill("SIGKILL");
  await server.exited;
  if (failed) throw new Error(`${kind} cannot be shut down here`);
  for (let tries = 0; ; tries++) {
    try {
      unmount();
      break;
    } catch (error) {
      if (tries === 20) throw error;
      await Bun.sleep(100); // killed threads let go of their files a moment later
    }
  }
  mount();
}

mount();
try {
  const without = ["strace", "-D", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync", "-e", "inject=fsync:retval=0"];
  const server = mode === "without-fsync" ? [...without, ...SOURCE] : SOURCE;
  const onRound = (n: number) => n % 8 === 0 && process.stdout.write(`${n} cuts\n`);
  const report = await crashRounds(join(mounted, "data"), {
    rounds: Number(cuts),
    seed: Date.now(),
    command: server,
    cut,
    onRound,
  });
  process.stdout.write(`no violation: ${kind}, ${JSON.stringify(report)}\n`);
} finally {
  unmount();
}
