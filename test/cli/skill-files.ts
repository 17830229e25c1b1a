/** The files that `svc install skill` writes, as its tests read them, and the projects that it writes them into. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Home, Ran } from "../kit/cli.ts";
import { ROOT } from "../kit/paths.ts";

export const SKILL = await Bun.file(join(ROOT, "src", "cli", "commands", "skill.md")).text();

export const FILES = {
  agents: "AGENTS.md",
  claude: ".claude/skills/svc/SKILL.md",
  cursor: ".cursor/rules/svc.mdc",
  copilot: ".github/copilot-instructions.md",
  windsurf: ".windsurf/rules/svc.md",
  cline: ".clinerules/svc.md",
  roo: ".roo/rules/svc.md",
  gemini: "GEMINI.md",
} as const;

export type Name = keyof typeof FILES;

export const NAMES = Object.keys(FILES) as Name[];

export const text = (cwd: string, file: string) => readFile(join(cwd, file), "utf8");

export const listing = async (cwd: string): Promise<string[]> =>
  (await readdir(cwd, { recursive: true, withFileTypes: true }))
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(cwd.length + 1))
    .sort();

/** `name file status` of each line. */
export const rows = (out: string): string[][] =>
  out
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ {2,}| (?=[.AG])/).map((part) => part.trim()));

/** In a home that is made later than this is called. */
export function projectsIn(home: () => Home) {
  let projects = 0;
  return {
    /** A folder of its own for each test. */
    project: (files: Parameters<Home["write"]>[1] = {}): Promise<string> =>
      home().write(`project-${++projects}`, files),
    install: (cwd: string, ...flags: string[]): Promise<Ran> => home().run(["install", "skill", ...flags], { cwd }),
  };
}
