/** The files that `svc install skill` writes, as its tests read them. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../kit/paths.ts";

export const SKILL = await Bun.file(join(ROOT, "src", "cli", "skill", "skill.md")).text();

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
