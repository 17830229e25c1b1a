/** Pages for people on the API's host. Each is a row of the API's table, so its session, its
 *  CSRF token and its rate are checked like those of other rows. */
import type { Route } from "../routes/context.ts";
import { ASSETS } from "./assets.ts";
import { showClaim, submitClaim } from "./claim.ts";
import { DASHBOARD } from "./dashboard/index.ts";
import { decideDevice, showDevice } from "./device.ts";
import { FIXED_FILES } from "./fixed-files.ts";
import { PUBLISH, showHome } from "./home.ts";
import { MANUAL } from "./manual.ts";
import { showSignIn, showSignUp, submitSignIn, submitSignUp } from "./sign-in.ts";

export const WEB: readonly Route[] = [
  ["GET", "/", showHome],
  ...PUBLISH,
  ["GET", "/signin", showSignIn],
  ["POST", "/signin", submitSignIn, "no_session"],
  ["GET", "/signup", showSignUp],
  ["POST", "/signup", submitSignUp, "no_session"],
  ["GET", "/device", showDevice],
  ["POST", "/device", decideDevice],
  ["GET", "/claim/:id", showClaim],
  ["POST", "/claim/:id", submitClaim],
  ...DASHBOARD,
  ...MANUAL,
  ...FIXED_FILES,
  ...ASSETS,
];
