/** A demand of a specification on a JSON document, and how a document would break it: so each check is seen to fail. */

export type Document = Record<string, unknown>;

export interface Rule {
  /** What MUST be, in our words, behind the section that says so. */
  rule: string;
  holds(document: Document): boolean;
  /** A document that breaks this rule, made of one that keeps it; null where this one has nothing to break. */
  broken(document: Document): Document | null;
}

export const isRecord = (value: unknown): value is Document =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A member that may stand alone or be one of several. */
export function several(value: unknown): unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

export const isIri = (value: unknown): boolean =>
  typeof value === "string" && /^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]+$/i.test(value) && URL.canParse(value);

/** The address of a thing, whether it is told alone or with what it is. */
export const iriOf = (value: unknown): unknown => (isRecord(value) ? value.id : value);

/** In UTC, and said so by a Z. */
export const isInstant = (value: unknown): boolean =>
  typeof value === "string" &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(value) &&
  !Number.isNaN(Date.parse(value));

export const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

export const isType = (document: Document, type: string): boolean => several(document.type).includes(type);

export const ANNO = "http://www.w3.org/ns/anno.jsonld";

/** The document with these members instead; `undefined` takes one out. */
export function changed(document: Document, members: Document): Document {
  const copy = { ...document, ...members };
  for (const [name, value] of Object.entries(members)) if (value === undefined) delete copy[name];
  return copy;
}

/** Rules that the whole model shares: section 3.1 of an annotation, 5.1 of a collection, 5.2 of a page. */
export const identified = (section: string, type: string): Rule[] => [
  {
    rule: `${section}: has a context, the model's among them, and a single one as a string`,
    holds: ({ "@context": context }) =>
      several(context).includes(ANNO) && (!Array.isArray(context) || context.length > 1),
    broken: (document) => changed(document, { "@context": "http://www.w3.org/ns/ldp.jsonld" }),
  },
  {
    rule: `${section}: has exactly one address`,
    holds: ({ id }) => isIri(id),
    broken: (document) => changed(document, { id: [document.id, document.id] }),
  },
  {
    rule: `${section}: says that its class is ${type}`,
    holds: (document) => isType(document, type),
    broken: (document) => changed(document, { type: "OrderedThing" }),
  },
];
