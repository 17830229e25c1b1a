/** `_headers`, read line by line: blocks of headers below the paths they are for (BEYOND 3). */

import { isMarkup } from "../base/media-types.ts";
import { isNeverServed } from "../base/reserved-paths.ts";
import type { Bytes } from "../base/types.ts";
import { adjusted, brief, type HeaderBlock, invalid, readLines, type RuleProblem } from "./lines.ts";
import { isPattern, readPattern } from "./pattern.ts";

export const HEADERS = "_headers";

const MOST_BLOCKS = 100;
const NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
const VALUE = /^[\x20-\x7e\t]*$/;
const HOST = /^[a-z\d.*:_-]+$/i;

/** They reach siblings and the dashboard. */
const FAR = new Set(["set-cookie", "clear-site-data", "strict-transport-security", "alt-svc"]);
/** The server's own: of the connection, of the body that goes out, of the answer. */
const OWN = new Set(
  "location refresh www-authenticate content-length content-encoding content-range accept-ranges transfer-encoding connection keep-alive upgrade trailer te date age etag last-modified server x-request-id x-content-type-options".split(
    " ",
  ),
);
const OWN_KINDS = /^(?:svc|proxy|sec)-/;
/** Headers that a proxy in front of the service obeys: which file to send, how long to keep it. */
const PROXYS = /^(?:x-accel-|x-sendfile|x-litespeed-|x-lighttpd-|x-reproxy|surrogate-|(?:[\w-]+-)?cdn-cache-control$)/;
/** A password would go to every visitor. */
const NO_HEADER = new Set(["basic-auth"]);

/** Whether a line is the path of a block. */
export const opensBlock = (trimmed: string): boolean => /^(?:\/|https?:\/\/)/i.test(trimmed);

interface Read {
  blocks: HeaderBlock[];
  problems: RuleProblem[];
}

/** A block while its lines are read. */
interface Open {
  block: HeaderBlock;
  /** A problem was reported for one of its lines. */
  told: boolean;
}

export function readHeaders(file: Bytes): Read {
  const { lines, problems } = readLines(file, HEADERS);
  const opened: Open[] = [];
  /** Null before the first block; `void` in one whose path counts for nothing. */
  let open: Open | "void" | null = null;
  for (const { line, text } of lines) {
    const trimmed = text.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    if (opensBlock(trimmed)) {
      const block = readBlock(line, trimmed, problems);
      open = block === null ? "void" : { block, told: false };
      if (open !== "void") opened.push(open);
    } else if (open === null) {
      problems.push(
        invalid(line, "There is no path above this line", "Write the path it is for in a line of its own: /*"),
      );
    } else if (open !== "void") readHeaderLine(line, trimmed, open, problems);
  }
  return { blocks: counted(opened, problems), problems };
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
  if (bare !== rest) {
    const what = `${brief(rest)} counts as ${brief(bare)}: rules see no query and no fragment`;
    problems.push(adjusted(line, what, `Write ${brief(bare)}.`));
  }
  if (/\s/.test(bare)) return refuse("A path has no blanks in it", "Write %20 for a blank.");
  const path = `/${bare}`.replace(/\/{2,}/g, "/");
  const pattern = readPattern(path);
  if (!isPattern(pattern)) return refuse(`${brief(written)} ${pattern.problem}`, pattern.recipe);
  const first = pattern.before[0]!;
  if ("literal" in first && isNeverServed(first.literal.slice(1))) {
    return refuse(`${brief(written)} is the service's own`, "Write another path of this site.");
  }
  return { line, path, host, lines: [] };
}

/** A request's host is given without its port. Letter case does not count in a host; in a name it does. */
function readHost(scheme: string, host: string): string | { problem: string } {
  if (scheme.toLowerCase() === "http") return { problem: "http:// is for no host here" };
  if (/:\d*$/.test(host)) return { problem: `${brief(host)} has a port` };
  if (!HOST.test(host)) return { problem: `${host === "" ? "Nothing" : brief(host)} is no host` };
  const lower = host.replace(/:\w+|[^:]+/g, (part) => (part.startsWith(":") ? part : part.toLowerCase()));
  const pattern = readPattern(`/${lower}`);
  return isPattern(pattern) ? lower : { problem: `${brief(host)} ${pattern.problem}` };
}

function readHeaderLine(line: number, text: string, open: Open, problems: RuleProblem[]): void {
  const removal = /^!\s+(.*)$/.exec(text);
  const colon = text.indexOf(":");
  const name = (removal === null ? text.slice(0, Math.max(0, colon)) : removal[1]!).trim();
  const value = removal === null ? text.slice(colon + 1).trim() : null;
  const wrong = problemOf(name, value, removal === null && colon === -1);
  const problem = wrong === null ? refusalOf(line, name, value) : invalid(line, wrong, "Write: Name: value");
  if (problem === null) return void open.block.lines.push({ line, name, value });
  open.told = true;
  problems.push(problem);
}

function problemOf(name: string, value: string | null, no_colon: boolean): string | null {
  if (no_colon) return "There is no colon in it";
  if (!NAME.test(name)) return `${name === "" ? "Nothing" : brief(name)} is no header's name`;
  if (value === "") return `${brief(name)} has no value`;
  return value !== null && !VALUE.test(value) ? `The value of ${brief(name)} has characters that no header has` : null;
}

function refusalOf(line: number, name: string, value: string | null): RuleProblem | null {
  const lower = name.toLowerCase();
  const refused = (why: string): RuleProblem => ({
    code: "header_refused",
    line,
    message: `${why}; the line does nothing.`,
    fix_recipe: "Take the line away.",
  });
  if (NO_HEADER.has(lower)) return refused(`${brief(name)} is no header that protects: it would tell every visitor`);
  if (FAR.has(lower)) return refused(`${brief(name)} would reach other sites of this service`);
  if (PROXYS.test(lower)) return refused(`${brief(name)} is for a proxy in front of the server`);
  if (OWN.has(lower) || OWN_KINDS.test(lower)) return refused(`${brief(name)} is the server's own`);
  if (lower === "content-type" && value !== null && !isPlainType(value) && !/:[a-z]/i.test(value)) {
    return refused(`${brief(value)} is the type of pages, or none that is known to be another`);
  }
  return null;
}

function counted(opened: readonly Open[], problems: RuleProblem[]): HeaderBlock[] {
  for (const { block, told } of opened) {
    if (block.lines.length > 0 || told) continue;
    problems.push(invalid(block.line, "There is no header below this path", "Write one: Name: value"));
  }
  const full = opened.map(({ block }) => block).filter(({ lines }) => lines.length > 0);
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

// Types that `_headers` may set: none that a browser shows as a page, because the abuse scan read the pages (BEYOND 3).

/** One type with its parameters, and nothing that readers could take apart in two ways: a browser believes the last of a
 *  list, and parts of `multipart` bring types of their own. */
const WELL_FORMED = /^([a-z\d!#$&^_.+-]+\/[a-z\d!#$&^_.+-]+)(?:;[^,]*)?$/i;
const SHOWN = /^(?:multipart|message)\/|^text\/xsl$|html|xml/i;

export function isPlainType(value: string): boolean {
  const essence = WELL_FORMED.exec(value)?.[1];
  return essence !== undefined && !isMarkup(essence) && !SHOWN.test(essence);
}
