/** The coding agents: where each looks for instructions, and how a project shows that it uses one. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import skill from "./skill.md" with { type: "text" };

export interface SkillTarget {
  /** The agent's name, and its flag. */
  name: string;
  /** The path below the project. */
  file: string;
  /** The path below the home folder; null if the agent has no place there. */
  global: string | null;
  /** A folder or file that shows that the agent is used here; null if the skill is always written. */
  sign: { folder: string } | { file: string } | null;
  /** Whether others write the file too: then the text is a block in it. */
  shared: boolean;
  /** The lines that the agent wants before the text in a file of its own. */
  heading: string;
}

const WHEN =
  "Publish static files (HTML, a built front end, a folder of Markdown) at a live URL with svc, update and roll back that site. Use when asked to deploy, publish, host, share or preview a site or page.";

const frontMatter = (...lines: string[]): string => `---\n${lines.join("\n")}\n---\n\n`;
const SKILL_FILE = frontMatter("name: svc", `description: ${WHEN}`);
const CURSOR = frontMatter(`description: ${WHEN}`, "globs:", "alwaysApply: false");
const WINDSURF = frontMatter("trigger: model_decision", `description: ${WHEN}`);
const CLAUDE = ".claude/skills/svc/SKILL.md";
const COPILOT = ".github/copilot-instructions.md";

const own = (heading: string) => ({ shared: false, heading });
const SHARED = { shared: true, heading: "" };

export const TARGETS: readonly SkillTarget[] = [
  { name: "agents", file: "AGENTS.md", global: null, sign: null, ...SHARED },
  { name: "claude", file: CLAUDE, global: CLAUDE, sign: null, ...own(SKILL_FILE) },
  { name: "cursor", file: ".cursor/rules/svc.mdc", global: null, sign: { folder: ".cursor" }, ...own(CURSOR) },
  { name: "copilot", file: COPILOT, global: null, sign: { file: COPILOT }, ...SHARED },
  { name: "windsurf", file: ".windsurf/rules/svc.md", global: null, sign: { folder: ".windsurf" }, ...own(WINDSURF) },
  { name: "cline", file: ".clinerules/svc.md", global: null, sign: { folder: ".clinerules" }, ...own("") },
  { name: "roo", file: ".roo/rules/svc.md", global: null, sign: { folder: ".roo" }, ...own("") },
  { name: "gemini", file: "GEMINI.md", global: null, sign: { file: "GEMINI.md" }, ...SHARED },
];

export const SKILL: string = skill;

type Detection = "always" | "detected" | "not detected";

export function findSign({ sign }: SkillTarget, root: string): Detection {
  if (sign === null) return "always";
  const place = join(root, "folder" in sign ? sign.folder : sign.file);
  if (!existsSync(place)) return "not detected";
  return statSync(place).isDirectory() === "folder" in sign ? "detected" : "not detected";
}
