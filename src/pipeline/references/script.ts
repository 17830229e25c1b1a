/** What a script loads by addresses that stand in it as literals. Every search begins at one of a few words:
 *  patterns that may begin anywhere cost a hundred times as much. */
import { distinctReferences, LONGEST_URL, type Reference } from "./reference.ts";
import { type ScriptCode, scriptCode } from "./script-code.ts";

export interface ScriptReferences {
  /** Import specifiers. A bare name in a dynamic import is often guarded, so only static ones count as needed. */
  imports: readonly { specifier: string; dynamic: boolean; attributed: boolean }[];
  /** Loaded from beside this script. */
  beside: readonly Reference[];
  /** Loaded from beside the page that runs it. */
  by_page: readonly Reference[];
  /** Service workers that it registers: beside the page, too. */
  service_workers: readonly Reference[];
  /** Has what routers of pages have. */
  pushes_state: boolean;
  /** Asked of an address that need not be a file: a method, or text joined to it. Only its host can be judged. */
  calls: readonly string[];
  /** Has `import` or `export` statements: no plain script. */
  is_module: boolean;
  /** A package that it asks Node's `require` for before anything else runs. */
  required: string | null;
  sets_title: boolean;
}

const sticky = (pattern: string): RegExp =>
  new RegExp(pattern.replaceAll(" ", "\\s{0,99}").replaceAll("LITERAL", '"(\\d+)"'), "y");

const WORDS =
  /\b(?:import|from|export|require|fetch|getJSON|getScript|open|WebSocket|EventSource|axios|baseURL|Worker|SharedWorker|register|importScripts|document\.title|pushState)\b/g;

/** Where each of these words begins. One pass for all: a search for each costs ten times as much. */
function indexWords(code: string): ReadonlyMap<string, number[]> {
  const places = new Map<string, number[]>();
  for (const { 0: word, index } of code.matchAll(WORDS)) {
    const known = places.get(word);
    if (known) known.push(index);
    else places.set(word, [index]);
  }
  return places;
}

interface Indexed extends ScriptCode {
  words: ReadonlyMap<string, number[]>;
}

/** Each place where `word` stands with `after` right behind it, and no dollar or (unless `member`) dot before it. */
function* uses({ code, words }: Indexed, word: string, after: RegExp, member = false): Generator<RegExpExecArray> {
  for (const at of words.get(word) ?? []) {
    if (code[at - 1] === "$" || (!member && code[at - 1] === ".")) continue;
    after.lastIndex = at + word.length;
    const match = after.exec(code);
    if (match) yield match;
  }
}

const STATIC = sticky(" LITERAL( (?:with|assert) \\{)?");
const DYNAMIC = sticky(" \\( LITERAL ([),])");
const EXPORT = sticky(" (?:\\*|\\{|(?:default|const|let|var|function|class|async)\\b)");
const ARGUMENT = sticky(" \\( LITERAL ([),+])");
const SECOND_ARGUMENT = sticky(" \\( LITERAL , LITERAL ([),+])");
const MEMBER_ARGUMENT = sticky("(?:\\.\\w{1,20})? \\( LITERAL");
const BESIDE = sticky(" \\( new\\s{1,99}URL \\( LITERAL , import\\.meta\\.url");
const NAME = sticky("(?:\\.\\w{1,20})? \\( ([A-Za-z_$][\\w$]{0,99}) [),+]");
const VALUE = sticky(" : LITERAL");
const TITLE = sticky(" =[^=]");
const REQUIRE = sticky(" \\( LITERAL \\)");
/** It is assigned, or a parameter: the script brings its own. */
const OWN_REQUIRE = sticky(" [=,)]");

/** Addresses whose host or scheme may be at fault. */
const NEAR_OR_PLAIN = /^(?:http|ws):\/\/(?!www\.w3\.org\/)|^(?:https|wss):\/\/(?:localhost|[\d[])/i;
const METHOD = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/i;
const GLOBAL_FETCH = /(?:^|[^\w$.])(?:(?:window|self|globalThis)\.)?$/;
const CALLERS = ["fetch", "WebSocket", "EventSource", "axios"];
/** Each costs a pass over the code. */
const MOST_CONSTANTS = 20;
const DECLARED = /\n(?:const|let|var)\s{1,9}[\w$\s{},:]{1,200}=\s{0,9}$/;

type Literal = (match: RegExpExecArray, group?: number) => string;

/** Whether the arguments that follow an address name a method: then it is an endpoint, not a file. */
const namesMethod = (code: string, at: number): boolean => /^[^)]{0,300}?\bmethod\b/.test(code.slice(at, at + 320));

