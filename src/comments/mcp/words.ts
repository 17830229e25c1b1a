/** Threads as an agent reads them. What strangers wrote is in `untrusted_text`, as a person would see it: characters that
 *  show nothing could tell an agent what nobody else reads (COMMENTS 6). */
import { siteUrl } from "../../http/hosts.ts";
import type { Author, StoredComment, StoredThread } from "../../store/notes.ts";
import type { Site } from "../../base/types.ts";
import { UNSEEN } from "../../base/visible.ts";
import type { CommentParts } from "../context.ts";

type Config = CommentParts["config"];

/** Line ends and tabs are seen. */
const CONTROL = /(?![\n\t])[\p{Cc}\p{Cs}\p{Co}]/gu;

const seen = (text: string): string => text.replace(UNSEEN, "").replace(CONTROL, "");

const authorJson = (by: Author | null) => by && { id: by.id, name: seen(by.name), kind: by.kind };

export const commentJson = ({ id, by, text, visibility, created_at, edited_at }: StoredComment) => ({
  comment_id: id,
  by: authorJson(by),
  untrusted_text: text === null ? null : seen(text),
  visibility,
  created_at,
  edited_at,
});

function headJson(config: Config, { slug }: Pick<Site, "slug">, thread: StoredThread) {
  const { id, page, status, version_id, carried, comments } = thread;
  return {
    thread_id: id,
    page,
    url: `${siteUrl(config, slug)}${page}#svc-${id}`,
    status,
    visibility: comments[0]!.visibility,
    version_id,
    anchor_state: carried,
  };
}

const newest = (comments: readonly StoredComment[]): string =>
  comments.map(({ modified_at }) => modified_at).reduce((a, b) => (a > b ? a : b));

/** A line of a list: the first comment, and how much follows. */
export function summaryJson(config: Config, site: Pick<Site, "slug">, thread: StoredThread) {
  const { quote, comments } = thread;
  const [root, ...replies] = comments;
  const { by, untrusted_text, created_at } = commentJson(root!);
  return {
    ...headJson(config, site, thread),
    quote: quote && seen(quote.exact),
    by,
    untrusted_text,
    created_at,
    changed_at: newest(comments),
    replies: replies.filter(({ text }) => text !== null).length,
  };
}

export function threadJson(config: Config, site: Pick<Site, "slug">, thread: StoredThread) {
  const { quote, page, version_id, version_created_at, comments } = thread;
  return {
    ...headJson(config, site, thread),
    version_url: siteUrl(config, `${version_id}--${site.slug}`) + page,
    version_created_at,
    quote: quote && { exact: seen(quote.exact), prefix: seen(quote.prefix), suffix: seen(quote.suffix) },
    comments: comments.map(commentJson),
  };
}
