/** `svc login`: signs this machine in after a person has approved it in a browser. A program that cannot wait asks for a code,
 *  and later whether it was approved. */
import { setTimeout as wait } from "node:timers/promises";
import { serverAt, serverTyped, type Server } from "../saved/server.ts";
import { ask } from "../service/api.ts";
import type { Context, CallWords } from "../command.ts";
import { isoTime } from "./receipt.ts";
import { askForApproval, askForCode, expiredLogin, waitForApproval } from "../service/device.ts";
import { Failure, usage } from "../failure.ts";
import { openBrowser } from "../terminal/open-browser.ts";
import { pendingLogins } from "../saved/pending-logins.ts";
import { signIn, type Session } from "../service/sign-in.ts";
import { randomKey } from "../../base/random.ts";
import { whileSpinning } from "../terminal/index.ts";
import { requireToken } from "../saved/state.ts";
import { bold, cyan, dim, text, yellow } from "../terminal/text.ts";
import type { DeviceCode } from "../service/wire.ts";
import { ACCOUNT } from "./account.ts";

/** Shows the code, with `-q` too: without it no one can approve. */
async function showCode({ terminal, env }: Context, code: DeviceCode): Promise<void> {
  terminal.insist(text`\n  Your code: ${bold(code.user_code)}`);
  terminal.insist(text`  Approve it at ${cyan(code.verification_uri_complete)}`);
  if (await openBrowser(code.verification_uri_complete, env, terminal)) {
    terminal.say(dim("  Your browser opens there. Approve only if it shows the same code."));
  }
  terminal.say();
}

async function byBrowser(context: Context): Promise<Session> {
  const { server, now, terminal } = context;
  const code = await askForCode(server);
  await showCode(context, code);
  const askOnce = () => askForApproval(server, code.device_code);
  const approval = await whileSpinning(
    terminal,
    () => waitForApproval(code, askOnce, { now, wait: (ms) => wait(ms) }),
    "Waiting for you to approve it",
  );
  return { session_token: approval.access_token, account_id: approval.account_id };
}

/** Signs in with a token. The server is asked first: only a token that it knows is saved. */
async function byToken({ server }: Context, token: string): Promise<Session> {
  const credential = { token: requireToken(token, "session_token"), from: "--token" };
  const account = await ask(server, { method: "GET", path: "/account", credential, repeatable: true }, ACCOUNT);
  return { session_token: credential.token, account_id: account.account_id, email: account.email };
}

/** `--request`: begins a login and prints it. */
async function begin({ server, env, now, terminal }: Context): Promise<void> {
  const code = await askForCode(server);
  const { device_code, user_code, verification_uri, verification_uri_complete } = code;
  const id = `login_${randomKey(9)}`;
  const expires_at = now() + code.expires_in * 1000;
  pendingLogins(env, now).add({ id, server: server.base, device_code, expires_at });
  const shown = { id, user_code, verification_uri, verification_uri_complete, expires_at: isoTime(expires_at) };
  terminal.json({ ok: true, ...shown });
}

/** `--check`: asks the server that gave the code once. */
async function check(context: Context, id: string): Promise<void> {
  const pending = pendingLogins(context.env, context.now);
  const login = pending.find(id);
  if (login === undefined) throw expiredLogin();
  const server = serverAt(login.server, "argument");
  if (server === null) throw expiredLogin();
  try {
    const { access_token, account_id } = await askForApproval(server, login.device_code);
    await signIn(context, server, { session_token: access_token, account_id });
    pending.remove(id);
    context.terminal.json({ ok: true, account_id });
  } catch (error) {
    const { code } = Object(error) as Partial<Failure>;
    if (code === "access_denied" || code === "expired_token") pending.remove(id);
    throw error;
  }
}

/** An address that is typed goes before DEPLOY_URL, which the commands after this one obey. */
function serverOfLogin({ server, env, terminal }: Context, { argument }: CallWords): Server {
  if (argument === undefined) return server;
  const typed = serverTyped(argument);
  const named = env["DEPLOY_URL"];
  if (named && serverAt(named, "DEPLOY_URL")?.origin !== typed.origin) {
    terminal.insist(text`  ${yellow("!")} DEPLOY_URL is set to ${named} and goes before this login.`);
  }
  return typed;
}

export async function login(machine: Context, given: CallWords): Promise<void> {
  const [token, id] = [given.value("token"), given.value("check")];
  const ways = ["token", "request", "check"].filter((flag) => given.has(flag));
  if (ways.length > 1) throw usage(`--${ways.join(" and --")} are different ways to sign in: give one.`);
  if (id !== undefined && given.argument !== undefined) throw usage("--check asks the server that gave the code.");
  const context = { ...machine, server: serverOfLogin(machine, given) };
  if (given.has("request")) return begin(context);
  if (id !== undefined) return check(context, id);
  const session = token === undefined ? await byBrowser(context) : await byToken(context, token);
  const { account_id } = session;
  const attachment = await signIn(context, context.server, session);
  if (given.json) context.terminal.json({ ok: true, account_id, ...attachment });
}
