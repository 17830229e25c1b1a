/** A page that asks for what opens a wallet: the words of its recovery phrase, its key, its keystore. */
import type { PageFacts } from "./facts.ts";
import { isTyped, saidOf, typeOf } from "./fields.ts";
import type { Look } from "./signal.ts";
import { asksForWalletKey, RECOVERY_PHRASE, WALLET } from "./words.ts";

/** Characters of text between a field and the words that explain it. */
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

/** The fields near what `words` finds in the text. */
function fieldsNear({ text, controls }: PageFacts, words: RegExp): PageFacts["controls"] {
  const spoken = [...text.matchAll(words)].map((found) => found.index);
  if (spoken.length === 0) return [];
  return controls.filter(({ at }) => {
    const next = spoken[firstFrom(spoken, at - NEAR)];
    return next !== undefined && next <= at + NEAR;
  });
}

export const recoveryPhrase: Look = ({ page }) => {
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

export const walletKey: Look = ({ page }) => {
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
