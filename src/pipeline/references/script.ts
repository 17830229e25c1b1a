/** The files that a script loads by addresses written in it. */

import { distinctReferences, LONGEST_URL, type Reference } from "./reference.ts";
import { indexed, type Indexed, literalOf, sticky, uses } from "./script-code.ts";

export interface ScriptReferences {
  /** Import specifiers. A bare name in a dynamic import is often guarded, so only static ones count as needed. */
  imports: readonly { specifier: string; dynamic: boolean; attributed: boolean }[];
  /** Loaded relative to this script. */
  beside: readonly Reference[];
  /** Loaded relative to the page that runs it. */
  by_page: readonly Reference[];
  /** Service workers that it registers: relative to the page, too. */
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

const STATIC = sticky(" LITERAL( (?:with|assert) \\{)?");
const DYNAMIC = sticky(" \\( LITERAL ([),])");
const EXPORT = sticky(" (?:\\*|\\{|(?:default|const|let|var|function|class|async)\\b)");
const ARGUMENT = sticky(" \\( LITERAL ([),+])");
const JOINED = sticky(" \\( LITERAL \\+");
const BESIDE = sticky(" \\( new\\s{1,99}URL \\( LITERAL , import\\.meta\\.url");
const TITLE = sticky(" =[^=]");
const REQUIRE = sticky(" \\( LITERAL \\)");
/** It is assigned, or a parameter: the script brings its own. */
const OWN_REQUIRE = sticky(" [=,)]");

const DECLARED = /\n(?:const|let|var)\s{1,9}[\w$\s{},:]{1,200}=\s{0,9}$/;

type Literal = (match: RegExpExecArray, group?: number) => string;

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

/** The name in the first `const x = require("y")` at the beginning of a line, in a script that has no `require` of
 *  its own. */
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

interface NamedFiles {
  whole: readonly string[];
  beginnings: readonly string[];
}

/** Behind the beginning of a query a path is whole, whatever is joined to it. */
function wholeOrBegun(script: Indexed, matches: readonly RegExpExecArray[]): NamedFiles {
  const urls = matches.map((match) => ({ url: literalOf(script, match), joined: match[2] === "+" }));
  const [beginnings, whole] = [true, false].map((begun) =>
    urls.filter(({ url, joined }) => (joined && !/[?#]/.test(url)) === begun).map(({ url }) => url),
  );
  return { whole: whole!, beginnings: beginnings!.filter((url) => url.includes("/")) };
}

function references(use: Reference["use"], { whole, beginnings }: NamedFiles): Reference[] {
  const isShort = (url: string): boolean => url !== "" && url.length <= LONGEST_URL;
  return distinctReferences([
    ...whole.filter(isShort).map((url): Reference => ({ url, use })),
    ...beginnings.filter(isShort).map((url): Reference => ({ url, use, begins: true })),
  ]);
}

/** The beginnings of computed module addresses: names without an address are an import map's, or a bundler's. */
const modulesBegun = (script: Indexed): NamedFiles => {
  const urls = [...uses(script, "import", JOINED)].map((match) => literalOf(script, match));
  return { whole: [], beginnings: urls.filter((url) => /^\.{0,2}\/./.test(url) && !/[?#]/.test(url)) };
};

export function scriptReferences(source: string): ScriptReferences {
  const script = indexed(source);
  const literal: Literal = (match, group = 1) => literalOf(script, match, group);
  const workers = (after: RegExp) => ["Worker", "SharedWorker"].flatMap((word) => [...uses(script, word, after)]);
  const { files, beginnings, calls } = requestsOf(script);
  const imports = importsOf(script, literal);
  const beside = wholeOrBegun(script, [...workers(BESIDE), ...uses(script, "importScripts", ARGUMENT)]);
  return {
    imports,
    beside: [...references("worker", beside), ...references("module", modulesBegun(script))],
    by_page: [
      ...references("worker", wholeOrBegun(script, workers(ARGUMENT))),
      ...references("data", { whole: files, beginnings }),
    ],
    service_workers: references("worker", { ...wholeOrBegun(script, serviceWorkers(script)), beginnings: [] }),
    pushes_state: script.words.has("pushState"),
    calls,
    is_module: imports.some(({ dynamic }) => !dynamic) || exportsSomething(script),
    required: requiredBy(script, literal),
    sets_title: !uses(script, "document.title", TITLE).next().done,
  };
}

// The addresses that a script asks for by fetch and older functions, if the script contains them as text.

interface Requests {
  /** Addresses that may be files. */
  files: readonly string[];
  /** The script joins more to it. */
  beginnings: readonly string[];
  /** Asked of an address that need not be a file: a method, or text joined to it. Only its host can be judged. */
  calls: readonly string[];
}

/** A constant, alone or with more joined to it. Names of one or two letters are a minifier's: they mean much at once. */
const CONSTANT = sticky(" \\( ([A-Za-z_$][\\w$]{2,99}) (?:([),])|\\+ (?:LITERAL ([),+]))?)");
const SECOND_ARGUMENT = sticky(" \\( LITERAL , LITERAL ([),+])");
const MEMBER_ARGUMENT = sticky("(?:\\.\\w{1,20})? \\( LITERAL");
const NAME = sticky("(?:\\.\\w{1,20})? \\( ([A-Za-z_$][\\w$]{0,99}) [),+]");
const VALUE = sticky(" : LITERAL");

/** Addresses whose host or scheme may be at fault. */
const NEAR_OR_PLAIN = /^(?:http|ws):\/\/(?!www\.w3\.org\/)|^(?:https|wss):\/\/(?:localhost|[\d[])/i;
const HTTP_METHOD = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/i;
const GLOBAL_FETCH = /(?:^|[^\w$.])(?:(?:window|self|globalThis)\.)?$/;
const CALLERS = ["fetch", "WebSocket", "EventSource", "axios"];
/** A folder or, before a query, a file: a mere word is an endpoint, which a service worker may answer. */
const NAMES_PLACE = /^[^?#]*(?:\/|\.\w+[?#])/;
/** Each costs a pass over the code. */
const MOST_CONSTANTS = 20;
/** Each costs a look at the code around it. */
const MOST_BEGINNINGS = 100;

/** Whether the arguments that follow an address name a method: then it is an endpoint, not a file. */
const namesMethod = (code: string, at: number): boolean => /^[^)]{0,300}?\bmethod\b/.test(code.slice(at, at + 320));
/** The same if there may be calls in between: it is better to leave out one too many. */
const mayNameMethod = (code: string, at: number): boolean => /\bmethod\b/.test(code.slice(at, at + 320));

class Reader {
  readonly files: string[] = [];
  readonly calls: string[] = [];
  readonly beginnings = new Set<string>();
  private readonly constants = new Map<string, string | null>();

  constructor(private readonly script: Indexed) {}

  /** Behind the beginning of a query the path is whole, whatever is joined to it. */
  private joined(url: string, { index, 0: { length } }: RegExpExecArray): void {
    const { code } = this.script;
    this.calls.push(url);
    if (mayNameMethod(code, index + length)) return;
    if (!NAMES_PLACE.test(url)) return;
    if (/[?#]/.test(url)) this.files.push(url);
    else if (this.beginnings.size < MOST_BEGINNINGS && !this.beginnings.has(url)) {
      if (!waitsForEvent(this.script, index)) this.beginnings.add(url);
    }
  }

  private asked(url: string, end: string, match: RegExpExecArray): void {
    if (end === "+") this.joined(url, match);
    else {
      const endpoint = end === "," && namesMethod(this.script.code, match.index + match[0].length);
      (endpoint ? this.calls : this.files).push(url);
    }
  }

  private constant(name: string): string | null {
    if (this.constants.size >= MOST_CONSTANTS && !this.constants.has(name)) return null;
    return this.constants.getOrInsertComputed(name, () => constantOf(this.script, name));
  }

  private named(match: RegExpExecArray): void {
    const [, name, alone, , behind] = match;
    const value = this.constant(name!);
    if (value === null) return;
    if (alone !== undefined) this.asked(value, alone, match);
    else if (behind !== undefined) this.asked(value + literalOf(this.script, match, 3), behind, match);
    else this.joined(value, match);
  }

  private places(word: string, after: RegExp): RegExpExecArray[] {
    const { code } = this.script;
    const all = [...uses(this.script, word, after, true)];
    if (word !== "fetch") return all;
    return all.filter(({ index }) => GLOBAL_FETCH.test(code.slice(Math.max(0, index - 17), index - 5)));
  }

  read(): void {
    const { script } = this;
    for (const word of ["fetch", "getJSON", "getScript"]) {
      for (const match of this.places(word, ARGUMENT)) this.asked(literalOf(script, match), match[2]!, match);
      for (const match of this.places(word, CONSTANT)) this.named(match);
    }
    for (const match of uses(script, "open", SECOND_ARGUMENT, true)) {
      const [method, url] = [literalOf(script, match), literalOf(script, match, 2)];
      if (/^get$/i.test(method)) this.asked(url, match[3] === "+" ? "+" : ")", match);
      else if (HTTP_METHOD.test(method)) this.calls.push(url);
    }
    for (const word of CALLERS.slice(1)) {
      this.calls.push(...uses(script, word, MEMBER_ARGUMENT).map((match) => literalOf(script, match)));
    }
    this.calls.push(...uses(script, "baseURL", VALUE).map((match) => literalOf(script, match)));
  }
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

function requestsOf(script: Indexed): Requests {
  const reader = new Reader(script);
  reader.read();
  const calls = [...new Set([...reader.calls, ...callsByConstant(script)])];
  return { files: reader.files, beginnings: [...reader.beginnings], calls };
}

// Constants: names to which a script assigns one literal and nothing else.

const WORD = /[\w$]/;
const BEFORE = /(?:^|[^\w$.])(?:const|let|var)\s{1,9}$/;
const ASSIGNED_TEXT = sticky(" = LITERAL ([;,)}]|\\n|$)");
const CHANGED = sticky(" (?:=(?!=)|(?:[-+*/%&|^]|\\?\\?|&&|\\|\\||\\*\\*|<<|>>>?)=(?!=)|\\+\\+|--)");
/** It may be a parameter, or a part of one: in its function it means something else. */
const PARAMETER = sticky(" [^();]{0,200}\\) (?:=>|\\{)");
const ARROW = sticky(" =>");

const matches = (pattern: RegExp, code: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at;
  return pattern.exec(code);
};

/** Null if it is given none, or may be given another. One pass over the code, with a short look at each place. */
function constantOf(script: Indexed, name: string): string | null {
  const { code } = script;
  let value: string | null = null;
  for (let at = code.indexOf(name); at >= 0; at = code.indexOf(name, at + name.length)) {
    const end = at + name.length;
    const before = code[at - 1] ?? " ";
    if (WORD.test(before) || before === "." || WORD.test(code[end] ?? " ")) continue;
    const given = matches(ASSIGNED_TEXT, code, end);
    if (given && value === null && BEFORE.test(code.slice(Math.max(0, at - 20), at))) value = literalOf(script, given);
    else if (matches(CHANGED, code, end) || matches(PARAMETER, code, end) || matches(ARROW, code, end)) return null;
  }
  return value;
}

// Finds out whether code runs only after an event: whether it is in a function that is given to an event.

/** The most characters searched backwards for the functions around a place. */
const BACK = 4000;
/** Functions in each other. */
const DEEPEST = 20;
/** Characters before a function's body that tell what it is given to. */
const HEAD = 200;
const FUNCTION =
  "(?:async\\s{0,9})?(?:function\\b[^(){}]{0,60}\\([^(){}]{0,80}\\)|(?:\\([^(){}]{0,80}\\)|[\\w$]{1,40})\\s{0,9}=>)";
const PROPERTY = "\\bon(?!load|ready|message|open|error)\\w{2,30}\\s{0,9}[=:]";
const METHOD =
  "(?:\\.(?:on|one|bind|live|click|dblclick|change|submit|hover|focus|blur|input|(?:key|mouse|pointer|touch)\\w{2,9})|addEventListener)";
const GIVEN = new RegExp(
  `(?:${PROPERTY}|${METHOD}\\s{0,9}\\(\\s{0,9}((?:"\\d+"\\s{0,9},\\s{0,9}){0,2}))\\s{0,9}${FUNCTION}\\s{0,9}$`,
);
/** Events that come without the visitor. */
const BY_ITSELF = /^(?:load|DOMContentLoaded|ready|pageshow|message|open|error|deviceready)$/;

function isHandler({ code, literals }: Indexed, at: number): boolean {
  const given = GIVEN.exec(code.slice(Math.max(0, at - HEAD), at));
  if (!given) return false;
  const event = /\d+/.exec(given[1] ?? "")?.[0];
  return event === undefined || !BY_ITSELF.test(literals[Number(event)]!);
}

/** `at`: its place in the code. */
function waitsForEvent(script: Indexed, at: number): boolean {
  const { code } = script;
  const called = /[\w$.]{0,99}$/.exec(code.slice(Math.max(0, at - 99), at))![0].length;
  if (isHandler(script, at - called)) return true; // an arrow function without braces
  let [closed, opened] = [0, 0];
  for (let index = at - 1; index >= Math.max(0, at - BACK) && opened < DEEPEST; index--) {
    if (code[index] === "}") closed++;
    else if (code[index] === "{" && closed > 0) closed--;
    else if (code[index] === "{" && (opened++, isHandler(script, index))) return true;
  }
  return false;
}
