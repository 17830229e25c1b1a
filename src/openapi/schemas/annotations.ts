/** Comments as W3C Web Annotations (COMMENTS 1): the documents that other programs read. */
import { always, list, type Members, object, oneOf, ref, type Schema, text, whole } from "../schema.ts";

const ANNO = "http://www.w3.org/ns/anno.jsonld";
const context = always(ANNO, "JSON-LD's words.");
const contexts = list({}, "JSON-LD's words, and terms of ActivityStreams.");
const page = (what: string): Schema => ref("Url", what);

const creator = object(
  { id: ref("Url"), type: oneOf("An agent is `Software`.", ["Person", "Software"]) },
  { nickname: text("Of a person."), name: text("Of an agent.") },
);
const body = object(
  { type: always("TextualBody", "Its kind."), value: text("The text."), format: always("text/plain", "Never HTML.") },
  { purpose: oneOf("What it is there for.", ["commenting", "classifying"]) },
);
const resource = object(
  { type: always("SpecificResource", "Its kind."), source: ref("Url", "The page.") },
  {
    selector: list(ref("TextQuoteSelector"), "The passage.", { minItems: 1, maxItems: 1 }),
    state: object({
      type: always("TimeState", "Its kind."),
      sourceDate: ref("Time", "When that version was deployed."),
      cached: ref("Url", "The page in the version that the comment was written on."),
    }),
  },
);

const items = (of: string): Schema =>
  list(
    { anyOf: [ref("Annotation"), ref("Url")] },
    `${of}, oldest first; addresses alone where the request prefers them.`,
  );

/** All in one file: `me/export`, `c_…/history`. */
const file = object(
  {
    "@context": context,
    id: ref("Url"),
    type: always("AnnotationCollection", "Its kind."),
    label: text("What it is."),
    total: whole("Items."),
  },
  {
    first: object({
      id: ref("Url"),
      type: always("AnnotationPage", "Its kind."),
      partOf: ref("Url"),
      startIndex: whole("0."),
      items: list(ref("Annotation"), "All of them, oldest first."),
    }),
    last: ref("Url"),
  },
);

export const ANNOTATIONS: Members = {
  TextQuoteSelector: object({
    type: always("TextQuoteSelector", "Its kind."),
    exact: text("The passage, of the page's normalised text."),
    prefix: text("At most 64 characters before it."),
    suffix: text("At most 64 characters behind it."),
  }),
  Annotation: object(
    {
      "@context": context,
      id: ref("Url"),
      type: always("Annotation", "Its kind."),
      motivation: oneOf("A thread, a reply to one, or a decision on one.", ["commenting", "replying", "moderating"]),
      created: ref("Time"),
      creator,
      body: { anyOf: [body, list(body, "A decision and its note.")], description: "What was said." },
      target: { anyOf: [resource, ref("Url")], description: "A page or a passage; of a reply, its thread." },
    },
    {
      modified: ref("Time"),
      canonical: text("The author's own name for it."),
      "schema:creativeWorkStatus": oneOf("Of a thread.", ["open", "resolved"]),
      "schema:commentCount": whole("Of a thread: public replies."),
      "as:inReplyTo": object({ id: ref("Url") }),
    },
  ),
  AnnotationFile: file,
  Collection: object(
    {
      "@context": contexts,
      id: ref("Url"),
      type: {
        description: "Both names where Accept has the profile of the Web Annotation model.",
        anyOf: [{ const: "OrderedCollection" }, { const: ["OrderedCollection", "AnnotationCollection"] }],
      },
      label: text("Whose comments."),
      totalItems: whole("Public comments."),
      total: whole("The same."),
    },
    {
      modified: ref("Time"),
      first: page("Its first page; missing where it is empty."),
      last: page("Its last page."),
      orderedItems: items("All items, where there are at most 100"),
    },
  ),
  CollectionPage: object(
    {
      "@context": contexts,
      id: ref("Url"),
      type: { const: ["OrderedCollectionPage", "AnnotationPage"] },
      partOf: object({ id: ref("Url"), total: whole("Of the collection.") }, { modified: ref("Time") }),
      startIndex: whole("Of its first item."),
      items: items("At most 50"),
    },
    { prev: page("The page before."), next: page("The page after.") },
  ),
  Container: object(
    {
      "@context": contexts,
      id: ref("Url"),
      type: { const: ["BasicContainer", "AnnotationCollection"] },
      label: text("Whose comments."),
      total: whole("Public comments."),
    },
    { modified: ref("Time"), first: page("First page of the feed."), last: page("Its last page.") },
  ),
};
