/** The meaning of an answer for the person who publishes (WEB 4.5): what is tried again unseen, what the alert says,
 *  and what it offers. */

/** The content of an alert. */
export interface Trouble {
  sentence: string;
  /** Its words "sign in" are a link. */
  sign_in?: boolean;
  /** More of it, a line each. */
  lines?: string[];
  files?: { path: string; bytes: number }[];
  /** The buttons of the alert; missing if nothing on this page would help. */
  offers?: Offer[];
  /** "Try again" waits so long. */
  wait_s?: number;
}
export type Offer = "try_again" | "start_over" | "sign_in" | "without_account" | "reload";

/** The server's answer. */
export interface Answer {
  status: number;
  /** The JSON object, or an empty one. */
  body: Readonly<Record<string, unknown>>;
  request_id: string | null;
  /** Seconds. */
  retry_after: number | null;
  /** The header `Svc-Receipt`. */
  receipt: string | null;
}

/** The steps that the page takes by itself before it shows an alert. */
export type Remedy = "proof" | "token" | "wait";

export function remedyOf(answer: Answer | null): Remedy | null {
  if (answer === null) return null;
  const { status, body, retry_after } = answer;
  if (status === 403 && body["code"] === "challenge_failed") return "proof";
  if (status === 403 && body["code"] === "cross_origin") return "token";
  return status === 503 && retry_after !== null ? "wait" : null;
}

const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

function filesIn(value: unknown): { path: string; bytes: number }[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one: unknown) => {
    const { path, bytes } = Object(one) as { path?: unknown; bytes?: unknown };
    return typeof path === "string" && typeof bytes === "number" ? { path, bytes } : [];
  });
}

/** The server's own words. */
function said({ body }: Answer): Trouble {
  const sentence = text(body["error"]) ?? "The server refused it and did not say why.";
  const path = text(body["path"]);
  const appeal = text(body["appeal"]);
  return {
    sentence,
    lines: [
      ...(path !== null && !sentence.includes(path) ? [path] : []),
      ...(appeal !== null && !sentence.includes(appeal) ? [`Questions or an appeal: ${appeal}`] : []),
    ],
    files: filesIn(body["largest"]),
  };
}

/** The answer that a page gives itself when its session has ended. */
export const SIGNED_OUT: Answer = { status: 401, body: {}, request_id: null, retry_after: null, receipt: null };

/** The person who publishes, and the kind of deploy. */
interface Publisher {
  signed_in: boolean;
  may_be_anonymous: boolean;
  /** Not on a site's own page, which says what else can be done with it. */
  at_home: boolean;
  /** Everything was sent, now or in a try before that no answer came to. */
  sent: boolean;
}

function signedOut({ may_be_anonymous }: Publisher): Trouble {
  return {
    sentence: "You were signed out, and nothing was published.",
    offers: ["sign_in", "try_again", ...(may_be_anonymous ? (["without_account"] as const) : [])],
  };
}

function tooMany({ retry_after }: Answer, { signed_in }: Publisher): Trouble {
  const wait_s = retry_after ?? 60;
  const when = `Try again in ${wait_s} seconds`;
  const sentence = signed_in
    ? `Too many deploys from your account. ${when}.`
    : `Too many sites from your address. ${when}, or sign in: an account's deploys are not limited.`;
  const still = `${sentence} ${KEPT}`;
  return { sentence: still, sign_in: !signed_in, offers: ["try_again"], wait_s };
}

const KEPT = "Nothing was published; your files are still here.";
const MAYBE = "It may be published already. Your files are still here: trying again publishes them once.";

/** A server that refuses says so; what is between it and the page, or a server that ends meanwhile, does not know. */
const brokenServer = ({ status, request_id, retry_after }: Answer, { sent }: Publisher): Trouble => {
  const known = !sent || status === 500 || (status === 503 && retry_after !== null);
  const where = request_id === null ? "" : ` (request ${request_id})`;
  return {
    sentence: `Something went wrong on the server${where}. ${known ? KEPT : MAYBE}`,
    offers: ["try_again"],
  };
};

/** When there is nothing left to try unseen. */
export function troubleOf(answer: Answer | null, publisher: Publisher, online: boolean): Trouble {
  if (answer === null) {
    const why = online ? "The server cannot be reached. Check your connection." : "You are offline.";
    return { sentence: `${why} ${publisher.sent ? MAYBE : KEPT}`, offers: ["try_again"] };
  }
  const { status, body } = answer;
  const { code } = body;
  if (code === "account_required") return { ...said(answer), offers: ["sign_in"] };
  if (status === 401) return signedOut(publisher);
  if (status === 429) return tooMany(answer, publisher);
  if (code === "challenge_failed") return { ...said(answer), offers: ["try_again"] };
  if (code === "cross_origin") return { ...said(answer), offers: ["reload"] };
  if (status === 404 || status === 451 || code === "site_frozen") {
    return { ...said(answer), offers: publisher.at_home ? ["start_over"] : [] };
  }
  if (status === 507 || (status >= 400 && status < 500)) return { ...said(answer), offers: ["start_over"] };
  return brokenServer(answer, publisher);
}
