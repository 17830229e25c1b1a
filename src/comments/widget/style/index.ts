/** The widget's stylesheets as texts, made when it is bundled: called as macros. The tokens are those of all pages of svc
 *  (WEB 9), under names of their own, for a page may have declared any other one. */
import { compactCss } from "../../../html/compact-css.ts";
import tokens from "../../../html/tokens.css" with { type: "text" };
import controls from "./controls.css" with { type: "text" };
import launcher from "./launcher.css" with { type: "text" };
import pageMarks from "./marks.css" with { type: "text" };
import panel from "./panel.css" with { type: "text" };
import thread from "./thread.css" with { type: "text" };

/** Both sets of tokens, chosen by a class: the page decides which one fits. */
function themed(css: string): string {
  const [light = "", dark = ""] = [...css.matchAll(/:root\s*\{([^}]*)\}/g)].map(([, body]) => body);
  return `.layer{${light.replace("light dark", "light")}}.dark{color-scheme:dark;${dark}}`;
}

/** The reader's own size of letters, by which all is sized: what is 16 px in these sheets is as large as the letters of the page's
 *  root, within bounds, for some pages count in a root of 10 px and some in one of 100. */
const UNIT = ".layer{--u:calc(clamp(16px,1rem,32px)/16)}";

/** Lines keep their pixels, and so do the questions of `@media`. */
const sized = (css: string): string =>
  css.replace(/@media[^{]*|(?<![\w.-])(-?[\d.]+)px/g, (all, px) =>
    px === undefined || Math.abs(px) < 4 ? all : `calc(${px}*var(--u))`,
  );

const own = (css: string): string =>
  compactCss(css)
    .replace(/--(?!svc-)(?=[a-z])/g, "--svc-")
    .replace(/ ([>~!]) ?/g, "$1")
    .replace(/\b0\./g, ".");

/** Keeps only tokens that are used: every reader of a page pays for their size. The widget's sheet stands behind the loader's. */
const usedBy = (css: string, known = ""): string =>
  tokens.replace(/(--[\w-]+):[^;]*;/g, (all, name) =>
    css.includes(`var(${name})`) && !known.includes(`var(${name})`) ? all : "",
  );

const widget = controls + pageMarks + panel + thread;

export const loaderCss = (): string => own(themed(usedBy(launcher)) + launcher);
export const widgetCss = (): string => own(themed(usedBy(widget, launcher)) + UNIT + sized(widget));
