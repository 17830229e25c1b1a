/** Where the coding agents look for instructions, and how one sees that a project uses an agent. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import skill from "./skill.md" with { type: "text" };

export interface SkillTarget {
  /** Also its flag. */
  name: string;
  /** Below the project. */
  file: string;
  /** Below the home folder; null where the agent has no place there. */
  global: string | null;
  /** What shows that the agent is used here; null: written always. */
  sign: { folder: string } | { file: string } | null;
  /** What the agent wants ahead of the text in a file of its own; null: the file is shared with others. */
  heading: string | null;
}

const WHEN =
  "Publish static files (HTML, a built front end, a folder of Markdown) at a live URL with svc, update and roll back that site. Use when asked to deploy, publish, host, share or preview a site or page.";

const frontMatter = (...lines: string[]): string => `---\n${lines.join("\n")}\n---\n\n`;
const OWN = frontMatter("name: svc", `description: ${WHEN}`);
const CURSOR = frontMatter(`description: ${WHEN}`, "globs:", "alwaysApply: false");
const WINDSURF = frontMatter("trigger: model_decision", `description: ${WHEN}`);
const CLAUDE = ".claude/skills/svc/SKILL.md";
const COPILOT = ".github/copilot-instructions.md";

/** [name, file, below the home folder, sign, heading] */
const ROWS: [string, string, string | null, SkillTarget["sign"], string | null][] = [
  ["agents", "AGENTS.md", null, null, null],
  ["claude", CLAUDE, CLAUDE, null, OWN],
  ["cursor", ".cursor/rules/svc.mdc", null, { folder: ".cursor" }, CURSOR],
  ["copilot", COPILOT, null, { file: COPILOT }, null],
  ["windsurf", ".windsurf/rules/svc.md", null, { folder: ".windsurf" }, WINDSURF],
  ["cline", ".clinerules/svc.md", null, { folder: ".clinerules" }, ""],
  ["roo", ".roo/rules/svc.md", null, { folder: ".roo" }, ""],
  ["gemini", "GEMINI.md", null, { file: "GEMINI.md" }, null],
];

export const TARGETS: readonly SkillTarget[] = ROWS.map(([name, file, global, sign, heading]) => ({
  name,
  file,
  global,
  sign,
  heading,
}));

export const SKILL: string = skill;

type Found = "always" | "detected" | "not detected";

export function findSign({ sign }: SkillTarget, root: string): Found {
  if (sign === null) return "always";
  const place = join(root, "folder" in sign ? sign.folder : sign.file);
  if (!existsSync(place)) return "not detected";
  return statSync(place).isDirectory() === "folder" in sign ? "detected" : "not detected";
}
