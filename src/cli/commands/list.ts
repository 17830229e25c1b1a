/** `svc list`: the account's sites, newest first. */
import { JSON_FLAG, QUIET_FLAG, type Command, type Context } from "../command.ts";
import { requireSession } from "../saved/state.ts";
import { allSites } from "./pages.ts";

async function run({ server, env, terminal }: Context): Promise<void> {
  const credential = requireSession(env, server, "list");
  terminal.json(await allSites(server, credential));
}

export const list: Command = {
  name: "list",
  argument: null,
  summary: "List the sites of your account as JSON",
  details: ["An array of {site_id, slug, label, url, created_at, live_version_id}, newest first."],
  flags: [{ ...JSON_FLAG, help: "print a failure as JSON too" }, QUIET_FLAG],
  run,
};
