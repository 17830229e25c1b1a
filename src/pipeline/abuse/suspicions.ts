/** What makes a page suspicious without proof: it is warned of, and on an anonymous site it starts a quarantine. */
import { borrowedBrand } from "./borrowed-brand.ts";
import { isBelow } from "./brands.ts";
import { typeOf } from "./fields.ts";
import { probeFor } from "./page-code.ts";
import { program } from "./programs.ts";
import type { Look } from "./signal.ts";
import { basesOf, destination, hostOf } from "./destinations.ts";
import { RECOVERY_PHRASE } from "./words.ts";

/** Characters of text between a form and the words that explain it. */
const NEAR = 800;
/** A wallet's words go into plain fields. */
const PLAIN = new Set(["", "text", "password"]);
const OTHER_TEXT = /comment|message|feedback|review|question|nachricht|kommentar/i;

/** Where in the rising `places` those from `least` on begin. */
function firstFrom(places: readonly number[], least: number): number {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle]! < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

const recoveryPhrase: Look = ({ page }) => {
  const spoken = [...page.text.matchAll(RECOVERY_PHRASE)].map((found) => found.index);
  if (spoken.length === 0) return null;
  const near = page.controls.filter(({ at }) => {
    const next = spoken[firstFrom(spoken, at - NEAR)];
    return next !== undefined && next <= at + NEAR;
  });
  const words = near.filter((control) => control.name === "input" && PLAIN.has(typeOf(control))).length;
  const area = near.some(
    (control) =>
      control.name === "textarea" &&
      !OTHER_TEXT.test([...control.attributes.values(), ...control.labels].join(" ").slice(0, 2000)),
  );
  if (words < 12 && !area) return null;
  return {
    name: "recovery_phrase",
    why: "asks for the recovery phrase of a wallet",
    fix: "Take the fields for a recovery phrase out, for no honest service asks for one",
  };
};

const PAYMENT =
  `stripe.com stripe.network paypal.com paypalobjects.com paddle.com braintreegateway.com adyen.com braintree-api.com
  squareup.com squarecdn.com checkout.com mollie.com klarna.com razorpay.com worldpay.com authorize.net
  2checkout.com lemonsqueezy.com recurly.com chargebee.com gocardless.com`.split(/\s+/);

const cardFields: Look = ({ page }) => {
  const asked = new Set(page.controls.flatMap(({ risks }) => risks));
  if (!asked.has("card") || !asked.has("cvv")) return null;
  const addresses = [...page.scripts, ...page.frames.flatMap(({ address }) => address ?? [])];
  if (addresses.some((address) => isBelow(hostOf(address), PAYMENT))) return null;
  return {
    name: "card_fields",
    why: "asks for a card number and its security code itself, without the frame of a payment service",
    fix: "Let a payment service's own frame or page ask for the card",
  };
};

/** Visible characters of a page that only passes visitors on. */
const LITTLE_TEXT = 400;
const SOON_S = 5;
const MOVE =
  /(?:^|[^\w$.])(?:(?:window|document|self|top|parent|globalThis)\s*\.\s*)?location(?:\s*\.\s*href)?\s*=\s*["'`]([^"'`]{1,2000})|location\s*\.\s*(?:replace|assign)\s*\(\s*["'`]([^"'`]{1,2000})/g;
const DELAY = /,\s*(\d{1,9})\s*\)/g;

const fastRedirect: Look = ({ page, path, own, budget }) => {
  if (page.text.length > LITTLE_TEXT) return null;
  const refreshes = page.refreshes.flatMap((content) => {
    const [, seconds = "0", address = ""] =
      /^\s*(\d*)[\d.]*\s*[;,]?\s*(?:url\s*=\s*)?["']?([^"']*)/i.exec(content) ?? [];
    return Number(seconds) <= SOON_S ? [address] : [];
  });
  const moves = [...page.code, ...page.events].flatMap((code) => {
    const delays = code.includes("setTimeout") ? [...code.matchAll(DELAY)].map((found) => Number(found[1])) : [];
    if (delays.length > 0 && Math.min(...delays) > SOON_S * 1000) return [];
    return [...code.matchAll(MOVE)].map((found) => found[1] ?? found[2]!);
  });
  const bases = basesOf(page.bases, path);
  const other = new Set([...refreshes, ...moves])
    .values()
    .map((address) => {
      budget.step();
      return destination(address, bases, own);
    })
    .find(({ kind }) => kind === "other");
  if (other?.kind !== "other") return null;
  return {
    name: "fast_redirect",
    why: `shows next to nothing and sends its visitors on to ${other.where}`,
    fix: "Say on the page where it leads, and let visitors follow a link",
  };
};

const HUMAN =
  /verify (?:that )?you(?:'|’| a)re (?:a )?human|verify you are not a robot|prove (?:that )?you(?:'|’| a)re (?:a )?human|human verification|i(?:'|’| a)m not a robot/i;
const writesClipboard = probeFor(/clipboard\s*(?:\?\.|\.)\s*write|execCommand\s*\(\s*["'`]copy/);
const asksForHuman = probeFor(HUMAN);

const fakeCheck: Look = ({ page, path, code }) => {
  const asks = HUMAN.test(page.text) || HUMAN.test(page.title) || code.find(page, path, asksForHuman) !== null;
  if (!asks || code.find(page, path, writesClipboard) === null) return null;
  return {
    name: "fake_human_check",
    why: "asks visitors to prove that they are human and writes to their clipboard",
    fix: "Take out the check or the code that writes to the clipboard",
  };
};

const hidesCode = probeFor(
  /\beval\s*\(\s*(?:window\s*\.\s*)?atob\s*\(|\bFunction\s*\(\s*(?:window\s*\.\s*)?atob\s*\(|\bunescape\s*\(\s*["'`][^"'`]{300}/,
);
const blocksMenu = probeFor(
  /oncontextmenu\s*=\s{0,20}["'`]?[^>]{0,100}(?:return\s+false|preventDefault|=>\s*false)|["'`]contextmenu["'`]\s*,[\s\S]{0,200}?(?:preventDefault|return\s+false)|\.button\s*===?\s*2\b/i,
);

const hiddenCode: Look = ({ page, path, code }) => {
  if (code.find(page, path, hidesCode) === null || code.find(page, path, blocksMenu) === null) return null;
  return {
    name: "hidden_code",
    why: "runs code that it hides and keeps visitors from the menu that would show it",
    fix: "Ship the code as it is, and leave the right mouse button alone",
  };
};

export const SIGNALS: readonly Look[] = [
  borrowedBrand,
  recoveryPhrase,
  cardFields,
  fastRedirect,
  fakeCheck,
  hiddenCode,
  program,
];
