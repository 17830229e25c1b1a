/** Light or dark as the page is, whatever it says about itself: a panel in the other one hurts the eyes. */

const LIGHT_FROM = 0.4;
/** The lightness above which letters count as light: grey letters are used on white, too. */
const LIGHT_INK = 0.6;

/** From 0 to 1; null if nothing is painted, or if the colour is in a notation that this function does not know. */
function lightness(colour: string): number | null {
  const [a = 0, b = 0, c = 0, alpha = 1] = (colour.match(/\b[\d.]+/g) ?? []).map(Number);
  if (alpha < 0.5) return null;
  if (/^(rgb|color)/.test(colour)) return (0.299 * a + 0.587 * b + 0.114 * c) / (colour[0] === "r" ? 255 : 1);
  return colour.startsWith("okl") ? a : null;
}

/** A pixel of the widget's sheets in pixels of the page (style/index.ts). */
export const unit = (): number =>
  Math.min(32, Math.max(16, parseFloat(getComputedStyle(document.documentElement).fontSize))) / 16;

/** Whether the page's lines begin at the right: some say so of the body alone. */
export const isRightToLeft = (): boolean => getComputedStyle(document.body).direction === "rtl";

export function isDark(): boolean {
  const { body, documentElement } = document;
  for (const element of [body, documentElement]) {
    const seen = lightness(getComputedStyle(element).backgroundColor);
    if (seen !== null) return seen < LIGHT_FROM;
  }
  // The background is a picture, or the browser's own paper: light letters mean a dark background.
  return (lightness(getComputedStyle(body).color) ?? 0) > LIGHT_INK;
}
