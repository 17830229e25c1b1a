/** What the Web Annotation Data Model demands of an annotation (sections 3 and 4), as far as ours have such parts. */
import { changed, type Document, identified, iriOf, isInstant, isIri, isRecord, type Rule, several } from "./rule.ts";

const bodies = ({ body }: Document): Document[] => several(body).filter(isRecord);
const targets = ({ target }: Document): Document[] => several(target).filter(isRecord);
const selectors = (document: Document): Document[] =>
  targets(document).flatMap(({ selector }) => several(selector).filter(isRecord));
const states = (document: Document): Document[] =>
  targets(document).flatMap(({ state }) => several(state).filter(isRecord));
const creators = ({ creator }: Document): Document[] => several(creator).filter(isRecord);

const MOTIVATIONS = new Set(
  `assessing bookmarking classifying commenting describing editing highlighting identifying linking moderating questioning
   replying reviewing tagging`.split(/\s+/),
);

const SELECTORS = new Set(
  `FragmentSelector CssSelector XPathSelector TextQuoteSelector TextPositionSelector DataPositionSelector SvgSelector
   RangeSelector`.split(/\s+/),
);

/** With one part of the target changed; null where there is no such part. */
function withTarget(document: Document, name: "selector" | "state", members: Document): Document | null {
  const [target] = targets(document);
  const part = several(target?.[name]).find(isRecord);
  return part === undefined
    ? null
    : changed(document, { target: changed(target!, { [name]: changed(part, members) }) });
}

const withBody = (document: Document, members: Document): Document =>
  changed(document, { body: changed(bodies(document)[0]!, members) });

const once = (value: unknown): boolean => !Array.isArray(value);

const BODY: Rule[] = [
  {
    rule: "3.1: has a target at least, each an address or described",
    holds: ({ target }) => several(target).length > 0 && several(target).every((one) => isRecord(one) || isIri(one)),
    broken: (document) => changed(document, { target: [] }),
  },
  {
    rule: "3.2.4: a textual body has exactly one value, a string",
    holds: (document) => bodies(document).every(({ value }) => typeof value === "string"),
    broken: (document) => withBody(document, { value: ["a", "b"] }),
  },
  {
    rule: "3.2.4: a textual body says its class",
    holds: (document) => bodies(document).every(({ type }) => several(type).includes("TextualBody")),
    broken: (document) => withBody(document, { type: "Text" }),
  },
  {
    rule: "3.2.5: no bodyValue beside a body",
    holds: ({ body, bodyValue }) => body === undefined || bodyValue === undefined,
    broken: (document) => changed(document, { bodyValue: "a" }),
  },
  {
    rule: "3.2.1: a format is a media type, and one",
    holds: (document) =>
      bodies(document).every(({ format }) => format === undefined || /^[a-z]+\/[a-z0-9.+-]+$/.test(String(format))),
    broken: (document) => withBody(document, { format: "plain" }),
  },
  {
    rule: "3.3.5: why it and its body are there is said in the model's words",
    holds: (document) =>
      [document.motivation, ...bodies(document).map(({ purpose }) => purpose)]
        .flatMap(several)
        .every((word) => MOTIVATIONS.has(String(word))),
    broken: (document) => changed(document, { motivation: "resolved" }),
  },
];

const LIFE: Rule[] = [
  {
    rule: "3.3.1: was created at one instant, in UTC",
    holds: ({ created }) => isInstant(created),
    broken: (document) => changed(document, { created: "2026-11-21T09:30:00+01:00" }),
  },
  {
    rule: "3.3.1: was changed at one instant if at all, in UTC, and not before it was there",
    holds: ({ created, modified }) =>
      modified === undefined || (isInstant(modified) && Date.parse(String(modified)) >= Date.parse(String(created))),
    broken: (document) => changed(document, { modified: [document.created, document.created] }),
  },
  {
    rule: "3.3.7: has one canonical address at most",
    holds: ({ canonical }) => canonical === undefined || isIri(canonical),
    broken: (document) => changed(document, { canonical: ["urn:x", "urn:y"] }),
  },
  {
    rule: "3.3.2: its creator has one address, a class, and one name",
    holds: (document) =>
      creators(document).length === 1 &&
      creators(document).every(
        ({ id, type, name, nickname }) =>
          isIri(id) && ["Person", "Software"].includes(String(type)) && typeof (name ?? nickname) === "string",
      ),
    broken: (document) => changed(document, { creator: changed(creators(document)[0]!, { id: undefined }) }),
  },
];

const TARGET: Rule[] = [
  {
    rule: "4: a specific resource has exactly one source",
    holds: (document) => targets(document).every(({ source }) => isIri(iriOf(source))),
    broken: (document) =>
      targets(document).length === 0
        ? null
        : changed(document, { target: changed(targets(document)[0]!, { source: undefined }) }),
  },
  {
    rule: "4.2: a selector says its class",
    holds: (document) => selectors(document).every(({ type }) => SELECTORS.has(String(type))),
    broken: (document) => withTarget(document, "selector", { type: "Quote" }),
  },
  {
    rule: "4.2.4: a text quote has exactly one exact, one prefix and one suffix at most, all strings",
    holds: (document) =>
      selectors(document).every(
        ({ exact, prefix = "", suffix = "" }) =>
          typeof exact === "string" && typeof prefix === "string" && typeof suffix === "string",
      ),
    broken: (document) => withTarget(document, "selector", { exact: ["a", "b"] }),
  },
  {
    rule: "4.3: a state says its class",
    holds: (document) => states(document).every(({ type }) => several(type).includes("TimeState")),
    broken: (document) => withTarget(document, "state", { type: "Resolved" }),
  },
  {
    rule: "4.3.1: a time is one instant in UTC, without an interval beside it; what was cached has an address",
    holds: (document) =>
      states(document).every(
        ({ sourceDate, sourceDateStart, cached }) =>
          once(sourceDate) && isInstant(sourceDate) && sourceDateStart === undefined && several(cached).every(isIri),
      ),
    broken: (document) => withTarget(document, "state", { sourceDate: "yesterday" }),
  },
];

export const ANNOTATION: readonly Rule[] = [...identified("3.1", "Annotation"), ...BODY, ...LIFE, ...TARGET];
