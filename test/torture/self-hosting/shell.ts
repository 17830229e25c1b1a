/** A machine to paste into: this one, with what is written lying elsewhere. */
import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Runs lines as root's shell would; throws where one fails, unless `codes` has its exit code. */
export function shell(lines: string, env: Record<string, string> = {}, codes: readonly number[] = [0]): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync(["bash", "-euc", lines], {
    env: { ...(process.env as Record<string, string>), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (codes.includes(exitCode)) return stdout.toString();
  throw new Error(`exit code ${exitCode} of:\n${lines}\n${stdout}${stderr}`);
}

const WRITTEN = ["etc", "var", "srv", "usr/local"];

/** In a mount and a network namespace of its own: nothing that is pasted stays. */
export function enterOverlay(folder: string): void {
  shell("mount --make-rprivate /; ip link set lo up");
  const layers = join(folder, "layers");
  mkdirSync(layers);
  shell(`mount -t tmpfs tmpfs ${layers}`);
  for (const name of WRITTEN) {
    const layer = join(layers, name);
    mkdirSync(join(layer, "upper"), { recursive: true });
    mkdirSync(join(layer, "work"));
    const options = `lowerdir=/${name},upperdir=${layer}/upper,workdir=${layer}/work`;
    shell(`mount -t overlay overlay -o ${options} /${name}`);
  }
  appendFileSync("/etc/hosts", "127.0.0.1 svc.example\n");
}

/** What no machine without systemd or sudo has. `reload` is told to the process whose id stands in `pid`. */
export function shims(folder: string): string {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const write = (name: string, lines: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${lines}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  write("systemctl", `echo "$@" >> ${folder}/systemctl; case "$1" in reload) kill -HUP $(cat ${folder}/pid);; esac`);
  write("sudo", 'shift 2; exec runuser -u svc -- "$@"');
  return `${bin}:${process.env.PATH}`;
}
