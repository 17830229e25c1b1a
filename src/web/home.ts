/** `/`: what svc is in a sentence, the drop zone, and the same from a terminal (WEB 3). */
import type { Refusal } from "../base/errors.ts";
import { html, type Html } from "../html/template.ts";
import type { Ctx } from "../routes/context.ts";
import { PREVIEW_PATH } from "./assets.ts";
import { answerPage } from "./frame.ts";
import { command } from "./parts.ts";
import { ahead } from "./wording/amounts.ts";
import { publishRegion, zoneHead } from "./zone.ts";

const TITLE = "Drop a folder, get a live URL";

/** Where the server keeps the newest version alone, there is nothing to go back to. */
const sentence = ({ anonymous_ttl, keep_versions }: Ctx["parts"]["config"]): string =>
  `A website in a second: ${ahead(anonymous_ttl)} without an account, for good with one. ` +
  `Every deploy tells you what would break${keep_versions === 1 ? "." : ", and can be taken back."}`;

function head(base_url: string, description: string): Html {
  const url = `${base_url}/`;
  return html`<meta name="description" content="${description}" />
    <link rel="canonical" href="${url}" />
    <meta property="og:type" content="website" />
    <meta property="og:url" content="${url}" />
    <meta property="og:title" content="svc: ${TITLE}" />
    <meta property="og:description" content="${description}" />
    <meta property="og:image" content="${base_url + PREVIEW_PATH}" />
    <meta property="og:image:width" content="1200" />
    <meta property="og:image:height" content="630" />
    <meta property="og:image:alt" content="${TITLE}" />
    <meta name="theme-color" content="#ffffff" media="(prefers-color-scheme: light)" />
    <meta name="theme-color" content="#14181a" media="(prefers-color-scheme: dark)" />
    <link rel="manifest" href="/manifest.webmanifest" />`;
}

/** A deploy without a client of ours, in two lines. */
export const curl = (base_url: string): string =>
  `(cd my-site && zip -qr ../site.zip .)\ncurl --data-binary @site.zip -H 'Content-Type: application/zip' ${base_url}/sites`;

const fromATerminal = (base_url: string): Html =>
  html`<section class="section" aria-labelledby="terminal">
    <h2 id="terminal">From a terminal</h2>
    ${command("with-svc", "svc ./my-site")} ${command("with-curl", curl(base_url))}
  </section>`;

/** `GET /`. */
export const showHome = async (ctx: Ctx): Promise<Response> => homePage(ctx);

/** `refusal`: why what came by its form was not published. */
export function homePage(ctx: Ctx, refusal?: Refusal): Response {
  const { config } = ctx.parts;
  const { base_url } = config;
  const said = sentence(config);
  const body = html`<div class="hero">
      <h1>${TITLE}</h1>
      <p>${said}</p>
    </div>
    ${publishRegion(ctx, refusal)} ${fromATerminal(base_url)}`;
  return answerPage(ctx, {
    title: TITLE,
    home: true,
    body,
    head: html`${head(base_url, said)} ${zoneHead()}`,
    refusal,
    scripts: ["copy"],
    width: "list",
    index: true,
  });
}
