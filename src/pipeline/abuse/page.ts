/** What a page asks for and where it sends that: its forms and fields as a browser puts them together, its base, frames,
 *  scripts, links and words. One pass; what the facts mean is judged elsewhere. */
import type { Budget } from "../budget.ts";
import {
  addCode,
  endLabel,
  entitle,
  type Opened,
  type Place,
  press,
  READERS,
  release,
  wordsSince,
} from "./elements.ts";
import { emptyFacts, type PageFacts } from "./facts.ts";
import { risksOf } from "./fields.ts";
import { FormOwners } from "./form-owner.ts";
import { decodeEntities } from "../../html/entities.ts";
import { attributesOf, closesItself } from "../../html/attributes.ts";
import type { Kind } from "../../html/foreign.ts";
import type { Part } from "../../html/page.ts";

/** Characters before a field that people read as what it is called. */
const WORDS_BEFORE = 120;
const RUNS = /(?:^|[\s/"'])on[a-z]{3,30}\s*=|javascript:/i;
/** A link may lead to them; what else names them may send there. */
const NAMES = /telegram|discord/i;
/** What means the same in a drawing. */
const DRAWN = new Set(["script", "title"]);

function addHandlers({ handlers }: PageFacts, attributes: string): void {
  for (const [name, value] of attributesOf(attributes)) {
    if (name.startsWith("on")) handlers.push({ name, code: decodeEntities(value) });
  }
}

function open(place: Place, opened: Opened): void {
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

function close(place: Place, name: string, is: Kind): void {
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
function endScript(place: Place): void {
  if (place.script === null) return;
  addCode(place.facts, decodeEntities(place.script.pieces.join("")), place.script.runs);
  place.script = null;
}

function addText(place: Place, text: string): void {
  if (place.script) return void place.script.pieces.push(text);
  const words = text.trim();
  if (words === "") return;
  place.text.push(words);
  place.length += words.length + 1;
}

/** `nested`: XML, where a form in a form is one. */
export function readPage(parts: Iterable<Part>, budget: Budget, nested = false, noscript = false): PageFacts {
  const facts = emptyFacts(noscript);
  const place: Place = {
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
