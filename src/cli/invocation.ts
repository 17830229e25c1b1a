/** How this program is called from here: for the commands that it tells people to type. */
import { accessSync, constants, existsSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, join, relative, sep } from "node:path";
import { quoted } from "../client/build-dir.ts";
import { packageCall } from "./package-call.ts";
import type { Env } from "./terminal/index.ts";

interface Invocation {
  /** Absolute: the binary, or the script. */
  file: string;
  /** What the script is given to; null for a binary. */
  runner: string | null;
  cwd: string;
  env: Env;
}

/** Under npx there is a Bun only while its command runs, so the person needs npx again. */
function runnerOf(env: Env): string {
  const { bun } = process.versions;
  if (bun === undefined) return "node";
  return env["npm_lifecycle_event"] === "npx" ? `npx -y bun@${bun}` : "bun";
}

function isBinary(): boolean {
  const { Bun } = globalThis as { Bun?: { isStandaloneExecutable?: boolean } };
  return Bun?.isStandaloneExecutable === true;
}

/** The script that Bun runs; null for the binary, and under Node. */
export const scriptOfBun = (): string | null =>
  process.versions.bun === undefined || isBinary() ? null : process.argv[1]!;

function invocation(): Invocation {
  const { env } = process;
  const [file, runner] = isBinary() ? [process.execPath, null] : [process.argv[1]!, runnerOf(env)];
  return { file, runner, cwd: process.cwd(), env };
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The file that a shell starts by this name. */
function onPath(name: string, env: Env): string | undefined {
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.flatMap((folder) => [join(folder, name), join(folder, `${name}.exe`)]).find(isProgram);
}

/** A path as it is typed in `cwd`. */
function typed(file: string, cwd: string): string {
  const near = relative(cwd, file);
  return quoted(near.length < file.length ? near : file);
}

function called({ file, runner, cwd, env }: Invocation): string {
  const real = existsSync(file) ? realpathSync(file) : file;
  for (const name of ["svc", "svc-server", basename(file, ".exe")]) {
    const found = onPath(name, env);
    if (found !== undefined && realpathSync(found) === real) return packageCall(found, cwd, env) ?? name;
  }
  const path = typed(file, cwd);
  if (runner !== null) return `${runner} ${path}`;
  // Without a folder a shell would look for it on PATH.
  return path.includes(sep) ? path : `.${sep}${path}`;
}

/** The command line tool itself, with what is to follow. */
export const svc = (words = "", how = invocation()): string => [called(how), words].filter(Boolean).join(" ");

/** The server that was installed beside it. */
export function svcServer(how = invocation()): string {
  const name = how.runner === null ? basename(how.file).replace(/^svc/, "svc-server") : "server.ts";
  const file = join(dirname(existsSync(how.file) ? realpathSync(how.file) : how.file), name);
  return existsSync(file) ? called({ ...how, file }) : "svc-server";
}
