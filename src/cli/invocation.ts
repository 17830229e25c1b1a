/** How this program is called from here, for the commands that it tells people to type; and what must not have been read
 *  before it starts. */
import { accessSync, constants, existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, join, relative, resolve, sep } from "node:path";
import { quoted } from "../client/build-dir.ts";
import { Failure } from "./failure.ts";
import type { Env } from "./terminal/index.ts";

interface Invocation {
  /** Absolute: the binary, or the script. */
  file: string;
  /** The program that runs the script; null for a binary. */
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

/** The script that Bun runs; null in the binary, and under Node. */
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

/** The command that calls svc, with the words that follow. */
export const svc = (words = "", how = invocation()): string => [called(how), words].filter(Boolean).join(" ");

/** The command that calls the server that was installed with svc. */
export function svcServer(how = invocation()): string {
  const name = how.runner === null ? basename(how.file).replace(/^svc/, "svc-server") : "server.ts";
  const file = join(dirname(existsSync(how.file) ? realpathSync(how.file) : how.file), name);
  return existsSync(file) ? called({ ...how, file }) : "svc-server";
}

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

/** The package that npx was asked for; null in a project's own folder. */
function askedOfNpx(folder: string, cwd: string): string | null {
  const { dependencies = {}, _npx } = noteIn(folder);
  const from = Object.values(dependencies)[0];
  if (!_npx || from === undefined) return null;
  if (from.startsWith("file:")) return typedPath(resolve(folder, from.slice("file:".length)), cwd);
  return _npx.packages?.[0] ?? null;
}

/** npm fetches from no server but its registry without it, from 12 on; older ones pass over a flag that they do not know. */
const FROM_A_SERVER = "--allow-remote=root";

/** The call of a package's command that only a package manager put on PATH: `npx svc`, `npx ./svc-0.3.0.tgz` … Null if any
 *  shell finds `command`, the path that PATH led to. */
function packageCall(command: string, cwd: string, env: Env): string | null {
  if (!dirname(command).endsWith(BIN)) return null;
  const asked = askedOfNpx(command.slice(0, command.lastIndexOf(BIN)), cwd);
  if (asked !== null) return `npx ${/^https?:/.test(asked) ? `${FROM_A_SERVER} ` : ""}${asked}`;
  const [manager = ""] = /^[a-z]+/.exec(env["npm_config_user_agent"] ?? "") ?? [];
  return `${RUNNERS[manager] ?? "npx"} svc`;
}

const filesOf = (mode: string): string[] => ["bunfig.toml", ".env", ".env.local", `.env.${mode}`, `.env.${mode}.local`];

/** Refuses to run from source by Bun in a foreign folder with settings for Bun: they have taken effect before the first line
 *  of svc. The binary and the package's command under Node do not read them (CONTRACT 8). */
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
