/** Documents that are the same for every reader who gets them: their entity tags, and who else may keep or read them. */
import { createHash } from "node:crypto";
import { scriptJson } from "../../html/template.ts";
import { answer, LD_JSON } from "../answers.ts";
import type { Ctx } from "../context.ts";
import type { Identified } from "../types.ts";

type Fields = Readonly<Record<string, string>>;
type Mode = { site: Pick<Ctx["site"], "comments_mode"> };

/** In passcode mode no cache and no page of another site may hand them on; no cache either with somebody's cookie. */
export const sharing = ({ site, exchange }: Mode & Pick<Ctx, "exchange">, vary: string): Fields =>
  site.comments_mode === "passcode"
    ? { "cache-control": "private, no-store", vary: `${vary}, Cookie` }
    : {
        "cache-control": exchange.cookies === null ? "public, max-age=0, must-revalidate" : "private, no-store",
        vary,
        "access-control-allow-origin": "*",
        "access-control-expose-headers": "ETag, Link, Content-Location",
      };

/** A browser asks first where a page of another site names the profile or a preference. */
export const preflight = ({ site }: Mode, methods: string): Fields =>
  site.comments_mode === "passcode"
    ? {}
    : {
        "access-control-allow-methods": methods,
        "access-control-allow-headers": "Accept, If-None-Match, Prefer",
        "access-control-max-age": "86400",
      };

const HASH_LENGTH = 12;

const textOf = (document: Identified): string => scriptJson(document).text;

const tagOf = (text: string, tag: string): string =>
  `"c-${createHash("sha256").update(text).digest("hex").slice(0, HASH_LENGTH)}${tag}"`;

/** Of a document that is not sent. */
export const documentTag = (document: Identified): string => tagOf(textOf(document), "");

/** Its tag says what is public, and nothing else: it is made of the document alone. Whoever writes the text into a page's
 *  script as it is ends no script with it. */
export function sendDocument(ctx: Ctx, document: Identified, fields: Fields, tag = ""): Response {
  const text = textOf(document);
  const own = { "content-type": LD_JSON, "content-location": document.id, etag: tagOf(text, tag) };
  return answer(ctx, text, { ...fields, ...own });
}
