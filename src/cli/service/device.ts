/** The device's half of RFC 8628: asks for a code, and then whether a person has approved it. */
import { ask } from "./api.ts";
import { ApiFailure } from "./refusal.ts";
import { DEVICE_CODE, type DeviceCode } from "./wire.ts";
import { Failure } from "../failure.ts";
import { svc } from "../invocation.ts";
import type { Server } from "../saved/server.ts";
import { UNIT_MS } from "../../base/units.ts";
import { type Infer, pick } from "../../api/shapes/builder.ts";
import * as account from "../../api/shapes/account.ts";

const APPROVAL = pick(account.DEVICE_TOKEN, "access_token", "account_id");

interface Clock {
  now(): number;
  wait(ms: number): Promise<void>;
}

const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code";
const LONGEST_INTERVAL_MS = UNIT_MS.m;

/** Sentences for the codes of the protocol. */
const SENTENCES: Readonly<Record<string, string>> = {
  authorization_pending: "Nobody has approved this login yet.",
  slow_down: "Nobody has approved this login yet, and it was asked for too soon: wait a few seconds longer.",
  access_denied: "The login was denied in the browser.",
};

const sentenceOf = (code: string): string | undefined =>
  code === "expired_token"
    ? `This login has expired or was used already. Begin again: ${svc("login")}`
    : SENTENCES[code];

export const expiredLogin = (): Failure => new Failure("expired_token", sentenceOf("expired_token")!);

export const askForCode = (server: Server): Promise<DeviceCode> =>
  ask(
    server,
    {
      method: "POST",
      path: "/auth/device/code",
      credential: null,
      json: { client_id: "svc" },
      repeatable: true,
    },
    DEVICE_CODE,
  );

/** Asks whether the login is approved. Not repeatable: the server gives an approval out once. */
export async function askForApproval(server: Server, device_code: string): Promise<Approval> {
  try {
    const json = { grant_type: GRANT_TYPE, device_code };
    const call = { method: "POST", path: "/auth/device/token", credential: null, json, repeatable: false } as const;
    return await ask(server, call, APPROVAL);
  } catch (error) {
    const sentence = error instanceof ApiFailure ? sentenceOf(error.code) : undefined;
    throw sentence === undefined ? error : new ApiFailure(400, (error as ApiFailure).code, sentence);
  }
}

/** The pause before the next try (RFC 8628, 3.5). Throws an error that ends the waiting; a server that does not answer
 *  is asked again, for it may be restarting. */
function nextInterval(error: unknown, interval: number): number {
  const { code } = Object(error) as { code?: string };
  if (code === "authorization_pending") return interval;
  if (code === "slow_down") return interval + 5000;
  const busy = error instanceof ApiFailure && (error.status === 429 || error.status >= 500);
  if (busy || code === "unreachable") return Math.min(interval * 2, LONGEST_INTERVAL_MS);
  throw error;
}

/** Asks until a person has decided or the code has run out. */
export async function waitForApproval(
  { expires_in, interval: seconds }: Pick<DeviceCode, "expires_in" | "interval">,
  askOnce: () => Promise<Approval>,
  clock: Clock,
): Promise<Approval> {
  const end = clock.now() + expires_in * 1000;
  let interval = (typeof seconds === "number" && seconds > 0 ? seconds : 5) * 1000;
  for (;;) {
    await clock.wait(interval);
    if (clock.now() >= end) throw expiredLogin();
    try {
      return await askOnce();
    } catch (error) {
      interval = nextInterval(error, interval);
    }
  }
}

type Approval = Infer<typeof APPROVAL>;
