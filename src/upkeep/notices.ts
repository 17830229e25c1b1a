/** Notices to the operator (CONTRACT 7.5): what is looked for each second, and the letters as their receiver gets them. Reports
 *  and quarantines are noted where they happen, in the database. */
import { humanSize, UNIT_MS } from "../base/units.ts";
import { type Config, ownNames } from "../config/index.ts";
import { siteUrl } from "../http/hosts.ts";
import { type ErrorLine, readBulletins } from "../run/bulletin.ts";
import { CERTIFICATE_MS, certificateLeft } from "../run/metrics.ts";
import type { Store } from "../store/index.ts";
import type { NoticeContent, NoticeItem, NoticeRow, NoticeType } from "../store/notices.ts";
import type { Addressed } from "../webhooks/delivery.ts";

interface NoticingParts {
  config: Config;
  store: Pick<Store, "notices" | "figures" | "diskUse" | "freeBytes">;
  now(): number;
}

interface Happened {
  type: NoticeType;
  item: NoticeItem;
}

/** Errors of these jobs have letters of their own. A line of the log begins with the name of what failed. */
const OWN_TYPES: readonly (readonly [topic: RegExp, type: NoticeType | null])[] = [
  [/^sweep\b/, "sweep.failed"],
  [/^backup\b/, "backup.failed"],
  [/^certificate: (?:new connections get|it has ended)/, null], // its end is told by the figure
];

/** An order for the domain of a site is its owner's to mend, who is told. */
function isOfDomain(message: string, own_names: readonly string[]): boolean {
  const name = /^certificate: ([^ :]+): /.exec(message)?.[1];
  return name !== undefined && own_names.every((own) => own !== name);
}

function ofLine({ at, message }: ErrorLine, own_names: readonly string[]): Happened | null {
  const type = OWN_TYPES.find(([topic]) => topic.test(message))?.[1];
  if (type === null || isOfDomain(message, own_names)) return null;
  return { type: type ?? "error.logged", item: { at, message } };
}

/** The error lines of all processes that came since the last look. `since`: those that are older were told before this thread
 *  began. */
function newLines(figures: NoticingParts["store"]["figures"], own_names: readonly string[]) {
  /** By the place of a process: errors in all, and the lines that were there. */
  let known: { in_all: number; lines: Set<string> }[] | null = null;
  const keyOf = ({ at, message }: ErrorLine) => `${at} ${message}`;
  return (since: number) => {
    const bulletins = readBulletins(figures.texts());
    let untold = 0;
    const fresh = bulletins.flatMap(({ errors, errors_in_all }, n) => {
      const before = known?.[n] ?? null;
      if (known === null) return errors.filter(({ at }) => Date.parse(at) > since);
      const lines = errors.filter((line) => before === null || !before.lines.has(keyOf(line)));
      // Another process may have the place of one that ended.
      const came = errors_in_all - (before !== null && before.in_all <= errors_in_all ? before.in_all : 0);
      untold += Math.max(0, came - lines.length);
      return lines;
    });
    const kept = bulletins.map(({ errors, errors_in_all }) => ({
      in_all: errors_in_all,
      lines: new Set(errors.map(keyOf)),
    }));
    const lines = fresh.map((line) => ofLine(line, own_names)).filter((one) => one !== null);
    return { lines, untold, told: () => void (known = kept) };
  };
}

/** How soon a disk that stays full is told of again. */
const REMIND_MS = UNIT_MS.d;

/** Returns what looks for news and writes the letters that are due. States (disk, certificate) are noted when a letter of them
 *  may go out, with what is true then. */
