/** JavaScript without what only looks like code: comments go, strings become numbers, regular expressions become nothing.
 *  One pass whose time grows with the length alone; it parses nothing and fails on nothing. */

interface ScriptCode {
  /** Each literal as `"n"`; a template as its literal parts and the code between them, joined by `+`. */
  code: string;
  /** The text of each literal, by number. Empty if it is longer than asked for. */
  literals: readonly string[];
}

/** No address is longer. */
const LONGEST_LITERAL = 8192;
const [QUOTE, APOSTROPHE, BACKTICK, SLASH, BACKSLASH, STAR, NEWLINE, DOLLAR] = [34, 39, 96, 47, 92, 42, 10, 36];
const [OPEN_PAREN, CLOSE_PAREN, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [40, 41, 91, 93, 123, 125];

/** Words behind which a value begins, so that a slash there begins a regular expression. */
const BEFORE_VALUE =
  /(?:^|[^\w$.])(?:return|typeof|case|in|of|new|delete|void|throw|else|do|yield|await|instanceof|default)$/;
const CONTROL = /(?:^|[^\w$.])(?:if|while|for|with)\s{0,20}$/;

const wordCharacter = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95 || code === 36;

const ESCAPE = /\\(?:x([\da-f]{2})|u([\da-f]{4})|\r?\n|([^]))/gi;
const unescape = (text: string): string =>
  text.includes("\\")
    ? text.replace(ESCAPE, (_, x: string | undefined, u: string | undefined, plain: string | undefined) =>
        x || u ? String.fromCharCode(parseInt((x ?? u)!, 16)) : (plain ?? ""),
      )
    : text;

class Lexer {
  readonly out: string[] = [];
  readonly literals: string[] = [];
  /** The beginning of the code that is not in `out` yet. */
  private copied = 0;
  private comment_end = -1;
  /** The last character of code before the comment that was read last. */
  private before_comment = -1;
  /** Depth of braces at which each open template goes on. */
  private readonly templates: number[] = [];
  private braces = 0;
  /** For each open parenthesis, whether it belongs to an `if` or the like, after which a statement begins. */
  private readonly parens: boolean[] = [];
  private control_closed = false;
  /** Characters looked at in vain for the end of a regular expression: bounded, or hostile input were quadratic. */
  private wasted = 0;

  constructor(
    private readonly source: string,
    private readonly longest: number,
  ) {}

  /** Index of the last character before `at` that is neither white space nor comment. */
  private previous(at: number): number {
    let index = at - 1;
    while (index >= this.comment_end && index >= 0 && this.source.charCodeAt(index) <= 32) index--;
    return index === this.comment_end - 1 ? this.before_comment : index;
  }

  private emit(from: number, to: number, text: string): void {
    this.out.push(this.source.slice(this.copied, from), text);
    this.copied = to;
  }

  private literal(from: number, to: number): string {
    const value = to - from > this.longest ? "" : unescape(this.source.slice(from, to));
    return `"${this.literals.push(value) - 1}"`;
  }

  private comment(at: number, line: boolean): number {
    const found = this.source.indexOf(line ? "\n" : "*/", at + 2);
    const end = found < 0 ? this.source.length : line ? found : found + 2;
    this.before_comment = this.previous(at);
    this.comment_end = end;
    this.emit(at, end, " ");
    return end;
  }

  private string(at: number, quote: number): number {
    const { source } = this;
    let end = at + 1;
    for (; end < source.length; end++) {
      const code = source.charCodeAt(end);
      if (code === quote || code === NEWLINE) break;
      if (code === BACKSLASH) end++;
    }
    this.emit(at, Math.min(end + 1, source.length), this.literal(at + 1, end));
    return end + 1;
  }

  /** From behind a backtick, or behind the `}` of a substitution, to the next substitution or the template's end. */
  private template(at: number, from: number, first: boolean): number {
    const { source } = this;
    let end = from;
    for (; end < source.length; end++) {
      const code = source.charCodeAt(end);
      if (code === BACKTICK || (code === DOLLAR && source.charCodeAt(end + 1) === OPEN_BRACE)) break;
      if (code === BACKSLASH) end++;
    }
    const opens = source.charCodeAt(end) === DOLLAR;
    const part = end === from && (opens || !first) ? "" : this.literal(from, end);
    this.emit(
      at,
      Math.min(end + (opens ? 2 : 1), source.length),
      [first ? "" : "+", part, opens && part ? "+" : ""].join(""),
    );
    if (opens) this.templates.push(this.braces);
    return end + (opens ? 2 : 1);
  }

  private beginsRegex(at: number): boolean {
    const { source } = this;
    const index = this.previous(at);
    const code = index < 0 ? 0 : source.charCodeAt(index);
    if (code === CLOSE_PAREN) return this.control_closed;
    if (wordCharacter(code)) return BEFORE_VALUE.test(source.slice(Math.max(0, index - 11), index + 1));
    if (code === 43 || code === 45) return source.charCodeAt(index - 1) !== code; // behind `a++` one divides
    return code !== CLOSE_BRACKET && code !== QUOTE && code !== APOSTROPHE && code !== BACKTICK && code < 128;
  }

  /** The place after the regular expression at `at`; `at + 1` if it is none after all. */
  private regex(at: number): number {
    const { source } = this;
    if (this.wasted > source.length || !this.beginsRegex(at)) return at + 1;
    let inside = false;
    for (let end = at + 1; end < source.length; end++) {
      const code = source.charCodeAt(end);
      if (code === NEWLINE) return this.waste(at, end);
      if (code === BACKSLASH) end++;
      else if (code === OPEN_BRACKET) inside = true;
      else if (code === CLOSE_BRACKET) inside = false;
      else if (code === SLASH && !inside) {
        this.emit(at, end + 1, "0");
        return end + 1;
      }
    }
    return this.waste(at, source.length);
  }
  private waste(at: number, end: number): number {
    this.wasted += end - at;
    return at + 1;
  }

  private slash(at: number): number {
    const next = this.source.charCodeAt(at + 1);
    return next === SLASH || next === STAR ? this.comment(at, next === SLASH) : this.regex(at);
  }

  private closeBrace(at: number): number {
    if (this.templates.at(-1) === this.braces) {
      this.templates.pop();
      return this.template(at, at + 1, false);
    }
    this.braces--;
    return at + 1;
  }

  run(): ScriptCode {
    const { source } = this;
    for (let at = 0; at < source.length;) {
      const code = source.charCodeAt(at);
      if (code === QUOTE || code === APOSTROPHE) at = this.string(at, code);
      else if (code === SLASH) at = this.slash(at);
      else if (code === BACKTICK) at = this.template(at, at + 1, true);
      else if (code === CLOSE_BRACE) at = this.closeBrace(at);
      else {
        if (code === OPEN_BRACE) this.braces++;
        else if (code === OPEN_PAREN) this.parens.push(CONTROL.test(source.slice(Math.max(0, at - 26), at)));
        else if (code === CLOSE_PAREN) this.control_closed = this.parens.pop() ?? false;
        at++;
      }
    }
    this.out.push(source.slice(this.copied));
    return { code: this.out.join(""), literals: this.literals };
  }
}

/** `longest`: characters of the longest literal that is wanted. */
export const scriptCode = (source: string, longest: number = LONGEST_LITERAL): ScriptCode =>
  new Lexer(source, longest).run();

// The places in a script's code of the few words that every search begins with: patterns that may begin anywhere cost a
// hundred times as much.

export interface Indexed extends ScriptCode {
  words: ReadonlyMap<string, number[]>;
}

/** `LITERAL` matches a literal and captures its number; a space matches white space. */
export const sticky = (pattern: string): RegExp =>
  new RegExp(pattern.replaceAll(" ", "\\s{0,99}").replaceAll("LITERAL", '"(\\d+)"'), "y");

const WORDS =
  /\b(?:import|from|export|require|fetch|getJSON|getScript|open|WebSocket|EventSource|axios|baseURL|Worker|SharedWorker|register|importScripts|document\.title|pushState)\b/g;

/** One pass for all words: a search for each costs ten times as much. */
export function indexed(source: string): Indexed {
  const read = scriptCode(source);
  const words = new Map<string, number[]>();
  for (const { 0: word, index } of read.code.matchAll(WORDS)) {
    const known = words.get(word);
    if (known) known.push(index);
    else words.set(word, [index]);
  }
  return { ...read, words };
}

/** Each place of `word` with `after` right after it, and no dollar or (unless `member`) dot before it. */
export function* uses(
  { code, words }: Indexed,
  word: string,
  after: RegExp,
  member = false,
): Generator<RegExpExecArray> {
  for (const at of words.get(word) ?? []) {
    if (code[at - 1] === "$" || (!member && code[at - 1] === ".")) continue;
    after.lastIndex = at + word.length;
    const match = after.exec(code);
    if (match) yield match;
  }
}

export const literalOf = ({ literals }: Indexed, match: RegExpExecArray, group = 1): string =>
  literals[Number(match[group])]!;
