/** Comments as W3C Web Annotations (COMMENTS 1): the documents that other programs read. */
import { anyOf, array, custom, integer, listOfOne, literal, named, object, oneOf, ref, string } from "./builder.ts";
import { ADDRESS, TIME } from "./common.ts";

const ANNO = "http://www.w3.org/ns/anno.jsonld";
const context = literal(ANNO, "JSON-LD's words.");
const contexts = array(custom({}), "JSON-LD's words, and terms of ActivityStreams.");
const page = (what: string) => ref(ADDRESS, what);

const creator = object(
  { id: ADDRESS, type: oneOf("An agent is `Software`.", ["Person", "Software"]) },
  { nickname: string("Of a person."), name: string("Of an agent.") },
);

const body = object(
  {
    type: literal("TextualBody", "Its kind."),
    value: string("The text."),
    format: literal("text/plain", "Never HTML."),
  },
  { purpose: oneOf("What it is there for.", ["commenting", "classifying"]) },
);

export const TEXT_QUOTE_SELECTOR = named(
  "TextQuoteSelector",
  object({
    type: literal("TextQuoteSelector", "Its kind."),
    exact: string("The passage, of the page's normalised text."),
    prefix: string("At most 64 characters before it."),
    suffix: string("At most 64 characters behind it."),
  }),
);

const resource = object(
  { type: literal("SpecificResource", "Its kind."), source: ref(ADDRESS, "The page.") },
  {
    selector: listOfOne(TEXT_QUOTE_SELECTOR, "The passage."),
    state: object({
      type: literal("TimeState", "Its kind."),
      sourceDate: ref(TIME, "When that version was deployed."),
      cached: ref(ADDRESS, "The page in the version that the comment was written on."),
    }),
  },
);

export const ANNOTATION = named(
  "Annotation",
  object(
    {
      "@context": context,
      id: ADDRESS,
      type: literal("Annotation", "Its kind."),
      motivation: oneOf("A thread, a reply to one, or a decision on one.", ["commenting", "replying", "moderating"]),
      created: TIME,
      creator,
      body: anyOf([body, array(body, "A decision and its note.")], "What was said."),
      target: anyOf([resource, ADDRESS], "A page or a passage; of a reply, its thread."),
    },
    {
      modified: TIME,
      canonical: string("The author's own name for it."),
      "schema:creativeWorkStatus": oneOf("Of a thread.", ["open", "resolved"]),
      "schema:commentCount": integer("Of a thread: public replies."),
      "as:inReplyTo": object({ id: ADDRESS }),
    },
  ),
);

const items = (of: string) =>
  array(anyOf([ANNOTATION, ADDRESS]), `${of}, oldest first; addresses alone where the request prefers them.`);

/** All in one file: `me/export`, `c_…/history`. */
export const ANNOTATION_FILE = named(
  "AnnotationFile",
  object(
    {
      "@context": context,
      id: ADDRESS,
      type: literal("AnnotationCollection", "Its kind."),
      label: string("What it is."),
      total: integer("Items."),
    },
    {
      first: object({
        id: ADDRESS,
        type: literal("AnnotationPage", "Its kind."),
        partOf: ADDRESS,
        startIndex: integer("0."),
        items: array(ANNOTATION, "All of them, oldest first."),
      }),
      last: ADDRESS,
    },
  ),
);

export const COLLECTION = named(
  "Collection",
  object(
    {
      "@context": contexts,
      id: ADDRESS,
      type: custom({
        description: "Both names where Accept has the profile of the Web Annotation model.",
        anyOf: [{ const: "OrderedCollection" }, { const: ["OrderedCollection", "AnnotationCollection"] }],
      }),
      label: string("Whose comments."),
      totalItems: integer("Public comments."),
      total: integer("The same."),
    },
    {
      modified: TIME,
      first: page("Its first page; missing where it is empty."),
      last: page("Its last page."),
      orderedItems: items("All items, where there are at most 100"),
    },
  ),
);

export const COLLECTION_PAGE = named(
  "CollectionPage",
  object(
    {
      "@context": contexts,
      id: ADDRESS,
      type: custom({ const: ["OrderedCollectionPage", "AnnotationPage"] }),
      partOf: object({ id: ADDRESS, total: integer("Of the collection.") }, { modified: TIME }),
      startIndex: integer("Of its first item."),
      items: items("At most 50"),
    },
    { prev: page("The page before."), next: page("The page after.") },
  ),
);

export const CONTAINER = named(
  "Container",
  object(
    {
      "@context": contexts,
      id: ADDRESS,
      type: custom({ const: ["BasicContainer", "AnnotationCollection"] }),
      label: string("Whose comments."),
      total: integer("Public comments."),
    },
    { modified: TIME, first: page("First page of the feed."), last: page("Its last page.") },
  ),
);

const text_body = object(
  { value: string("At most 4,000 characters.") },
  { type: literal("TextualBody", "Its kind."), format: literal("text/plain", "Never HTML.") },
);

const source = string("The page.", { examples: ["http://quiet-heron-7f3k.localhost:8787/guide.html"] });

const target = custom({
  description: "A page's address; the same with a passage; of a reply, the address of its thread.",
  anyOf: [
    { type: "string" },
    object(
      { source },
      {
        type: literal("SpecificResource", "Its kind."),
        selector: anyOf([TEXT_QUOTE_SELECTOR, custom({ type: "array" })]),
      },
    ).schema(),
  ],
});

/** A comment as it is sent. */
export const SENT = object(
  { body: anyOf([text_body, custom({ type: "string" })], "What to say."), target },
  {
    type: literal("Annotation", "Its kind."),
    motivation: oneOf("A thread, or a reply.", ["commenting", "replying"]),
    canonical: string(
      "The author's own name for it, urn:uuid:… or an http(s) address: sent again, nothing is stored twice.",
      { maxLength: 200 },
    ),
  },
);
