/** The scripts of comments that pages load on a site's own host (COMMENTS 5). The loader has a name that stays, so
 *  browsers check it each time; the widget has its content's hash in its name and is kept for ever. */
import { ownFile } from "../http/own-file.ts";
import { scripts } from "./built.ts" with { type: "macro" };

const { loader, widget, widget_path } = scripts();

const TYPE = "text/javascript; charset=utf-8";

/** Each script's path, and what answers it. */
export const SCRIPTS = [
  ["/_svc/c.js", ownFile({ content: loader, type: TYPE, kept: "checked" })],
  [widget_path, ownFile({ content: widget, type: TYPE, kept: "forever" })],
] as const;
