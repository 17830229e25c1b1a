/** The forms of a site's page: settings, an earlier version live again, a new version without script. */
import { Refusal } from "../../base/errors.ts";
import { answerRedirect } from "../../http/answers.ts";
import { fittingLabel, LONGEST_LABEL } from "../../routes/account.ts";
import type { Ctx, Route } from "../../routes/context.ts";
import { makePreviewLive, makeVersionLive } from "../../routes/sites.ts";
import { redeployByForm } from "../../routes/deploys/deploy.ts";
import type { SiteChange } from "../../store/ownership.ts";
import { isSessionEnded } from "../../store/refusals.ts";
import { accountForm, isShownAgain, isSignedIn, signedOutMeanwhile } from "../who.ts";
import { ownSite, pathOfSite } from "./pages.ts";
import { sitePage } from "./site.ts";

const sitePath = ({ params }: Ctx): string => pathOfSite(params.id!);

const SPA = { auto: null, on: 1, off: 0 } as const;

function settingsOf(fields: URLSearchParams): SiteChange {
  const label = fittingLabel(fields.get("label") ?? "");
  if (label === null) {
    const message = `Nothing was saved: a label has at most ${LONGEST_LABEL} characters. Make it shorter.`;
    throw new Refusal("invalid_input", message, { field: "label" });
  }
  const spa = fields.get("spa") ?? "";
  if (!Object.hasOwn(SPA, spa)) {
    const message = "Nothing was saved: choose when this is a single-page app.";
    throw new Refusal("invalid_input", message, { field: "spa" });
  }
  return { label: label === "" ? null : label, spa_override: SPA[spa as keyof typeof SPA] };
}

/** `POST …/settings`. */
const saveSettings = accountForm({
  page: sitePath,
  async act(ctx, fields) {
    const { site_id } = await ownSite(ctx);
    await ctx.parts.store.ownership.change(site_id, settingsOf(fields), ctx.caller);
    return `${sitePath(ctx)}?done=saved`;
  },
  again: async (ctx, refusal, sent) => sitePage(ctx, await ownSite(ctx), { refusal, sent }),
});

/** `POST …/rollback`. */
const makeLive = accountForm({
  page: sitePath,
  async act(ctx, fields) {
    const { site_id } = await ownSite(ctx);
    await makeVersionLive(ctx, { site_id, by: ctx.caller, version_id: fields.get("version_id") ?? "" });
    return `${sitePath(ctx)}?done=live`;
  },
  again: async (ctx, refusal) => sitePage(ctx, await ownSite(ctx), { refusal }),
});

/** `POST …/previews`: one is made live, or ends. */
const changePreview = accountForm({
  page: sitePath,
  async act(ctx, fields) {
    const { site_id } = await ownSite(ctx);
    const named = (preview: string) => ({ site_id, by: ctx.caller, preview });
    const promoted = fields.get("promote");
    if (promoted === null) {
      await ctx.parts.store.previews.end(named(fields.get("end") ?? ""));
      return `${sitePath(ctx)}?done=preview-ended`;
    }
    await makePreviewLive(ctx, named(promoted));
    return `${sitePath(ctx)}?done=live`;
  },
  again: async (ctx, refusal) => sitePage(ctx, await ownSite(ctx), { refusal }),
});

/** `POST …/deploys`: a form with a zip (WEB 4.8). */
async function deployByForm(ctx: Ctx): Promise<Response> {
  if (!isSignedIn(ctx)) return signedOutMeanwhile(ctx, sitePath(ctx));
  await ownSite(ctx); // another's is a 404 here, as on every page
  try {
    const { changed } = await redeployByForm(ctx);
    return answerRedirect(`${sitePath(ctx)}?done=${changed ? "deployed" : "unchanged"}`, ctx.exchange);
  } catch (error) {
    if (isSessionEnded(error)) return signedOutMeanwhile(ctx, sitePath(ctx));
    if (!isShownAgain(error)) throw error;
    return sitePage(ctx, await ownSite(ctx), { refusal: error, deploy: true });
  }
}

/** The forms of a site's page. */
export const CHANGE_SITE_ROWS: readonly Route[] = [
  ["POST", "/dashboard/sites/:id/deploys", deployByForm, "file_form"],
  ["POST", "/dashboard/sites/:id/rollback", makeLive],
  ["POST", "/dashboard/sites/:id/previews", changePreview],
  ["POST", "/dashboard/sites/:id/settings", saveSettings],
];
