/** `svc list`: the account's sites, newest first. */
import type { Context } from "../command.ts";
import { requireSession } from "../saved/state.ts";
import { allSites } from "./pages.ts";

export async function list({ server, env, terminal }: Context): Promise<void> {
  const credential = requireSession(env, server, "list");
  terminal.json(await allSites(server, credential));
}
