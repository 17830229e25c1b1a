/** `/dashboard/sites/<site_id>/settings`: the site's label, its answer to unknown paths, its password, its address, files of former
 *  versions, and the way to its deletion (WEB 6). */
import { Refusal } from "../../base/errors.ts";
import type { Site } from "../../base/types.ts";
import { html, type Html } from "../../html/template.ts";
import type { Ctx, Route } from "../../routes/context.ts";
import { fittingLabel, LONGEST_LABEL } from "../../routes/account.ts";
import { removePassword, setPassword } from "../../routes/access.ts";
import { renameSite } from "../../routes/names.ts";
import type { SiteChange } from "../../store/ownership.ts";
import { refuseUnlessWritable } from "../../store/refusals.ts";
import { ahead } from "../browser/wording.ts";
import { csrfOf } from "../frame.ts";
import { alertBox, button, csrfField, field, hiddenField, linkButton, radios } from "../parts.ts";
import { accountForm, accountPage, type SignedIn } from "../who.ts";
import { onDay } from "../words.ts";
import { ACCOUNT, ownSite, pathOfSite } from "./pages.ts";
import { answerSitePage, pathOfTab } from "./site-frame.ts";
import { heldNotice } from "./state-badges.ts";

const SPA_VALUES = ["auto", "off", "on"] as const;
const SPA = { auto: null, on: 1, off: 0 } as const;

const spaValue = ({ spa_override }: Site): string => SPA_VALUES[spa_override === null ? 0 : spa_override + 1]!;

/** A form that was refused, with the values that are shown again. */
interface RefusedSettings {
  refusal: Refusal;
  sent: URLSearchParams;
}

/** The form of the label and of the single-page app. `spa_now`: as detected in the files. */
function settingsForm(site: Site, spa_now: boolean, csrf: string, refused?: RefusedSettings): Html {
  const spa = refused?.sent.get("spa") ?? spaValue(site);
  const choices = [
    ["auto", `Automatic (now ${spa_now ? "on" : "off"})`, "Decided by the files of each version"],
    ["on", "Always", "Unknown paths show index.html"],
    ["off", "Never", "Unknown paths are not found"],
  ] as const;
  return html`<section class="card" aria-labelledby="settings">
    <h2 id="settings">Settings</h2>
    <form class="fields" method="post" action="${pathOfTab(site.site_id, "settings")}">
      ${csrfField(csrf)}
      ${field({
        name: "label",
        label: "Label",
        value: refused?.sent.get("label") ?? site.label ?? "",
        refusal: refused?.refusal,
        hint: "The name of this site in your lists. Visitors do not see it.",
        attributes: html`placeholder="${site.slug}" dir="auto" autocomplete="off"`,
      })}
      ${radios(
        "Single-page app",
        choices.map(([value, label, hint]) => ({ name: "spa", value, label, hint, checked: value === spa })),
        refused?.refusal,
      )}
      ${button("Save settings", { kind: "primary" })}
    </form>
  </section>`;
}

/** The form of the site's name. `former`: the names that lead to it. */
function addressForm(site: Site, former: readonly string[], ctx: SignedIn, refused?: RefusedSettings): Html {
  const { sites_domain } = ctx.parts.config;
  return html`<section class="card" aria-labelledby="address">
    <h2 id="address">Address</h2>
    <form class="fields" method="post" action="${pathOfSite(site.site_id)}/slug">
      ${csrfField(csrfOf(ctx)!)}
      ${field({
        name: "slug",
        label: "Name",
        value: refused?.sent.get("slug") ?? site.slug,
        refusal: refused?.refusal,
        hint: html`The part before <code>.${sites_domain}</code>: 3 to 40 letters from a to z, digits and hyphens.`,
        attributes: html`required maxlength="40" autocomplete="off" autocapitalize="none" spellcheck="false"`,
      })}
      <p class="small dim">
        The address that it has now stays the site's and leads to the new one, for good. Visitors who comment get a new
        name there.
      </p>
      ${button("Change the address")}
    </form>
    ${former.length > 0 && html`<p class="small dim">Former names, which lead here: ${former.join(", ")}.</p>`}
  </section>`;
}