export function noticing({ config, store, now }: NoticingParts): () => Promise<void> {
  const { notices, figures } = store;
  const errors = newLines(figures, ownNames(config));
  let was_high = true; // a start knows from the last letter what was told

  function disk(row: NoticeRow): Happened | null {
    const limit_percent = config.disk_high;
    const used = store.diskUse();
    if (limit_percent === null || used < limit_percent) {
      was_high = false;
      return null;
    }
    // A time in the future was written while the clock ran ahead.
    const told = was_high && row.letter_at > 0 && row.letter_at <= now() && now() - row.letter_at < REMIND_MS;
    if (told || !row.is_free) return null;
    return {
      type: "disk.high",
      item: { used_percent: Math.floor(used), limit_percent, free_bytes: store.freeBytes() },
    };
  }
  function certificate(row: NoticeRow): Happened | null {
    const left_ms = certificateLeft(figures);
    if (left_ms > CERTIFICATE_MS || !row.is_free) return null;
    return { type: "certificate.ending", item: { ends_at: new Date(now() + left_ms).toISOString() } };
  }
  const STATES: Partial<Record<NoticeType, (row: NoticeRow) => Happened | null>> = {
    "disk.high": disk,
    "certificate.ending": certificate,
  };

  return async () => {
    const rows = await notices.rows();
    const last = rows.find(({ type }) => type === "error.logged")?.letter_at ?? 0;
    const { lines, untold, told } = errors(last <= now() ? last : 0);
    const states = rows.map((row) => (row.count === 0 ? STATES[row.type]?.(row) : null) ?? null);
    const all = [...lines, ...states.filter((one) => one !== null)];
    if (all.length + untold > 0) await notices.note(all, untold);
    told();
    if (all.some(({ type }) => type === "disk.high")) was_high = true;
    if (all.length > 0 || rows.some((row) => row.count > 0 && row.is_free)) await notices.writeLetters();
  };
}

type Item = NoticeContent["items"][number];

const some = (n: number, one: string, more: string): string => (n === 1 ? `One ${one}` : `${n} ${more}`);
/** `: a, b`; empty if none is known. */
const slugsOf = (items: readonly Item[]): string =>
  items.length === 0 ? "" : `: ${[...new Set(items.map(({ slug }) => slug))].join(", ")}`;

/** A sentence for a person, and the members that a program reads. */
const CONTENTS: Readonly<
  Record<
    NoticeType,
    (content: NoticeContent, config: Config) => { text: string; more: Readonly<Record<string, unknown>> }
  >
> = {
  "report.opened": ({ count, items }, config) => ({
    text: `${some(count, "report was", "reports were")} opened${slugsOf(items)}. svc-server reports shows what they say.`,
    more: { reports: items.map((item) => ({ ...item, url: siteUrl(config, String(item.slug)) })) },
  }),
  "site.quarantined": ({ count, items }, config) => ({
    text: `${some(count, "site is", "sites are")} in quarantine${slugsOf(items)}. svc-server reports says why, svc-server clear ends it.`,
    more: { sites: items.map((item) => ({ ...item, url: siteUrl(config, String(item.slug)) })) },
  }),
  "error.logged": ({ count, items }) => ({
    text: `${some(count, "error", "errors")}: ${items[0]?.message ?? "the log has them"}`,
    more: { lines: items },
  }),
  "sweep.failed": ({ items }) => ({
    text: `The sweep or the check of stored files failed: ${items[0]!.message}`,
    more: { lines: items },
  }),
  "backup.failed": ({ items }) => ({
    text: `A backup failed or is not whole: ${items[0]!.message}`,
    more: { lines: items },
  }),
  "disk.high": ({ items: [item] }) => ({
    text: `The disk of the data directory is ${item!.used_percent}% full, ${humanSize(Number(item!.free_bytes))} are free. From ${item!.limit_percent}% on, deploys without an account are refused.`,
    more: item!,
  }),
  "certificate.ending": ({ items: [item] }) => ({
    text: `The certificate ends at ${item!.ends_at}: renew it, then have it read again by SIGHUP (systemctl reload svc).`,
    more: item!,
  }),
};

/** Null for a state that is over: its letter waited too long. */
export function noticeLetter(
  config: Config,
  store: Pick<Store, "diskUse" | "figures">,
  content: NoticeContent,
): Addressed | null {
  if (content.type === "disk.high" && store.diskUse() < (config.disk_high ?? Infinity)) return null;
  if (content.type === "certificate.ending" && certificateLeft(store.figures) > CERTIFICATE_MS) return null;
  const { text, more } = CONTENTS[content.type](content, config);
  const data = { server: config.base_url, text, count: content.count, ...more };
  return { url: config.notify!, secret: config.notify_secret!, members: { data } };
}
