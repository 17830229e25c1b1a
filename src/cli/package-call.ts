/** How the command of an npm package is typed where only a package manager's call put its folder on PATH. */
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { quoted } from "../client/build-dir.ts";
import type { Env } from "./terminal/index.ts";

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
export function packageCall(command: string, cwd: string, env: Env): string | null {
  if (!dirname(command).endsWith(BIN)) return null;
  const asked = askedOfNpx(command.slice(0, command.lastIndexOf(BIN)), cwd);
  if (asked !== null) return `npx ${asked}`;
  const [manager = ""] = /^[a-z]+/.exec(env["npm_config_user_agent"] ?? "") ?? [];
  return `${RUNNERS[manager] ?? "npx"} svc`;
}
