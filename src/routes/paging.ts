/** Lists are told in pages, newest first: `?limit=` and where to go on (CONTRACT 4.4). */
import { Refusal } from "../base/errors.ts";
import type { SitePlace } from "../store/account-sites.ts";

/** Of one page, where nothing else is asked, and at most. */
export const PAGE = 1000;

const invalid = (field: string, must: string): Refusal =>
  new Refusal("invalid_input", `The parameter ${field} must be ${must}.`, { field });

export function limitOf(query: URLSearchParams): number {
  const text = query.get("limit");
  if (text === null) return PAGE;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > PAGE) throw invalid("limit", `a number from 1 to ${PAGE}`);
  return limit;
}

/** A place in an account's list: it stays where it is when sites come and go. */
export const cursorAt = ({ created_at, site_id }: SitePlace): string =>
  Buffer.from(`${created_at} ${site_id}`).toString("base64url");

export function cursorOf(query: URLSearchParams): SitePlace | null {
  const text = query.get("cursor");
  if (text === null) return null;
  const read = Buffer.from(text, "base64url").toString();
  const [, created_at, site_id] = /^(\d{4}-[\d:.TZ-]{1,30}) (site_[0-9a-z]{1,40})$/.exec(read) ?? [];
  if (created_at === undefined || site_id === undefined) throw invalid("cursor", "what a list's answer gave as cursor");
  return { created_at, site_id };
}
