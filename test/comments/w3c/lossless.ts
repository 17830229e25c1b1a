/** Whether a reader of JSON-LD gets all that a document says, and nothing that it does not say. */
import { VOCABULARIES } from "./contexts.ts";
import { expand } from "./json-ld.ts";

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** The values of a document, without its contexts. */
function leaves(value: Json): string[] {
  if (typeof value !== "object" || value === null) return [String(value)];
  if (Array.isArray(value)) return value.flatMap(leaves);
  return Object.entries(value).flatMap(([key, inner]) => (key === "@context" ? [] : leaves(inner)));
}

const KEYWORDS = new Set(["@id", "@type", "@value", "@list"]);

const isWord = (iri: string): boolean =>
  VOCABULARIES.some((start) => iri.startsWith(start) && iri.length > start.length);

/** The values of an expanded document; the types of literals are no values. */
function meanings(value: Json): string[] {
  if (typeof value !== "object" || value === null) return [String(value)];
  if (Array.isArray(value)) return value.flatMap(meanings);
  if ("@value" in value) return [String(value["@value"])];
  const stray = Object.keys(value).find((key) => !KEYWORDS.has(key) && !isWord(key));
  if (stray !== undefined) throw new Error(`${stray} is a property of no vocabulary`);
  return Object.values(value).flatMap(meanings);
}

/** Sentences of what is lost or made up; empty where nothing is. `base`: where the document was found. Throws where the
 *  reader would drop something. */
export async function losses(document: object, base: string): Promise<string[]> {
  const understood = meanings((await expand(document, base)) as Json);
  const said = new Map<string, number>();
  for (const leaf of leaves(document as Json)) said.set(leaf, (said.get(leaf) ?? 0) + 1);
  const words = understood.filter((meaning) => {
    const times = said.get(meaning) ?? 0;
    if (times > 0) said.set(meaning, times - 1);
    return times === 0;
  });
  const left = [...said].flatMap(([leaf, times]) => Array.from({ length: times }, () => leaf));
  const made_up = words.filter((word) => !isWord(word)).map((word) => `${word} is said nowhere`);
  const count = words.length === left.length ? [] : [`${left.length} words became ${words.length}: ${left.join(", ")}`];
  return [...made_up, ...count];
}
