/** Under https, and on names that browsers trust as much: elsewhere they complain of what only such origins may ask. */
export function isTrustworthy(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return protocol === "https:" || /(?:^|\.)localhost$|^127\.|^\[::1\]$/.test(hostname);
}
