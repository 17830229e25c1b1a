/** The functions of a script: which of them run by themselves when the page loads, and which wait for somebody. A name
 *  counts wherever it is called. */

/** The functions of all scripts of a page: what one declares another may call. */
export class Functions {
  private readonly bodies: FunctionBody[] = [{ parent: -1, name: "", at_once: true }];
  private readonly calls: NamedCall[] = [];

  /** The function around each of the rising `places`. `literals` are those of the code. */
  add(code: string, literals: readonly string[], places: readonly number[]): number[] {
    return new Reader(code, literals, this.bodies, this.calls).read(places);
  }

  /** The functions that run by themselves. */
  running(): ReadonlySet<number> {
    const { bodies, calls } = this;
    const named = Map.groupBy(bodies.keys(), (id) => bodies[id]!.name);
    const held = Map.groupBy(bodies.keys(), (id) => (bodies[id]!.at_once ? bodies[id]!.parent : -1));
    const called = Map.groupBy(calls, ({ within }) => within);
    const running = new Set([0]);
    for (const id of running) {
      for (const inner of held.get(id) ?? []) running.add(inner);
      const names = new Set((called.get(id) ?? []).map(({ name }) => name));
      for (const name of names) for (const one of (name && named.get(name)) || []) running.add(one);
    }
    return running;
  }
}

// Finds the functions of a script and what is done with each. Brackets and the words before them decide, in one pass
// whose time grows only with the length.

/** A function, and what has to happen before it runs. */
interface FunctionBody {
  /** The function around it; 0 is the script itself. */
  parent: number;
  name: string;
  /** Runs as soon as its parent does. */
  at_once: boolean;
}

/** A call of a name, in the function around it. */
interface NamedCall {
  name: string;
  within: number;
}

/** The use that a call makes of a function between its parentheses. */
type Taker = "none" | "group" | "timer" | "event" | "at once";

interface Bracket {
  /** Behind its opening sign. */
  from: number;
  /** The function that goes on behind it. */
  outer: number;
  /** An arrow's body that is no block: it ends with the bracket around it, a comma, or its line. */
  arrow: boolean;
  /** An object's or a class's: what is called in it is a method, and no call. */
  members: boolean;
  taker: Taker;
  /** Functions directly in it. */
  holds: number[];
  /** Its place in `calls`; -1: none. */
  call: number;
}

