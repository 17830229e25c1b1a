/** The mark, an opened box that something rises out of: in the banner, and as a file of its own the icon of the tab. */
import { html } from "../html/template.ts";

const MARK_SHAPES = html`<rect width="26" height="26" rx="6" fill="#176b5b" />
  <path
    fill="#fff"
    d="M6.5 11h3.2v2h6.6v-2h3.2a1 1 0 0 1 1 1v6.5a1.5 1.5 0 0 1-1.5 1.5H7a1.5 1.5 0 0 1-1.5-1.5V12a1 1 0 0 1 1-1z"
  />
  <path
    fill="none"
    stroke="#fff"
    stroke-width="1.8"
    stroke-linecap="round"
    stroke-linejoin="round"
    d="M13 12V5.5m-2.6 2.6L13 5.5l2.6 2.6"
  />`;
export const MARK = html`<svg viewBox="0 0 26 26" width="26" height="26" aria-hidden="true" focusable="false">
  ${MARK_SHAPES}
</svg>`;
export const MARK_FILE = html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 26 26">${MARK_SHAPES}</svg>`.text;
