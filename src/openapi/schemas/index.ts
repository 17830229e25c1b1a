/** All bodies by name. */
import type { Members } from "../schema.ts";
import { ACCOUNTS } from "./accounts.ts";
import { ANNOTATIONS } from "./annotations.ts";
import { COMMENTS } from "./comments.ts";
import { DEPLOY_TOKENS } from "./deploy-tokens.ts";
import { DEPLOYS } from "./deploys.ts";
import { ERRORS } from "./errors.ts";
import { EXPLAINED } from "./explained.ts";
import { PREVIEWS } from "./previews.ts";
import { SCALARS } from "./scalars.ts";
import { SITES } from "./sites.ts";

export const SCHEMAS: Members = {
  ...DEPLOYS,
  ...PREVIEWS,
  ...SITES,
  ...EXPLAINED,
  ...ACCOUNTS,
  ...DEPLOY_TOKENS,
  ...COMMENTS,
  ...ANNOTATIONS,
  ...ERRORS,
  ...SCALARS,
};
