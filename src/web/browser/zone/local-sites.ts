/** The anonymous sites of this browser (WEB 4.7): without their tokens, people who close the tab could never correct a
 *  page. A damaged entry, or one of another program, is ignored. */

export interface LocalSite {
  site_id: string;
  slug: string;
  url: string;
  manage_token: string;
  /** Epoch milliseconds. */
  expires_at: number;
  /** The title of its start page; null if it has none, or if that is not known. */
  title: string | null;
}

const KEY = "svc-sites";
/** The most sites that are kept, as in the command line's registry. */
const MOST = 64;

const LONGEST_TITLE = 400;

/** No date is later: to write one down throws. */
const LAST_TIME = 8.64e15;

const matches = (value: unknown, pattern: RegExp): value is string => typeof value === "string" && pattern.test(value);

function siteIn(value: unknown): LocalSite[] {
  const {
    site_id,
    slug,
    url,
    manage_token,
    expires_at,
    title: said,
  } = Object(value) as Partial<Record<keyof LocalSite, unknown>>;
  if (!matches(site_id, /^site_[0-9a-z]{20}$/) || !matches(slug, /^[0-9a-z-]{1,63}$/)) return [];
  if (!matches(url, /^https?:\/\/[^\s]{1,300}$/) || !matches(manage_token, /^svc_manage_[\w-]{20,100}$/)) return [];
  const title = typeof said === "string" && said.trim() !== "" ? said.slice(0, LONGEST_TITLE) : null;
  return typeof expires_at === "number" && expires_at <= LAST_TIME
    ? [{ site_id, slug, url, manage_token, expires_at, title }]
    : [];
}

function parsed(text: string | null): unknown[] {
  try {
    const value: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

/** The sites of a stored text: newest first, each once, without expired ones. */
export function localSitesIn(text: string | null, now: number): LocalSite[] {
  const ids = new Set<string>();
  return parsed(text)
    .flatMap(siteIn)
    .filter(({ site_id, expires_at }) => expires_at > now && !ids.has(site_id) && ids.add(site_id))
    .slice(0, MOST);
}

/** A browser can refuse all storage: then there is nothing. */
function attempt<T>(use: () => T, otherwise: T): T {
  try {
    return use();
  } catch {
    return otherwise;
  }
}

export const localSites = (): LocalSite[] => attempt(() => localSitesIn(localStorage.getItem(KEY), Date.now()), []);

export const keepLocalSites = (sites: readonly LocalSite[]): void =>
  attempt(() => {
    if (sites.length === 0) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, JSON.stringify(sites.slice(0, MOST)));
  }, undefined);

/** One that is known keeps its place. */
export function rememberSite(value: unknown): void {
  const [site] = siteIn(value);
  if (!site) return;
  const known = localSites();
  const at = known.findIndex(({ site_id }) => site_id === site.site_id);
  keepLocalSites(at === -1 ? [site, ...known] : known.with(at, site));
}

export const forgetSite = (id: string): void => keepLocalSites(localSites().filter(({ site_id }) => site_id !== id));

/** Brings a site back to its place among those that are still there; newer ones stay before it. */
export function bringBack(site: LocalSite, before: readonly LocalSite[]): void {
  const now = localSites();
  const has = (sites: readonly LocalSite[], { site_id }: LocalSite) => sites.some((one) => one.site_id === site_id);
  keepLocalSites([
    ...now.filter((one) => !has(before, one)),
    ...before.filter((one) => one.site_id === site.site_id || has(now, one)),
  ]);
}
