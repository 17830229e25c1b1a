/** Light or dark as the page is, whatever it says about itself: a panel in the other one hurts the eyes. */

const LIGHT_FROM = 0.4;

/** 0 to 1; null where nothing is painted, or in words that are not known here. */
function lightness(colour: string): number | null {
  const [a = 0, b = 0, c = 0, alpha = 1] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  if (alpha < 0.5) return null;
  if (colour.startsWith("rgb")) return (0.299 * a + 0.587 * b + 0.114 * c) / 255;
  return colour.startsWith("okl") ? a : null;
}

/** Whether the page's lines begin at the right: some say so of the body alone. */
export const isRightToLeft = (): boolean => getComputedStyle(document.body).direction === "rtl";

export function isDark(): boolean {
  const root = document.documentElement;
  for (const element of [document.body, root]) {
    const seen = lightness(getComputedStyle(element).backgroundColor);
    if (seen !== null) return seen < LIGHT_FROM;
  }
  // Nothing is painted: it is the browser's own paper, dark where the page allows that and the reader wants it.
  const scheme = getComputedStyle(root).colorScheme;
  if (!scheme.includes("dark")) return false;
  return !scheme.includes("light") || matchMedia("(prefers-color-scheme: dark)").matches;
}
