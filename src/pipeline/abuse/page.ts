/** Reads what a page asks for and which addresses receive it: its forms and fields as a browser puts them together,
 *  its base, frames, scripts, links and words. It takes one pass; other files judge what the facts mean. */

import { attributesOf, closesItself } from "../../html/attributes.ts";
import { decodeEntities } from "../../html/character-references.ts";
import { IMPLIED_END, type Kind, VOID } from "../../html/foreign.ts";
import type { OpenTag, Part } from "../../html/page.ts";
import type { Budget } from "../budget.ts";
import {
  type Control,
  emptyFacts,
  type Form,
  MOST,
  type PageFacts,
  type Pressable,
  risksOf,
  Unreadable,
} from "./facts.ts";

/** Characters before a field that people read as what it is called. */
const WORDS_BEFORE = 120;
const RUNS = /(?:^|[\s/"'])on[a-z]{3,30}\s*=|javascript:/i;
/** A link may lead to them; what else names them may send there. */
const NAMES = /telegram|discord/i;
/** Elements that mean the same in a drawing. */
const DRAWN = new Set(["script", "title"]);

function addHandlers({ handlers }: PageFacts, attributes: string): void {
  for (const [name, value] of attributesOf(attributes)) {
    if (name.startsWith("on")) handlers.push({ name, code: decodeEntities(value) });
  }
}

function open(place: TagPlace, opened: OpenTag): void {
  const { name, attributes, is } = opened;
  endScript(place); // what holds elements is no code
  const runs = RUNS.test(attributes);
  if (runs) addHandlers(place.facts, attributes);
  if (runs || (name !== "a" && NAMES.test(attributes))) place.facts.events.push(decodeEntities(attributes));
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

function close(place: TagPlace, name: string, is: Kind): void {
  const local = name.slice(name.indexOf(":") + 1);
  if (!isDrawn(local, is)) place.owners.close(local);
  if (local === "label") endLabel(place);
  else if (local === "script") endScript(place);
  else if (local === "title" && place.titled !== null) {
    entitle(place, wordsSince(place, place.titled));
    place.titled = null;
  } else if (local === place.pressable?.is) release(place);
  else if (local === "svg" && place.drawings > 0) place.drawings--;
}

/** In a drawing, and in XML, a script is an element like others. */
function endScript(place: TagPlace): void {
  if (place.script === null) return;
  addCode(place.facts, decodeEntities(place.script.pieces.join("")), place.script.runs);
  place.script = null;
}

function addText(place: TagPlace, text: string): void {
  if (place.script) return void place.script.pieces.push(text);
  const words = text.trim();
  if (words === "") return;
  place.text.push(words);
  place.length += words.length + 1;
}

/** `nested`: XML, where a form in a form is one. */
export function readPage(parts: Iterable<Part>, budget: Budget, nested = false, noscript = false): PageFacts {
  const facts = emptyFacts(noscript);
  const place: TagPlace = {
    facts,
    owners: new FormOwners(nested),
    label: null,
    pressable: null,
    text: [],
    length: 0,
    drawings: 0,
    titled: null,
    script: null,
    based: false,
  };
  for (const part of parts) {
    budget.step();
    if (part.kind === "open") open(place, part);
    else if (part.kind === "close") close(place, part.name, part.is);
    else addText(place, part.text);
  }
  endLabel(place);
  release(place);
  endScript(place);
  const text = place.text.join(" ");
  for (const control of facts.controls) {
    budget.step();
    const before = decodeEntities(text.slice(Math.max(0, control.at - WORDS_BEFORE), control.at));
    control.risks = risksOf(control, facts.labels, before);
  }
  facts.text = decodeEntities(text);
  return facts;
}

// The facts of a page that each element adds when its tag is read.

type Attributes = ReadonlyMap<string, string>;
type Reader = (place: TagPlace, attributes: Attributes, opened: OpenTag) => void;
const value = (attributes: Attributes, name: string): string => decodeEntities(attributes.get(name) ?? "");

interface Label {
  target: string | null;
  /** The place in the text where its words begin. */
  from: number;
  controls: Control[];
}

/** The reader's place in the page: what is open there. */
interface TagPlace {
  facts: PageFacts;
  owners: FormOwners;
  label: Label | null;
  pressable: (Pressable & { from: number }) | null;
  text: string[];
  length: number;
  /** Depth of drawings, whose titles name pictures. */
  drawings: number;
  /** The place in the text where the open title began, if the title is markup. Null if none is open. */
  titled: number | null;
  /** The pieces of a script that is markup, and whether it runs; null where none is open. */
  script: { pieces: string[]; runs: boolean } | null;
  /** The base is known: a browser takes the first. */
  based: boolean;
}

const READERS: Record<string, Reader> = {
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
  /** A separate page for visitors without scripts. */
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

function addCode(facts: PageFacts, code: string, runs: boolean): void {
  facts.code.push(code);
  if (runs) facts.runs.push(code);
}

/** A picture of one pixel counts visits and shows nothing. */
const isPixel = (attributes: Attributes): boolean =>
  /^\s*[01](?:px)?\s*$/.test(attributes.get("width") ?? "") ||
  /^\s*[01](?:px)?\s*$/.test(attributes.get("height") ?? "");

function addPicture({ facts, pressable }: TagPlace, alt: string, address: string): void {
  if (facts.pictures.push({ alt, address, inside: pressable }) > MOST.pictures) {
    throw new Unreadable("it has too many pictures");
  }
}

function entitle(place: TagPlace, words: string): void {
  if (place.drawings > 0) addPicture(place, words, "");
  else place.facts.title ||= words;
}

function addControl(place: TagPlace, attributes: Attributes, { name }: OpenTag): void {
  const forms = attributes.has("form") ? [] : place.owners.owners();
  const control = { name: name as Control["name"], attributes, forms, labels: [], at: place.length, risks: [] };
  if (place.facts.controls.push(control) > MOST.controls) throw new Unreadable("it has too many fields");
  place.label?.controls.push(control);
}

function addFrame({ facts }: TagPlace, attributes: Attributes): void {
  const address = attributes.get("src") ?? attributes.get("data") ?? null;
  const page = attributes.get("srcdoc") ?? null;
  facts.frames.push({
    address: address && decodeEntities(address),
    page: page && decodeEntities(page),
    noscript: facts.noscript,
  });
}

function press(place: TagPlace, is: Pressable["is"], written: string): void {
  release(place);
  place.pressable = { is, written, text: "", from: place.text.length };
  if (is === "a") place.facts.links.push(place.pressable);
}

function release(place: TagPlace): void {
  if (place.pressable) place.pressable.text = place.text.slice(place.pressable.from).join(" ").slice(0, 500);
  place.pressable = null;
}

function endLabel(place: TagPlace): void {
  if (!place.label) return;
  const { target, controls } = place.label;
  const words = wordsSince(place, place.label.from);
  for (const control of controls) control.labels.push(words);
  if (target !== null) place.facts.labels.set(target, `${place.facts.labels.get(target) ?? ""} ${words}`.slice(0, 500));
  place.label = null;
}

/** The last of the visible text, from `from` on. */
function wordsSince({ text, length }: TagPlace, from: number): string {
  const pieces: string[] = [];
  let left = Math.min(length - from, 500);
  for (let i = text.length - 1; i >= 0 && left > 0; i--) {
    pieces.unshift(text[i]!);
    left -= text[i]!.length + 1;
  }
  return decodeEntities(pieces.join(" ")).trim();
}

// The forms that a field belongs to by its place, as browsers see it: the open form, and also a form whose end tag came
// while other elements in it were open, because the next tags are still inside it. A form in an open form is none. If
// that is doubtful (in a select some browsers drop a form's tag, a template takes each), a field belongs to each of
// them.

interface OpenForm {
  form: Form;
  /** How many elements were open when it began. */
  from: number;
  /** Its end tag has come. */
  ended: boolean;
  /** Every browser sees it. */
  sure: boolean;
}

/** A template has forms of its own. */
interface Scope {
  forms: OpenForm[];
  /** Names of elements that are open, from the first open form on. */
  stack: string[];
  selects: number;
  tables: number;
}

const emptyScope = (): Scope => ({ forms: [], stack: [], selects: 0, tables: 0 });

/** These end by themselves, or are opened again behind an element that ended too early. */
const FORMATTING = new Set("a b big code em font i nobr s small span strike strong tt u label button".split(" "));
const DEEPEST = 1000;

/** Forms that ended are left with the last element that was open in them. */
function leave(at: Scope, length: number): void {
  at.forms = at.forms.filter(({ ended, from }) => !ended || length > from);
  if (at.forms.length === 0) at.stack.length = 0;
}

function closeElement(name: string, at: Scope): void {
  const index = at.stack.lastIndexOf(name);
  if (index < 0) return;
  const holds_blocks = at.stack.slice(index + 1).some((inner) => !FORMATTING.has(inner));
  if (FORMATTING.has(name) && holds_blocks) at.stack.splice(index, 1);
  else at.stack.length = index;
  leave(at, at.stack.length);
}

class FormOwners {
  private readonly scopes: Scope[] = [emptyScope()];

  /** `nested`: XML, where elements end where they say. */
  constructor(private readonly nested: boolean) {}

  private get scope(): Scope {
    return this.scopes.at(-1)!;
  }

  /** Whether the next tag is in the page at its own place, for every browser: a table moves it in front of itself, a
   *  template keeps it to itself. */
  get sure(): boolean {
    const { selects, tables } = this.scope;
    return !this.nested && this.scopes.length === 1 && selects === 0 && tables === 0;
  }

  /** False: browsers drop its tag. */
  form(form: Form): boolean {
    const { forms, stack, selects } = this.scope;
    const alone = !this.nested && this.scopes.length === 1;
    if (alone && forms.some(({ ended, sure }) => sure && !ended)) return false;
    if (forms.push({ form, from: stack.length, ended: false, sure: alone && selects === 0 }) > MOST.open_forms) {
      throw new Unreadable("it nests too many forms");
    }
    return true;
  }

  open(name: string): void {
    if (name === "template" && this.scopes.push(emptyScope()) > MOST.templates) {
      throw new Unreadable("it nests too many templates");
    }
    const { scope } = this;
    const { forms, stack } = scope;
    if (name === "select") scope.selects++;
    else if (name === "table") scope.tables++;
    if (forms.length > 0 && name !== "form" && !VOID.has(name) && !IMPLIED_END.has(name) && stack.length < DEEPEST) {
      stack.push(name);
    }
  }

  close(name: string): void {
    const { scope } = this;
    if (name === "select") scope.selects = Math.max(0, scope.selects - 1);
    else if (name === "table") scope.tables = Math.max(0, scope.tables - 1);
    if (name === "form") this.endForm(scope);
    else if (name !== "template") closeElement(name, scope);
    else if (this.scopes.length > 1) this.scopes.pop();
  }

  owners(): readonly Form[] {
    const { forms } = this.scope;
    const open = forms.filter(({ ended }) => !ended);
    return (open.length > 0 ? open : forms).map(({ form }) => form);
  }

  private endForm(scope: Scope): void {
    if (this.nested) scope.forms.pop();
    for (const form of scope.forms) form.ended = true;
    leave(scope, scope.stack.length);
  }
}
