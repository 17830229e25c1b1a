/** What a page asks for and where it sends that: its forms and fields as a browser puts them together, its base, frames,
 *  scripts, links and words. One pass; what the facts mean is judged elsewhere. */
import type { Budget } from "../budget.ts";
import { risksOf } from "./fields.ts";
import { type Control, emptyFacts, type Form, MOST, type PageFacts, type Pressable, Unreadable } from "./facts.ts";
import { FormOwners } from "./form-owner.ts";
import { decodeEntities } from "../../html/entities.ts";
import { attributesOf, closesItself } from "../../html/attributes.ts";
import type { Kind } from "../../html/foreign.ts";
import type { Part } from "../../html/page.ts";

type Opened = Extract<Part, { kind: "open" }>;
type Attributes = ReadonlyMap<string, string>;
const value = (attributes: Attributes, name: string): string => decodeEntities(attributes.get(name) ?? "");

interface Label {
  target: string | null;
  /** Where its words begin in the text. */
  from: number;
  controls: Control[];
}

/** The reader's place in the page: what is open there. */
interface Place {
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
}

const READERS: Record<string, (place: Place, attributes: Attributes, opened: Opened) => void> = {
  base({ facts }, attributes) {
    if (!attributes.has("href")) return;
    const href = value(attributes, "href");
    if (href.length > MOST.base_length) throw new Unreadable("the address in its base element is too long");
    if (facts.bases.push(href) > MOST.bases) throw new Unreadable("it has too many base elements");
  },
  form(place, attributes) {
    const form: Form = { id: attributes.get("id") ?? null, action: attributes.get("action") ?? null };
    place.facts.forms.push(form);
    place.owners.form(form);
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
    const alt = value(attributes, "alt").trim();
    if (alt) addPicture(place, alt);
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
  script({ facts }, attributes, { raw }) {
    const src = attributes.get("src") ?? attributes.get("href") ?? attributes.get("xlink:href"); // as drawings have it
    if (src) facts.scripts.push(decodeEntities(src));
    if (raw) facts.code.push(raw);
  },
  /** A page of its own for whoever has scripts off. */
  noscript({ facts }, _, { raw }) {
    if (raw?.includes("<")) facts.frames.push({ address: null, page: raw });
  },
  iframe: addFrame,
  frame: addFrame,
  object: addFrame,
  embed: addFrame,
};

function addPicture({ facts, pressable }: Place, alt: string): void {
  if (facts.pictures.push({ alt, inside: pressable }) > MOST.pictures) throw new Unreadable("it has too many pictures");
}

function entitle(place: Place, words: string): void {
  if (place.drawings > 0) addPicture(place, words);
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
  facts.frames.push({ address: address && decodeEntities(address), page: page && decodeEntities(page) });
}

function press(place: Place, is: Pressable["is"], written: string): void {
  release(place);
  place.pressable = { is, written, text: "", from: place.text.length };
  if (is === "a") place.facts.links.push(place.pressable);
}

function release(place: Place): void {
  if (place.pressable) place.pressable.text = place.text.slice(place.pressable.from).join(" ").slice(0, 500);
  place.pressable = null;
}

function endLabel(place: Place): void {
  if (!place.label) return;
  const { target, controls } = place.label;
  const words = wordsSince(place, place.label.from);
  for (const control of controls) control.labels.push(words);
  if (target !== null) place.facts.labels.set(target, `${place.facts.labels.get(target) ?? ""} ${words}`.slice(0, 500));
  place.label = null;
}

/** The last of the visible text, from `from` on. */
function wordsSince({ text, length }: Place, from: number): string {
  const pieces: string[] = [];
  let left = Math.min(length - from, 500);
  for (let i = text.length - 1; i >= 0 && left > 0; i--) {
    pieces.unshift(text[i]!);
    left -= text[i]!.length + 1;
  }
  return decodeEntities(pieces.join(" ")).trim();
}

const RUNS = /(?:^|[\s/"'])on[a-z]{3,30}\s*=|javascript:/i;
/** A link may lead to them; what else names them may send there. */
const NAMES = /telegram|discord/i;
/** What means the same in a drawing. */
const DRAWN = new Set(["script", "title"]);

function open(place: Place, opened: Opened): void {
  const { name, attributes, is } = opened;
  if (RUNS.test(attributes) || (name !== "a" && NAMES.test(attributes)))
    place.facts.events.push(decodeEntities(attributes));
  const local = is === "plain" ? name.slice(name.indexOf(":") + 1) : name;
  const empty = is !== "html" && closesItself(attributes);
  if (local === "svg" && !empty) place.drawings++;
  if (!empty && !isDrawn(local, is)) place.owners.open(local);
  // There are many, and few of them are looked at.
  if (local === "a") return press(place, "a", attributes);
  const reads = is === "drawing" && !DRAWN.has(name) ? undefined : READERS[local];
  if (reads && Object.hasOwn(READERS, local)) reads(place, attributesOf(attributes), { ...opened, name: local });
}

/** A drawing may have elements of these names, too, which hold no form and are none. */
const isDrawn = (name: string, is: Kind): boolean => is === "drawing" && (name === "template" || name === "form");

function close(place: Place, name: string, is: Kind): void {
  const local = name.slice(name.indexOf(":") + 1);
  if (!isDrawn(local, is)) place.owners.close(local);
  if (local === "label") endLabel(place);
  else if (local === "title" && place.titled !== null) {
    entitle(place, wordsSince(place, place.titled));
    place.titled = null;
  } else if (local === place.pressable?.is) release(place);
  else if (local === "svg" && place.drawings > 0) place.drawings--;
}

/** `nested`: XML, where a form in a form is one. */
export function readPage(parts: Iterable<Part>, budget: Budget, nested = false): PageFacts {
  const facts = emptyFacts();
  const place: Place = {
    facts,
    owners: new FormOwners(nested),
    label: null,
    pressable: null,
    text: [],
    length: 0,
    drawings: 0,
    titled: null,
  };
  for (const part of parts) {
    budget.step();
    if (part.kind === "open") open(place, part);
    else if (part.kind === "close") close(place, part.name, part.is);
    else {
      const words = part.text.trim();
      if (words === "") continue;
      place.text.push(words);
      place.length += words.length + 1;
    }
  }
  endLabel(place);
  release(place);
  for (const control of facts.controls) {
    budget.step();
    control.risks = risksOf(control, facts.labels);
  }
  facts.text = decodeEntities(place.text.join(" "));
  return facts;
}
