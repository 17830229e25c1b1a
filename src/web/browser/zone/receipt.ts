/** The receipt (WEB 4.6) in the browser: of a deploy that this page made, from the API's JSON; and after a deploy on a site's
 *  own page that page again, with the receipt that the server keeps. The server never saw what was left out, so one page
 *  hands the names to the next. */
import type { Healed, Warning } from "../../../base/types.ts";
import { html, type Html } from "../../../html/template.ts";
import { readFigures, type ReceiptFigures } from "../../../base/receipt-figures.ts";
import { aboutSite, figuresPart, forPrograms, receiptRegion, sizeLine } from "../../receipt.ts";
import { hearCopies } from "../copying.ts";
import { made } from "./dom.ts";
import type { Answer } from "./refusals.ts";
import { day } from "./words.ts";

/** The answer of `POST /sites` and `POST /sites/:id/deploys`. */
export interface Deployed {
  url: string;
  site_id: string;
  slug: string;
  version_id: string;
  /** Epoch milliseconds; null when owned. */
  expires_at: number | null;
  manage_token: string;
  claim_url?: string;
  healed: Healed[];
  warnings: Warning[];
  /** Null for a server, or a proxy before it, that says none. */
  figures: ReceiptFigures | null;
}

/** An answer of another kind (a proxy's, another program's on the port) is none. */
export function deployedIn({ body, receipt }: Pick<Answer, "body" | "receipt">): Deployed | null {
  const { url, site_id, version_id, healed, warnings } = body as Partial<Deployed>;
  const texts = [url, site_id, version_id].every((value) => typeof value === "string");
  return texts && /^https?:\/\//.test(url!) && Array.isArray(healed) && Array.isArray(warnings)
    ? { ...(body as unknown as Deployed), figures: readFigures(receipt) }
    : null;
}

const leftOut = (paths: readonly string[]): Html | false =>
  paths.length > 0 &&
  html`<p class="small dim">
    Left out: ${paths.map((path, i) => html`${i > 0 && ", "}<code dir="auto">${path}</code>`)}
  </p>`;

/** A day in the reader's time zone. */
const onDay = (iso: string, now: number): Html => html`<time datetime="${iso}">${day(Date.parse(iso), now)}</time>`;

/** "Share" is seen where the system has a way to share. */
function hearShares(region: ParentNode): void {
  for (const pressed of region.querySelectorAll<HTMLButtonElement>("button[data-share]")) {
    const url = document.querySelector<HTMLAnchorElement>(`#${pressed.dataset["share"]}`)?.href;
    // The person may think better of it.
    if (url !== undefined) pressed.addEventListener("click", () => void navigator.share({ url }).catch(() => {}));
  }
}

/** In the receipt that the server wrote. Its copying is heard by the script of that name. */
export const shareHere = (): void => hearShares(document);

interface Shown {
  deployed: Deployed;
  heading: string;
  left_out: readonly string[];
  /** "Publish another". */
  again(): void;
}

/** Puts the receipt of a deploy behind `before`, with the focus on its heading. */
export function showReceipt(before: Element, { deployed, heading, left_out, again }: Shown): void {
  const { healed, warnings, figures } = deployed;
  const size = figures && sizeLine(figures, figures.ms);
  const region = made(
    receiptRegion({
      heading,
      about: aboutSite(deployed, { now: Date.now(), onDay, size, left_out: leftOut(left_out) }),
      live: true,
      notes: { healed, warnings },
      figures: figures && figuresPart(figures, warnings.length),
      more: html`${forPrograms(deployed)}
        <p><button type="button" class="button" data-again>Publish another</button></p>`,
      focus: false,
    }),
  );
  before.after(region);
  hearCopies(region);
  hearShares(region);
  region.querySelector("[data-again]")!.addEventListener("click", () => {
    region.remove();
    again();
  });
  region.querySelector("h2")!.focus();
  region.scrollIntoView({ block: "nearest" });
}

const KEY = "svc-left-out";

/** Opens the page of the site, which shows the receipt. */
export function showVersion(
  { site_id, version_id, figures }: Deployed,
  unchanged: boolean,
  left_out: readonly string[],
): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ site_id, version_id, left_out }));
  } catch {
    // Without storage the page does without that line.
  }
  const took = figures && !unchanged ? `&ms=${figures.ms}` : "";
  location.assign(`/dashboard/sites/${site_id}?done=${unchanged ? "unchanged" : "deployed"}${took}`);
}

/** The names that the page before handed on, if they are of the site of this page. */
function handedOn(): string[] {
  try {
    const text = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    const { site_id, left_out } = JSON.parse(text ?? "{}") as { site_id?: unknown; left_out?: unknown };
    const here = typeof site_id === "string" && location.pathname === `/dashboard/sites/${site_id}`;
    return here && Array.isArray(left_out) ? left_out.filter((path) => typeof path === "string") : [];
  } catch {
    return [];
  }
}

/** "Left out: …" in the receipt of the deploy that led here. It is a custom element, which the line replaces: the
 *  parser does this before anything below is laid out, so nothing moves. */
export class LeftOut extends HTMLElement {
  connectedCallback(): void {
    const line = leftOut(handedOn());
    if (line) this.replaceWith(made(line));
  }
}
