/** `account list|disable|enable|delete`: what there is, and what an operator does to one. */
import { aboutAccount } from "./about-account.ts";
import type { Command } from "./command.ts";
import { counted, JSON_OPTION, list } from "./print.ts";

const accounts: Command = {
  name: "account list",
  arguments: [],
  options: JSON_OPTION,
  summary: "list all accounts, newest last",
  async run(call) {
    list(call, await call.open().accounts.list(), {
      ACCOUNT: (row) => row.account_id,
      EMAIL: (row) => row.email,
      STATE: (row) => row.state,
      SITES: (row) => row.sites,
      CREATED: (row) => row.created_at,
      "LAST USED": (row) => row.last_used_at,
    });
    return 0;
  },
};

const REASON = "--reason";
const NO_REASON = "The account of this site was disabled.";

const withSites = (sites: number): string => (sites === 0 ? "" : `, and ${counted(sites, "site")} with it`);

const disable = aboutAccount({
  name: "account disable",
  options: { [REASON]: "text" },
  optional: [REASON],
  summary: "end its sessions, refuse its sign-ins, and answer 451 on its sites",
  more: "The reason is shown to visitors of its sites, and to whoever signs in with the right password. Nothing is removed: `account enable` ends it.",
  async run(email, { options, open, note }) {
    const sites = await open().accounts.disable(email, options.get(REASON) ?? NO_REASON);
    note(
      sites === null ? `${email} was disabled for this reason already.` : `${email} is disabled${withSites(sites)}.`,
    );
  },
});

const enable = aboutAccount({
  name: "account enable",
  summary: "end that: the account signs in again, its sites have the state they had",
  more: "Sessions do not come back: whoever it belongs to signs in anew.",
  async run(email, { open, note }) {
    const sites = await open().accounts.enable(email);
    note(sites === null ? `${email} was not disabled.` : `${email} is enabled again${withSites(sites)}.`);
  },
});

const remove = aboutAccount({
  name: "account delete",
  summary: "remove an account with all its sites, for good; prints their site_ids",
  more: "It cannot be undone. The slugs are never given out again; the files go with the next sweeps.",
  async run(email, { open, print, note }) {
    const site_ids = await open().accounts.remove(email);
    for (const site_id of site_ids) print(`${site_id}\n`);
    note(`${email} is deleted${withSites(site_ids.length)}.`);
  },
});

export const ACCOUNT_STATE: readonly Command[] = [accounts, disable, enable, remove];