const TAKERS = new Map<string, Taker>(
  (
    [
      ["timer", "setTimeout setInterval"],
      ["event", "addEventListener attachEvent on one"],
      ["at once", "requestAnimationFrame requestIdleCallback queueMicrotask $ jQuery ready Promise forEach map"],
    ] as const
  ).flatMap(([taker, names]) => names.split(" ").map((name) => [name, taker] as const)),
);
const EVENT = /^\s*"(\d+)"/;
const OF_LOADING = /^(?:on)?(?:load|DOMContentLoaded|pageshow|readystatechange|error)$/;
const LOADER = /^on(?:load|error|pageshow|readystatechange)$/;
/** Milliseconds: what comes later is none that runs by itself (PIPELINE 3). */
const SOON_MS = 5000;
const DELAY = /,\s{0,99}(\d{1,9}(?:e\d)?)(?:\s{0,9}\*\s{0,9}(\d{1,9}))?\s{0,99}$/;
const BEFORE_BLOCK = /^(?:if|for|while|switch|catch|with|await)$/;
const CALLED = /\s{0,99}(?:\(|\.\s{0,9}(?:call|apply)\s{0,9}\()/y;
const ASSIGNED = /([\w$]{1,60})\s{0,99}[=:]\s{0,99}(?:async\s{1,99})?$/;
const ARGUMENT = /(?:^|,)\s{0,99}([A-Za-z_$][\w$]{0,60})\s{0,99}(?=,|$)/g;
const CLASS = /\bclass\b[^{}();]{0,200}$/;
/** Behind these an object begins, and no block. */
const BEFORE_OBJECT = "=(,:[?|&!";
/** Behind these an expression goes on over the end of a line. */
const GOES_ON = "=+-*/%&|^<>?:,([{!~.";

const [OPEN_PAREN, CLOSE_PAREN, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [40, 41, 91, 93, 123, 125];
const [EQUALS, GREATER, COMMA, SEMICOLON, NEWLINE] = [61, 62, 44, 59, 10];

const isWord = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95 || code === 36;

class Reader {
  private readonly open: Bracket[] = [];
  private within = 0;
  /** The last character that is no blank. */
  private ink = -1;
  /** The last closed parenthesis: its place, its end, and its call. */
  private paren = { at: -1, end: -1, call: -1 };

  constructor(
    private readonly code: string,
    private readonly literals: readonly string[],
    private readonly bodies: FunctionBody[],
    private readonly calls: NamedCall[],
  ) {}

  read(places: readonly number[]): number[] {
    const { code } = this;
    const around: number[] = [];
    let broken = false;
    for (let at = 0; at < code.length; at++) {
      const sign = code.charCodeAt(at);
      if (sign <= 32) broken ||= sign === NEWLINE;
      else {
        if (broken && this.statementEnds(sign)) this.endArrows(at);
        broken = false;
      }
      while (around.length < places.length && places[around.length]! <= at) around.push(this.within);
      if (sign <= 32) continue;
      this.see(sign, at);
      this.ink = at;
    }
    while (around.length < places.length) around.push(this.within);
    return around;
  }

  private see(sign: number, at: number): void {
    if (sign === OPEN_PAREN) this.openParen(at);
    else if (sign === OPEN_BRACE) this.openBrace(at);
    else if (sign === OPEN_BRACKET) this.push(at + 1, this.within);
    else if (sign === CLOSE_PAREN || sign === CLOSE_BRACE || sign === CLOSE_BRACKET) this.close(at);
    else if (sign === EQUALS) this.equals(at);
    else if (sign === COMMA || sign === SEMICOLON) this.endArrows(at);
  }

  private push(from: number, outer: number): Bracket {
    const bracket: Bracket = { from, outer, arrow: false, members: false, taker: "none", holds: [], call: -1 };
    this.open.push(bracket);
    return bracket;
  }

  /** The word that ends at `end`, blanks behind it left out, and where it begins. */
  private wordBefore(end: number): { word: string; from: number } {
    const { code } = this;
    let to = end;
    while (to > 0 && code.charCodeAt(to - 1) <= 32) to--;
    let from = to;
    while (from > 0 && isWord(code.charCodeAt(from - 1))) from--;
    return { word: code.slice(from, to), from };
  }

  private openParen(at: number): void {
    const before = this.code.charCodeAt(this.ink);
    const { word, from } = this.wordBefore(at);
    const bracket = this.push(at + 1, this.within);
    if (word === "") bracket.taker = before === CLOSE_PAREN || before === CLOSE_BRACKET ? "none" : "group";
    else if (!BEFORE_BLOCK.test(word)) {
      bracket.taker = TAKERS.get(word) ?? "none";
      if (this.wordBefore(from).word !== "function") bracket.call = this.call(word);
    }
  }

  private readonly call = (name: string): number => this.calls.push({ name, within: this.within }) - 1;

  /** A function that begins at `from`: its name, or what it is assigned to. */
  private begin(from: number, name: string): number {
    const before = this.code.slice(Math.max(0, from - 200), from);
    const target = name || (ASSIGNED.exec(before)?.[1] ?? "");
    const id = this.bodies.push({ parent: this.within, name: target, at_once: LOADER.test(target) }) - 1;
    this.open.at(-1)?.holds.push(id);
    return id;
  }

  private openBrace(at: number): void {
    const { code, paren, ink, within: outer } = this;
    const inside = this.open.at(-1)?.members ?? false;
    if (code.charCodeAt(ink) === GREATER && code.charCodeAt(ink - 1) === EQUALS) {
      this.within = this.begin(this.arrowStart(ink - 1), "");
    } else if (ink === paren.end && ink >= 0) this.within = this.beginNamed(inside);
    const bracket = this.push(at + 1, outer);
    bracket.members = BEFORE_OBJECT.includes(code[ink] ?? ";") || this.wordBefore(at).word === "return";
    const before = code.slice(Math.max(0, at - 250), at);
    bracket.members ||= before.includes("class") && CLASS.test(before);
  }

  /** Behind `function name(…)`, `function (…)` or a method's `name(…)`. */
  private beginNamed(in_members: boolean): number {
    const { word, from } = this.wordBefore(this.paren.at);
    if (word === "function") return this.begin(from, "");
    const before = this.wordBefore(this.code[from - 1] === "*" ? from - 1 : from);
    if (before.word === "function") return this.begin(before.from, word);
    if (!in_members || BEFORE_BLOCK.test(word)) return this.within;
    if (this.paren.call >= 0) this.calls[this.paren.call] = { name: "", within: -1 };
    return this.begin(from, word);
  }

  /** The place where the parameters of the arrow at `at` begin. */
  private arrowStart(at: number): number {
    let end = at - 1;
    while (end >= 0 && this.code.charCodeAt(end) <= 32) end--;
    return end === this.paren.end ? this.paren.at : this.wordBefore(at).from;
  }

  private equals(at: number): void {
    const { code } = this;
    if (code.charCodeAt(at + 1) !== GREATER) {
      if (LOADER.test(this.wordBefore(at).word))
        this.call(/^=\s{0,9}([\w$]{0,60})/.exec(code.slice(at, at + 80))?.[1] ?? "");
      return;
    }
    let next = at + 2;
    while (next < code.length && code.charCodeAt(next) <= 32) next++;
    if (code.charCodeAt(next) === OPEN_BRACE) return;
    const outer = this.within;
    this.within = this.begin(this.arrowStart(at), "");
    this.push(at + 2, outer).arrow = true;
  }

  /** Whether a statement ends with the line before the next one's first character. */
  private statementEnds(sign: number): boolean {
    return (this.open.at(-1)?.arrow ?? false) && isWord(sign) && !GOES_ON.includes(this.code[this.ink] ?? "=");
  }

  private endArrows(at: number): void {
    while (this.open.at(-1)?.arrow) this.end(this.open.pop()!, at);
  }

  private close(at: number): void {
    this.endArrows(at);
    const bracket = this.open.pop();
    if (bracket) this.end(bracket, at);
  }

  private isCalled(at: number): boolean {
    CALLED.lastIndex = at + 1;
    return CALLED.test(this.code);
  }

  private end(bracket: Bracket, at: number): void {
    const inside = this.within;
    this.within = bracket.outer;
    if (bracket.arrow) return;
    if (inside !== bracket.outer && this.isCalled(at)) this.bodies[inside]!.at_once = true;
    if (this.code.charCodeAt(at) !== CLOSE_PAREN) return;
    this.paren = { at: bracket.from - 1, end: at, call: bracket.call };
    if (bracket.taker !== "none" && this.takesAtOnce(bracket, at)) this.take(bracket, at);
  }

  private takesAtOnce({ taker, from }: Bracket, at: number): boolean {
    if (taker === "group") return this.isCalled(at);
    if (taker === "timer") {
      const [, ms = "0", times = "1"] = DELAY.exec(this.code.slice(Math.max(from, at - 60), at)) ?? [];
      return Number(ms) * Number(times) <= SOON_MS;
    }
    if (taker !== "event") return true;
    const event = EVENT.exec(this.code.slice(from, from + 60))?.[1];
    return event !== undefined && OF_LOADING.test(this.literals[Number(event)]!);
  }

  private take({ holds, from }: Bracket, at: number): void {
    for (const id of holds) this.bodies[id]!.at_once = true;
    if (at - from > 300) return;
    for (const [, name] of this.code.slice(from, at).matchAll(ARGUMENT)) this.call(name!);
  }
}
