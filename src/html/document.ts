/** The frame around what the service writes on sites' hosts, and whom it names to turn to. */
import base from "./base.css" with { type: "text" };
import { compactCss } from "./compact-css.ts";
import ground from "./ground.css" with { type: "text" };
import { html, type Html, trusted } from "./template.ts";
import tokens from "./tokens.css" with { type: "text" };

const STYLE = compactCss(tokens + ground + base);

/** A whole document on a site's host: readable on a phone, in the dark, with a keyboard; no request of its own. */
export const document = (page: { title: string; style?: string; head?: Html; body: Html }): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${page.title}</title>
        <style>
          ${trusted(STYLE + (page.style ?? ""))}
        </style>
        ${page.head}
      </head>
      <body>
        <main>${page.body}</main>
      </body>
    </html> `.text;

/** `SVC_CONTACT`, an address or a URL, as something to press; other words stay words. */
export function contactLink(contact: string): Html | string {
  if (/^https?:\/\//i.test(contact)) return html`<a href="${contact}">${contact}</a>`;
  return /^[^\s@/]+@[^\s@/]+$/.test(contact) ? html`<a href="mailto:${contact}">${contact}</a>` : contact;
}
