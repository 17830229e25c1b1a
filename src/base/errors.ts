/** Every error of the service: a code exists only by having a status, and only this file turns one into a body. */

const STATUS = {
  invalid_zip: 400,
  unsafe_path: 400,
  empty_deploy: 400,
  unsupported_zip: 400,
  too_complex: 400,
  invalid_json: 400,
  invalid_input: 400,
  invalid_path: 400,
  invalid_host: 400,
  invalid_annotation: 400,
  invalid_delta: 400,
  invalid_slug: 400,
  invalid_domain: 400,
  authorization_pending: 400,
  slow_down: 400,
  expired_token: 400,
  access_denied: 400,
  unauthorized: 401,
  invalid_claim: 401,
  passcode_required: 401,
  wrong_passcode: 401,
  password_required: 401,
  wrong_password: 401,
  invalid_code: 401,
  no_identity: 401,
  account_required: 401,
  forbidden: 403,
  abuse_rejected: 403,
  challenge_failed: 403,
  site_frozen: 403,
  signup_closed: 403,
  cross_origin: 403,
  edit_window_over: 403,
  scope_missing: 403,
  quota_exceeded: 403,
  owner_required: 403,
  unknown_site: 404,
  unknown_version: 404,
  unknown_host: 404,
  not_found: 404,
  comments_off: 404,
  method_not_allowed: 405,
  already_owned: 409,
  version_collision: 409,
  idempotency_conflict: 409,
  email_taken: 409,
  identity_conflict: 409,
  page_full: 409,
  thread_full: 409,
  site_full: 409,
  missing_blobs: 409,
  version_live: 409,
  slug_taken: 409,
  too_many_names: 409,
  domain_taken: 409,
  domain_unproved: 409,
  site_expired: 410,
  deleted: 410,
  precondition_failed: 412,
  changed: 412,
  zip_too_large: 413,
  deploy_too_large: 413,
  too_many_files: 413,
  body_too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  unknown_page: 422,
  unknown_thread: 422,
  anchor_too_long: 422,
  name_reserved: 422,
  if_match_required: 428,
  rate_limited: 429,
  site_disabled: 451,
  internal: 500,
  unavailable: 503,
  storage_full: 507,
} as const;

export type ErrorCode = keyof typeof STATUS;
export const ERROR_CODES = Object.keys(STATUS) as ErrorCode[];
export const statusOf = (code: ErrorCode): number => STATUS[code];

/** A way out of a refusal, for a person (`description`, `command`) and for a program (`action`, `method`, `url`). */
export interface NextAction {
  action: string;
  description: string;
  command?: string;
  method?: string;
  url?: string;
  when?: string;
  /** Only with the action `review_comments`. */
  threads?: { id: string; page: string; carried: string; url: string }[];
}

/** Members of the error body besides `error`, `code` and `request_id`. */
interface Details {
  next_actions?: NextAction[];
  [member: string]: unknown;
}

/** The one error that is meant for the caller. `message` is a sentence that tells a person what to do next. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: Details = {},
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
  get status(): number {
    return statusOf(this.code);
  }
}

type PlainError = Pick<Error, "name" | "message" | "stack">;

/** Any error on its way to another thread or process: `structuredClone` keeps neither class nor getters. `cause` is what the
 *  operator should read of a refusal that is not the caller's fault. */
export type PlainFailure =
  { refusal: Pick<Refusal, "code" | "message" | "details" | "headers">; cause?: PlainError } | { error: PlainError };

function plainError(thrown: unknown): PlainError {
  const { name, message, stack } = thrown instanceof Error ? thrown : new Error(String(thrown));
  return { name, message, stack };
}

export function plainFailure(thrown: unknown): PlainFailure {
  if (!(thrown instanceof Refusal)) return { error: plainError(thrown) };
  const { code, message, details, headers, cause } = thrown;
  return { refusal: { code, message, details, headers }, ...(cause !== undefined && { cause: plainError(cause) }) };
}

const thrownAgain = ({ name, message, stack }: PlainError): Error => Object.assign(new Error(message), { name, stack });

/** The error as if it had been thrown here; the log shows its own stack. */
export function fromFailure(failure: PlainFailure): Error {
  if ("error" in failure) return thrownAgain(failure.error);
  const { code, message, details, headers } = failure.refusal;
  const refusal = new Refusal(code, message, details, headers);
  return failure.cause ? Object.assign(refusal, { cause: thrownAgain(failure.cause) }) : refusal;
}

/** Makes of an error what the caller may know: a Refusal stays as it is, anything else is `internal`. */
export const asRefusal = (error: unknown): Refusal =>
  error instanceof Refusal
    ? error
    : new Refusal("internal", "Something went wrong on our side. Try again; if it stays, send us the request id.");

/** The JSON body of every API error (CONTRACT 3). */
export const errorBody = (refusal: Refusal, request_id: string) => ({
  error: refusal.message,
  code: refusal.code,
  request_id,
  ...refusal.details,
});

/** Refusals that are the operator's doing. */
const BY_OPERATOR: ReadonlySet<ErrorCode> = new Set(["site_disabled", "site_frozen", "signup_closed"]);

/** Says in a refusal of the operator's whom to ask about it (`SVC_CONTACT`, CONTRACT 1): in the sentence for a person at a
 *  command line, and as `appeal` for a program. */
export const withAppeal = (refusal: Refusal, contact: string | null): Refusal =>
  BY_OPERATOR.has(refusal.code) ? appealing(refusal, contact) : refusal;

/** Does the same for a refusal that is the operator's doing whatever its code says. */
export function appealing(refusal: Refusal, contact: string | null): Refusal {
  const { code, message, details, headers } = refusal;
  if (contact === null) return refusal;
  const sentence = `${message.replace(/[.!?]?$/, ".")} Questions or an appeal: ${contact}`;
  return new Refusal(code, sentence, { ...details, appeal: contact }, headers);
}