/** The form of the password that visitors need. */
function passwordForm(site: Site, ctx: SignedIn, refused?: RefusedSettings): Html {
  const { access_set_at } = site;
  const action = `${pathOfSite(site.site_id)}/access`;
  const is_set = access_set_at !== null;
  const now = is_set
    ? html`Visitors need a password. It was set ${onDay(access_set_at, ctx.parts.now())}; a new one takes its place, and
      all are asked anew.`
    : html`Everybody may see this site. With a password, only those who know it do, also its versions and previews.`;
  return html`<section class="card" aria-labelledby="visitors">
    <h2 id="visitors">Password</h2>
    <p>${now}</p>
    <form class="fields" method="post" action="${action}">
      ${csrfField(csrfOf(ctx)!)}
      ${field({
        name: "password",
        label: is_set ? "New password" : "Password for visitors",
        type: "password",
        refusal: refused?.refusal,
        hint: "8 to 256 characters. It is stored as a hash: keep it where you can read it again.",
        attributes: html`required minlength="8" maxlength="256" autocomplete="new-password"`,
      })}
      ${button(is_set ? "Change the password" : "Set a password")}
    </form>
    ${
      is_set &&
      html`<form method="post" action="${action}">
        ${csrfField(csrfOf(ctx)!)} <input type="hidden" name="remove" value="1" />
        ${button("Remove the password: let everybody in", { small: true })}
      </form>`
    }
  </section>`;
}

/** The form of what a former version still gives to pages that were loaded from it (BEYOND 4); nothing where the server gives none. */
function formerFilesForm({ site_id, skew }: Site, ctx: SignedIn): Html | false {
  const lasts = ctx.parts.config.skew;
  if (lasts === null) return false;
  const on = skew === 1;
  return html`<section class="card" aria-labelledby="former">
    <h2 id="former">Files of former versions</h2>
    <p>
      ${
        on
          ? `A page that was loaded before a deploy still finds its scripts, styles and pictures, for ${ahead(lasts)}.`
          : "A page that was loaded before a deploy finds nothing that the deploy took away."
      }
      <a href="/docs/http-api#pages-that-are-open-through-a-deploy">How this works</a>
    </p>
    <form method="post" action="${pathOfSite(site_id)}/skew">
      ${csrfField(csrfOf(ctx)!)} ${hiddenField("skew", on ? "off" : "on")}
      ${button(on ? "Give no files of former versions" : "Give files of former versions", { small: true })}
    </form>
  </section>`;
}

const deleteSection = ({ site_id }: Site): Html =>
  html`<section class="card" aria-labelledby="delete">
    <h2 id="delete">Delete</h2>
    <p class="small dim">
      All versions and comments are deleted permanently. The address is never given to anyone else.
    </p>
    ${linkButton(`${pathOfSite(site_id)}/delete`, "Delete this site", { kind: "danger", small: true })}
  </section>`;

