/** `_headers`, read line by line: blocks of headers below the paths they are for (BEYOND 3). */
import { isNeverServed } from "../reserved-paths.ts";
import type { Bytes } from "../types.ts";
import { adjusted, brief, invalid, readLines } from "./lines.ts";
import { readPattern } from "./pattern.ts";
import type { HeaderBlock, RuleProblem } from "./types.ts";

export const HEADERS = "_headers";

const MOST_BLOCKS = 100;
const NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
const VALUE = /^[\x20-\x7e\t]*$/;
const HOST = /^(?:[a-z\d-]|\.|\*|:[a-z]\w*)+$/i;

/** They reach siblings and the dashboard. */
const FAR = new Set(["set-cookie", "clear-site-data", "strict-transport-security", "alt-svc"]);
/** The server's own: of the connection, of the body that goes out, of the answer. */
const OWN = new Set(
  "location refresh www-authenticate content-length content-encoding content-range accept-ranges transfer-encoding connection keep-alive upgrade trailer te date age etag last-modified server x-request-id x-content-type-options".split(
    " ",
  ),
);
const OWN_KINDS = /^(?:svc|proxy|sec)-/;

interface Read {
  blocks: HeaderBlock[];
  problems: RuleProblem[];
}

export function readHeaders(file: Bytes): Read {
  const { lines, problems } = readLines(file, HEADERS);
  const blocks: HeaderBlock[] = [];
  /** Null before the first block; `void` in one whose path counts for nothing. */
  let block: HeaderBlock | "void" | null = null;
  for (const { line, text } of lines) {
    const trimmed = text.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    if (/^(?:\/|https?:\/\/)/i.test(trimmed)) {
      const read = readBlock(line, trimmed, problems);
      if (read !== null) blocks.push(read);
      block = read ?? "void";
    } else if (block === null) {
      problems.push(
        invalid(line, "No path stands above this line", "Write the path it is for in a line of its own: /*"),
      );
    } else if (block !== "void") readHeaderLine(line, trimmed, block, problems);
  }
  return { blocks: counted(blocks, problems), problems: problems.sort((a, b) => a.line - b.line) };
}

function readBlock(line: number, written: string, problems: RuleProblem[]): HeaderBlock | null {
  const refuse = (what: string, recipe: string): null => {
    problems.push({ ...invalid(line, what, recipe), message: `${what}; the block below it does nothing.` });
    return null;
  };
  const url = /^(https?):\/\/([^/?#]*)(.*)$/i.exec(written);
  const host = url === null ? null : readHost(url[1]!, url[2]!);
  if (host !== null && typeof host === "object")
    return refuse(host.problem, "Write https://host/path, or a path alone.");
  const rest = url === null ? written : url[3]!;
  const bare = rest.replace(/[?#][^]*$/, "");
  if (bare !== rest)
    problems.push(
      adjusted(
        line,
        `${brief(rest)} counts as ${brief(bare)}: rules see no query and no fragment`,
        `Write ${brief(bare)}.`,
      ),
    );
  if (/\s/.test(bare)) return refuse("A path has no blanks in it", "Write %20 for a blank.");
  const path = `/${bare}`.replace(/\/{2,}/g, "/");
  const pattern = readPattern(path);
  if (typeof pattern === "string")
    return refuse(`${brief(written)} ${pattern}`, "Write a path of this site that begins with /.");
  const first = pattern.before[0]!;
  if ("literal" in first && isNeverServed(first.literal.slice(1))) {
    return refuse(`${brief(written)} is the service's own`, "Write a path of this site.");
  }
  return { line, path, host, lines: [] };
}

/** A port counts for nothing but 443, for a request's host is told without it. */
function readHost(scheme: string, host: string): string | { problem: string } {
  if (scheme.toLowerCase() === "http") return { problem: "http:// is for no host here" };
  if (/:\d*$/.test(host)) return { problem: `${brief(host)} has a port` };
  if (!HOST.test(host)) return { problem: `${host === "" ? "Nothing" : brief(host)} is no host` };
  const pattern = readPattern(`/${host.toLowerCase()}`);
  return typeof pattern === "string" ? { problem: `${brief(host)} ${pattern}` } : host.toLowerCase();
}

function readHeaderLine(line: number, text: string, block: HeaderBlock, problems: RuleProblem[]): void {
  const removal = /^!\s+(.*)$/.exec(text);
  const colon = text.indexOf(":");
  const name = (removal === null ? text.slice(0, Math.max(0, colon)) : removal[1]!).trim();
  const value = removal === null ? text.slice(colon + 1).trim() : null;
  const wrong = problemOf(name, value, removal === null && colon === -1);
  if (wrong !== null) problems.push(invalid(line, wrong, "Write: Name: value"));
  else if (isRefused(name)) problems.push(refused(line, name));
  else block.lines.push({ line, name, value });
}

function problemOf(name: string, value: string | null, no_colon: boolean): string | null {
  if (no_colon) return "There is no colon in it";
  if (!NAME.test(name)) return `${name === "" ? "Nothing" : brief(name)} is no header's name`;
  if (value === "") return `${brief(name)} has no value`;
  return value !== null && !VALUE.test(value) ? `The value of ${brief(name)} has characters that no header has` : null;
}

function isRefused(name: string): boolean {
  const lower = name.toLowerCase();
  return FAR.has(lower) || OWN.has(lower) || OWN_KINDS.test(lower);
}

const refused = (line: number, name: string): RuleProblem => ({
  code: "header_refused",
  line,
  message: FAR.has(name.toLowerCase())
    ? `${brief(name)} would reach other sites of this service; the line does nothing.`
    : `${brief(name)} is the server's own; the line does nothing.`,
  fix_recipe: "Take the line away.",
});

function counted(blocks: HeaderBlock[], problems: RuleProblem[]): HeaderBlock[] {
  for (const { line, lines } of blocks) {
    const told = problems.some((problem) => problem.line > line && problem.line < nextBlock(blocks, line));
    if (lines.length === 0 && !told)
      problems.push(invalid(line, "No header stands below this path", "Write one: Name: value"));
  }
  const full = blocks.filter(({ lines }) => lines.length > 0);
  const over = full.length - MOST_BLOCKS;
  if (over <= 0) return full;
  problems.push({
    code: "rules_over_limit",
    line: full[MOST_BLOCKS]!.line,
    message: `${MOST_BLOCKS} blocks count; from this line on ${over === 1 ? "one does" : `${over} do`} nothing.`,
    fix_recipe: "Join blocks: a * or :name stands for many paths.",
  });
  return full.slice(0, MOST_BLOCKS);
}

const nextBlock = (blocks: HeaderBlock[], line: number): number =>
  blocks.find((block) => block.line > line)?.line ?? Infinity;
