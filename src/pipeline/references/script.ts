/** What a script loads by addresses that stand in it. */
import { distinctReferences, LONGEST_URL, type Reference } from "./reference.ts";
import { requestsOf } from "./requests.ts";
import { indexed, type Indexed, literalOf, sticky, uses } from "./script-words.ts";

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

interface Named {
  whole: readonly string[];
  beginnings: readonly string[];
}

/** Behind the beginning of a query a path is whole, whatever is joined to it. */
function wholeOrBegun(script: Indexed, matches: readonly RegExpExecArray[]): Named {
  const urls = matches.map((match) => ({ url: literalOf(script, match), joined: match[2] === "+" }));
  const [beginnings, whole] = [true, false].map((begun) =>
    urls.filter(({ url, joined }) => (joined && !/[?#]/.test(url)) === begun).map(({ url }) => url),
  );
  return { whole: whole!, beginnings: beginnings!.filter((url) => url.includes("/")) };
}

function references(use: Reference["use"], { whole, beginnings }: Named): Reference[] {
  const isShort = (url: string): boolean => url !== "" && url.length <= LONGEST_URL;
  return distinctReferences([
    ...whole.filter(isShort).map((url): Reference => ({ url, use })),
    ...beginnings.filter(isShort).map((url): Reference => ({ url, use, begins: true })),
  ]);
}

/** Of modules that are computed: names without an address are an import map's, or a bundler's. */
const modulesBegun = (script: Indexed): Named => {
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
