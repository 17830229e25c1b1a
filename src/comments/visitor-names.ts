/** Names that visitors choose (COMMENTS 4). */
import { Refusal } from "../base/errors.ts";
import { normalForm } from "../base/normal-form.ts";
import { UNSEEN, withoutUnseen } from "../base/visible.ts";

const MOST_GRAPHEMES = 40;
const MOST_BYTES = 120;
/** Names that claim a role: only the service gives those. */
const RESERVED = new Set([
  "owner",
  "siteowner",
  "admin",
  "administrator",
  "moderator",
  "mod",
  "author",
  "svc",
  "system",
]);

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Letters of other scripts, and other forms, that look like a Latin letter. */
const LOOKS_LIKE: Readonly<Record<string, string>> = {
  ..."аa еe оo рp сc хx уy іi ѕs ԁd ԛq ԝw һh ӏl кk мm нh тt вb гr пn"
    .split(" ")
    .reduce((all, [from, to]) => ({ ...all, [from!]: to! }), {} as Record<string, string>),
  ..."øo ɵo σo ɔo ߋo ᴇe єe ɛe əe ɘe ᴅd ᴍm ᴀa ɪi ᴛt ᴜu đd ħh łl ŧt ƀb ɓb ɗd ɱm ɲn ŋn ƞn ƿp ʋv ʍw ⱳw"
    .split(" ")
    .reduce((all, pair) => ({ ...all, [[...pair][0]!]: [...pair][1]! }), {} as Record<string, string>),
  ..."αa βb εe ηn ιi κk νv οo ρp τt υu χx ωw ոn օo ѡw ɯw ʀr ɴn ⲟo ꮃw ꭱr 0o 1l 3e 5s ɑa ᴏo ᴡw ɡg ⅼl ⅰi"
    .split(" ")
    .reduce((all, pair) => ({ ...all, [[...pair][0]!]: [...pair][1]! }), {} as Record<string, string>),
};

/** Letters on a disc or a tile, and the letters of flags: the first of each alphabet. */
const ON_TILES = [0x1f150, 0x1f170, 0x1f1e6] as const;
const LETTERS = 26;

function plainLetter(char: string): string {
  const code = char.codePointAt(0)!;
  const first = ON_TILES.find((start) => code >= start && code < start + LETTERS);
  return first === undefined ? (LOOKS_LIKE[char] ?? char) : String.fromCharCode(0x61 + code - first);
}

/** Two letters that read as one. */
const PAIRS: Readonly<Record<string, string>> = { vv: "w", rn: "m", cl: "d" };

/** A name as a reader takes it at a glance: without case, marks, blanks and punctuation, and with Latin letters for those that
 *  look so. */
const skeleton = (name: string): string =>
  Array.from(normalForm(name, "NFKD").toLowerCase().replace(UNSEEN, "").replace(/\p{M}/gu, ""))
    .map(plainLetter)
    .join("")
    .replace(/[^\p{L}\p{N}]/gu, "")
    .replace(/vv|rn|cl/g, (pair) => PAIRS[pair]!);

const invalidName = (why: string): Refusal => new Refusal("invalid_input", why, { field: "name" });

/** Checks a name and returns it as it is stored. `label` is the site's own, which nobody may take. Throws `invalid_input`,
 *  `name_reserved`. */
export function checkName(sent: unknown, label: string | null): string {
  if (typeof sent !== "string" || !sent.isWellFormed()) throw invalidName('The member "name" must be a string.');
  if (/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(sent)) {
    throw invalidName("A name cannot hold control characters or turn the direction of the text.");
  }
  const name = withoutUnseen(normalForm(sent, "NFKC")).replace(/\s+/g, " ").trim();
  const length = [...graphemes.segment(name)].length;
  if (length < 1 || length > MOST_GRAPHEMES || Buffer.byteLength(name) > MOST_BYTES) {
    throw invalidName(`A name has 1 to ${MOST_GRAPHEMES} characters and at most ${MOST_BYTES} bytes.`);
  }
  const seen = skeleton(name);
  if (seen === "" && !/\p{Extended_Pictographic}/u.test(name)) {
    throw invalidName("A name needs a letter, a digit or a picture.");
  }
  if (RESERVED.has(seen) || (label !== null && seen === skeleton(label))) {
    throw new Refusal("name_reserved", "This name is kept for the site's owner. Choose another one.");
  }
  return name;
}
