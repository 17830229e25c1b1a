/** The feed of comments as Web Annotations (COMMENTS 1): comments, decisions about them, and collections. Each annotation has
 *  its own context, so that it is a valid document by itself. */
import { decodePath } from "../base/percent.ts";
import type { Author, NoteEvent } from "../store/notes.ts";
import {
  FEED_PAGE,
  type FeedAsked,
  type FeedDocuments,
  type FeedItem,
  type FeedSite,
  type Identified,
} from "./types.ts";

/** The address of a comment, or of a person who wrote one. */
const commentIri = ({ origin }: FeedSite, id: string): string => `${origin}/_svc/comments/${id}`;

function creator(site: FeedSite, { id, name, kind }: Author): object {
  const iri = commentIri(site, `people/${id}`);
  return kind === "agent" ? { id: iri, type: "Software", name } : { id: iri, type: "Person", nickname: name };
}

const textualBody = (value: string, purpose?: string): object => ({
  type: "TextualBody",
  value,
  format: "text/plain",
  ...(purpose !== undefined && { purpose }),
});

/** The target: a page, or a passage of it in the version that the comment was written on. */
function pageTarget({ origin, versionOrigin }: FeedSite, item: FeedItem): object {
  const { page, quote, version_id, version_created_at } = item;
  const source = origin + page;
  if (quote === null) return { type: "SpecificResource", source };
  const { exact, prefix, suffix } = quote;
  return {
    type: "SpecificResource",
    source,
    selector: [{ type: "TextQuoteSelector", exact, prefix, suffix }],
    state: { type: "TimeState", sourceDate: version_created_at, cached: versionOrigin(version_id) + page },
  };
}

function root(site: FeedSite, item: FeedItem): object {
  return {
    body: textualBody(item.text, item.quote === null ? undefined : "commenting"),
    target: pageTarget(site, item),
    // On the annotation itself a reader of JSON-LD would take `state` or `status` as an address, or drop it.
    "schema:creativeWorkStatus": item.status,
    "schema:commentCount": item.replies,
  };
}

/** All replies answer the root, never each other. */
function reply(site: FeedSite, { text, thread_id }: FeedItem): object {
  const target = commentIri(site, thread_id);
  return { body: textualBody(text), target, "as:inReplyTo": { id: target } };
}

function annotation(site: FeedSite, item: FeedItem): object {
  const { id, thread_id, canonical, created_at, modified_at, by } = item;
  const is_root = id === thread_id;
  return {
    "@context": ANNO,
    id: commentIri(site, id),
    type: "Annotation",
    motivation: is_root ? "commenting" : "replying",
    created: created_at,
    ...(modified_at !== created_at && { modified: modified_at }),
    creator: creator(site, by),
    // The protocol keeps it in every copy: it identifies a copy as one.
    ...(canonical !== null && { canonical }),
    ...(is_root ? root(site, item) : reply(site, item)),
  };
}

/** For the owner alone. */
function moderation(site: FeedSite, { id, comment_id, action, by, note, created_at }: NoteEvent): object {
  const decided = textualBody(action, "classifying");
  return {
    "@context": ANNO,
    id: commentIri(site, id),
    type: "Annotation",
    motivation: "moderating",
    created: created_at,
    creator: creator(site, by),
    body: note === null ? decided : [decided, textualBody(note, "commenting")],
    target: commentIri(site, comment_id),
  };
}

/** The vocabulary of our documents is the Web Annotation model's alone (COMMENTS 1, decision 1). The ActivityStreams context is
 *  not used: it gives `target`, `items` and `name` other meanings. */

export const ANNO = "http://www.w3.org/ns/anno.jsonld";
const LDP = "http://www.w3.org/ns/ldp.jsonld";

/** `anno.jsonld` has other names for ActivityStreams' collections: without these, SPEC's names would be addresses on the
 *  site. */
const ORDERED_PAGE = { OrderedCollectionPage: "as:OrderedCollectionPage" };
const ORDERED = {
  OrderedCollection: "as:OrderedCollection",
  ...ORDERED_PAGE,
  totalItems: { "@id": "as:totalItems", "@type": "xsd:nonNegativeInteger" },
  orderedItems: { "@id": "as:items", "@type": "@id", "@container": "@list" },
};

