/** `svc list`: the account's sites, newest first. */
import { ask } from "../service/api.ts";
import type { Context } from "../command.ts";
import { requireSession } from "../saved/state.ts";
import type { OwnedSite } from "../service/wire.ts";

export async function list({ server, env, terminal }: Context): Promise<void> {
  const credential = requireSession(env, server, "list");
  const call = { method: "GET", path: "/account/sites", credential, repeatable: true } as const;
  const { sites } = await ask<{ sites: OwnedSite[] }>(server, call);
  terminal.json(sites);
}
