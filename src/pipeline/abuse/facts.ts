/** The facts about a page, collected before it is judged. */

import { decodeEntities } from "../../html/character-references.ts";
import { isProgramKey, type Risk, risksIn, risksInAutocomplete, risksInName } from "./words.ts";

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
