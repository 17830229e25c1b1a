/** `svc comments approve`, `reject`, `resolve`, `reopen` and `delete`: decisions of an owner about a comment. `owner` makes a
 *  browser the owner on the site itself. */
import type { Context, CallWords } from "../../command.ts";
import { svc } from "../../invocation.ts";
import { ask } from "../../service/api.ts";
import { ApiFailure } from "../../service/refusal.ts";
import { ANY } from "../../service/wire.ts";
import { requireSession } from "../../service/which-server.ts";
import { isDeployToken, session } from "../../saved/state.ts";
import { dim, green, text } from "../../terminal/text.ts";
import { chooseSite, type OpenedSite, siteGone } from "../chosen-site.ts";
import { THREAD } from "./list.ts";
import { askComments, commentsPath, known, openComments } from "./opened.ts";
import { usage } from "../../failure.ts";
import { type Infer, pick } from "../../../api/shapes/builder.ts";
import * as comments from "../../../api/shapes/comments.ts";

const OWNER_CODE = pick(comments.OWNER_CODE, "url");

const SAID = {
  approve: "Approved: everybody sees it",
  reject: "Hidden: nobody sees it any more",
  resolve: "Resolved",
  reopen: "Open again",
} as const;

const decide =
  (action: keyof typeof SAID) =>
  async (context: Context, given: CallWords): Promise<void> => {
    const id = commentId(given, svc(`comments ${action}`));
    const note = given.value("note");
    const opened = await openComments(context, given);
    const json = note === undefined ? {} : { note };
    const thread = await askComments(opened, `${id}/${action}`, THREAD, { method: "POST", json });
    if (given.json) return context.terminal.json({ ok: true, ...thread });
    context.terminal.say(text`\n  ${green("✓")} ${SAID[action]}\n`);
  };

const ALL_OF = ["visitor", "network"] as const;
const REJECTED_ALL = pick(comments.REJECTED_ALL, "rejected");

/** `svc comments reject <c_…> --all-of visitor|network`. */
async function rejectAll(context: Context, given: CallWords, whose: string): Promise<void> {
  const id = commentId(given, svc("comments reject"));
  const of = known(whose, ALL_OF, "word of --all-of");
  const note = given.value("note");
  const opened = await openComments(context, given);
  const json = { of, ...(note !== undefined && { note }) };
  const { rejected } = await askComments(opened, `${id}/reject-all`, REJECTED_ALL, { method: "POST", json });
  if (given.json) return context.terminal.json({ ok: true, rejected });
  const what = `${rejected} ${rejected === 1 ? "comment" : "comments"} of this ${of}`;
  context.terminal.say(text`\n  ${green("✓")} Hidden: ${what}, which nobody sees any more\n`);
}

async function reject(context: Context, given: CallWords): Promise<void> {
  const whose = given.value("all-of");
  return whose === undefined ? decide("reject")(context, given) : rejectAll(context, given, whose);
}

/** Needs a session: a manage_token never deletes. */
async function remove(context: Context, given: CallWords): Promise<void> {
  const id = commentId(given, svc("comments delete"));
  const site = chooseSite(context, given, undefined);
  const { site_id, server } = site;
  const credential = requireSession(context.env, server, "comments delete");
  const call = { method: "DELETE", path: commentsPath(site_id, id), credential, repeatable: false } as const;
  await ask(server, call, ANY).catch((error: unknown) => {
    throw error instanceof ApiFailure && error.code === "unknown_site" ? siteGone(context, site) : error;
  });
  if (given.json) return context.terminal.json({ ok: true });
  context.terminal.say(text`\n  ${green("✓")} Deleted, with the replies where it began a thread\n`);
}

const makeCode = (opened: OpenedSite) =>
  askComments(opened, "owner-code", OWNER_CODE, { method: "POST", json: {}, repeatable: false });

/** By the account that the site belongs to, if this machine is signed in to it: a browser that a manage_token's code made the
 *  owner deletes nothing. Null if it is not. */
async function codeOfAccount(context: Context, opened: OpenedSite): Promise<Infer<typeof OWNER_CODE> | null> {
  const credential = session(context.env, opened.server.origin);
  const is_known = credential !== null && opened.credentials.some(({ token }) => token === credential.token);
  if (!is_known || isDeployToken(credential.token)) return null;
  try {
    return await makeCode({ ...opened, credential });
  } catch (error) {
    if (error instanceof ApiFailure && (error.status === 401 || error.status === 403)) return null;
    throw error;
  }
}

/** `svc comments owner`: prints an address that makes a browser the owner on the site itself, once. */
async function owner(context: Context, given: CallWords): Promise<void> {
  const opened = await openComments(context, given);
  const made = (await codeOfAccount(context, opened)) ?? (await makeCode(opened));
  if (given.json) return context.terminal.json({ ok: true, ...made });
  context.terminal.say(text`\n  Open this in your browser to answer and moderate on the site itself:`);
  context.terminal.url(made.url);
  context.terminal.say(
    dim(text`  It works once, within five minutes, for anyone who opens it: keep it to yourself.\n`),
  );
}

/** The comment's id. It is checked before it becomes part of an address. */
function commentId(given: CallWords, call: string): string {
  const id = given.argument;
  if (id === undefined) throw usage(`${call} wants the comment: ${call} <c_…>`);
  if (!/^c_\w+$/.test(id)) throw usage(`${call} wants an id such as c_…, not ${id}.`);
  return id;
}

/** The commands by which an owner decides. */
export const DECISIONS = { decide, reject, remove, owner };
