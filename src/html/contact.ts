/** `SVC_CONTACT`, an address or a URL, as something to press; other words stay words. */
import { html, type Html } from "./template.ts";

export function contactLink(contact: string): Html | string {
  if (/^https?:\/\//i.test(contact)) return html`<a href="${contact}">${contact}</a>`;
  return /^[^\s@/]+@[^\s@/]+$/.test(contact) ? html`<a href="mailto:${contact}">${contact}</a>` : contact;
}
