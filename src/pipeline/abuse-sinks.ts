/** Reject 2: a page that asks for a password or a recovery phrase and knows a bot or a webhook to hand it to. */
import type { PageCode } from "./abuse-code.ts";
import type { PageFacts } from "./abuse-facts.ts";
import { addressOfPage, destinationOf, type OwnHost } from "./abuse-urls.ts";
import { RISK_NAMES } from "./abuse-words.ts";

/** What of an address shows in Base64, at each of the three places that it can begin at. */
const inBase64 = (address: string): string[] =>
  [0, 1, 2].map((lead) => {
    const coded = Buffer.from("\0".repeat(lead) + address).toString("base64");
    return coded.slice(Math.ceil((lead * 4) / 3), -4);
  });

const SINKS = (
  [
    ["a Telegram bot", "api.telegram.org", "/bot"],
    ["a Discord webhook", "discord.com", "/api/webhooks"],
    ["a Discord webhook", "discordapp.com", "/api/webhooks"],
  ] as const
).map(([name, host, path]) => ({ name, address: host + path, coded: [host + path, `//${host}`].flatMap(inBase64) }));

/** Code as it runs: escapes read, strings that are put together joined. */
const plainCode = (code: string): string =>
  code
    .replace(/\\(?:x([\da-f]{2})|u([\da-f]{4})|u\{([\da-f]{1,6})\})/gi, (whole, a, b, c) => {
      const point = parseInt(a ?? b ?? c, 16);
      return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
    })
    .replace(/\\\//g, "/")
    .replace(/["'`]\s{0,20}\+\s{0,20}["'`]/g, "");

/** The sink that code names; null for none. */
function sinkIn(code: string): string | null {
  if (code === "") return null;
  const plain = plainCode(code);
  const lower = plain.toLowerCase();
  const found = SINKS.find(
    ({ address, coded }) => lower.includes(address) || coded.some((mark) => plain.includes(mark)),
  );
  return found?.name ?? null;
}

/** The reason to refuse the page; null where there is none. */
export function leak(page: PageFacts, path: string, own: OwnHost, code: PageCode): string | null {
  const risk = page.controls.flatMap(({ risks }) => risks).find((one) => one === "password" || one === "seed");
  if (!risk) return null;
  const mails = page.forms.some(
    ({ action }) => action && destinationOf(action, [addressOfPage(path)], own).kind === "mail",
  );
  if (mails) return `it asks for ${RISK_NAMES[risk]} and has a form that sends by e-mail`;
  const sink = code.find(page, path, sinkIn);
  return sink === null ? null : `it asks for ${RISK_NAMES[risk]} and has the address of ${sink}`;
}