/** Requests for what may be a file, and those of which only the host is known. */
function requests(script: Indexed, literal: Literal): { files: string[]; calls: string[] } {
  const { code } = script;
  const files: string[] = [];
  const calls: string[] = [];
  const fetched = [...uses(script, "fetch", ARGUMENT, true)].filter(({ index }) =>
    GLOBAL_FETCH.test(code.slice(Math.max(0, index - 17), index - 5)),
  );
  for (const match of [
    ...fetched,
    ...uses(script, "getJSON", ARGUMENT, true),
    ...uses(script, "getScript", ARGUMENT, true),
  ]) {
    const endpoint = match[2] === "+" || (match[2] === "," && namesMethod(code, match.index + match[0].length));
    (endpoint ? calls : files).push(literal(match));
  }
  for (const match of uses(script, "open", SECOND_ARGUMENT, true)) {
    const method = literal(match);
    if (METHOD.test(method)) (/^get$/i.test(method) && match[3] !== "+" ? files : calls).push(literal(match, 2));
  }
  for (const word of CALLERS.slice(1)) {
    calls.push(...uses(script, word, MEMBER_ARGUMENT).map((match) => literal(match)));
  }
  calls.push(...uses(script, "baseURL", VALUE).map((match) => literal(match)));
  return { files, calls };
}

/** `const API = "http://…"` and then `fetch(API + …)`: the commonest way to write it. Begun at the addresses, for names in
 *  minified code have one letter. */
function callsByConstant(script: Indexed): string[] {
  const { code, literals } = script;
  const called = new Set(CALLERS.flatMap((word) => [...uses(script, word, NAME)].map((match) => match[1]!)));
  if (called.size === 0) return [];
  const numbers = literals.flatMap((text, number) => (NEAR_OR_PLAIN.test(text) ? [number] : []));
  return numbers.slice(0, MOST_CONSTANTS).flatMap((number) => {
    const at = code.indexOf(`"${number}"`);
    const name = /([A-Za-z_$][\w$]{0,99})\s{0,9}=\s{0,9}$/.exec(code.slice(Math.max(0, at - 120), at))?.[1];
    const alone = /^"\d+"\s{0,99}(?:[;,}\n]|$)/.test(code.slice(at, at + 120));
    return alone && name !== undefined && called.has(name) ? [literals[number]!] : [];
  });
}

function importsOf(script: Indexed, literal: Literal): ScriptReferences["imports"] {
  const found = new Map<string, ScriptReferences["imports"][number]>();
  const add = (match: RegExpExecArray, dynamic: boolean) => {
    const specifier = literal(match);
    const attributed = dynamic ? match[2] === "," : match[2] !== undefined;
    if (specifier === "" || specifier.length > LONGEST_URL) return;
    const key = `${dynamic} ${attributed} ${specifier}`;
    if (!found.has(key)) found.set(key, { specifier, dynamic, attributed });
  };
  for (const word of ["import", "from"]) for (const match of uses(script, word, STATIC)) add(match, false);
  for (const match of uses(script, "import", DYNAMIC)) add(match, true);
  return [...found.values()];
}

/** Of the first `const x = require("y")` at the beginning of a line, in a script that has no `require` of its own. */
function requiredBy(script: Indexed, literal: Literal): string | null {
  const { code } = script;
  if (!uses(script, "require", OWN_REQUIRE).next().done || code.includes("function require")) return null;
  for (const match of uses(script, "require", REQUIRE)) {
    const before = code.slice(Math.max(0, match.index - 240), match.index - "require".length);
    if (DECLARED.test(match.index < 240 ? `\n${before}` : before)) return literal(match);
  }
  return null;
}

const exportsSomething = (script: Indexed): boolean =>
  uses(script, "export", EXPORT).some(({ index }) =>
    /(?:^|[;}\n])[^\S\n]*$/.test(script.code.slice(Math.max(0, index - 30), index - 6)),
  );

/** Much else has a method of this name. */
const serviceWorkers = (script: Indexed): RegExpExecArray[] =>
  [...uses(script, "register", ARGUMENT, true)].filter(({ index }) =>
    /\bserviceWorker\s*\??\.\s*$/.test(script.code.slice(Math.max(0, index - 60), index - "register".length)),
  );

export function scriptReferences(source: string): ScriptReferences {
  const read = scriptCode(source);
  const script: Indexed = { ...read, words: indexWords(read.code) };
  const literal: Literal = (match, group = 1) => read.literals[Number(match[group])]!;
  const workers = (after: RegExp) => ["Worker", "SharedWorker"].flatMap((word) => [...uses(script, word, after)]);
  const named = (use: Reference["use"], urls: readonly string[]): Reference[] =>
    distinctReferences(urls.filter((url) => url !== "" && url.length <= LONGEST_URL).map((url) => ({ url, use })));
  const literals_of = (matches: readonly RegExpExecArray[]): string[] => matches.map((match) => literal(match));
  const { files, calls } = requests(script, literal);
  const imports = importsOf(script, literal);
  return {
    imports,
    beside: named("worker", literals_of([...workers(BESIDE), ...uses(script, "importScripts", ARGUMENT)])),
    by_page: [...named("worker", literals_of(workers(ARGUMENT))), ...named("data", files)],
    service_workers: named("worker", literals_of(serviceWorkers(script))),
    pushes_state: script.words.has("pushState"),
    calls: [...new Set([...calls, ...callsByConstant(script)])],
    is_module: imports.some(({ dynamic }) => !dynamic) || exportsSomething(script),
    required: requiredBy(script, literal),
    sets_title: !uses(script, "document.title", TITLE).next().done,
  };
}
