/** The facts about a page, collected before it is judged. */

import { decodeEntities } from "../../html/character-references.ts";
import { UNSEEN } from "../../base/visible.ts";

// Decides from the words around a field what the field asks for. Words are whole: a hotpot is no one-time password.

/** Letters that look like Latin ones. */
const [FOREIGN, LATIN] = ["аеорсухіѕԁӏјһԛԝοανρι", "aeopcyxisdljhqwoavpi"];
const LOOKALIKES = new Map([...FOREIGN].map((letter, i) => [letter, LATIN[i]!]));
const LONGEST = 2000;

/** Most names and labels: they need no look at what letters are, which takes five times as long. */
const ASCII = /^[\x00-\x7f]*$/;

/** ` sign in paypal ` for `Sign in – PayPal`: lower case, one space between words and at both ends. */
export function plainWords(text: string): string {
  if (ASCII.test(text)) {
    const lower = text.slice(0, LONGEST).toLowerCase();
    return ` ${lower.replace(/[^a-z\d]+/g, " ").trim()} `;
  }
  const words = text
    .slice(0, LONGEST)
    .normalize("NFKC")
    .replace(UNSEEN, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, " ")
    .trim();
  // One word in two scripts is a disguise; a whole word in Cyrillic is just Russian.
  return ` ${words.replace(/\p{L}+/gu, (word) => (/[a-z]/.test(word) ? withoutLookalikes(word) : word))} `;
}

/** The same for names in code: ` credit card no 2 ` for `creditCard-no2`. */
function wordsOf(text: string): string {
  const name = text.slice(0, LONGEST);
  if (ASCII.test(name)) return plainWords(name.replace(ASCII_BORDERS, "$& "));
  return plainWords(
    name
      .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
      .replace(/(\p{L})(\p{N})/gu, "$1 $2")
      .replace(/(\p{N})(\p{L})/gu, "$1 $2"),
  );
}
/** Between small and capital letters, letters and digits. */
const ASCII_BORDERS = /[a-z](?=[A-Z])|[A-Za-z](?=\d)|\d(?=[A-Za-z])/g;

const withoutLookalikes = (word: string): string =>
  word.replace(/[^\x00-\x7f]/g, (letter) => LOOKALIKES.get(letter) ?? letter);

export type Risk = "password" | "code" | "card" | "cvv" | "seed";

/** As a person would say it. */
export const RISK_NAMES: Record<Risk, string> = {
  password: "a password",
  code: "a one-time code",
  card: "a card number",
  cvv: "a card's security code",
  seed: "a recovery phrase",
};

const any = (...phrases: string[]): RegExp => new RegExp(` (?:${phrases.join("|")}) `);

const WORDS: readonly (readonly [Risk, RegExp])[] = [
  [
    "password",
    any(
      "(?:my|user|login|account|new|current|confirm)?pass ?words?|pass ?phrase|passwd|pwd|passcode|pass ?wd",
      "user ?pass|login ?pass|contrase[ñn]a|mot ?de ?passe|passwort|kennwort",
      "senha|wachtwoord|lösenord|adgangskode|hasło|heslo|jelszó|şifre|пароль|密码|密碼|パスワード|비밀번호|mật khẩu|kata sandi",
    ),
  ],
  [
    "code",
    any(
      "otp|totp|one time (?:code|pass ?code|password|pin)|2 ?fa|mfa|two factor code|sms code|auth(?:entication|enticator)? code",
      "verification code|login code|pin code|код из смс|codigo de verificacion|código de verificación|bestätigungscode",
    ),
  ],
  [
    "card",
    any(
      "(?:credit |debit |bank |payment )?card ?(?:number|num|no|nr)|cardnumber|credit ?card|debit ?card|cc ?(?:number|num|no|nr)",
      "numéro de carte|numero de tarjeta|número de tarjeta|kartennummer|kreditkartennummer|номер карты|卡号|カード番号",
    ),
  ],
  ["cvv", any("cvv(?: 2)?|cvc(?: 2)?|cvn|csc|card (?:verification|security) (?:code|number|value)|prüfnummer")],
  [
    "seed",
    any(
      "(?:recovery|seed|backup|mnemonic|wallet) (?:phrase|words?)|seed ?phrase|secret (?:recovery )?phrase",
      "(?:12|24|twelve|twenty four) words? (?:phrase|mnemonic)|mnemonic(?: phrase| words?| seed)?|фраза восстановления",
    ),
  ],
];
/** Cards that open no account at a bank. */
const OTHER_CARD =
  / (?:business|library|gift|loyalty|member(?:ship)?|student|id|identity|insurance|health|report|post|greeting|reward|fidelity|sim|sd|graphics|video) (?=card )/g;

