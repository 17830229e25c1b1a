/** The abuse scan (PIPELINE 3), over every file that a browser may show as a page. A form that sends secrets to another
 *  domain is refused; what is only suspicious is warned of, and the store quarantines an anonymous site for it. */
import { Refusal } from "../../errors.ts";
import { keepPages, type Pages } from "../../html/kept-pages.ts";
import type { Bytes, Draft, Progress, SiteContext, Warning } from "../../types.ts";
import { parseBrands } from "./brands.ts";
import { PageCode } from "./page-code.ts";
import { foreignForm, localForms, secretsSent } from "./foreign-forms.ts";
import { type PageFacts, Unreadable } from "./facts.ts";
import { isMarkup, mediaType } from "../../media-types.ts";
import { readings } from "./readings.ts";
import { isProgram, programSignal } from "./programs.ts";
import type { Judged, Signal } from "./signal.ts";
import { SIGNALS } from "./suspicions.ts";
import { leak } from "./sinks.ts";
import { show } from "../show.ts";

const howToAppeal = (contact: string | null): string => (contact === null ? "whoever runs this server" : contact);

function rejected(path: string, reason: string, { contact }: SiteContext): Refusal {
  const message = `${show(path)} looks like phishing: ${reason}. Nothing was stored. If this is wrong, appeal to ${howToAppeal(contact)}.`;
  return new Refusal("abuse_rejected", message, { path, reason, appeal: contact });
}

/** What was not read is never live. */
const unreadable = (path: string, why: string): Refusal =>
  new Refusal("too_complex", `${show(path)} cannot be checked: ${why}. Make that file simpler, then deploy again.`, {
    path,
  });

function readingsOf(path: string, bytes: Bytes, media_type: string, pages: Pages): PageFacts[] {
  try {
    return readings(bytes, media_type, pages);
  } catch (error) {
    throw error instanceof Unreadable ? unreadable(path, error.message) : error;
  }
}

function warningOf(path: string, { why, fix, name }: Signal, { contact }: SiteContext): Warning {
  return {
    code: "suspicious_content",
    message: `${path} ${why} (${name}).`,
    path,
    fix_recipe: `${fix}, or ask ${howToAppeal(contact)} to clear the site.`,
  };
}

/** Each signal is told once, with the first file that shows it. */
function firstOfEach(found: readonly { path: string; signal: Signal }[], site: SiteContext): Warning[] {
  const byName = new Map<string, Warning>();
  for (const { path, signal } of found) {
    if (!byName.has(signal.name)) byName.set(signal.name, warningOf(path, signal, site));
  }
  return [...byName.values()];
}

/** Warnings of forms that lead visitors to themselves: what repeats on every page need not be told of each. */
const MOST_LOCAL = 20;

/** Throws `abuse_rejected` and `too_complex`. */
export function scanAbuse(draft: Draft, site: SiteContext, progress: Progress, pages: Pages = keepPages()): Draft {
  const { files } = draft;
  const code = new PageCode(files, site);
  const brands = parseBrands(site.brands);
  const found: { path: string; signal: Signal }[] = [];
  const local = new Map<string, Warning>();
  for (const [path, bytes] of files) {
    if (site.anonymous && isProgram(path)) found.push({ path, signal: programSignal("is a program for download") });
    const media_type = mediaType(path, bytes);
    if (!isMarkup(media_type)) continue;
    progress("looking for abuse in", path);
    for (const page of readingsOf(path, bytes, media_type, pages)) {
      const sent = secretsSent(page, path, site);
      const reason = foreignForm(sent) ?? leak(page, path, site, code);
      if (reason !== null) throw rejected(path, reason, site);
      for (const warning of localForms(sent, path)) local.set(warning.message, warning);
      const judged: Judged = { path, page, code, own: site, brands, anonymous: site.anonymous };
      found.push(...SIGNALS.flatMap((look) => look(judged) ?? []).map((signal) => ({ path, signal })));
    }
  }
  return {
    ...draft,
    warnings: [...draft.warnings, ...[...local.values()].slice(0, MOST_LOCAL), ...firstOfEach(found, site)],
  };
}
