/** What the Web Annotation Data Model demands of a collection and of its pages (section 5), and the protocol of them and of
 *  a container (section 4). */
import { changed, identified, iriOf, isCount, isInstant, isIri, isRecord, isType, type Rule, several } from "./rule.ts";

const isAnnotation = (value: unknown): boolean => isIri(value) || (isRecord(value) && isType(value, "Annotation"));

const instants: Rule = {
  rule: "3.3.1: was changed at one instant if at all, in UTC",
  holds: ({ modified }) => modified === undefined || isInstant(modified),
  broken: (document) => changed(document, { modified: "2026-11-21" }),
};

const COUNTED: Rule[] = [
  {
    rule: "5.1: its label is a string",
    holds: ({ label }) => several(label).every((one) => typeof one === "string"),
    broken: (document) => changed(document, { label: 1 }),
  },
  {
    rule: "5.1: its total is a number from nought on",
    holds: ({ total }) => isCount(total),
    broken: (document) => changed(document, { total: -1 }),
  },
  {
    rule: "5.1: has exactly one first page unless it is empty",
    holds: ({ total, first }) => (total === 0 ? first === undefined : isIri(iriOf(first))),
    broken: (document) => changed(document, { total: 1, first: undefined }),
  },
  {
    rule: "5.1: its last page is told by its address",
    holds: ({ total, last }) => (total === 0 ? last === undefined : isIri(last)),
    broken: (document) => changed(document, { total: 1, last: { type: "AnnotationPage" } }),
  },
  instants,
];

/** Of one that is asked for by the model's profile. */
export const COLLECTION: readonly Rule[] = [...identified("5.1", "AnnotationCollection"), ...COUNTED];

export const PAGE: readonly Rule[] = [
  ...identified("5.2", "AnnotationPage"),
  {
    rule: "5.2: has an array of one annotation or more",
    holds: ({ items }) => Array.isArray(items) && items.length > 0 && items.every(isAnnotation),
    broken: (document) => changed(document, { items: [] }),
  },
  {
    rule: "5.2 and Protocol 4.1.3: is part of one collection, which has an address",
    holds: ({ partOf }) => isIri(iriOf(partOf)),
    broken: (document) => changed(document, { partOf: { total: 1 } }),
  },
  {
    rule: "5.2: begins at one place, a number from nought on",
    holds: ({ startIndex }) => isCount(startIndex),
    broken: (document) => changed(document, { startIndex: [0, 50] }),
  },
  {
    rule: "5.2: names the next page unless it is the last, by its address",
    holds: ({ next, startIndex, items, partOf }) => {
      const end = (startIndex as number) + (items as unknown[]).length;
      return isRecord(partOf) && (end < (partOf.total as number) ? isIri(next) : next === undefined);
    },
    broken: (document) => changed(document, { next: document.next === undefined ? "urn:next" : undefined }),
  },
  {
    rule: "Protocol 4.1.3: names the page before unless it is the first, by its address",
    holds: ({ prev, startIndex }) => (startIndex === 0 ? prev === undefined : isIri(prev)),
    broken: (document) => changed(document, { prev: document.prev === undefined ? "urn:prev" : undefined }),
  },
  instants,
];

export const CONTAINER: readonly Rule[] = [
  ...COLLECTION,
  {
    rule: "Protocol 4.1: is a container, by LDP's context",
    holds: (document) =>
      isType(document, "BasicContainer") && several(document["@context"]).includes("http://www.w3.org/ns/ldp.jsonld"),
    broken: (document) => changed(document, { type: "AnnotationCollection" }),
  },
  {
    rule: "Protocol 4: its path ends in a slash",
    holds: ({ id }) => new URL(String(id)).pathname.endsWith("/"),
    broken: (document) => changed(document, { id: String(document.id).replace(/\/(?=\?|$)/, "") }),
  },
  {
    rule: "Protocol 4.1.2: is described without what it contains",
    holds: (document) => !("items" in document || "orderedItems" in document || "ldp:contains" in document),
    broken: (document) => changed(document, { items: [] }),
  },
];
