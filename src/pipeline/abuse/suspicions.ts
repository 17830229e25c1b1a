/** Signs that make a page suspicious without proof: the deploy warns of them, and on an anonymous site they start a
 *  quarantine. */

import { asBrowser } from "../../html/foreign.ts";
import { partsOf } from "../../html/page.ts";
import { borrowedBrand } from "./borrowed-brand.ts";
import { isBelow } from "./brands.ts";
import { collectingScript, collectingService } from "./collectors.ts";
import { foreignForm, hostOf, secretsSent } from "./destinations.ts";
import { asksForWalletKey, isTyped, type PageFacts, RECOVERY_PHRASE, saidOf, typeOf, WALLET } from "./facts.ts";
import { hiddenPage } from "./hidden-pages.ts";
import { builtProgram, program } from "./programs.ts";
import { ownScripts, type PageCode, probeFor } from "./page-code.ts";
import { readPage } from "./page.ts";
import { fastRedirect } from "./redirects.ts";
import { readScript, type Script } from "./script.ts";
import type { Judged, Look } from "./signal.ts";

// Pages that put a command on their visitors' clipboard and have them run it.

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

const RUN_KEYS =
  /(?:\bwin(?:dows)?(?:\s{1,9}(?:logo\s{1,9})?(?:key|button))?|⊞)\s{0,9}(?:\+|plus|and|-)\s{0,9}["'“‘]?r\b/i;
const PASTE_KEYS = /\b(?:ctrl|control)\s{0,9}(?:\+|plus|and|-)\s{0,9}["'“‘]?v\b/i;

/** Whether a page says it, or a script in it has it to say. */
const says = ({ text, code }: PageFacts, keys: RegExp): boolean =>
  keys.test(text) || code.some((script) => keys.test(script));

const pastedCommand: Look = ({ page, path, code }) => {
  if (!says(page, RUN_KEYS) || !says(page, PASTE_KEYS) || code.find(page, path, writesClipboard) === null) return null;
  return {
    name: "pasted_command",
    why: "writes to the clipboard and has visitors paste it where Windows runs it",
    fix: "Take out the code that writes to the clipboard, and show the command as text",
  };
};

// Pages that ask for the key of a wallet: the words of its recovery phrase, its key, its keystore.

/** Characters of text between a field and the words that explain it. */
const NEAR = 800;
/** A wallet's words go into plain fields. */
const PLAIN = new Set(["", "text", "password"]);
const OTHER_TEXT = /comment|message|feedback|review|question|nachricht|kommentar/i;

/** The index of the first of the rising `places` that is at least `least`. */
function firstFrom(places: readonly number[], least: number): number {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle]! < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The fields near what `words` finds in the text. */
function fieldsNear({ text, controls }: PageFacts, words: RegExp): PageFacts["controls"] {
  const spoken = [...text.matchAll(words)].map((found) => found.index);
  if (spoken.length === 0) return [];
  return controls.filter(({ at }) => {
    const next = spoken[firstFrom(spoken, at - NEAR)];
    return next !== undefined && next <= at + NEAR;
  });
}

const recoveryPhrase: Look = ({ page }) => {
  const near = fieldsNear(page, RECOVERY_PHRASE);
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

const walletKey: Look = ({ page }) => {
  const asking = page.controls.filter(
    (control) =>
      isTyped(control) && !control.attributes.has("readonly") && asksForWalletKey(saidOf(control, page.labels)),
  );
  if (asking.length === 0) return null;
  const said = asking.flatMap((control) => saidOf(control, page.labels)).join(" ");
  const near = new Set(fieldsNear(page, WALLET));
  if (!asking.some((control) => near.has(control)) && `${page.title} ${said}`.search(WALLET) < 0) return null;
  return {
    name: "wallet_key",
    why: "asks for the private key or the keystore of a wallet",
    fix: "Take the field for the key out, for no honest service asks for one",
  };
};

// A form that a script writes in plain words, asks for a secret and sends it to another domain. Decoded markup is
// hidden, and refused as if it were in the page; markup in plain words may be an example that no script writes into a
// page.

/** Bytes of an uploaded file from which on it is a program's, not a page's. */
const LARGE_FILE = 200_000;
/** Code that puts markup into a page. */
const WRITES =
  /\bdocument\s{0,9}\.\s{0,9}write(?:ln)?\b|\b(?:inner|outer)HTML\b|\binsertAdjacentHTML\b|\bcreateContextualFragment\b|\bsetHTML(?:Unsafe)?\b|\bsrcdoc\b|\bcreateObjectURL\b|\bDOMParser\b|\.\s{0,9}(?:html|append|prepend|after|before|replaceWith)\s{0,9}\(/;
const MARKUP = /<[a-z/!]/i;
const FORM = /<form[\s/]/i;

/** All markup of a script, in its order, because it may be written in pieces. Null if the script writes no form. */
function markupOf({ code, literals }: Script): string | null {
  if (!WRITES.test(code)) return null;
  const markup = literals.filter((text) => MARKUP.test(text));
  return markup.some((text) => FORM.test(text)) ? markup.join("\n") : null;
}

const ofFile = (code: string): string | null =>
  code.length > LARGE_FILE || !FORM.test(code) ? null : markupOf(readScript(code));

/** A file's, which a hundred pages may load, is read once for all. */
const known = new WeakMap<PageCode, Map<string, PageFacts>>();

function reasonOf(markup: string, { page, path, own, code, budget }: Judged): string | null {
  const written = known
    .getOrInsertComputed(code, () => new Map())
    .getOrInsertComputed(markup, () => readPage(partsOf(markup, asBrowser()), budget));
  const bases = [...page.bases, ...written.bases];
  return foreignForm(secretsSent({ ...written, bases }, path, own, budget));
}

const writtenForm: Look = (judged) => {
  const { page, path, code } = judged;
  const inline = page.runs.some((text) => FORM.test(text)) || page.handlers.length + page.scripts.length > 0;
  const own = inline ? ownScripts(page).flatMap((script) => markupOf(script) ?? []) : [];
  for (const markup of new Set([...own, ...code.inFiles(page, path, ofFile)])) {
    const reason = reasonOf(markup, judged);
    if (reason === null) continue;
    return {
      name: "written_form",
      why: `has a script that writes a form: ${reason}`,
      fix: "Let the form send to an address of the site itself",
    };
  }
  return null;
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
  collectingScript,
  collectingService,
  writtenForm,
  recoveryPhrase,
  walletKey,
  cardFields,
  fastRedirect,
  hiddenPage,
  fakeCheck,
  pastedCommand,
  hiddenCode,
  program,
  builtProgram,
];
