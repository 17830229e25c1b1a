/** Whom to ask where the operator's hand is in a refusal (`SVC_CONTACT`, CONTRACT.md 1). */
import { type ErrorCode, Refusal } from "./errors.ts";

const BY_OPERATOR: ReadonlySet<ErrorCode> = new Set(["site_disabled", "site_frozen", "signup_closed"]);

/** In the sentence, for a person at a command line, and as `appeal`, for a program. */
export function withAppeal(refusal: Refusal, contact: string | null): Refusal {
  const { code, message, details, headers } = refusal;
  if (contact === null || !BY_OPERATOR.has(code)) return refusal;
  const sentence = `${message.replace(/[.!?]?$/, ".")} Questions or an appeal: ${contact}`;
  return new Refusal(code, sentence, { ...details, appeal: contact }, headers);
}
