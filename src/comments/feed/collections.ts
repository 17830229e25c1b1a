/** Collections of comments, their pages, and the container that new ones are sent to (COMMENTS 1). Oldest first, so that a
 *  page which is full stays what it is. */
import { decodePath } from "../../base/percent.ts";
import type { NoteEvent } from "../../store/notes.ts";
import { FEED_PAGE, type FeedAsked, type FeedItem, type FeedSite, type Identified } from "../types.ts";
import { annotation, commentIri, moderation } from "./annotations.ts";
import { ANNO, COLLECTION_CONTEXT, CONTAINER_CONTEXT, PAGE_CONTEXT } from "./vocabulary.ts";

const withQuery = (address: string, query: string): string => address + (address.includes("?") ? "&" : "?") + query;

/** Its items may be there as their addresses alone: another collection to whoever reads it. */
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

export function collection(asked: FeedAsked, items: readonly FeedItem[], w3c: boolean): Identified {
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

export function page(asked: FeedAsked, n: number, items: readonly FeedItem[]): Identified {
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

export function container(asked: FeedAsked, feed: string): Identified {
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

/** All in one file, its only page in it. */
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

export const exported = (site: FeedSite, name: string, items: readonly FeedItem[]): Identified =>
  inOneFile(
    commentIri(site, "me/export"),
    `Comments of ${name} on ${site.slug}`,
    items.map((item) => annotation(site, item)),
  );

export const history = (site: FeedSite, comment_id: string, events: readonly NoteEvent[]): Identified =>
  inOneFile(
    commentIri(site, `${comment_id}/history`),
    "What was decided of this comment",
    events.map((event) => moderation(site, event)),
  );
