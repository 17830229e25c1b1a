/** Accounts as an operator lists, disables and removes them (CONTRACT 7). */
import type { AccountOperations, ListedAccount } from "../../upkeep.ts";
import { removeAccount } from "../accounts.ts";
import { audit } from "../audit.ts";
import { type Op, statement } from "../db.ts";
import { makingRoom } from "../frame.ts";
import type { Parts } from "../parts.ts";
import { endAllSessions } from "../sessions.ts";

interface Row extends Omit<ListedAccount, "state" | "last_used_at"> {
  disabled_reason: string | null;
  session_used_at: string | null;
  token_used_at: string | null;
  /** Epoch milliseconds. */
  password_given_at: number | null;
}
const all = statement<Row>(
  `select account_id, email, created_at, disabled_reason,
     (select count(*) from sites where owner_account_id = accounts.account_id) as sites,
     (select max(last_used_at) from sessions where sessions.account_id = accounts.account_id) as session_used_at,
     (select max(last_used_at) from deploy_tokens where deploy_tokens.account_id = accounts.account_id)
       as token_used_at,
     (select max(seen_at) from sign_in_networks where sign_in_networks.account_id = accounts.account_id)
       as password_given_at
   from accounts order by created_at, account_id`,
);

function listed(row: Row): ListedAccount {
  const { account_id, email, sites, created_at, disabled_reason, password_given_at } = row;
  const given = password_given_at === null ? "" : new Date(password_given_at).toISOString();
  const last_used_at = [row.session_used_at ?? "", row.token_used_at ?? "", given].toSorted().at(-1) || null;
  return {
    account_id,
    email,
    state: disabled_reason === null ? "active" : "disabled",
    sites,
    created_at,
    last_used_at,
  };
}

const byEmail = statement<{ account_id: string }>("select account_id from accounts where email = ?");

export function* accountOf(email: string): Op<string> {
  const found = yield* byEmail.get(email);
  if (!found) throw new Error(`There is no account of ${email}: svc-server account list lists them.`);
  return found.account_id;
}

type Slug = { slug: string };
const disableAccount = statement(
  "update accounts set disabled_reason = ?2 where account_id = ?1 and disabled_reason is distinct from ?2",
);
// One that is disabled for a reason of its own keeps it.
const disableSites = statement<Slug>(
  `update sites set disabled_reason = ?2, disabled_with_account = 1
   where owner_account_id = ?1 and (disabled_reason is null or disabled_with_account = 1) returning slug`,
);
const enableAccount = statement(
  "update accounts set disabled_reason = null where account_id = ? and disabled_reason is not null",
);
const enableSites = statement<Slug>(
  `update sites set disabled_reason = null, disabled_with_account = 0
   where owner_account_id = ? and disabled_with_account = 1 returning slug`,
);

/** Null where there was nothing to change; else the sites that changed with it. */
function* disable(email: string, reason: string, at: string): Op<Slug[] | null> {
  const account_id = yield* accountOf(email);
  if ((yield* disableAccount.run(account_id, reason)).changes === 0) return null;
  yield* endAllSessions(account_id);
  yield* audit({ at, actor: "operator", action: "disable-account", account_id, reason });
  return yield* disableSites.all(account_id, reason);
}

function* enable(email: string, at: string): Op<Slug[] | null> {
  const account_id = yield* accountOf(email);
  if ((yield* enableAccount.run(account_id)).changes === 0) return null;
  yield* audit({ at, actor: "operator", action: "enable-account", account_id });
  return yield* enableSites.all(account_id);
}

function* remove(email: string, at: string) {
  return yield* removeAccount(yield* accountOf(email), "operator", at);
}

type AccountState = Pick<AccountOperations, "list" | "disable" | "enable" | "remove">;

export function accountState({ db, place, now }: Parts): AccountState {
  const change = <Sites extends Slug[] | null>(op: (at: string) => Op<Sites>): Promise<Sites> => {
    const at = new Date(now()).toISOString();
    return makingRoom(place, () =>
      db.change(
        () => op(at),
        (sites) => (sites ?? []).map(({ slug }) => slug),
      ),
    );
  };
  return {
    list: async () => (await db.read(all.all())).map(listed),
    disable: async (email, reason) => (await change((at) => disable(email, reason, at)))?.length ?? null,
    enable: async (email) => (await change((at) => enable(email, at)))?.length ?? null,
    remove: async (email) => (await change((at) => remove(email, at))).map(({ site_id }) => site_id),
  };
}
