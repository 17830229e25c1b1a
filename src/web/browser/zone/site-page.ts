/** After a deploy on a site's own page, loads the page again with the receipt that the server keeps. The server never
 *  saw the files that were left out, so this page passes their names to the next one. */
import { type Deployed, leftOut } from "./receipt.ts";

const KEY = "svc-left-out";

export function showVersion({ site_id, version_id }: Deployed, unchanged: boolean, left_out: readonly string[]): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ site_id, version_id, left_out }));
  } catch {
    // Without storage the page does without that line.
  }
  location.assign(`/dashboard/sites/${site_id}?done=${unchanged ? "unchanged" : "deployed"}`);
}

interface LeftOutNote {
  site_id: string;
  left_out: unknown[];
}

function told(): LeftOutNote | null {
  try {
    const text = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    const value = JSON.parse(text ?? "null") as Partial<LeftOutNote> | null;
    return typeof value?.site_id === "string" && Array.isArray(value.left_out) ? (value as LeftOutNote) : null;
  } catch {
    return null;
  }
}

/** "Share" in the receipt that the server wrote: shown if the system has a way to share. */
export function shareHere(): void {
  for (const pressed of document.querySelectorAll<HTMLButtonElement>("button[data-share]")) {
    const url = document.querySelector<HTMLAnchorElement>(`#${pressed.dataset["share"]}`)?.href;
    // The person may think better of it.
    if (url !== undefined) pressed.addEventListener("click", () => void navigator.share({ url }).catch(() => {}));
  }
}

/** "Left out: …" in the receipt of the deploy that led here. It is a custom element, which the line replaces: the
 *  parser does this before anything below is laid out, so nothing moves. */
export class LeftOut extends HTMLElement {
  connectedCallback(): void {
    const found = told();
    const here = found !== null && location.pathname === `/dashboard/sites/${found.site_id}`;
    const line = here && leftOut(found.left_out.filter((path) => typeof path === "string"));
    if (line) this.replaceWith(line);
  }
}
