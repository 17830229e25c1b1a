/** Who asks in the matrix of RELIABILITY 5, and what the usual rows of it answer. */
import { allows, type Scope } from "../../src/base/tokens.ts";
import type { Person } from "../kit/people.ts";
import type { DeployResult } from "../kit/server.ts";

/** Deploy tokens of the owner of the site that a row is about: good for what (BEYOND 7), and where. */
export const DEPLOY_TOKENS = {
  "D read": { scopes: ["read"] },
  "D preview": { scopes: ["preview"] },
  "D deploy": { scopes: ["deploy"] },
  "D create": { scopes: ["create"] },
  /** For this site and no other. */
  "D listed": { scopes: ["read", "deploy"], site: "own" },
  /** For another one of the same account. */
  "D elsewhere": { scopes: ["deploy"], site: "second" },
  /** Another account's. */
  "D other": { scopes: ["deploy", "create"] },
  "D expired": { scopes: ["deploy", "create"] },
  "D revoked": { scopes: ["deploy", "create"] },
} as const satisfies Record<string, { scopes: readonly Scope[]; site?: "own" | "second" }>;

type DeployCredential = keyof typeof DEPLOY_TOKENS;
export const DEPLOY_CREDENTIALS = Object.keys(DEPLOY_TOKENS) as DeployCredential[];

export const CREDENTIALS = [
  "none",
  "malformed",
  "unknown",
  "M own",
  "M other",
  "claim",
  "S owner",
  "S other",
  "S ended",
  ...DEPLOY_CREDENTIALS,
] as const;
export type Credential = (typeof CREDENTIALS)[number];

export const isDeployCredential = (credential: Credential): credential is DeployCredential =>
  Object.hasOwn(DEPLOY_TOKENS, credential);

/** All that one cell needs, fresh after each call that changed something. */
export interface World {
  owner: Person;
  other: Person;
  ended: string;
  own: DeployResult;
  /** The owner's too. */
  second: DeployResult;
  others: DeployResult;
  claimable: DeployResult;
  gone: DeployResult;
  device_code: string;
  /** A preview of `claimable`, by its version; `own` has one that is called `shown`. */
  claimable_preview: string;
  deploy_tokens: Record<DeployCredential, { token: string; token_id: string }>;
}

type Cells = Record<Credential, number>;

export const all = (status: number, but: Partial<Cells> = {}): Cells => ({
  ...(Object.fromEntries(CREDENTIALS.map((credential) => [credential, status])) as Cells),
  ...but,
});

/** BEYOND 7: `may` where the scopes have it and the token is for the site; `elsewhere` where it is not for it. */
export function deployTokens({ scope, may, elsewhere }: { scope: Scope; may: number; elsewhere: number }) {
  const ended: DeployCredential[] = ["D expired", "D revoked"];
  const away: DeployCredential[] = ["D elsewhere", "D other"];
  const cell = (one: DeployCredential): number => {
    if (ended.includes(one)) return 401;
    if (!allows(DEPLOY_TOKENS[one], scope)) return 403;
    return away.includes(one) ? elsewhere : may;
  };
  return Object.fromEntries(DEPLOY_CREDENTIALS.map((one) => [one, cell(one)])) as Pick<Cells, DeployCredential>;
}

/** Of a route that no deploy token opens. */
export const managed = all(401, { "M own": 200, "S owner": 200, "S other": 403 });

/** Of one that a deploy token with this scope opens (`S:x`, BEYOND 0). `let_in`: what whoever may is answered. */
export const scoped = (scope: Scope, let_in = 200): Cells => ({
  ...managed,
  "M own": let_in,
  "S owner": let_in,
  ...deployTokens({ scope, may: let_in, elsewhere: 403 }),
});
