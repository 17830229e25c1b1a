/** What a person sees on the API host. Each page is a row of the API's table; its session, its CSRF token and its rate
 *  are checked as theirs. */
import type { Route } from "../routes/context.ts";
import { SCRIPT_PATH, serveScript, showClaim, submitClaim } from "./claim.ts";
import { decideDevice, showDevice } from "./device.ts";
import { showSignIn, showSignUp, submitSignIn, submitSignUp } from "./sign-in.ts";

const PAGES: readonly Route[] = [
  ["GET", "/signin", showSignIn],
  ["POST", "/signin", submitSignIn, "no_session"],
  ["GET", "/signup", showSignUp],
  ["POST", "/signup", submitSignUp, "no_session"],
  ["GET", "/device", showDevice],
  ["POST", "/device", decideDevice],
  ["GET", "/claim/:id", showClaim],
  ["POST", "/claim/:id", submitClaim],
];

/** The pages and what they load. */
export const WEB: readonly Route[] = [...PAGES, ["GET", SCRIPT_PATH, serveScript, "no_session"]];

const AT_PAGE = new RegExp(`^(?:${PAGES.map(([, path]) => path.replace(/:\w+/g, "[^/]*")).join("|")})$`);

/** Where a browser's errors are pages and not JSON. */
export const isPage = (path: string): boolean => AT_PAGE.test(path);
