/** `/`: what svc is in a sentence, the drop zone, and the same from a terminal (WEB 3). */
import { Refusal } from "../base/errors.ts";
import { html, type Html } from "../html/template.ts";
import { answerRedirect } from "../http/answers.ts";
import { isFileForm, openFileForm } from "../http/multipart.ts";
import { signedOut } from "../routes/caller.ts";
import type { Ctx, Route } from "../routes/context.ts";
import { createSiteByForm } from "../routes/deploys/deploy.ts";
import { isSessionEnded } from "../store/refusals.ts";
import { PREVIEW_PATH } from "./assets.ts";
import { answerPage } from "./frame.ts";
import { installLine, npxLine } from "./package.ts";
import { command, linkButton } from "./parts.ts";
import { readFigures } from "../base/receipt-figures.ts";
import { aboutSite, figuresPart, forPrograms, receiptRegion, sizeLine } from "./receipt.ts";
import { isShownAgain } from "./who.ts";
import { ahead } from "./browser/wording.ts";
import { onDay } from "./words.ts";
import { publishRegion, zoneHead } from "./zone.ts";

const TITLE = "Drop a folder, get a live URL";

/** If the server keeps only the newest version, there is no way back to promise. */
const sentence = ({ anonymous, anonymous_ttl, keep_versions }: Ctx["parts"]["config"]): string =>
  `Online in a second. ${anonymous === "off" ? "" : `${ahead(anonymous_ttl)} without an account, permanent with one. `}` +
  `Every upload is checked for broken links${keep_versions === 1 ? "." : ", and you can always go back."}`;

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

const fromATerminal = ({ base_url, anonymous }: Ctx["parts"]["config"]): Html =>
  anonymous === "off" ? signedInTerminal(base_url) : anyTerminal(base_url);

const signedInTerminal = (base_url: string): Html =>
  html`<section class="section" aria-labelledby="terminal">
    <h2 id="terminal">From a terminal</h2>
    <p class="dim">With Node 18 or later; <a href="/docs/cli">the manual</a> tells more:</p>
    ${command("with-svc", `${installLine(base_url)}\nsvc login\nsvc ./my-site`, "the commands that install svc")}
  </section>`;

const anyTerminal = (base_url: string): Html =>
  html`<section class="section" aria-labelledby="terminal">
    <h2 id="terminal">From a terminal</h2>
    <p class="dim">With Node 18 or later, and nothing to install:</p>
    ${command("with-npx", npxLine(base_url), "the npx command")}
    <p class="dim">To have <code>svc</code> at hand (<a href="/docs/cli">the manual</a> tells more):</p>
    ${command("with-svc", `${installLine(base_url)}\nsvc ./my-site`, "the commands that install svc")}
    <p class="dim">Without Node:</p>
    ${command("with-curl", curl(base_url), "the curl commands")}
  </section>`;

/** `GET /`. */
const showHome = async (ctx: Ctx): Promise<Response> => homePage(ctx);

/** `refusal`: why what came by its form was not published. */
function homePage(ctx: Ctx, refusal?: Refusal): Response {
  const { config } = ctx.parts;
  const { base_url } = config;
  const said = sentence(config);
  const body = html`<div class="hero">
      <h1>${TITLE}</h1>
      <p>${said}</p>
    </div>
    ${publishRegion(ctx, refusal)} ${fromATerminal(config)}`;
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

/** `POST /`: publishing without script (WEB 4.8). With a session it leads to the site's page; without one the receipt is
 *  the answer itself, for its tokens are shown this once. */
type SiteByForm = Awaited<ReturnType<typeof createSiteByForm>>;

const LIVE_TITLE = "Your site is live";

function receiptPage(ctx: Ctx, deployed: SiteByForm): Response {
  const { healed, warnings, manage_token, site_id, version_id } = deployed;
  const figures = readFigures(ctx.headers["svc-receipt"] ?? null);
  const size = figures && sizeLine(figures, figures.ms);
  const body = html`<h1 class="hidden">Publish</h1>
    ${receiptRegion({
      heading: LIVE_TITLE,
      about: aboutSite(deployed, { now: ctx.parts.now(), onDay, size }),
      live: true,
      notes: { healed, warnings },
      figures: figures && figuresPart(figures, warnings.length),
      more: html`${forPrograms({ site_id, version_id, ...(manage_token && { manage_token }) })}
        <p>${linkButton("/", "Publish another")}</p>`,
      focus: true,
    })}`;
  return answerPage(ctx, { title: LIVE_TITLE, body, width: "list", scripts: ["copy"] });
}

/** A form of somebody signed in never makes a site without an owner: the session has ended since it was shown. */
async function refuseSignedOut({ caller, request }: Ctx): Promise<void> {
  if (caller.kind === "account") return;
  if (caller.kind !== "anonymous") throw signedOut();
  if (isFileForm(request) && (await openFileForm(request)).fields.csrf !== undefined) throw signedOut();
}

/** Replaces a refusal that tells programs how to prove themselves: a person without script cannot do that. */
const inWords = (refusal: Refusal): Refusal =>
  refusal.code === "challenge_failed"
    ? new Refusal("challenge_failed", "Sign in to publish without JavaScript. Nothing was published.")
    : refusal;

/** Publishes what was sent, or shows the page with the reason why not. */
async function publish(ctx: Ctx): Promise<Response> {
  try {
    await refuseSignedOut(ctx);
    const deployed = await createSiteByForm(ctx);
    if (deployed.expires_at !== null) return receiptPage(ctx, deployed);
    return answerRedirect(`/dashboard/sites/${deployed.site_id}?done=deployed`, ctx.exchange);
  } catch (error) {
    if (isSessionEnded(error)) return homePage({ ...ctx, caller: { kind: "anonymous" } }, signedOut());
    if (!isShownAgain(error)) throw error;
    return homePage(ctx, inWords(error));
  }
}

export const HOME: readonly Route[] = [
  ["GET", "/", showHome],
  ["POST", "/", publish, "file_form"],
];
