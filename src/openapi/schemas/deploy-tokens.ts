/** What an account gives to its CI (BEYOND 7). */
import { SCOPES } from "../../base/tokens.ts";
import { list, type Members, object, oneOf, orNull, ref, refOrNull, text, whole } from "../schema.ts";

const of_token = {
  token_id: ref("DeployTokenId"),
  name: text("Its owner's name for it."),
  scopes: list(oneOf("`deploy` may what `preview` may, and that what `read` may.", SCOPES), "What it may."),
  site_ids: orNull(list(ref("SiteId"), "For which sites; null: all that the account has and gets.")),
  created_at: ref("Time"),
  expires_at: whole("Epoch milliseconds."),
};

export const DEPLOY_TOKENS: Members = {
  NewDeployToken: object({ ...of_token, token: text("`svc_deploy_…`. Shown here and never again.") }),
  DeployTokens: object({
    tokens: list(object({ ...of_token, last_used_at: refOrNull("Time", "To the minute.") }), "Newest first."),
  }),
};
