/** Icons as lines in the text's colour. Each stands beside a word and is silent to screen readers. */
import { html, type Html } from "../html/template.ts";

/** The mark: an opened box that something rises out of. Also a file of its own, as the tab's icon. */
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

/** Paths on a square of 20, a stroke wide. */
const ICONS = {
  folder:
    "M2.5 5.2c0-.9.6-1.5 1.5-1.5h3.4l1.9 2.2H16c.9 0 1.5.6 1.5 1.5v7.4c0 .9-.6 1.5-1.5 1.5H4c-.9 0-1.5-.6-1.5-1.5zM10 13.6V9m-1.9 1.8L10 9l1.9 1.8",
  check: "M4.5 10.5l3.6 3.6 7.4-8",
  warning: "M10 3.2l7.3 12.9H2.7zM10 8v3.6m0 2.3v.1",
  info: "M10 2.8a7.2 7.2 0 1 0 0 14.4 7.2 7.2 0 0 0 0-14.4zM10 9v4.5M10 6.4v.1",
  copy: "M7.3 7.3h9v9h-9zM3.9 12.7V3.9h8.8",
  share: "M10 12.5V3.5M6.8 6.5L10 3.5l3.2 3M4.5 10.5v5.6h11v-5.6",
  comment: "M3.5 4.5h13v9H9.2L5.8 16.6v-3.1H3.5zM6.8 7.6h6.4M6.8 10.4h4",
  search: "M8.7 3.5a5.2 5.2 0 1 0 0 10.4 5.2 5.2 0 0 0 0-10.4zM12.6 12.6l4 4",
} as const;
export type IconName = keyof typeof ICONS;

export const icon = (name: IconName, size = 20): Html =>
  html`<svg
    viewBox="0 0 20 20"
    width="${size}"
    height="${size}"
    fill="none"
    stroke="currentColor"
    stroke-width="1.6"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    <path d="${ICONS[name]}" />
  </svg>`;
