/** The abuse scan: it refuses phishing and warns of what looks like it (PIPELINE 3). It reads
 *  every file that a browser may show as a page. A form that sends secrets to another domain is refused; what is only
 *  suspicious is warned of, and the store quarantines an anonymous site for it. */
import { Refusal } from "../../base/errors.ts";
import { keepPages, type Pages } from "../../html/page.ts";
import type { Draft, Progress, SiteContext, Warning } from "../../base/types.ts";
import { type Brand, parseBrands } from "./brands.ts";
import { isProgram, programSignal } from "./programs.ts";
import { PageCode } from "./page-code.ts";
import { foreignForm, localForms, secretsSent } from "./destinations.ts";
import { type PageFacts, Unreadable } from "./facts.ts";
import { isMarkup, mediaType } from "../../base/media-types.ts";
import { readings } from "./readings.ts";
import type { Judged, Signal } from "./signal.ts";
import { SIGNALS } from "./suspicions.ts";
import { leak } from "./collectors.ts";
import { show } from "../show.ts";
import { type Budget, JUDGING_MS, NO_LIMIT, Spent } from "../budget.ts";

const howToAppeal = (contact: string | null): string => (contact === null ? "the operator of this server" : contact);

function rejected(path: string, reason: string, { contact }: SiteContext): Refusal {
  const message = `${show(path)} looks like phishing: ${reason}. Nothing was stored. If this is wrong, appeal to ${howToAppeal(contact)}.`;
  return new Refusal("abuse_rejected", message, { path, reason, appeal: contact });
}

/** A file that could not be read never goes live. */
const unreadable = (path: string, why: string): Refusal =>
  new Refusal("too_complex", `${show(path)} cannot be checked: ${why}. Make that file simpler, then deploy again.`, {
    path,
  });

/** Also where there is no time left: who could spend it elsewhere first would never be scanned. */
function refusalOf(error: unknown, path: string): unknown {
  if (error instanceof Spent) {
    return unreadable(path, `checking this upload takes more than ${JUDGING_MS / 1000} s of processor time`);
  }
  return error instanceof Unreadable ? unreadable(path, error.message) : error;
}

/** The site of somebody who has an account is not held: there the fix is enough. */
function warningOf(path: string, { why, fix, name }: Signal, { contact, anonymous }: SiteContext): Warning {
  const until = `, then ask ${howToAppeal(contact)} to clear the site: until then it loads from nowhere else and sends nothing elsewhere`;
  return {
    code: "suspicious_content",
    message: `${path} ${why} (${name}).`,
    path,
    fix_recipe: `${fix}${anonymous ? until : ""}.`,
  };
}

/** Each signal is reported once, with the first file that shows it. */
function firstOfEach(found: readonly { path: string; signal: Signal }[], site: SiteContext): Warning[] {
  const byName = new Map<string, Warning>();
  for (const { path, signal } of found) {
    if (!byName.has(signal.name)) byName.set(signal.name, warningOf(path, signal, site));
  }
  return [...byName.values()];
}

/** Warnings of forms that lead visitors to themselves. A form repeated on every page is reported once. */
const MOST_LOCAL = 20;

interface Found {
  signals: { path: string; signal: Signal }[];
  /** By their message. */
  local: Map<string, Warning>;
}

interface Scan {
  site: SiteContext;
  pages: Pages;
  code: PageCode;
  brands: readonly Brand[];
  budget: Budget;
}

/** Throws where the page is rejected. */
function judgePage(
  page: PageFacts,
  path: string,
  { site, code, brands, budget }: Scan,
  { signals, local }: Found,
): void {
  budget.check();
  const sent = secretsSent(page, path, site, budget);
  const reason = foreignForm(sent) ?? leak(page, path, code);
  if (reason !== null) throw rejected(path, reason, site);
  for (const warning of localForms(sent, path)) local.set(warning.message, warning);
  const judged: Judged = { path, page, code, own: site, brands, anonymous: site.anonymous, budget };
  for (const look of SIGNALS) {
    const signal = look(judged);
    if (signal) signals.push({ path, signal });
  }
}

/** Throws `abuse_rejected` and `too_complex`. */
export function scanAbuse(
  draft: Draft,
  site: SiteContext,
  progress: Progress,
  pages: Pages = keepPages(),
  budget: Budget = NO_LIMIT,
): Draft {
  const { files } = draft;
  const scan: Scan = { site, pages, code: new PageCode(files, site, budget), brands: parseBrands(site.brands), budget };
  const found: Found = { signals: [], local: new Map() };
  for (const [path, bytes] of files) {
    if (site.anonymous && isProgram(path))
      found.signals.push({ path, signal: programSignal("is a program for download") });
    const media_type = mediaType(path, bytes);
    if (!isMarkup(media_type)) continue;
    progress("looking for abuse in", path);
    try {
      for (const page of readings(bytes, media_type, pages, budget)) judgePage(page, path, scan, found);
    } catch (error) {
      throw refusalOf(error, path);
    }
  }
  return {
    ...draft,
    warnings: [
      ...draft.warnings,
      ...[...found.local.values()].slice(0, MOST_LOCAL),
      ...firstOfEach(found.signals, site),
    ],
  };
}
