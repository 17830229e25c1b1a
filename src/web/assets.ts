/** What pages load: each under a name with its content's hash, for ever; what the hash does not fit is a 404. Coded once
 *  for each coding, when it is first asked for. */
import { KEPT_HEADERS } from "../http/answers.ts";
import { codedFile } from "../http/coded-file.ts";
import { acceptedCodings } from "../http/negotiate.ts";
import type { Ctx, Route } from "../routes/context.ts";
import type { Bytes } from "../base/types.ts";
import type { ScriptName } from "./built.ts";
import { picture, scripts } from "./built.ts" with { type: "macro" };
import { MARK_FILE } from "./icons.ts";
import { STYLE } from "./style/index.ts";

const SCRIPTS: Record<ScriptName, string> = scripts();

interface Asset {
  path: string;
  type: string;
  bytes: Bytes;
}

const ownBytes = (content: string | Uint8Array): Bytes =>
  typeof content === "string" ? new TextEncoder().encode(content) : new Uint8Array(content);

function asset(name: string, type: string, content: string | Uint8Array): Asset {
  const bytes = ownBytes(content);
  const hash = new Bun.CryptoHasher("sha256").update(bytes).digest("hex").slice(0, 12);
  const dot = name.lastIndexOf(".");
  return { path: `/assets/${name.slice(0, dot)}.${hash}${name.slice(dot)}`, type, bytes };
}

const png = (name: string, base64: string): Asset => asset(name, "image/png", Buffer.from(base64, "base64"));
const webp = (name: string, base64: string): Asset => asset(name, "image/webp", Buffer.from(base64, "base64"));
/** Coded in itself. */
const isPicture = ({ type }: Asset): boolean => type === "image/png" || type === "image/webp";
const script = ([name, text]: [string, string]) =>
  [name, asset(`${name}.js`, "text/javascript; charset=utf-8", text)] as const;

const script_assets = Object.fromEntries(Object.entries(SCRIPTS).map(script)) as Record<ScriptName, Asset>;
const style = asset("style.css", "text/css; charset=utf-8", STYLE);
const icon = asset("icon.svg", "image/svg+xml", MARK_FILE);
const icon_192 = png("icon-192.png", picture("icon-192.png"));
const icon_512 = png("icon-512.png", picture("icon-512.png"));
const preview = png("preview.png", picture("preview.png"));
const markdown_site = webp("markdown.webp", picture("../../../docs/images/markdown.webp"));
const comments_panel = webp("comments.webp", picture("../../../docs/images/comments.webp"));

export const STYLE_PATH = style.path;
export const ICON_PATH = icon.path;
export const ICON_192_PATH = icon_192.path;
export const ICON_512_PATH = icon_512.path;
/** The picture that a link to the service is shown with elsewhere. */
export const PREVIEW_PATH = preview.path;
/** Addresses of the manual's pictures, by their names in docs/. */
export const MANUAL_PICTURES: Readonly<Record<string, string>> = {
  "images/markdown.webp": markdown_site.path,
  "images/comments.webp": comments_panel.path,
};
/** The address of a script. */
export const scriptPath = (name: ScriptName): string => script_assets[name].path;

function serve(one: Asset) {
  const coded = codedFile(one.bytes);
  const codable = !isPicture(one);
  return async ({ request, exchange, parts }: Ctx): Promise<Response> => {
    const wanted = codable ? acceptedCodings(request.headers.get("accept-encoding"))[0]! : "identity";
    const { coding, bytes } = await coded(wanted, parts.code);
    exchange.bytes = bytes.length;
    const headers = {
      ...KEPT_HEADERS,
      "content-type": one.type,
      "cache-control": "public, max-age=31536000, immutable",
      "x-request-id": exchange.request_id,
      ...(codable && { vary: "Accept-Encoding" }),
      ...(coding !== "identity" && { "content-encoding": coding }),
    };
    return new Response(bytes, { headers });
  };
}

export const ASSETS: readonly Route[] = [
  ...Object.values(script_assets),
  style,
  icon,
  icon_192,
  icon_512,
  preview,
  markdown_site,
  comments_panel,
].map((one): Route => ["GET", one.path, serve(one), "no_session"]);
