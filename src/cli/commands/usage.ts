/** `svc usage`: what the account's sites hold, and how much they may. */
import { ask } from "../service/api.ts";
import { JSON_FLAG, QUIET_FLAG, type Command, type Context, type Given } from "../command.ts";
import { requireSession } from "../saved/state.ts";
import { humanSize as size } from "../../units.ts";
import { count } from "../terminal/units.ts";
import type { Usage } from "../service/wire.ts";

async function run({ server, env, terminal }: Context, given: Given): Promise<void> {
  const credential = requireSession(env, server, "usage");
  const call = { method: "GET", path: "/account/usage", credential, repeatable: true } as const;
  const body = await ask<Usage>(server, call);
  if (given.json) return terminal.json({ ok: true, ...body });
  const { bytes, quota_bytes, sites, versions } = body;
  const of = quota_bytes === null ? "" : ` of ${size(quota_bytes)}`;
  terminal.result(`${size(bytes)}${of} in ${count(sites, "site")} with ${count(versions, "version")}`);
}

export const usage: Command = {
  name: "usage",
  argument: null,
  summary: "Show how much your account's sites hold",
  details: ["Equal files of one site count once, over all its versions."],
  flags: [JSON_FLAG, QUIET_FLAG],
  run,
};
