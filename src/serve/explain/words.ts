/** Why a step answers or does not, in sentences (BEYOND 5). */
import type { Passed, Tried } from "../../rules/answer.ts";
import type { Resolution } from "../../base/resolve.ts";
import type { StoredFile } from "../../store/versions.ts";

export interface Step {
  step: "forced_rule" | "file" | "rule" | "spa_fallback" | "skew" | "not_found";
  matched: boolean;
  why: string;
}

const PASSED: Record<Passed, string> = {
  unowned: "leads to another host, which counts once the site has an owner",
  too_long: "leads to an address that is too long",
  itself: "leads to this very address",
  no_file: "shows a file that is not there",
  no_route: "shows a page for whatever is missing, and this address is a file's",
  no_navigation: "shows a page to navigations alone, and Sec-Fetch-Dest says something else",
};
/** So many lines are told of. */
const MOST_LINES = 10;

export const stepOf = (tried: Tried): Step =>
  tried.step === "file" ? fileStep(tried.found as Resolution<StoredFile>) : ruleStep(tried);

function fileStep(found: Resolution<StoredFile>): Step {
  if (found.kind === "unmatched") {
    return { step: "file", matched: false, why: "No file, folder's index or page without its .html has this name." };
  }
  if (found.kind === "redirect") {
    return { step: "file", matched: true, why: "A folder with an index has this name: its address ends in a slash." };
  }
  const { path } = found.file;
  const why = {
    file: `${path} is there.`,
    index: `${path} is the folder's index.`,
    clean_url: `${path} answers without its .html.`,
  };
  return { step: "file", matched: true, why: why[found.by] };
}

function ruleStep({ step, any, passed, taken }: Exclude<Tried, { step: "file" }>): Step {
  const forced = step === "forced_rule";
  if (!any) return { step, matched: false, why: `The version has no ${forced ? "forced rule" : "rules"}.` };
  const told = passed.slice(0, MOST_LINES).map(({ line, why }) => `Line ${line} ${PASSED[why]}.`);
  if (passed.length > MOST_LINES) told.push(`So it is with ${passed.length - MOST_LINES} more.`);
  if (taken === null) {
    const none = `No ${forced ? "forced rule" : "rule"} is for this address.`;
    return { step, matched: false, why: told.length === 0 ? none : told.join(" ") };
  }
  // It ends the search, and its page comes last: the skew shield is still asked.
  if (taken.status === 404 && !forced) {
    const why = `Line ${taken.line} says that nothing is here: what follows are the skew shield and its page.`;
    return { step, matched: false, why: [...told, why].join(" ") };
  }
  return { step, matched: true, why: [...told, `Line ${taken.line} is for this address.`].join(" ") };
}
