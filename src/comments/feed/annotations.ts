/** A comment, and what was decided of one, as Web Annotations (COMMENTS 1). Each carries its context, so that it is a valid
 *  document by itself wherever it stands. */
import type { Author, NoteEvent } from "../../store/notes.ts";
import type { FeedItem, FeedSite } from "../types.ts";
import { ANNO } from "./vocabulary.ts";

/** Of everything that is written on the site, and of who wrote it. */
export const commentIri = ({ origin }: FeedSite, id: string): string => `${origin}/_svc/comments/${id}`;

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

/** A page, or a passage of it as it stood in the version that the comment was written on. */
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
    // On the annotation, a `state` or a `status` would be an address or nothing at all to a reader of JSON-LD.
    "schema:creativeWorkStatus": item.status,
    "schema:commentCount": item.replies,
  };
}

/** All replies answer the root, never each other. */
function reply(site: FeedSite, { text, thread_id }: FeedItem): object {
  const target = commentIri(site, thread_id);
  return { body: textualBody(text), target, "as:inReplyTo": { id: target } };
}

export function annotation(site: FeedSite, item: FeedItem): object {
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
    // The protocol has it kept, whoever reads it: by it a copy is known as one.
    ...(canonical !== null && { canonical }),
    ...(is_root ? root(site, item) : reply(site, item)),
  };
}

/** For the owner alone. */
export function moderation(site: FeedSite, { id, comment_id, action, by, note, created_at }: NoteEvent): object {
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
