/** Addresses that mean the widget: of one comment, and of the owner's one-time code. */
import type { Quote } from "../anchoring/quote.ts";

export const threadInHash = (): string | null => /^#svc-(c_[\w-]+)/.exec(location.hash)?.[1] ?? null;

const pageAddress = (): string => location.origin + location.pathname + location.search;

/** The code is taken out of the address at once: no history and no copied link has it. A comment that is named behind it stays. */
export function takeOwnerCode(): string | null {
  const [, code = null, comment] = /^#svc-owner=([\w-]+)&?(.*)/.exec(location.hash) ?? [];
  if (code) history.replaceState(history.state, "", pageAddress() + (comment && `#${comment}`));
  return code;
}

const LONGEST = 120;
/** A hyphen parts the terms of a text directive. */
const term = (text: string): string => encodeURIComponent(text).replaceAll("-", "%2D");

/** A passage as browsers find it by themselves, whether or not there is a script. */
function textDirective({ exact }: Quote): string {
  if (exact.length <= LONGEST) return `:~:text=${term(exact)}`;
  const words = exact.split(" ");
  return `:~:text=${term(words.slice(0, 4).join(" "))},${term(words.slice(-4).join(" "))}`;
}

export function linkTo(id: string, quote: Quote | null): string {
  return `${pageAddress()}#svc-${id}${quote ? textDirective(quote) : ""}`;
}
