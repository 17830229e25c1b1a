/** What the elements of a page tell of it, each when its tag is read. */
import { type Control, type Form, MOST, type PageFacts, type Pressable, Unreadable } from "./facts.ts";
import type { FormOwners } from "./form-owner.ts";
import { decodeEntities } from "../../html/entities.ts";
import type { Part } from "../../html/page.ts";

export type Opened = Extract<Part, { kind: "open" }>;
type Attributes = ReadonlyMap<string, string>;
type Reader = (place: Place, attributes: Attributes, opened: Opened) => void;
const value = (attributes: Attributes, name: string): string => decodeEntities(attributes.get(name) ?? "");

interface Label {
  target: string | null;
  /** Where its words begin in the text. */
  from: number;
  controls: Control[];
}

/** The reader's place in the page: what is open there. */
export interface Place {
  facts: PageFacts;
  owners: FormOwners;
  label: Label | null;
  pressable: (Pressable & { from: number }) | null;
  text: string[];
  length: number;
  /** Depth of drawings, whose titles name pictures. */
  drawings: number;
  /** Where in the text a title began that is markup; null where none is open. */
  titled: number | null;
  /** The pieces of a script that is markup, and whether it runs; null where none is open. */
  script: { pieces: string[]; runs: boolean } | null;
  /** The base is known: a browser takes the first. */
  based: boolean;
}

export const READERS: Record<string, Reader> = {
  base(place, attributes) {
    if (place.based || !attributes.has("href")) return;
    const href = value(attributes, "href");
    if (href.length > MOST.base_length) throw new Unreadable("the address in its base element is too long");
    if (place.facts.bases.push(href) > MOST.bases) throw new Unreadable("it has too many base elements");
    place.based = place.owners.sure;
  },
  form(place, attributes, { attributes: written }) {
    const form: Form = { id: attributes.get("id") ?? null, action: attributes.get("action") ?? null, written };
    if (place.owners.form(form)) place.facts.forms.push(form);
  },
  input: addControl,
  textarea: addControl,
  button(place, attributes, opened) {
    addControl(place, attributes, opened);
    press(place, "button", opened.attributes);
  },
  label(place, attributes) {
    endLabel(place);
    place.label = { target: attributes.get("for") ?? null, from: place.length, controls: [] };
  },
  img(place, attributes) {
    const src = attributes.get("src") ?? "";
    const address = src.includes("//") && !isPixel(attributes) ? src : "";
    const alt = value(attributes, "alt").trim();
    if (alt || address) addPicture(place, alt, address);
  },
  link({ facts }, attributes) {
    if (/(?:^|\s)(?:[\w-]*icon)(?:\s|$)/i.test(value(attributes, "rel"))) facts.icons.push(value(attributes, "href"));
  },
  meta({ facts }, attributes) {
    if (/^refresh$/i.test(value(attributes, "http-equiv"))) facts.refreshes.push(value(attributes, "content"));
  },
  title(place, _, { raw }) {
    if (raw === null) place.titled = place.length;
    else entitle(place, decodeEntities(raw).trim());
  },
  script(place, attributes, { raw, attributes: written }) {
    const src = attributes.get("src") ?? attributes.get("href") ?? attributes.get("xlink:href"); // as drawings have it
    if (src) place.facts.scripts.push(decodeEntities(src));
    const runs = RUN.test(value(attributes, "type"));
    if (raw === null && !written.endsWith("/")) place.script = { pieces: [], runs };
    if (raw) addCode(place.facts, raw, runs);
  },
  /** A page of its own for whoever has scripts off. */
  noscript({ facts }, _, { raw }) {
    if (raw?.includes("<")) facts.frames.push({ address: null, page: raw, noscript: true });
  },
  iframe: addFrame,
  frame: addFrame,
  object: addFrame,
  embed: addFrame,
};

/** Types of scripts that browsers run; all else is data. */
const RUN = /^\s*(?:$|module\s*$|(?:text|application)\/(?:x-)?(?:java|ecma|j|live)script)/i;

export function addCode(facts: PageFacts, code: string, runs: boolean): void {
  facts.code.push(code);
  if (runs) facts.runs.push(code);
}

/** What counts visits is no picture. */
const isPixel = (attributes: Attributes): boolean =>
  /^\s*[01](?:px)?\s*$/.test(attributes.get("width") ?? "") ||
  /^\s*[01](?:px)?\s*$/.test(attributes.get("height") ?? "");

function addPicture({ facts, pressable }: Place, alt: string, address: string): void {
  if (facts.pictures.push({ alt, address, inside: pressable }) > MOST.pictures) {
    throw new Unreadable("it has too many pictures");
  }
}

export function entitle(place: Place, words: string): void {
  if (place.drawings > 0) addPicture(place, words, "");
  else place.facts.title ||= words;
}

function addControl(place: Place, attributes: Attributes, { name }: Opened): void {
  const forms = attributes.has("form") ? [] : place.owners.owners();
  const control = { name: name as Control["name"], attributes, forms, labels: [], at: place.length, risks: [] };
  if (place.facts.controls.push(control) > MOST.controls) throw new Unreadable("it has too many fields");
  place.label?.controls.push(control);
}

function addFrame({ facts }: Place, attributes: Attributes): void {
  const address = attributes.get("src") ?? attributes.get("data") ?? null;
  const page = attributes.get("srcdoc") ?? null;
  facts.frames.push({
    address: address && decodeEntities(address),
    page: page && decodeEntities(page),
    noscript: facts.noscript,
  });
}

export function press(place: Place, is: Pressable["is"], written: string): void {
  release(place);
  place.pressable = { is, written, text: "", from: place.text.length };
  if (is === "a") place.facts.links.push(place.pressable);
}

export function release(place: Place): void {
  if (place.pressable) place.pressable.text = place.text.slice(place.pressable.from).join(" ").slice(0, 500);
  place.pressable = null;
}

export function endLabel(place: Place): void {
  if (!place.label) return;
  const { target, controls } = place.label;
  const words = wordsSince(place, place.label.from);
  for (const control of controls) control.labels.push(words);
  if (target !== null) place.facts.labels.set(target, `${place.facts.labels.get(target) ?? ""} ${words}`.slice(0, 500));
  place.label = null;
}

/** The last of the visible text, from `from` on. */
export function wordsSince({ text, length }: Place, from: number): string {
  const pieces: string[] = [];
  let left = Math.min(length - from, 500);
  for (let i = text.length - 1; i >= 0 && left > 0; i--) {
    pieces.unshift(text[i]!);
    left -= text[i]!.length + 1;
  }
  return decodeEntities(pieces.join(" ")).trim();
}
