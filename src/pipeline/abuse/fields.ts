/** What the fields of a page ask for. */
import { decodeEntities } from "../../html/entities.ts";
import type { Control, PageFacts } from "./facts.ts";
import { type Risk, risksIn, risksInAutocomplete, risksInName } from "./words.ts";

/** Nobody types a secret into these. */
const NOT_TYPED = new Set(
  "hidden submit button image reset checkbox radio file range color date datetime-local month week time".split(" "),
);

/** As browsers read it: any word that is no type means text. */
export const typeOf = ({ name, attributes }: Control): string =>
  name === "textarea" ? "textarea" : decodeEntities(attributes.get("type") ?? "").toLowerCase();

const isTyped = (control: Control): boolean => control.name !== "button" && !NOT_TYPED.has(typeOf(control));

export const isSubmit = (control: Control): boolean => {
  const type = typeOf(control);
  return control.name === "button" ? type !== "reset" && type !== "button" : type === "submit" || type === "image";
};

export function risksOf(control: Control, labels: PageFacts["labels"]): Risk[] {
  if (!isTyped(control)) return [];
  const given = (name: string) => decodeEntities(control.attributes.get(name) ?? "");
  if (typeOf(control) === "password") return ["password"];
  // A text field whose letters are shown as dots is a password field in disguise.
  if (/text-security\s*:\s*(?!none)/i.test(given("style"))) return ["password"];
  const said = [given("placeholder"), given("aria-label"), ...control.labels, labels.get(given("id")) ?? ""];
  const asked = said.flatMap(risksIn);
  return [
    ...risksInAutocomplete(given("autocomplete")),
    ...risksInName(given("name")),
    ...risksInName(given("id")),
    // Nobody types a password into a text area, but many are told there to send none.
    ...(control.name === "textarea" ? asked.filter((risk) => risk === "seed") : asked),
  ];
}
