/** Ways in and out on a site's host: the passcode, the owner's code, and reports, which need neither (COMMENTS 2). */
import { Refusal } from "../../base/errors.ts";
import { isForm, readForm } from "../../http/body.ts";
import { isPasscode } from "../../http/passwords.ts";
import { hashToken } from "../../base/tokens.ts";
import type { ReportReason } from "../../store/notes.ts";
import { MOST_BYTES, readMembers } from "../annotation.ts";
import { answer, emptyAnswer } from "../answers.ts";
import type { Ctx } from "../context.ts";
import { grantCookie, ownerCookie, type SiteHandlers } from "../visitor.ts";
import { isReportCounted, limitOwnerCode, limitPasscode } from "../limits.ts";
import { commentId } from "./read.ts";

const LONGEST_PASSCODE = 1024;

const wrongPasscode = (): Refusal =>
  new Refusal("wrong_passcode", "That passcode is wrong. Ask whoever sent you this page.");

interface Looked {
  right: boolean;
  epoch: number;
}

async function look({ parts, site, from }: Ctx, passcode: unknown): Promise<Looked> {
  const { passcode_hash, passcode_epoch: epoch, mode } = await parts.store.notes.settings(site);
  const text = typeof passcode === "string" ? passcode.slice(0, LONGEST_PASSCODE) : "";
  // In another mode, or without a passcode, the work and the answer are the same.
  const hash = mode === "passcode" ? passcode_hash : null;
  return { right: await isPasscode(text, hash, from()), epoch };
}

/** Sets the cookie of a grant if the passcode is the site's. `given` is called once the limits allow a try. Throws 401
 *  `wrong_passcode`, 429. */
export async function enterPasscode(ctx: Ctx, given: () => Promise<unknown>): Promise<void> {
  const counted = await limitPasscode(ctx);
  const { right, epoch } = await given()
    .then((passcode) => look(ctx, passcode))
    .catch(async (error: unknown) => {
      await counted.undo(); // nobody has looked at it
      throw error;
    });
  if (!right) throw wrongPasscode();
  await counted.right();
  const { parts, site, exchange } = ctx;
  exchange.setCookie(grantCookie(parts.keys, site, epoch, parts.now()));
}

async function passcode(ctx: Ctx): Promise<Response> {
  await enterPasscode(ctx, async () => (await readMembers(ctx.request)).passcode);
  return emptyAnswer(ctx, 204);
}

async function owner(ctx: Ctx): Promise<Response> {
  const { parts, site, exchange } = ctx;
  const counted = await limitOwnerCode(ctx);
  const { code } = await readMembers(ctx.request);
  const spent = typeof code === "string" ? await parts.store.notes.spendOwnerCode(site.site_id, hashToken(code)) : null;
  if (spent === null)
    throw new Refusal("invalid_code", "This code is used, expired or none. Open the comments anew from the dashboard.");
  await counted.undo();
  exchange.setCookie(ownerCookie(parts.keys, site, spent, parts.now()));
  return emptyAnswer(ctx, 204);
}

const REASONS: readonly ReportReason[] = ["spam", "abuse", "privacy", "other"];
const LONGEST_REPORT = 2000;

const MALFORMED = new Set(["invalid_json", "unsupported_media_type", "body_too_large"]);

/** JSON, or the fields of a form: `view` has one. */
const readFields = (request: Request): Promise<Readonly<Record<string, unknown>>> =>
  (isForm(request) ? readForm(request, MOST_BYTES) : readMembers(request)).catch((error: unknown) => {
    if (error instanceof Refusal && MALFORMED.has(error.code)) return {};
    throw error;
  });

async function readReport(request: Request): Promise<{ reason: ReportReason; text: string | null }> {
  const fields = await readFields(request);
  const reason = REASONS.find((one) => one === fields.reason);
  const text = fields.text ?? null;
  const isText = text === null || (typeof text === "string" && text.isWellFormed() && text.length <= LONGEST_REPORT);
  if (reason !== undefined && isText) return { reason, text: text === "" ? null : text };
  const why = `Send a "reason" (${REASONS.join(", ")}) and, if you like, a "text" of at most ${LONGEST_REPORT} characters.`;
  throw new Refusal("invalid_input", why);
}

/** Takes a report of anybody, on a frozen site too; the answer is the same if there is no such comment. */
async function report(ctx: Ctx): Promise<Response> {
  const said = await readReport(ctx.request);
  const { parts, site } = ctx;
  if (await isReportCounted(ctx)) await parts.store.notes.report(site.site_id, commentId(ctx), said);
  return answer(ctx, { ok: true }, {}, 202);
}

/** The rows of a site's own host that this file answers. */
export const ENTERING_HANDLERS = {
  "POST /_svc/comments/passcode": passcode,
  "POST /_svc/comments/owner": owner,
  "POST /_svc/comments/c_:id/report": report,
} satisfies Partial<SiteHandlers>;
