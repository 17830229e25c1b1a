/** Which `svc_cmt` this host set. A sibling site may set one for the parent domain, of somebody who really wrote here: its
 *  visitor would write as that one (COMMENTS 4). A cookie whose name begins with `__Host-` no other host can set, so one of
 *  these goes along under https and says of whom the other is. Browsers alone are asked for it: they say where a request
 *  comes from, have both cookies or neither, and nobody plants a cookie in a program. */
import { cookieValues } from "../../http/cookies.ts";
import { type Keys, seal, unseal } from "./keys.ts";

const NAME = "__Host-svc_cmt";
const LABEL = "svc_cmt_host";

interface Asked {
  request: Request;
  /** Of the site, as the client asked it: under http browsers take no such cookie. */
  origin: string;
}

const takesProof = ({ origin }: Pick<Asked, "origin">): boolean => origin.startsWith("https:");

/** All three come from browsers alone, since 2023 from each. */
const isBrowser = ({ headers }: Request): boolean =>
  ["site", "mode", "dest"].every((what) => headers.has(`sec-fetch-${what}`));

/** Whether a browser that has this identity should have the proof as well, and has not. */
export function lacksProof(keys: Keys, site_id: string, asked: Asked, identity: string): boolean {
  if (!takesProof(asked) || !isBrowser(asked.request)) return false;
  return !cookieValues(asked.request, NAME).some((value) => {
    const said = unseal(LABEL, keys.visitor, value);
    return said?.s === site_id && said.i === identity;
  });
}

const cookie = (value: string, age: number): string =>
  `${NAME}=${value}; HttpOnly; Secure; SameSite=Lax; Path=/; Max-Age=${age}`;

/** Values of Set-Cookie: none where no browser would take it. `age`: seconds. */
export const proofCookies = (
  keys: Keys,
  site_id: string,
  asked: Pick<Asked, "origin">,
  identity: string,
  age: number,
): string[] => (takesProof(asked) ? [cookie(seal(LABEL, keys.visitor, { i: identity, s: site_id }), age)] : []);

export const endedProof = (asked: Pick<Asked, "origin">): string[] => (takesProof(asked) ? [cookie("", 0)] : []);