/** The sections of this page, and the settings that are elsewhere. */
function settingsIndex({ site_id }: Site, former_files: boolean): Html {
  const links = (label: string, places: readonly (readonly [href: string, words: string] | false)[]): Html =>
    html`<ul role="list" aria-label="${label}">
      ${places.map((place) => place !== false && html`<li><a href="${place[0]}">${place[1]}</a></li>`)}
    </ul>`;
  return html`<nav class="sections" aria-label="Settings">
    <p class="small dim">On this page</p>
    ${links("On this page", [
      ["#settings", "Label, single-page app"],
      ["#visitors", "Password"],
      ["#address", "Address"],
      former_files && ["#former", "Files of former versions"],
      ["#delete", "Delete"],
    ])}
    <p class="small dim">Elsewhere</p>
    ${links("Elsewhere", [
      [pathOfTab(site_id, "comments"), "Comments"],
      [pathOfTab(site_id, "statistics"), "Statistics"],
      [pathOfTab(site_id, "domains"), "Domains"],
      [`${ACCOUNT}#deploy-tokens`, "Deploy tokens"],
    ])}
  </nav>`;
}

async function settingsPage(ctx: SignedIn, site: Site, refused?: RefusedSettings): Promise<Response> {
  const live = await ctx.parts.store.versions.get(site.site_id, site.live_version_id);
  if (live === null) return settingsPage(ctx, await ownSite(ctx), refused);
  const former = await ctx.parts.store.names.former(site.site_id);
  const body = html`${alertBox(refused?.refusal)} ${heldNotice(ctx, site)}
    <div class="indexed">
      ${settingsIndex(site, ctx.parts.config.skew !== null)}
      <div class="narrow stack">
        ${settingsForm(site, live.spa_enabled === 1, csrfOf(ctx)!, refused)}
        <p class="small dim">Yours since ${onDay(site.created_at, ctx.parts.now())}. It does not expire.</p>
        ${passwordForm(site, ctx, refused)} ${addressForm(site, former, ctx, refused)} ${formerFilesForm(site, ctx)}
        ${deleteSection(site)}
      </div>
    </div>`;
  return answerSitePage(ctx, site, { tab: "settings", body, has_primary: true, refusal: refused?.refusal });
}

/** `GET …/settings`. */
const showSettings = accountPage(async (ctx) => settingsPage(ctx, await ownSite(ctx)));

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

const settingsPath = ({ params }: Ctx): string => pathOfTab(params.id!, "settings");

/** `POST …/settings`. */
const saveSettings = accountForm({
  page: settingsPath,
  async act(ctx, fields) {
    const { site_id } = await ownSite(ctx);
    await ctx.parts.store.ownership.change(site_id, settingsOf(fields), ctx.caller);
    return `${settingsPath(ctx)}?done=saved`;
  },
  again: async (ctx, refusal, sent) => settingsPage(ctx, await ownSite(ctx), { refusal, sent }),
});

/** `POST …/slug`. */
const saveName = accountForm({
  page: settingsPath,
  async act(ctx, fields) {
    const site = await ownSite(ctx);
    const { slug } = await renameSite(ctx, site, (fields.get("slug") ?? "").trim(), ctx.caller);
    return slug === site.slug ? settingsPath(ctx) : `${settingsPath(ctx)}?done=renamed`;
  },
  again: async (ctx, refusal, sent) => settingsPage(ctx, await ownSite(ctx), { refusal, sent }),
});

/** `POST …/access`: sets the password, or removes it. */
const saveAccess = accountForm({
  page: settingsPath,
  async act(ctx, fields) {
    const site = await ownSite(ctx);
    const { parts, caller } = ctx;
    if (fields.get("remove") === "1") {
      await removePassword(parts, site, caller);
      return `${settingsPath(ctx)}?done=opened`;
    }
    await setPassword(parts, site, caller, fields.get("password") ?? "");
    return `${settingsPath(ctx)}?done=shut`;
  },
  again: async (ctx, refusal, sent) => settingsPage(ctx, await ownSite(ctx), { refusal, sent }),
});

/** `POST …/skew`. */
const saveFormerFiles = accountForm({
  page: settingsPath,
  async act(ctx, fields) {
    const site = await ownSite(ctx);
    const wanted = fields.get("skew");
    if (wanted !== "on" && wanted !== "off") {
      throw new Refusal("invalid_input", "Nothing was changed: press one of the buttons.", { field: "skew" });
    }
    refuseUnlessWritable(site, ctx.parts.now());
    const { ownership } = ctx.parts.store;
    await ownership.changeSettings(site.site_id, { skew: wanted === "on" ? 1 : 0 }, ctx.caller);
    return `${settingsPath(ctx)}?done=saved`;
  },
  again: async (ctx, refusal, sent) => settingsPage(ctx, await ownSite(ctx), { refusal, sent }),
});

/** The settings in two lines, with the way to change them. */
export function settingsCard(site: Site, spa_now: boolean): Html {
  const spa = site.spa_override === null ? `decided by the files (${spa_now ? "on" : "off"})` : spaValue(site);
  const comments = {
    off: "off",
    anonymous: "anyone may write",
    approved: "shown once you approve",
    passcode: "with a passcode",
  };
  return html`<section class="card" aria-labelledby="settings">
    <h2 id="settings">Settings</h2>
    <p>Single-page app: ${spa}.<br />Comments: ${comments[site.comments_mode]}.</p>
    <p><a href="${pathOfTab(site.site_id, "settings")}">Change settings or the address, or delete this site</a></p>
  </section>`;
}

export const SETTINGS_ROWS: readonly Route[] = [
  ["GET", "/dashboard/sites/:id/settings", showSettings],
  ["POST", "/dashboard/sites/:id/settings", saveSettings],
  ["POST", "/dashboard/sites/:id/slug", saveName],
  ["POST", "/dashboard/sites/:id/access", saveAccess],
  ["POST", "/dashboard/sites/:id/skew", saveFormerFiles],
];
