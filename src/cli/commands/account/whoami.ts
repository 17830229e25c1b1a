/** `svc whoami`: whose sites a deploy would be, and where. */
import type { Context, Given } from "../../command.ts";
import { ask } from "../../service/api.ts";
import { requireSession } from "../../service/which-server.ts";
import { ACCOUNT } from "../../service/wire-account.ts";

export async function whoami({ server, env, terminal }: Context, given: Given): Promise<void> {
  const credential = requireSession(env, server, "whoami");
  const call = { method: "GET", path: "/account", credential, repeatable: true } as const;
  const { account_id, email } = await ask(server, call, ACCOUNT);
  if (given.json) return terminal.json({ ok: true, account_id, email, server: server.origin });
  terminal.result(`${email} ${server.origin}`);
}
