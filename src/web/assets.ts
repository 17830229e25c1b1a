/** The files that pages load. Each has its content's hash in its name and is kept for ever; a name with another hash is
 *  a 404. */
import { type AnswerOwnFile, contentHash, ownFile } from "../http/own-file.ts";
import type { Route } from "../routes/context.ts";
import type { ScriptName } from "./built.ts";
import { picture, scripts } from "./built.ts" with { type: "macro" };
import { MARK_FILE } from "./mark.ts";
import { ACCOUNT_STYLE, STYLE } from "./style/index.ts";

const SCRIPTS: Record<ScriptName, string> = scripts();

interface Asset {
  path: string;
  answer: AnswerOwnFile;
}

/** `codable` is false for pictures: their formats compress. */
function asset(name: string, type: string, content: string | Uint8Array, codable = true): Asset {
  const dot = name.lastIndexOf(".");
  const path = `/assets/${name.slice(0, dot)}.${contentHash(content, 12)}${name.slice(dot)}`;
  return { path, answer: ownFile({ content, type, kept: "forever", codable }) };
}

const png = (name: string, base64: string): Asset => asset(name, "image/png", Buffer.from(base64, "base64"), false);
const webp = (name: string, base64: string): Asset => asset(name, "image/webp", Buffer.from(base64, "base64"), false);
const script = ([name, text]: [string, string]) =>
  [name, asset(`${name}.js`, "text/javascript; charset=utf-8", text)] as const;

const script_assets = Object.fromEntries(Object.entries(SCRIPTS).map(script)) as Record<ScriptName, Asset>;
const style = asset("style.css", "text/css; charset=utf-8", STYLE);
const account_style = asset("account.css", "text/css; charset=utf-8", ACCOUNT_STYLE);
const icon = asset("icon.svg", "image/svg+xml", MARK_FILE);
const icon_192 = png("icon-192.png", picture("icon-192.png"));
const icon_512 = png("icon-512.png", picture("icon-512.png"));
const preview = png("preview.png", picture("preview.png"));
const markdown_site = webp("markdown.webp", picture("../../../docs/images/markdown.webp"));
const comments_panel = webp("comments.webp", picture("../../../docs/images/comments.webp"));

export const STYLE_PATH = style.path;
/** The stylesheet that pages of an account have beside it. */
export const ACCOUNT_STYLE_PATH = account_style.path;
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

export const ASSETS: readonly Route[] = [
  ...Object.values(script_assets),
  style,
  account_style,
  icon,
  icon_192,
  icon_512,
  preview,
  markdown_site,
  comments_panel,
].map(({ path, answer }): Route => ["GET", path, (ctx) => answer(ctx, ctx.parts.code), "no_session"]);
