/** The stylesheet and the pictures of the web side. Two stylesheets: that of all pages, in the order in which it is read (tokens,
 *  what all pages of svc share, then a file a concern), and that of an account's pages, which is read after it. One more concern is one
 *  more line. */
import base from "../../html/base.css" with { type: "text" };
import { compactCss, themed } from "../../html/compact-css.ts";
import ground from "../../html/ground.css" with { type: "text" };
import tokens from "../../html/tokens.css" with { type: "text" };
import comments from "./comments.css" with { type: "text" };
import turn from "../../html/turn.css" with { type: "text" };
import controls from "./controls.css" with { type: "text" };
import formPage from "./form-page.css" with { type: "text" };
import frame from "./frame.css" with { type: "text" };
import home from "./home.css" with { type: "text" };
import lists from "./lists.css" with { type: "text" };
import manual from "./manual.css" with { type: "text" };
import receipt from "./receipt.css" with { type: "text" };
import dashboard from "./dashboard.css" with { type: "text" };
import rules from "./rules.css" with { type: "text" };
import seen from "./seen.css" with { type: "text" };
import changes from "./changes.css" with { type: "text" };
import site from "./site.css" with { type: "text" };
import statistics from "./statistics.css" with { type: "text" };
import zone from "./zone.css" with { type: "text" };

const FILES = [themed(tokens), ground, base, frame, controls, lists, formPage, home, zone, receipt, manual, turn];

export const STYLE = compactCss(FILES.join(""));

export const ACCOUNT_STYLE = compactCss([dashboard, site, statistics, rules, changes, seen, comments].join(""));
