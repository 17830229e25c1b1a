/** Reject 2: a page that asks for a password or a recovery phrase and knows a bot or a webhook to hand it to. */
import type { PageCode } from "./page-code.ts";
import { type PageFacts, RISK_NAMES } from "./facts.ts";

/** The part of an address that Base64 always shows, for each of the three places where it can begin. */
const inBase64 = (address: string): string[] =>
  [0, 1, 2].map((lead) => {
    const coded = Buffer.from("\0".repeat(lead) + address).toString("base64");
    return coded.slice(Math.ceil((lead * 4) / 3), -4);
  });

/** A host may end in a dot and have a port. Telegram's host is only for bots: their path may be written elsewhere. */
const SINKS = (
  [
    ["a Telegram bot", /api\.telegram\.org/i, "api.telegram.org", "/bot"],
    [
      "a Discord webhook",
      /discord\.com\.?(?::443)?\/{1,9}api\/(?:v\d{1,3}\/)?webhooks/i,
      "discord.com",
      "/api/webhooks",
    ],
    [
      "a Discord webhook",
      /discordapp\.com\.?(?::443)?\/{1,9}api\/(?:v\d{1,3}\/)?webhooks/i,
      "discordapp.com",
      "/api/webhooks",
    ],
  ] as const
).map(([name, address, host, path]) => ({ name, address, coded: [host + path, `//${host}`].flatMap(inBase64) }));

/** Code as it runs: escapes read, strings that are put together joined. */
const plainCode = (code: string): string =>
  code
    .replace(/\\(?:x([\da-f]{2})|u([\da-f]{4})|u\{([\da-f]{1,6})\})/gi, (whole, a, b, c) => {
      const point = parseInt(a ?? b ?? c, 16);
      return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
    })
    .replace(/\\([0-3]?[0-7]{2})/g, (_, octal) => String.fromCharCode(parseInt(octal, 8)))
    .replace(/\\\r?\n/g, "")
    .replace(/\\([^\w\s"'`])/g, "$1")
    .replace(/["'`]\s{0,20}\+\s{0,20}["'`]/g, "");

/** The sink that code names. Null if there is none. */
function sinkIn(code: string): string | null {
  if (code === "") return null;
  const plain = plainCode(code);
  const found = SINKS.find(({ address, coded }) => address.test(plain) || coded.some((mark) => plain.includes(mark)));
  return found?.name ?? null;
}

/** The reason to refuse the page. Null if there is none. */
export function leak(page: PageFacts, path: string, code: PageCode): string | null {
  const risk = page.controls.flatMap(({ risks }) => risks).find((one) => one === "password" || one === "seed");
  const sink = risk && code.find(page, path, sinkIn);
  return risk && sink ? `it asks for ${RISK_NAMES[risk]} and has the address of ${sink}` : null;
}
