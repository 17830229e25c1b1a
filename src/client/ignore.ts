/** `.svcignore`: the syntax and the meaning of gitignore, for one file in the root of what is deployed.
 *  test/cli/ignore.test.ts holds the table that was compared with `git check-ignore`. */
import { globMatcher } from "./glob.ts";

export const IGNORE_FILE = ".svcignore";

/** Whether a path (`/` separators, relative to the root) is left out. */
export type Ignored = (path: string, isFolder: boolean) => boolean;

interface Rule {
  negated: boolean;
  foldersOnly: boolean;
  /** Tested against the whole path; else against its last name alone. */
  wholePath: boolean;
  matches(text: string): boolean;
}

/** Unescaped spaces at the end of a line do not count. */
function trimEnd(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === " ") end--;
  const escapes = /\\*$/.exec(line.slice(0, end))![0].length;
  return line.slice(0, escapes % 2 === 1 ? end + 1 : end);
}

/** Most patterns are plain names. */
const matcher = (pattern: string): ((text: string) => boolean) =>
  /[*?[\\]/.test(pattern) ? globMatcher(pattern) : (text) => text === pattern;

function parseLine(line: string): Rule | null {
  let pattern = trimEnd(line.replace(/\r$/, ""));
  if (pattern === "" || pattern.startsWith("#")) return null;
  const negated = pattern.startsWith("!");
  if (negated) pattern = pattern.slice(1);
  const foldersOnly = pattern.endsWith("/");
  if (foldersOnly) pattern = pattern.slice(0, -1);
  const wholePath = pattern.includes("/");
  return { negated, foldersOnly, wholePath, matches: matcher(pattern.replace(/^\//, "")) };
}

/** The last rule that matches decides; nothing below an ignored folder comes back, as in Git. */
export function parseIgnore(text: string): Ignored {
  const rules = text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .map(parseLine)
    .filter((rule) => rule !== null)
    .reverse();
  const decide = (path: string, isFolder: boolean): boolean => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const rule = rules.find((r) => (isFolder || !r.foldersOnly) && r.matches(r.wholePath ? path : name));
    return rule !== undefined && !rule.negated;
  };
  return (path, isFolder) => {
    for (let slash = path.indexOf("/"); slash !== -1; slash = path.indexOf("/", slash + 1)) {
      if (decide(path.slice(0, slash), true)) return true;
    }
    return decide(path, isFolder);
  };
}
