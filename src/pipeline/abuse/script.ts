/** A script as the scan reads it: joined strings, the values of names, and the address that an expression begins
 *  with. The scan runs nothing. */
import { scriptCode } from "../references/script-code.ts";

export interface Script {
  /** Without strings and comments: each literal as `"n"`. `a["b"]` is `a.b`. */
  code: string;
  literals: readonly string[];
  /** The values that names and properties are set to: a few literals each, decoded. */
  constants: ReadonlyMap<string, readonly string[]>;
}

/** The parts of an address. */
export interface Written {
  text: string;
  /** More is joined to it that is not known. */
  open: boolean;
}

const JOINED = /"\d+"(?:\s{0,99}\+\s{0,99}"\d+")+/g;
const NUMBER = /\d+/g;
const MEMBER = /\[\s{0,9}"(\d+)"\s{0,9}\]/g;
const NAME = /^[A-Za-z_$][\w$]{0,40}$/;
const CONSTANT =
  /([\w$]{1,60})\s{0,9}[=:]\s{0,9}\[?\s{0,9}(?:(?:window\.)?(atob|unescape|decodeURI\w{0,9})\s{0,9}\(\s{0,9})?"(\d+)"/g;
const MOST_OF_A_NAME = 4;

/** Strings that are written in pieces, each as one. */
function joined(code: string, literals: string[]): string {
  return code.replace(JOINED, (pieces) => {
    const whole = pieces.match(NUMBER)!.map((number) => literals[Number(number)]!);
    return `"${literals.push(whole.join("")) - 1}"`;
  });
}

export function readScript(source: string): Script {
  const { code: plain, literals: found } = scriptCode(source, source.length);
  const literals = [...found];
  const code = joined(plain, literals).replace(MEMBER, (whole, number: string) => {
    const name = literals[Number(number)]!;
    return NAME.test(name) ? `.${name}` : whole;
  });
  const constants = new Map<string, string[]>();
  for (const [, name, decoder, number] of code.matchAll(CONSTANT)) {
    const known = constants.getOrInsertComputed(name!, () => []);
    if (known.length < MOST_OF_A_NAME) known.push(decoded(literals[Number(number)]!, decoder));
  }
  return { code, literals, constants };
}

/** Decodes percent escapes and leaves invalid ones as they are. */
export const unescaped = (text: string): string =>
  text.replace(/%u([\da-f]{4})|%([\da-f]{2})/gi, (_, wide?: string, byte?: string) =>
    String.fromCharCode(parseInt((wide ?? byte)!, 16)),
  );

export const fromBase64 = (text: string): string => Buffer.from(text, "base64").toString("latin1");

/** `http` in Base64: such a literal is an address, no matter which code decodes it. */
const CODED = /^aHR0c/;

/** A literal as its decoder reads it, if it has one. */
function decoded(literal: string, decoder: string | undefined): string {
  if (CODED.test(literal) || decoder === "atob") return fromBase64(literal);
  return decoder === undefined ? literal : unescaped(literal);
}

/** The literals of a script, those in Base64 that are addresses decoded. */
export const plainLiterals = ({ literals }: Script): string[] => literals.map((one) => decoded(one, undefined));

const VALUE =
  /\s{0,99}(?:(?:(?:window|self)\.)?(?:new\s{1,9})?(atob|unescape|decodeURI\w{0,9}|encodeURI|String|URL)\s{0,9})?\(?\s{0,9}(?:"(\d+)"\)?(\s{0,9}\+)?|([A-Za-z_$][\w$.]{0,200}))/y;

/** The values of the literal or the name at `at`. Empty for all else. */
export function valuesAt({ code, literals, constants }: Script, at: number): Written[] {
  VALUE.lastIndex = at;
  const [, decoder, number, plus, name] = VALUE.exec(code) ?? [];
  if (number !== undefined) return [{ text: decoded(literals[Number(number)]!, decoder), open: plus !== undefined }];
  if (name === undefined) return [];
  const known = constants.get(name.slice(name.lastIndexOf(".") + 1)) ?? [];
  return known.map((text) => ({ text, open: false }));
}

const ABSOLUTE = /^[\s\0-\x1f]*(?:[a-z][\w+.-]{0,20}:|[\\/]{2})/i;
const HOST = /^[\s\0-\x1f]*(?:[a-z][a-z+.-]{0,20}:)?[\\/]{2}[\\/]{0,9}([^\\/?#]{0,300})(.?)/i;
const WHOLE_HOST = /\.[a-z][a-z\d-]{0,62}(?::\d+)?$/i;

/** Whether an address of which this is known says where it leads: `https://` and what the page's own host is called does
 *  not. */
export function isWhole({ text, open }: Written): boolean {
  if (!ABSOLUTE.test(text)) return true;
  const [, host = "", more = ""] = HOST.exec(text) ?? [];
  return host !== "" && (!open || more !== "" || WHOLE_HOST.test(host));
}
