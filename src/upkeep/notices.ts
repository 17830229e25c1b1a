/** Notices to the operator (CONTRACT 7.5): what is looked for each second, and the letters as their receiver gets them. Reports
 *  and quarantines are noted where they happen, in the database. */
import { humanSize, UNIT_MS } from "../base/units.ts";
import type { Config } from "../config/index.ts";
import { siteUrl } from "../http/hosts.ts";
import { type ErrorLine, readBulletins } from "../run/bulletin.ts";
import { ofProcesses } from "../run/metrics.ts";
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
  [/^certificate:/, null], // its end is told by the figure
];

function ofLine({ at, message }: ErrorLine): Happened | null {
  const type = OWN_TYPES.find(([topic]) => topic.test(message))?.[1];
  return type === null ? null : { type: type ?? "error.logged", item: { at, message } };
}

/** The error lines of all processes that were not there at the last look. */
function newLines(figures: NoticingParts["store"]["figures"]) {
  let known = new Set<string>();
  return () => {
    const lines = readBulletins(figures.texts()).flatMap(({ errors }) => errors);
    const keyOf = ({ at, message }: ErrorLine) => `${at} ${message}`;
    const fresh = lines.filter((line) => !known.has(keyOf(line)));
    const kept = new Set(lines.map(keyOf));
    return { happened: fresh.map(ofLine).filter((one) => one !== null), told: () => void (known = kept) };
  };
}

/** How soon a disk that stays full is told of again. */
const REMIND_MS = UNIT_MS.d;
const CERTIFICATE_MS = 14 * UNIT_MS.d;

/** Returns what looks for news and writes the letters that are due. States (disk, certificate) are noted when a letter of them
 *  may go out, with what is true then. */
export function noticing({ config, store, now }: NoticingParts): () => Promise<void> {
  const { notices, figures } = store;
  const errors = newLines(figures);
  let was_high = true; // a start knows from the last letter what was told

  function disk(row: NoticeRow): Happened | null {
    const limit_percent = config.disk_high;
    const used = store.diskUse();
    if (limit_percent === null || used < limit_percent) {
      was_high = false;
      return null;
    }
    const told = was_high && row.letter_at > 0 && now() - row.letter_at < REMIND_MS;
    if (told || !row.is_free) return null;
    was_high = true;
    return {
      type: "disk.high",
      item: { used_percent: Math.floor(used), limit_percent, free_bytes: store.freeBytes() },
    };
  }
  function certificate(row: NoticeRow): Happened | null {
    const left = ofProcesses(figures.processes(), "certificate_s").filter((seconds) => seconds !== 0);
    const left_ms = Math.min(...left) * 1000;
    if (left_ms > CERTIFICATE_MS || !row.is_free) return null;
    return { type: "certificate.ending", item: { ends_at: new Date(now() + left_ms).toISOString() } };
  }
  const STATES: Partial<Record<NoticeType, (row: NoticeRow) => Happened | null>> = {
    "disk.high": disk,
    "certificate.ending": certificate,
  };

  return async () => {
    const rows = await notices.rows();
    const { happened, told } = errors();
    const states = rows.map((row) => (row.count === 0 ? STATES[row.type]?.(row) : null) ?? null);
    const all = [...happened, ...states.filter((one) => one !== null)];
    if (all.length > 0) await notices.note(all);
    told();
    if (all.length > 0 || rows.some((row) => row.count > 0 && row.is_free)) await notices.writeLetters();
  };
}

type Item = NoticeContent["items"][number];

const some = (n: number, one: string, more: string): string => (n === 1 ? `One ${one}` : `${n} ${more}`);
const slugsOf = (items: readonly Item[]): string => [...new Set(items.map(({ slug }) => slug))].join(", ");

/** A sentence for a person, and the members that a program reads. */
const CONTENTS: Readonly<
  Record<
    NoticeType,
    (content: NoticeContent, config: Config) => { text: string; more: Readonly<Record<string, unknown>> }
  >
> = {
  "report.opened": ({ count, items }, config) => ({
    text: `${some(count, "report was", "reports were")} opened: ${slugsOf(items)}. svc-server reports shows what they say.`,
    more: { reports: items.map((item) => ({ ...item, url: siteUrl(config, String(item.slug)) })) },
  }),
  "site.quarantined": ({ count, items }, config) => ({
    text: `${some(count, "site is", "sites are")} in quarantine: ${slugsOf(items)}. svc-server reports says why, svc-server clear ends it.`,
    more: { sites: items.map((item) => ({ ...item, url: siteUrl(config, String(item.slug)) })) },
  }),
  "error.logged": ({ count, items }) => ({
    text: `${some(count, "error", "errors")}: ${items[0]!.message}`,
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

export function noticeLetter(config: Config, content: NoticeContent): Addressed {
  const { text, more } = CONTENTS[content.type](content, config);
  const data = { server: config.base_url, text, count: content.count, ...more };
  return { url: config.notify!, secret: config.notify_secret!, members: { data } };
}
