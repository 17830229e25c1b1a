/** Threads and comments as `threads` shows them to one viewer (COMMENTS 2). */
import { matchable } from "../http/conditional.ts";
import type { PublicComment, StoredComment, StoredThread } from "../store/notes.ts";
import type { Site } from "../base/types.ts";
import { feedSite } from "./addresses.ts";
import type { CommentParts } from "./context.ts";
import type { Anchor, Comment, Thread } from "./types.ts";

export const entityTag = ({ rev }: Pick<StoredComment, "rev">): string => `"a${rev}"`;

/** The revisions that an If-Match names (RFC 9110, 13.1.1); null for any, and without the header. */
export function expectedRevs({ headers }: Request): string[] | null {
  const header = headers.get("if-match");
  const tags = header === null ? null : matchable(header);
  return tags && tags.flatMap((tag) => /^"a(.+)"$/.exec(tag)?.[1] ?? []);
}

function anchorOf({ quote, page, carried, version_id, place, element }: StoredThread, origin: string): Anchor {
  const hints = {
    ...(place !== null && { position: { start: place.start, end: place.end, version_id: place.version_id } }),
    ...(element !== null && { element }),
  };
  return {
    source: origin + page,
    ...(quote !== null && { selector: [{ type: "TextQuoteSelector" as const, ...quote }] as const }),
    carried,
    version_id,
    ...(Object.keys(hints).length > 0 && { hints }),
  };
}

const commentJson = (comment: StoredComment, mine: ReadonlySet<string>): Comment => {
  const { id, by, text, visibility, created_at, edited_at } = comment;
  return {
    id,
    by,
    text,
    visibility,
    created_at,
    edited_at,
    mine: by !== null && mine.has(by.id),
    etag: entityTag(comment),
    ...(text === null && { deleted: true as const }),
  };
};

/** `mine` has the ids of the persons that the viewer is. */
export function threadJson(
  parts: Pick<CommentParts, "config">,
  site: Site,
  thread: StoredThread,
  mine: ReadonlySet<string>,
): Thread {
  const { id, page, status, comments } = thread;
  const anchor = anchorOf(thread, feedSite(parts, site).origin);
  const { visibility } = comments[0]!;
  return { id, page, status, visibility, anchor, comments: comments.map((comment) => commentJson(comment, mine)) };
}

/** The same comment as a feed's item. */
export function itemOf(thread: StoredThread, comment: StoredComment): PublicComment {
  const { id, text, canonical, created_at, modified_at, by } = comment;
  const { page, version_id, version_created_at, quote, status } = thread;
  const isRoot = id === thread.id;
  const replies = thread.comments.slice(1).filter((one) => one.visibility === "public" && one.text !== null).length;
  return {
    id,
    thread_id: thread.id,
    by: by!,
    text: text!,
    canonical,
    created_at,
    modified_at,
    page,
    version_id,
    version_created_at,
    quote,
    status,
    replies: isRoot ? replies : 0,
  };
}
