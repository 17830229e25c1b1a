/** A comment for a pull request. What comes from the files that were deployed, their names and what is said of them, is
 *  whoever wrote the pull request's to choose: each stands in a code span, where no host of code makes a link, a picture,
 *  a mention or HTML of it. */
import { visibleLine } from "../../../base/visible.ts";
import type { PreviewResult, Receipt } from "../../service/wire-preview.ts";
import { count } from "../../terminal/units.ts";

/** GitHub takes 65,536 characters in a comment; with what stands around the warnings this is less. */
const MOST_CHARACTERS = 60_000;
/** Of one sentence: a file's name has at most 512 bytes. */
const MOST_OF_A_SENTENCE = 1_000;

/** With more ticks around it than it has in a row. At an end a tick or a space needs a space beside it. */
export function inert(words: string): string {
  const line = visibleLine(words).trim().slice(0, MOST_OF_A_SENTENCE).toWellFormed() || "-";
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const ticks = "`".repeat(longest + 1);
  const space = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return ticks + space + line + space + ticks;
}

/** As a URL is written, it has neither spaces nor brackets. */
const link = (url: string): string => `<${new URL(url).href.replace(/[<>\s]/g, encodeURIComponent)}>`;

const idOf = (text: string): string => text.replace(/[^\w-]/g, "").replaceAll("--", "-");

const minute = (epoch_ms: number): string => `${new Date(epoch_ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;

type Warning = Receipt["warnings"][number];

const warned = ({ message, path, fix_recipe }: Warning): string => {
  const what = path === undefined || message.includes(path) ? message : `${path}: ${message}`;
  return `- ${inert(what)}\n  → ${inert(fix_recipe)}`;
};

/** As many as a comment has room for. */
function listed(warnings: readonly Warning[], room: number): string[] {
  const lines: string[] = [];
  let left = room;
  for (const warning of warnings) {
    const line = warned(warning);
    if ((left -= line.length + 1) < 0) {
      const more = count(warnings.length - lines.length, "more warning");
      return [...lines, `- … and ${more}: they are in the log of the build.`];
    }
    lines.push(line);
  }
  return lines;
}

export function markdownOf(site_id: string, preview: PreviewResult, { warnings }: Receipt): string {
  const { url, version_url, live_url, version_id, expires_at, changed, files } = preview;
  const { added, removed } = files;
  const counts = `${count(added.length, "file")} added, ${files.changed.length} changed, ${removed.length} removed`;
  const lines = [
    `<!-- svc-preview ${idOf(site_id)} -->`,
    `**Preview:** ${link(url)}`,
    "",
    `Version ${inert(version_id)}${url === version_url ? "" : ` at ${link(version_url)}`}, until ${minute(expires_at)}.`,
    changed ? `Against ${link(live_url)}: ${counts}.` : `It is what is live at ${link(live_url)}.`,
  ];
  if (warnings.length > 0) {
    lines.push("", `**${count(warnings.length, "warning")}**`, "");
    lines.push(...listed(warnings, MOST_CHARACTERS - lines.join("\n").length));
  }
  return lines.join("\n");
}
