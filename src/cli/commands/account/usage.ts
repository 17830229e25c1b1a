/** `svc usage`: what the account's sites hold, and how much they may. */
import { ask } from "../../service/api.ts";
import type { Context, Given } from "../../command.ts";
import { requireSession } from "../../service/which-server.ts";
import { humanSize as size } from "../../../base/units.ts";
import { count } from "../../terminal/units.ts";
import { USAGE } from "../../service/wire-account.ts";

export async function usage({ server, env, terminal }: Context, given: Given): Promise<void> {
  const credential = requireSession(env, server, "usage");
  const call = { method: "GET", path: "/account/usage", credential, repeatable: true } as const;
  const body = await ask(server, call, USAGE);
  if (given.json) return terminal.json({ ok: true, ...body });
  const { bytes, quota_bytes, sites, versions } = body;
  const of = quota_bytes === null ? "" : ` of ${size(quota_bytes)}`;
  terminal.result(`${size(bytes)}${of} in ${count(sites, "site")} with ${count(versions, "version")}`);
}
