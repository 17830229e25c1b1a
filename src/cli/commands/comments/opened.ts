/** The site whose comments a command is about, and calls about them. */
import { ask, type ApiCall } from "../../service/api.ts";
import type { Shape } from "../../../api/shapes/builder.ts";
import type { Context, CallWords } from "../../command.ts";
import { usage } from "../../failure.ts";
import { nearest } from "../../../command/nearest.ts";
import { chooseSite, openSite, touchLink, type OpenedSite } from "../chosen-site.ts";

type CommentsCall = Pick<ApiCall, "method" | "json"> & { repeatable?: boolean };

/** Opens the site with the narrowest credential that the server accepts. */
export async function openComments(context: Context, given: CallWords): Promise<OpenedSite> {
  const opened = await openSite(context, chooseSite(context, given, undefined), 1);
  touchLink(context, opened, opened.record);
  return opened;
}

export const commentsPath = (site_id: string, path: string): string => `/sites/${site_id}/comments/${path}`;

/** `path` is below `…/comments/`. */
export const askComments = <Answer>(
  { server, site_id, credential }: OpenedSite,
  path: string,
  shape: Shape<Answer>,
  { repeatable = true, ...call }: CommentsCall = { method: "GET" },
): Promise<Answer> => ask(server, { ...call, path: commentsPath(site_id, path), credential, repeatable }, shape);

/** Reads one of the known words, or fails with a guess. */
export function known<Word extends string>(written: string, words: readonly Word[], what: string): Word {
  const word = words.find((one) => one === written);
  if (word !== undefined) return word;
  const guess = nearest(written, words);
  throw usage(
    `${written} is no ${what}. ${guess === null ? `There are ${words.join(", ")}.` : `Did you mean ${guess}?`}`,
  );
}
