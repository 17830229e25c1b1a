/** Where a form may send a browser afterwards: a path of our own, however it is spelled (RELIABILITY.md A8). */
export const HOME = "/signin";

/** What could leave this host or hide where it leads: `//host`, `/\host`, control characters that parsers drop. */
const SUSPICIOUS = /^\/[/\\]|[\\\p{Cc}]/u;
const NOWHERE = "http://nowhere.invalid";

/** `next` where it is a path of this host, else the fallback. Percent-encoded, so that it can stand in a header. */
export function ownPath(next: unknown, fallback = HOME): string {
  if (typeof next !== "string" || !next.startsWith("/") || SUSPICIOUS.test(next)) return fallback;
  const url = URL.parse(next, NOWHERE);
  if (!url || url.origin !== NOWHERE) return fallback;
  const path = url.pathname + url.search + url.hash;
  return path.startsWith("//") ? fallback : path;
}
