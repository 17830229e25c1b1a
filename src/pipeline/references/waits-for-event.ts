/** Whether code runs only once somebody does something: it stands in a function that is given to an event. */
import type { Indexed } from "./script-words.ts";

/** Characters looked back over for the functions that something stands in. */
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
/** Events that nobody brings about. */
const BY_ITSELF = /^(?:load|DOMContentLoaded|ready|pageshow|message|open|error|deviceready)$/;

function isHandler({ code, literals }: Indexed, at: number): boolean {
  const given = GIVEN.exec(code.slice(Math.max(0, at - HEAD), at));
  if (!given) return false;
  const event = /\d+/.exec(given[1] ?? "")?.[0];
  return event === undefined || !BY_ITSELF.test(literals[Number(event)]!);
}

/** `at`: where in the code it stands. */
export function waitsForEvent(script: Indexed, at: number): boolean {
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
