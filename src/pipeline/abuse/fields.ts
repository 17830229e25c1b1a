/** What the fields of a page ask for. */
import { decodeEntities } from "../../html/entities.ts";
import type { Control, PageFacts } from "./facts.ts";
import { isProgramKey, type Risk, risksIn, risksInAutocomplete, risksInName } from "./words.ts";

/** Nobody types a secret into these. */
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

/** What is said of a field where it stands: its own words, then its labels'. */
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

/** Whether people are told that it is a password, whatever its name says to programs: in the words before it, or by what
 *  a browser fills in. `new-password` is what honest pages write on a key's field, so that nothing is filled in. */
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
    // Nobody types a password into a text area, but many are told there to send none.
    ...(control.name === "textarea" ? asked.filter((risk) => risk === "seed") : asked),
  ];
}

export const asksForPassword = ({ controls }: PageFacts): boolean =>
  controls.some(({ risks }) => risks.includes("password"));
