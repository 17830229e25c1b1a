/** `svc list`, `usage`, `whoami` and `logout`: the account that is signed in here. */
import { existsSync, rmSync } from "node:fs";
import { humanSize as size } from "../../base/units.ts";
import type { Context, CallWords } from "../command.ts";
import { svc } from "../invocation.ts";
import { sessionFile } from "../saved/shared-file.ts";
import { ask } from "../service/api.ts";
import { requireSession } from "../service/which-server.ts";
import { columns, cut, text } from "../terminal/text.ts";
import { age, count } from "../terminal/units.ts";
import { allSites } from "./chosen-site.ts";
import * as account from "../../api/shapes/account.ts";
import { pick } from "../../api/shapes/builder.ts";

export const ACCOUNT = pick(account.ACCOUNT, "account_id", "email");
const USAGE = pick(account.USAGE, "bytes", "quota_bytes", "sites", "versions");

/** A person's name for a site; the whole of it is in the JSON. */
const NAME_WIDTH = 32;

/** `svc list`: the account's sites, newest first. */
async function list({ server, env, terminal, now }: Context, given: CallWords): Promise<void> {
  const credential = requireSession(env, server, "list");
  const sites = await allSites(server, credential);
  if (given.json || !terminal.resultIsRead) return terminal.json(sites);
  if (sites.length === 0) return terminal.say(text`No sites yet on ${server.origin}: ${svc()} makes one.`);
  const rows = sites.map(({ label, slug, url, created_at }) => [
    cut(label ?? slug, NAME_WIDTH),
    url,
    age(now() - Date.parse(created_at)),
  ]);
  for (const row of columns([["NAME", "URL", "CREATED"], ...rows])) terminal.result(row);
}

/** `svc usage`: how much the account's sites hold, and how much they may. */
async function usage({ server, env, terminal }: Context, given: CallWords): Promise<void> {
  const credential = requireSession(env, server, "usage");
  const call = { method: "GET", path: "/account/usage", credential, repeatable: true } as const;
  const body = await ask(server, call, USAGE);
  if (given.json) return terminal.json({ ok: true, ...body });
  const { bytes, quota_bytes, sites, versions } = body;
  const of = quota_bytes === null ? "" : ` of ${size(quota_bytes)}`;
  terminal.result(`${size(bytes)}${of} in ${count(sites, "site")} with ${count(versions, "version")}`);
}

/** `svc whoami`: the account that a deploy would belong to, and its server. */
async function whoami({ server, env, terminal }: Context, given: CallWords): Promise<void> {
  const credential = requireSession(env, server, "whoami");
  const call = { method: "GET", path: "/account", credential, repeatable: true } as const;
  const { account_id, email } = await ask(server, call, ACCOUNT);
  if (given.json) return terminal.json({ ok: true, account_id, email, server: server.origin });
  terminal.result(`${email} ${server.origin}`);
}

/** `svc logout`: deletes the saved session. It works without the server. */
async function logout({ env, terminal }: Context, given: CallWords): Promise<void> {
  const file = sessionFile(env);
  const was = existsSync(file);
  rmSync(file, { force: true });
  if (given.json) return terminal.json({ ok: true });
  terminal.say(was ? text`Signed out: the saved session is deleted.` : text`There was no saved session.`);
  const variable = ["SVC_TOKEN", "SVC_API_KEY"].find((name) => env[name]);
  if (variable !== undefined) terminal.say(text`${variable} is set and still counts.`);
}

/** The commands about the account that is signed in. */
export const ACCOUNT_COMMANDS = { list, usage, whoami, logout };