const COLLECTION_CONTEXT = [ANNO, ORDERED];
const PAGE_CONTEXT = [ANNO, ORDERED_PAGE];
const CONTAINER_CONTEXT = [ANNO, LDP];

// Collections of comments, their pages, and the container that new comments are sent to (COMMENTS 1). The oldest comes first,
// so that a full page never changes.

const withQuery = (address: string, query: string): string => address + (address.includes("?") ? "&" : "?") + query;

/** The address of a collection. One whose items are only addresses is another collection to its readers. */
const collectionIri = (address: string, iris: boolean): string => (iris ? withQuery(address, "iris=1") : address);

const pageIri = (collection: string, n: number): string => withQuery(collection, `page=${n}`);

/** An empty collection has no pages. */
function ends(collection: string, total: number): object {
  if (total === 0) return {};
  return { first: pageIri(collection, 0), last: pageIri(collection, Math.ceil(total / FEED_PAGE) - 1) };
}

const changed = (modified_at: string | null): object => (modified_at === null ? {} : { modified: modified_at });

const listed = ({ site, iris }: FeedAsked, items: readonly FeedItem[]): (object | string)[] =>
  items.map((item) => (iris ? commentIri(site, item.id) : annotation(site, item)));

const labelOf = ({ site, page }: FeedAsked): string =>
  `Comments on ${page === null ? site.slug : (decodePath(page) ?? page)}`;

function collection(asked: FeedAsked, items: readonly FeedItem[], w3c: boolean): Identified {
  const { total, modified_at, iris } = asked;
  const id = collectionIri(asked.id, iris);
  return {
    "@context": COLLECTION_CONTEXT,
    id,
    type: w3c ? ["OrderedCollection", "AnnotationCollection"] : "OrderedCollection",
    label: labelOf(asked),
    ...changed(modified_at),
    totalItems: total,
    total,
    ...ends(id, total),
    ...(items.length === total && { orderedItems: listed(asked, items) }),
  };
}

function page(asked: FeedAsked, n: number, items: readonly FeedItem[]): Identified {
  const { total, modified_at, iris } = asked;
  const id = collectionIri(asked.id, iris);
  return {
    "@context": PAGE_CONTEXT,
    id: pageIri(id, n),
    type: ["OrderedCollectionPage", "AnnotationPage"],
    partOf: { id, total, ...changed(modified_at) },
    startIndex: n * FEED_PAGE,
    ...(n > 0 && { prev: pageIri(id, n - 1) }),
    ...((n + 1) * FEED_PAGE < total && { next: pageIri(id, n + 1) }),
    items: listed(asked, items),
  };
}

function container(asked: FeedAsked, feed: string): Identified {
  const { total, modified_at, iris } = asked;
  return {
    "@context": CONTAINER_CONTEXT,
    id: collectionIri(asked.id, iris),
    type: ["BasicContainer", "AnnotationCollection"],
    label: labelOf(asked),
    total,
    ...changed(modified_at),
    ...ends(collectionIri(feed, iris), total),
  };
}

/** The export: one collection with its only page inside. */
function inOneFile(id: string, label: string, items: readonly object[]): Identified {
  const only = { id: `${id}#items`, type: "AnnotationPage", partOf: id, startIndex: 0, items };
  return {
    "@context": ANNO,
    id,
    type: "AnnotationCollection",
    label,
    total: items.length,
    ...(items.length > 0 && { first: only, last: only.id }),
  };
}

const exported = (site: FeedSite, name: string, items: readonly FeedItem[]): Identified =>
  inOneFile(
    commentIri(site, "me/export"),
    `Comments of ${name} on ${site.slug}`,
    items.map((item) => annotation(site, item)),
  );

const history = (site: FeedSite, comment_id: string, events: readonly NoteEvent[]): Identified =>
  inOneFile(
    commentIri(site, `${comment_id}/history`),
    "What was decided of this comment",
    events.map((event) => moderation(site, event)),
  );

/** The documents of the feed as JSON-LD (COMMENTS 1), made of public comments alone. */
export const feedDocuments: FeedDocuments = { annotation, collection, page, container, exported, history };
