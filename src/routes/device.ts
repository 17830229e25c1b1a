/** The device's half of RFC 8628: it asks for a code, shows it to a person, and asks whether they approved. The
 *  person's half is a page (src/web/device.ts). */
import { Refusal } from "../base/errors.ts";
import { DEVICE_INTERVAL_S, DEVICE_LIFETIME_MS } from "../store/index.ts";
import { randomText } from "../base/random.ts";
import { hashToken, newToken } from "../base/tokens.ts";
import { newSession } from "./auth.ts";
import { readFields, stringMember } from "../http/body.ts";
import { refuseForeignOrigin } from "../http/csrf.ts";
import { clientOf } from "../http/exchange.ts";
import { limitClient } from "../http/rate-limit.ts";
import type { Ctx } from "./context.ts";

/** Neither vowels, so that no word appears, nor Y, which passes for one: 20 letters, 34.5 bits in eight. */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const CODE_LENGTH = 8;
const ATTEMPTS = 5;
const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code";

export const showUserCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;

/** As it is stored, however it was typed; null where it cannot be one. */
export function readUserCode(text: unknown): string | null {
  const code = typeof text === "string" ? text.toUpperCase().replace(/[\s-]/g, "") : "";
  return code.length === CODE_LENGTH && [...code].every((letter) => LETTERS.includes(letter)) ? code : null;
}

/** `POST /auth/device/code`. What a client sends along (`client_id`, `scope`) changes nothing. */
export async function startDevice(ctx: Ctx) {
  const { request, client_address, parts } = ctx;
  refuseForeignOrigin(ctx); // before it is counted: a page's visitor has not begun it
  await limitClient(ctx, "rate_device_start");
  const device_code = newToken("svc_device_");
  const login = { device_hash: hashToken(device_code), address: client_address(), client: clientOf(request) };
  for (let left = ATTEMPTS; left > 0; left--) {
    const user_code = randomText(LETTERS, CODE_LENGTH);
    if (!(await parts.store.device_logins.start({ ...login, user_code }))) continue;
    const verification_uri = `${parts.config.base_url}/device`;
    return {
      device_code,
      user_code: showUserCode(user_code),
      verification_uri,
      verification_uri_complete: `${verification_uri}?user_code=${showUserCode(user_code)}`,
      expires_in: DEVICE_LIFETIME_MS / 1000,
      interval: DEVICE_INTERVAL_S,
    };
  }
  throw new Refusal("unavailable", "No free code was found. Try again.", {}, { "retry-after": "1" });
}

const SENTENCES = {
  authorization_pending: "Nobody has approved this login yet: go on asking.",
  slow_down: "You ask too often: wait five seconds longer between two tries.",
  access_denied: "The login was denied in the browser.",
  expired_token: "This device code is unknown, used or expired: begin again.",
} as const;

/** RFC 6749, 5.2: here `error` is the code, and the sentence stands beside it. */
const notYet = (code: keyof typeof SENTENCES): Refusal =>
  new Refusal(code, code, { error_description: SENTENCES[code] });

const CODE_OF = {
  pending: "authorization_pending",
  slow_down: "slow_down",
  denied: "access_denied",
  unknown: "expired_token",
} as const;

/** `POST /auth/device/token`. */
export async function pollDevice({ request, parts }: Ctx) {
  const fields = await readFields(request);
  const device_code = stringMember(fields, "device_code", 512);
  if (fields.grant_type !== undefined && fields.grant_type !== GRANT_TYPE) {
    throw new Refusal("invalid_input", `The grant_type must be ${GRANT_TYPE}.`, { field: "grant_type" });
  }
  const { session, session_token } = newSession("");
  const polled = await parts.store.device_logins.poll(hashToken(device_code), session);
  if (polled.state !== "approved") throw notYet(CODE_OF[polled.state]);
  return { access_token: session_token, token_type: "Bearer", account_id: polled.account_id };
}
