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

const own = (css: string): string => compactCss(css).replace(/--(?!svc-)(?=[a-z])/g, "--svc-");

/** Keeps only the tokens that the launcher uses: every reader of a page pays for its size. */
const used = tokens.replace(/(--[\w-]+):[^;]*;/g, (all, name) => (launcher.includes(`var(${name})`) ? all : ""));

export const loaderCss = (): string => own(themed(used) + launcher);
export const widgetCss = (): string => own(themed(tokens) + controls + pageMarks + panel + thread);
