/** What the form of a site's comments does: who reads and writes them from now on (WEB 7). */
import { applySettings, limitOwner } from "../../../comments/index.ts";
import { accountForm } from "../../who.ts";
import { ownSite } from "../own.ts";
import { commentsPath, placeHref, placeOf } from "./lists.ts";
import { commentsPage } from "./page.ts";

/** `POST …/comments/settings`. */
export const saveCommentSettings = accountForm({
  page: ({ params }) => commentsPath(params.id!),
  async act(ctx, fields) {
    const site = await ownSite(ctx);
    const passcode = fields.get("passcode") ?? "";
    const wanted = { mode: fields.get("mode"), ...(passcode !== "" && { passcode }) };
    const parts = ctx.parts.comments;
    await limitOwner({ site, parts });
    await applySettings({ parts, site, by: ctx.caller }, wanted);
    return placeHref(site.site_id, { ...placeOf(fields), cursor: "" }, "saved");
  },
  again: async (ctx, refusal, sent) => commentsPage(ctx, await ownSite(ctx), { refusal, sent }),
});
