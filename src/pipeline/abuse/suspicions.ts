/** What makes a page suspicious without proof: it is warned of, and on an anonymous site it starts a quarantine. */
import { borrowedBrand } from "./borrowed-brand.ts";
import { isBelow } from "./brands.ts";
import { fakeCheck, pastedCommand } from "./clipboard.ts";
import { collectingScript, collectingService } from "./collectors.ts";
import { hostOf } from "./destinations.ts";
import { hiddenPage } from "./hidden-pages.ts";
import { probeFor } from "./page-code.ts";
import { builtProgram, program } from "./programs.ts";
import { fastRedirect } from "./redirects.ts";
import type { Look } from "./signal.ts";
import { recoveryPhrase, walletKey } from "./wallets.ts";
import { writtenForm } from "./written-forms.ts";

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