/** The secrets that `text` (a name, an id, a label or a placeholder) asks for. */
function risksIn(text: string): Risk[] {
  if (text === "") return [];
  const words = wordsOf(text).replace(OTHER_CARD, " other");
  return WORDS.filter(([, pattern]) => pattern.test(words)).map(([risk]) => risk);
}

/** `pass` alone says it in a name, not in a label: there are boarding passes. */
const risksInName = (name: string): Risk[] =>
  /^ (?:user |login |my )?pass(?: \d+)? $/.test(wordsOf(name)) ? ["password"] : risksIn(name);

const AUTOCOMPLETE: Record<string, Risk> = {
  "current-password": "password",
  "new-password": "password",
  "one-time-code": "code",
  "cc-number": "card",
  "cc-csc": "cvv",
};
const risksInAutocomplete = (tokens: string): Risk[] =>
  tokens
    .toLowerCase()
    .split(/\s+/)
    .flatMap((token) => (Object.hasOwn(AUTOCOMPLETE, token) ? [AUTOCOMPLETE[token]!] : []));

/** Keys that programs have: who types one signs in nowhere. */
const PROGRAM_KEY =
  / (?:api|app|application|access|auth|authentication|authorization|bearer|bot|client|webhook|deploy|publishable|license|licence|subscription|personal access|secret access|open ?ai|anthropic|claude|gemini|groq|mistral|deepseek|open router|openrouter|cohere|hugging ?face|hf|replicate|eleven ?labs|git ?hub|git ?lab|slack|discord|telegram|notion|map ?box|stripe) (?:api )?(?:secret )?(?:key|token|secret)s? | apikey | api secret | pat | (?:access|auth|bot|api)token /;
/** Tokens that a program has too, where nothing else is said. */
const ONLY_A_TOKEN = /^ (?:(?:your|the|enter|paste|my) )*token(?: here)? $/;
const PERSONS_SECRET =
  / (?:pass ?words?|pass ?phrase|passwd|pwd|pass ?code|pass|pin|pin ?code|contrase[ñn]a|mot de passe|passwort|kennwort|senha|wachtwoord|seed|mnemonic|(?:recovery|secret|seed|backup) (?:recovery )?(?:phrase|words?)|private ?keys?|key ?store|wallets?|otp|one time) /;

/** Whether `said` (a field's name, id, label, placeholder) is about a program's key and about no secret of a person. */
function isProgramKey(said: readonly string[]): boolean {
  const told = said.filter((one) => one !== "").map(wordsOf);
  if (told.some((one) => PERSONS_SECRET.test(one))) return false;
  return told.some((one) => PROGRAM_KEY.test(one) || ONLY_A_TOKEN.test(one));
}

/** Whether a field asks for something that opens a wallet. */
export const asksForWalletKey = (said: readonly string[]): boolean =>
  said.some((one) => / (?:private ?keys?|key ?store(?: json| file)?) /.test(wordsOf(one)));

/** Words by which a page speaks of wallets. */
export const WALLET =
  /\bwallets?\b|metamask|\bledger\b|\btrezor\b|phantom|ethereum|bitcoin|solana|\bcrypto|\bweb3\b|mnemonic|(?:seed|recovery) phrase|\bkeystore\b|\bNFTs?\b/gi;

/** Words by which a page speaks of a recovery phrase, the words that open a wallet. */
export const RECOVERY_PHRASE =
  /(?:recovery|seed|secret|mnemonic|backup)\s+(?:recovery\s+)?(?:phrase|words)|seedphrase|(?:12|24|twelve|twenty-?four)[ -]words?\s+(?:phrase|mnemonic)|mnemonic phrase/gi;

export interface Form {
  id: string | null;
  /** As written; null without one. */
  action: string | null;
  /** Its attributes as written. */
  written: string;
}

export interface Control {
  name: "input" | "textarea" | "button";
  attributes: ReadonlyMap<string, string>;
  /** The forms that it belongs to by its place. */
  forms: readonly Form[];
  /** The words of its labels. */
  labels: string[];
  /** The number of characters of visible text before it. */
  at: number;
  /** The secrets that it asks for, the clearest first. */
  risks: readonly Risk[];
}

/** A link or a button that is open, and what it says. */
export interface Pressable {
  is: "a" | "button";
  /** Its attributes as they are written. */
  written: string;
  text: string;
}

export interface Picture {
  /** Its alternative text. */
  alt: string;
  /** As written. Empty if it names no host, or if no visitor sees it. */
  address: string;
  inside: Pressable | null;
}

