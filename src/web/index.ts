/** Pages for people on the API's host. Each is a row of the API's table, so its session and its CSRF token are checked like
 *  those of other rows; a page that counts how often it is called does so itself. */
import type { Route } from "../routes/context.ts";
import { ASSETS } from "./assets.ts";
import { CLAIM } from "./claim.ts";
import { DASHBOARD } from "./dashboard/index.ts";
import { DEVICE } from "./device.ts";
import { FIXED_FILES } from "./fixed-files.ts";
import { HOME } from "./home.ts";
import { MANUAL } from "./manual.ts";
import { PACKAGE } from "./package.ts";
import { SIGN_IN } from "./sign-in.ts";

export const WEB: readonly Route[] = [
  ...HOME,
  ...SIGN_IN,
  ...DEVICE,
  ...CLAIM,
  ...DASHBOARD,
  ...MANUAL,
  ...FIXED_FILES,
  ...PACKAGE,
  ...ASSETS,
];
