/** `account create|reset|invite`: the operator makes accounts, whatever SVC_SIGNUP says. What is done with those that
 *  there are stands in account-state.ts. */
import { hashPassword } from "../http/passwords.ts";
import { hashToken, newAccountId, newToken } from "../base/tokens.ts";
import type { EndedTokens } from "../store/people/operator-accounts.ts";
import { UNIT_MS } from "../base/units.ts";
import { aboutAccount } from "./about-account.ts";
import type { Command } from "./command.ts";
import { readPassword } from "./password.ts";

const INVITATION_MS = 7 * UNIT_MS.d;

const create = aboutAccount({
  name: "account create",
  summary: "make an account; its password is read from stdin",
  more: "One line of at least 10 characters; on a terminal it is asked for twice and not shown.",
  async run(email, { open, print }) {
    const operations = open();
    const account_id = newAccountId();
    await operations.accounts.create({ account_id, email, password_hash: await hashPassword(await readPassword()) });
    print(`${account_id}\n`);
  },
});

/** As the rest of the sentence that the sessions have ended. */
function alsoEnded({ manage_tokens, deploy_tokens }: EndedTokens): string {
  const their = manage_tokens === 1 ? "the manage_token" : `the ${manage_tokens} manage_tokens`;
  const given = manage_tokens === 0 ? "" : `, with ${their} that their deploys were given`;
  if (deploy_tokens === 0) return given;
  return `${given}, and so ${deploy_tokens === 1 ? "has its deploy token" : `have its ${deploy_tokens} deploy tokens`}`;
}

const reset = aboutAccount({
  name: "account reset",
  summary:
    "give an account a new password, read from stdin; all its sessions, their manage_tokens and its deploy tokens end",
  more: "One line of at least 10 characters; on a terminal it is asked for twice and not shown.",
  async run(email, { open, note }) {
    const operations = open();
    const ended = await operations.accounts.reset(email, await hashPassword(await readPassword()));
    note(`${email} has a new password, and all sessions have ended${alsoEnded(ended)}.`);
  },
});

const invite = aboutAccount({
  name: "account invite",
  summary: "print a link that opens sign-up once, within 7 days, for this address",
  more: "For a server with SVC_SIGNUP=invite. The link leads to where the server was reached at its last start; --base-url (SVC_BASE_URL) says otherwise.",
  async run(email, { config, open, print, note }) {
    const { signup, base_url } = await config();
    if (signup === "closed") {
      note("While SVC_SIGNUP is closed the link opens nothing: start the server with SVC_SIGNUP=invite.");
    }
    const token = newToken("svc_invite_");
    await open().accounts.invite({ hash: hashToken(token), email, expires_at: Date.now() + INVITATION_MS });
    print(`${base_url}/signup?invite=${token}\n`);
  },
});

export const ACCOUNTS: readonly Command[] = [create, reset, invite];
