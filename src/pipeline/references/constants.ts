/** A name that a script gives one literal and nothing else, ever. */
import { type Indexed, literalOf, sticky } from "./script-words.ts";

const WORD = /[\w$]/;
const BEFORE = /(?:^|[^\w$.])(?:const|let|var)\s{1,9}$/;
const GIVEN = sticky(" = LITERAL ([;,)}]|\\n|$)");
const CHANGED = sticky(" (?:=(?!=)|(?:[-+*/%&|^]|\\?\\?|&&|\\|\\||\\*\\*|<<|>>>?)=(?!=)|\\+\\+|--)");
/** It may be a parameter, or a part of one: in its function it means something else. */
const PARAMETER = sticky(" [^();]{0,200}\\) (?:=>|\\{)");
const ARROW = sticky(" =>");

const matches = (pattern: RegExp, code: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at;
  return pattern.exec(code);
};

/** Null where it is given none, or may be given another. One pass over the code, with a short look at each place. */
export function constantOf(script: Indexed, name: string): string | null {
  const { code } = script;
  let value: string | null = null;
  for (let at = code.indexOf(name); at >= 0; at = code.indexOf(name, at + name.length)) {
    const end = at + name.length;
    const before = code[at - 1] ?? " ";
    if (WORD.test(before) || before === "." || WORD.test(code[end] ?? " ")) continue;
    const given = matches(GIVEN, code, end);
    if (given && value === null && BEFORE.test(code.slice(Math.max(0, at - 20), at))) value = literalOf(script, given);
    else if (matches(CHANGED, code, end) || matches(PARAMETER, code, end) || matches(ARROW, code, end)) return null;
  }
  return value;
}
