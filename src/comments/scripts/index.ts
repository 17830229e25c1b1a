/** What pages load of comments, on a site's own host (COMMENTS 5): the loader under a name that stays, asked for again each
 *  time, and the widget under its content's hash, for ever. */
import { createHash } from "node:crypto";
import { KEPT_HEADERS } from "../../http/answers.ts";
import { codedFile } from "../../http/coded-file.ts";
import type { Code } from "../../http/coder.ts";
import { ifNoneMatch } from "../../http/conditional.ts";
import type { Exchange } from "../../http/exchange.ts";
import { acceptedCodings } from "../../http/negotiate.ts";
import { scripts } from "./built.ts" with { type: "macro" };

const { loader, widget, widget_path } = scripts();

export const LOADER_PATH = "/_svc/c.js";
export const WIDGET_PATH = widget_path;

interface Asked {
  request: Request;
  exchange: Exchange;
  code: Code;
}

const TYPE = "text/javascript; charset=utf-8";

interface Kept {
  "cache-control": string;
  /** Before its coding. */
  etag?: string;
}

/** A script by its text, and what says how long it is kept. */
function script(text: string, { etag, ...kept }: Kept) {
  const coded = codedFile(new TextEncoder().encode(text));
  return async ({ request, exchange, code }: Asked): Promise<Response> => {
    const { coding, bytes } = await coded(acceptedCodings(request.headers.get("accept-encoding"))[0]!, code);
    const tag = etag && `"${etag}-${coding}"`;
    const headers = {
      ...KEPT_HEADERS,
      ...kept,
      "x-request-id": exchange.request_id,
      vary: "Accept-Encoding",
      ...(tag && { etag: tag }),
    };
    const known = request.headers.get("if-none-match");
    if (tag && known !== null && ifNoneMatch(known, tag)) return new Response(null, { status: 304, headers });
    exchange.bytes = bytes.length;
    const encoded = coding !== "identity" && { "content-encoding": coding };
    return new Response(bytes, { headers: { ...headers, "content-type": TYPE, ...encoded } });
  };
}

export const answerLoader = script(loader, {
  "cache-control": "no-cache",
  etag: createHash("sha256").update(loader).digest("hex").slice(0, 12),
});
export const answerWidget = script(widget, { "cache-control": "public, max-age=31536000, immutable" });
