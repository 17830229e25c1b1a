/** How this program is called from here: for the commands that it tells people to type. */

import { accessSync, constants, existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, join, relative, resolve, sep } from "node:path";
import { quoted } from "../client/build-dir.ts";
import { Failure } from "./failure.ts";
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
const scriptOfBun = (): string | null => (process.versions.bun === undefined || isBinary() ? null : process.argv[1]!);

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

/** How the command of an npm package is typed where only a package manager's call put its folder on PATH. */

const BIN = join("node_modules", ".bin");
const RUNNERS: Record<string, string> = { pnpm: "pnpm exec", yarn: "yarn", bun: "bunx" };

/** npx keeps what it fetches in a folder with a note of what it was asked for: a name, or a tarball's path. */
interface Note {
  dependencies?: Record<string, string>;
  _npx?: { packages?: string[] };
}

function noteIn(folder: string): Note {
  try {
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Note;
  } catch {
    return {};
  }
}

/** npx takes a bare word for a package's name. */
function typedPath(file: string, cwd: string): string {
  const near = relative(cwd, file);
  return quoted(near.startsWith("..") ? near : `.${sep}${near}`);
}

/** What npx was asked for; null in a project's own folder. */
function askedOfNpx(folder: string, cwd: string): string | null {
  const { dependencies = {}, _npx } = noteIn(folder);
  const from = Object.values(dependencies)[0];
  if (!_npx || from === undefined) return null;
  if (from.startsWith("file:")) return typedPath(resolve(folder, from.slice("file:".length)), cwd);
  return _npx.packages?.[0] ?? null;
}

/** `command`: as it was found on PATH. `npx svc`, `npx ./svc-0.3.0.tgz` …; null where any shell finds it. */
function packageCall(command: string, cwd: string, env: Env): string | null {
  if (!dirname(command).endsWith(BIN)) return null;
  const asked = askedOfNpx(command.slice(0, command.lastIndexOf(BIN)), cwd);
  if (asked !== null) return `npx ${asked}`;
  const [manager = ""] = /^[a-z]+/.exec(env["npm_config_user_agent"] ?? "") ?? [];
  return `${RUNNERS[manager] ?? "npx"} svc`;
}

/** Bun reads settings from the folder in which it runs a script: what a stranger's project puts there has had its say
 *  before the first line of svc. The binary and the package's command under Node read none of it (CONTRACT 8). */

const filesOf = (mode: string): string[] => ["bunfig.toml", ".env", ".env.local", `.env.${mode}`, `.env.${mode}.local`];

/** Throws where svc runs from source, by Bun, in a folder of somebody else's with such a file. */
export function refuseForeignSettings(cwd: string, env: Env): void {
  const script = scriptOfBun();
  if (script === null || (existsSync(script) && dirname(realpathSync(script)) === cwd)) return;
  const modes = ["development", env["NODE_ENV"] ?? ""].filter((mode) => mode !== "");
  const found = modes.flatMap(filesOf).find((file) => existsSync(join(cwd, file)));
  if (found === undefined) return;
  throw new Failure(
    "foreign_settings",
    `Bun has read ${found} of this folder, which could send your deploy and your token elsewhere: nothing was sent. ` +
      "Use the svc binary or the svc of the npm package here (bun run build and npm pack make them): neither reads it.",
  );
}
