/** Takes the reader to a passage. The element that holds it can have the focus until the focus leaves it, so that
 *  people who listen or type go on from there. Esc goes back. */
import { elementOf } from "./parts.ts";

interface Jump {
  range: Range;
  back(): void;
}

export function jumpTo({ range, back }: Jump): void {
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
  scrollTo(range);
}

/** From the top: a sheet may cover what is below the middle. */
const SEEN_AT = 0.28;

export function scrollTo(range: Range): void {
  const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth";
  const wanted = innerHeight * SEEN_AT;
  const element = elementOf(range);
  element?.scrollIntoView({ block: "nearest", behavior: "instant" });
  // Boxes that scroll around the passage are scrolled too, each only so far that the passage stays inside it.
  for (let one = element?.parentElement; one && one !== document.body; one = one.parentElement) {
    const above = range.getBoundingClientRect().top - Math.max(wanted, one.getBoundingClientRect().top);
    if (above > 0) one.scrollTop += above;
  }
  scrollBy({ top: range.getBoundingClientRect().top - wanted, behavior });
}
