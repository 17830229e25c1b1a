/** What a client calls itself, for the list of sessions and the page that approves a device: never believed. */
const LONGEST = 200;

export const clientOf = ({ headers }: Request): string =>
  (headers.get("user-agent") ?? "")
    .replace(/[\p{Cc}\p{Cf}]/gu, " ")
    .trim()
    .slice(0, LONGEST)
    .toWellFormed() || "unknown";
