/** The English words of the widget. */

export const plural = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

const LONGEST_QUOTE = 40;

/** A passage as a name: its first words. */
export function shortened(quote: string, most = LONGEST_QUOTE): string {
  const plain = quote.replace(/\s+/g, " ").trim();
  if (plain.length <= most) return plain;
  const cut = plain.slice(0, most + 1);
  const words = cut.slice(0, Math.max(cut.lastIndexOf(" "), 0)) || cut.slice(0, -1);
  return `${words.replace(/[\ud800-\udbff]$/, "").trim()}…`;
}

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

/** `3 hours ago`. */
export function ago(time: string, now = Date.now()): string {
  const seconds = Math.max(0, (now - Date.parse(time)) / 1000);
  const found = UNITS.find(([, length]) => seconds >= length);
  if (!found) return "just now";
  return new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(-Math.floor(seconds / found[1]), found[0]);
}

/** The whole time, for who wants it. */
export const fullTime = (time: string): string =>
  new Date(time).toLocaleString("en", { dateStyle: "long", timeStyle: "short" });
