/** Takes the reader to a passage. The element that holds it can have the focus until the focus leaves it, so that
 *  people who listen or type go on from there. Esc goes back. */
import { elementOf } from "./parts.ts";
import { isSheet } from "./room.ts";

interface Jump {
  range: Range;
  panel: HTMLElement;
  back(): void;
}

export function jumpTo({ range, panel, back }: Jump): void {
  const element = elementOf(range) as HTMLElement | null;
  if (!element) return;
  const ending = new AbortController();
  const { signal } = ending;
  const had = element.hasAttribute("tabindex");
  if (!had) element.tabIndex = -1;
  const end = (): void => {
    ending.abort();
    if (!had) element.removeAttribute("tabindex");
  };
  element.focus({ preventScroll: true });
  element.addEventListener("blur", end, { signal });
  document.addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Escape") return;
      end();
      back();
    },
    { signal, capture: true },
  );
  scrollTo(range, panel);
}

const SEEN_AT = 0.28;
const MARGIN = 16;

/** The part of the window's height in which a passage is seen: below what a page keeps at the top, above the sheet. */
function seenIn(panel: HTMLElement): { top: number; bottom: number } {
  const above = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;
  const bottom = !panel.hidden && isSheet(panel) ? panel.getBoundingClientRect().top : innerHeight;
  return { top: Math.min(Math.max(above, MARGIN), bottom / 2), bottom: bottom - MARGIN };
}

/** Scrolls only if it must. */
export function reveal(range: Range, panel: HTMLElement): void {
  const { top, bottom } = range.getBoundingClientRect();
  const seen = seenIn(panel);
  if (top < seen.top || bottom > seen.bottom) scrollTo(range, panel);
}

export function scrollTo(range: Range, panel: HTMLElement): void {
  const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth";
  const seen = seenIn(panel);
  const lowest = seen.bottom - range.getBoundingClientRect().height;
  const wanted = Math.max(seen.top, Math.min(innerHeight * SEEN_AT, lowest));
  const element = elementOf(range);
  element?.scrollIntoView({ block: "nearest", behavior: "instant" });
  // Boxes that scroll around the passage are scrolled too, each only so far that the passage stays inside it.
  for (let one = element?.parentElement; one && one !== document.body; one = one.parentElement) {
    const above = range.getBoundingClientRect().top - Math.max(wanted, one.getBoundingClientRect().top);
    if (above > 0) one.scrollTop += above;
  }
  scrollBy({ top: range.getBoundingClientRect().top - wanted, behavior });
}
