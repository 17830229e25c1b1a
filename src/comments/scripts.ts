/** The scripts of comments that pages load on a site's own host (COMMENTS 5). The loader has a name that stays, so
 *  browsers check it each time; the widget has its content's hash in its name and is kept for ever. */
import { ownFile } from "../http/own-file.ts";
import { scripts } from "./built.ts" with { type: "macro" };

const { loader, widget, widget_path } = scripts();

export const LOADER_PATH = "/_svc/c.js";
export const WIDGET_PATH = widget_path;

const TYPE = "text/javascript; charset=utf-8";

export const answerLoader = ownFile({ content: loader, type: TYPE, kept: "checked" });
export const answerWidget = ownFile({ content: widget, type: TYPE, kept: "forever" });