/** A frame, or an element that works like one. */
export interface Frame {
  address: string | null;
  page: string | null;
  /** For visitors without scripts. */
  noscript: boolean;
}

export interface PageFacts {
  /** Only visitors without scripts see it. */
  noscript: boolean;
  /** Those that may be the first one. */
  bases: string[];
  forms: Form[];
  controls: Control[];
  /** By the id that they name. */
  labels: Map<string, string>;
  title: string;
  text: string;
  pictures: Picture[];
  icons: string[];
  links: Pressable[];
  /** Contents of `<meta http-equiv=refresh>`. */
  refreshes: string[];
  /** Code in the page: script elements. */
  code: string[];
  /** Those of them that a browser runs: no data, no import map. */
  runs: string[];
  /** The code of event attributes. */
  handlers: { name: string; code: string }[];
  /** Addresses of scripts. */
  scripts: string[];
  /** Attributes that run or name something: what an element does when it is pressed, what it keeps for a script. */
  events: string[];
  /** Pages in the page: what frames show, by address or as they are. */
  frames: Frame[];
}

/** Thrown where a page is built to be unreadable: the message completes "… cannot be checked: ". */
export class Unreadable extends Error {}

/** No honest page comes near. */
export const MOST = {
  bases: 20,
  /** Each address of the page is resolved against it. */
  base_length: 8192,
  open_forms: 20,
  templates: 100,
  controls: 20_000,
  pictures: 50_000,
};

/** Characters of visible text under which a page only passes visitors on (PIPELINE 3). */
export const LITTLE_TEXT = 400;

export const emptyFacts = (noscript = false): PageFacts => ({
  noscript,
  bases: [],
  forms: [],
  controls: [],
  labels: new Map(),
  title: "",
  text: "",
  pictures: [],
  icons: [],
  links: [],
  refreshes: [],
  code: [],
  runs: [],
  handlers: [],
  scripts: [],
  events: [],
  frames: [],
});

// The information that the fields of a page ask for.

/** Types of fields that no visitor types a secret into. */
const NOT_TYPED = new Set(
  "hidden submit button image reset checkbox radio file range color date datetime-local month week time".split(" "),
);

/** As browsers read it: any word that is no type means text. */
export const typeOf = ({ name, attributes }: Control): string =>
  name === "textarea" ? "textarea" : decodeEntities(attributes.get("type") ?? "").toLowerCase();

export const isTyped = (control: Control): boolean => control.name !== "button" && !NOT_TYPED.has(typeOf(control));

export const isSubmit = (control: Control): boolean => {
  const type = typeOf(control);
  return control.name === "button" ? type !== "reset" && type !== "button" : type === "submit" || type === "image";
};

/** The words that the page says about a field: its own attributes first, then its labels. */
export function saidOf({ attributes, labels }: Control, byId: PageFacts["labels"]): string[] {
  const given = (name: string) => decodeEntities(attributes.get(name) ?? "");
  return [
    given("name"),
    given("id"),
    given("placeholder"),
    given("aria-label"),
    ...labels,
    byId.get(given("id")) ?? "",
  ];
}

/** Whether the page calls the field a password to people, whatever its name says to programs: in the words before
 *  it, or by the value that a browser fills in. `new-password` is what honest pages write on a key's field, so that
 *  nothing is filled in. */
const isCalledPassword = (autocomplete: string, before: string): boolean =>
  risksIn(before).includes("password") ||
  (!/new-password/i.test(autocomplete) && risksInAutocomplete(autocomplete).includes("password"));

/** `before`: the words that people read right before it. */
export function risksOf(control: Control, labels: PageFacts["labels"], before: string): Risk[] {
  if (!isTyped(control)) return [];
  const given = (name: string) => decodeEntities(control.attributes.get(name) ?? "");
  const [name = "", id = "", ...words] = saidOf(control, labels);
  const hidden = typeOf(control) === "password";
  // A text field whose letters are shown as dots is a password field in disguise.
  if (hidden || /text-security\s*:\s*(?!none)/i.test(given("style"))) {
    const is_key = isProgramKey([name, id, ...words]) && !isCalledPassword(given("autocomplete"), before);
    return is_key ? [] : ["password"];
  }
  const asked = words.flatMap(risksIn);
  return [
    ...risksInAutocomplete(given("autocomplete")),
    ...risksInName(name),
    ...risksInName(id),
    // A text area is no field for a password, but many text areas carry a warning against sending one.
    ...(control.name === "textarea" ? asked.filter((risk) => risk === "seed") : asked),
  ];
}

export const asksForPassword = ({ controls }: PageFacts): boolean =>
  controls.some(({ risks }) => risks.includes("password"));
