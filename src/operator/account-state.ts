/** `account list|disable|enable|delete`: what there is, and what an operator does to one. */
import { normalEmail } from "../passwords.ts";
import type { Command } from "./command.ts";
import { counted, json, table } from "./print.ts";

const list: Command = {
  name: "account list",
  arguments: [],
  options: { "--json": null },
  summary: "list all accounts, newest last",
  async run({ switches, open, print }) {
    const rows = await open().accounts.list();
    if (switches.has("--json")) print(json(rows));
    else {
      print(
        table(
          ["ACCOUNT", "EMAIL", "STATE", "SITES", "CREATED", "LAST USED"],
          rows.map((row) => [row.account_id, row.email, row.state, row.sites, row.created_at, row.last_used_at]),
        ),
      );
    }
    return 0;
  },
};

const REASON = "--reason";
const NO_REASON = "The account of this site was disabled.";

const withSites = (sites: number): string => (sites === 0 ? "" : `, and ${counted(sites, "site")} with it`);

const disable: Command = {
  name: "account disable",
  arguments: ["email"],
  options: { [REASON]: "text" },
  optional: [REASON],
  summary: "end its sessions, refuse its sign-ins, and answer 451 on its sites",
  more: "The reason is shown to visitors of its sites, and to whoever signs in with the right password. Nothing is removed: `account enable` ends it.",
  async run({ arguments: [written], options, open, note }) {
    const email = normalEmail(written!);
    const sites = await open().accounts.disable(email, options.get(REASON) ?? NO_REASON);
    note(
      sites === null ? `${email} was disabled for this reason already.` : `${email} is disabled${withSites(sites)}.`,
    );
    return 0;
  },
};

const enable: Command = {
  name: "account enable",
  arguments: ["email"],
  options: {},
  summary: "end that: the account signs in again, its sites have the state they had",
  more: "Sessions do not come back: whoever it belongs to signs in anew.",
  async run({ arguments: [written], open, note }) {
    const email = normalEmail(written!);
    const sites = await open().accounts.enable(email);
    note(sites === null ? `${email} was not disabled.` : `${email} is enabled again${withSites(sites)}.`);
    return 0;
  },
};

const remove: Command = {
  name: "account delete",
  arguments: ["email"],
  options: {},
  summary: "remove an account with all its sites, for good; prints their site_ids",
  more: "It cannot be undone. The slugs are never given out again; the files go with the next sweeps.",
  async run({ arguments: [written], open, print, note }) {
    const email = normalEmail(written!);
    const site_ids = await open().accounts.remove(email);
    for (const site_id of site_ids) print(`${site_id}\n`);
    note(`${email} is deleted${withSites(site_ids.length)}.`);
    return 0;
  },
};

export const ACCOUNT_STATE: readonly Command[] = [list, disable, enable, remove];
