/** What the buttons of a list of comments do: each leads back to the same list (WEB 7). */
import { decideAsOwner, limitOwner, removeAsOwner } from "../../../comments/index.ts";
import { Refusal } from "../../../base/errors.ts";
import { unknownComment } from "../../../store/refusals.ts";
import { accountForm } from "../../who.ts";
import { ownSite } from "../own.ts";
import { type Decision, DECISIONS } from "./comment.ts";
import { commentsPage } from "./page.ts";
import { commentsPath, placeHref, placeOf } from "./lists.ts";

const DONE: Record<Decision, string> = {
  approve: "approved",
  reject: "rejected",
  resolve: "resolved",
  reopen: "reopened",
  delete: "comment-deleted",
};

interface Pressed {
  decision: Decision;
  id: string;
}

function pressedIn(fields: URLSearchParams): Pressed {
  const decision = (Object.keys(DECISIONS) as Decision[]).find((one) => fields.has(one));
  const id = decision && fields.get(decision)!;
  if (decision === undefined) throw new Refusal("invalid_input", "Nothing was decided: no comment was named.");
  if (!/^c_\w{1,40}$/.test(id!)) throw unknownComment();
  return { decision, id: id! };
}

/** `POST …/comments/decide`. */
export const decideOnComment = accountForm({
  page: ({ params }) => commentsPath(params.id!),
  async act(ctx, fields) {
    const site = await ownSite(ctx);
    const { decision, id } = pressedIn(fields);
    const asked = { parts: ctx.parts.comments, site };
    await limitOwner(asked);
    if (decision === "delete") await removeAsOwner(asked, id);
    else await decideAsOwner(asked, id, decision, null);
    return placeHref(site.site_id, placeOf(fields), DONE[decision]);
  },
  again: async (ctx, refusal, sent) => commentsPage(ctx, await ownSite(ctx), { refusal, sent }),
});
