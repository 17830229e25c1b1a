/** `account create`, `reset`, `invite`, `list`, `disable`, `enable` and `delete`: the operator makes accounts, whatever
 *  SVC_SIGNUP says, and decides about them. */
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { hashPassword, normalEmail } from "../http/passwords.ts";
import { hashToken, newAccountId, newToken } from "../base/tokens.ts";
import type { EndedTokens } from "../store/people/operator-accounts.ts";
import { UNIT_MS } from "../base/units.ts";
import { type CallWords, JSON_FLAG, type OperatorCommand, type OperatorContext } from "./command.ts";
import { counted, list } from "./print.ts";

const INVITATION_MS = 7 * UNIT_MS.d;

/** A command about one account, which its address names. */
const aboutAccount = (
  { flags = [], ...row }: Pick<OperatorCommand, "name" | "summary" | "details"> & Partial<OperatorCommand>,
  run: (email: string, context: OperatorContext, given: CallWords) => Promise<void>,
): OperatorCommand => ({
  ...row,
  arguments: ["<email>"],
  flags,
  run: (context, given) => run(normalEmail(given.argument!), context, given),
});

const create = aboutAccount(
  {
    name: "account create",
    summary: "make an account; its password is read from stdin",
    details: ["One line of at least 10 characters; on a terminal it is asked for twice and not shown."],
  },
  async (email, { open, print }) => {
    const operations = await open();
    const account_id = newAccountId();
    await operations.accounts.create({ account_id, email, password_hash: await hashPassword(await readPassword()) });
    print(`${account_id}\n`);
  },
);

/** The end of the sentence that the sessions have ended. */
function alsoEnded({ manage_tokens, deploy_tokens }: EndedTokens): string {
  const their = manage_tokens === 1 ? "the manage_token" : `the ${manage_tokens} manage_tokens`;
  const given = manage_tokens === 0 ? "" : `, with ${their} that their deploys were given`;
  if (deploy_tokens === 0) return given;
  return `${given}, and so ${deploy_tokens === 1 ? "has its deploy token" : `have its ${deploy_tokens} deploy tokens`}`;
}

const reset = aboutAccount(
  {
    name: "account reset",
    summary:
      "give an account a new password, read from stdin; all its sessions, their manage_tokens and its deploy tokens end",
    details: ["One line of at least 10 characters; on a terminal it is asked for twice and not shown."],
  },
  async (email, { open, note }) => {
    const operations = await open();
    const ended = await operations.accounts.reset(email, await hashPassword(await readPassword()));
    note(`${email} has a new password, and all sessions have ended${alsoEnded(ended)}.`);
  },
);

const invite = aboutAccount(
  {
    name: "account invite",
    summary: "print a link that opens sign-up once, within 7 days, for this address",
    details: [
      "For a server with SVC_SIGNUP=invite. The link leads to where the server was reached at its last start; --base-url (SVC_BASE_URL) says otherwise.",
    ],
  },
  async (email, { config, open, print, note }) => {
    const { signup, base_url } = await config();
    if (signup === "closed") {
      note("While SVC_SIGNUP is closed the link opens nothing: start the server with SVC_SIGNUP=invite.");
    }
    const token = newToken("svc_invite_");
    await (await open()).accounts.invite({ hash: hashToken(token), email, expires_at: Date.now() + INVITATION_MS });
    print(`${base_url}/signup?invite=${token}\n`);
  },
);

const accounts: OperatorCommand = {
  name: "account list",
  arguments: [],
  flags: [JSON_FLAG],
  summary: "list all accounts, newest last",
  details: [],
  async run(context, given) {
    await list(context, given, await (await context.open()).accounts.list(), {
      ACCOUNT: (row) => row.account_id,
      EMAIL: (row) => row.email,
      STATE: (row) => row.state,
      SITES: (row) => row.sites,
      CREATED: (row) => row.created_at,
      "LAST USED": (row) => row.last_used_at,
    });
  },
};

const NO_REASON = "The account of this site was disabled.";

const withSites = (sites: number): string => (sites === 0 ? "" : `, and ${counted(sites, "site")} with it`);

const disable = aboutAccount(
  {
    name: "account disable",
    flags: [{ name: "reason", value: "text" }],
    summary: "end its sessions, refuse its sign-ins, and answer 451 on its sites",
    details: [
      "The reason is shown to visitors of its sites, and to everyone who signs in with the right password. Nothing is removed: `account enable` ends it.",
    ],
  },
  async (email, { open, note }, given) => {
    const sites = await (await open()).accounts.disable(email, given.value("reason") ?? NO_REASON);
    note(
      sites === null ? `${email} was disabled for this reason already.` : `${email} is disabled${withSites(sites)}.`,
    );
  },
);

const enable = aboutAccount(
  {
    name: "account enable",
    summary: "end that: the account signs in again, its sites have the state they had",
    details: ["Sessions do not come back: its owner signs in again."],
  },
  async (email, { open, note }) => {
    const sites = await (await open()).accounts.enable(email);
    note(sites === null ? `${email} was not disabled.` : `${email} is enabled again${withSites(sites)}.`);
  },
);

const remove = aboutAccount(
  {
    name: "account delete",
    summary: "remove an account with all its sites, for good; prints their site_ids",
    details: ["It cannot be undone. The slugs are never given out again; the files go with the next sweeps."],
  },
  async (email, { open, print, note }) => {
    const site_ids = await (await open()).accounts.remove(email);
    for (const site_id of site_ids) print(`${site_id}\n`);
    note(`${email} is deleted${withSites(site_ids.length)}.`);
  },
);

export const ACCOUNTS: readonly OperatorCommand[] = [create, reset, invite, accounts, disable, enable, remove];

/** Reads a password from stdin. A person types it twice, and it is not shown. */
async function readPassword(): Promise<string> {
  if (!process.stdin.isTTY) return pipedLine();
  const [first = "", second] = await hiddenLines(["New password: ", "Once more: "]);
  if (first !== second) throw new Error("The two passwords differ: nothing was changed.");
  return first;
}

/** Asks each question on the terminal. What is typed is not shown. */
async function hiddenLines(questions: readonly string[]): Promise<string[]> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  terminal.on("SIGINT", () => {
    terminal.close(); // gives the terminal its echo back
    process.stderr.write("\n");
    process.exit(130);
  });
  const answers: string[] = [];
  try {
    for (const question of questions) {
      process.stderr.write(question);
      answers.push(await terminal.question(""));
      process.stderr.write("\n");
    }
  } finally {
    terminal.close();
  }
  return answers;
}

/** Reads to the end of the first line only: the program that pipes it in may keep the pipe open. */
async function pipedLine(): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of Bun.stdin.stream()) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes("\n")) break;
  }
  return text.split(/\r?\n/, 1)[0]!;
}
