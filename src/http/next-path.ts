/** Where a form may send a browser afterwards: a path of our own, however it is spelled (RELIABILITY A8). */
export const HOME = "/dashboard";

/** What could leave this host or hide where it leads: `//host`, `/\host`, control characters that parsers drop. */
const SUSPICIOUS = /^\/[/\\]|[\\\p{Cc}]/u;
const NOWHERE = "http://nowhere.invalid";

/** `next` where it is a path of this host, else HOME. Percent-encoded, so that it can stand in a header. */
export function nextPath(next: unknown): string {
  if (typeof next !== "string" || !next.startsWith("/") || SUSPICIOUS.test(next)) return HOME;
  const url = URL.parse(next, NOWHERE);
  if (!url || url.origin !== NOWHERE) return HOME;
  const path = url.pathname + url.search + url.hash;
  return path.startsWith("//") ? HOME : path;
}
