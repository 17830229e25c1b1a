/** What a script asks for by fetch and its elders, as far as the address stands in it. */
import { constantOf } from "./constants.ts";
import { type Indexed, literalOf, sticky, uses } from "./script-words.ts";
import { waitsForEvent } from "./waits-for-event.ts";

interface Requests {
  /** What may be a file. */
  files: readonly string[];
  /** The script joins more to it. */
  beginnings: readonly string[];
  /** Asked of an address that need not be a file: a method, or text joined to it. Only its host can be judged. */
  calls: readonly string[];
}

const ARGUMENT = sticky(" \\( LITERAL ([),+])");
/** A constant, alone or with more joined to it. Names of one or two letters are a minifier's: they mean much at once. */
const CONSTANT = sticky(" \\( ([A-Za-z_$][\\w$]{2,99}) (?:([),])|\\+ (?:LITERAL ([),+]))?)");
const SECOND_ARGUMENT = sticky(" \\( LITERAL , LITERAL ([),+])");
const MEMBER_ARGUMENT = sticky("(?:\\.\\w{1,20})? \\( LITERAL");
const NAME = sticky("(?:\\.\\w{1,20})? \\( ([A-Za-z_$][\\w$]{0,99}) [),+]");
const VALUE = sticky(" : LITERAL");

/** Addresses whose host or scheme may be at fault. */
const NEAR_OR_PLAIN = /^(?:http|ws):\/\/(?!www\.w3\.org\/)|^(?:https|wss):\/\/(?:localhost|[\d[])/i;
const METHOD = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/i;
const GLOBAL_FETCH = /(?:^|[^\w$.])(?:(?:window|self|globalThis)\.)?$/;
const CALLERS = ["fetch", "WebSocket", "EventSource", "axios"];
/** A folder or, before a query, a file: a mere word is an endpoint, which a service worker may answer. */
const NAMES_PLACE = /^[^?#]*(?:\/|\.\w+[?#])/;
/** Each costs a pass over the code. */
const MOST_CONSTANTS = 20;
/** Each costs a look at what it stands in. */
const MOST_BEGINNINGS = 100;

/** Whether the arguments that follow an address name a method: then it is an endpoint, not a file. */
const namesMethod = (code: string, at: number): boolean => /^[^)]{0,300}?\bmethod\b/.test(code.slice(at, at + 320));
/** The same where calls may stand between: better one too many is left out. */
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
      else if (METHOD.test(method)) this.calls.push(url);
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

export function requestsOf(script: Indexed): Requests {
  const reader = new Reader(script);
  reader.read();
  const calls = [...new Set([...reader.calls, ...callsByConstant(script)])];
  return { files: reader.files, beginnings: [...reader.beginnings], calls };
}
