/** A client of a certificate authority's ACME server (RFC 8555): an account, and an order for a name from its challenge to its chain. What a server
 *  answers is bounded in size and time, and leads to no other host. */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, X509Certificate } from "node:crypto";
import { visibleLine } from "../base/visible.ts";
import { certificateRequest } from "./x509.ts";

interface AcmeOptions {
  /** Address of its directory. */
  directory: string;
  /** PEM of whom to trust for the server's own certificate; null: the system's. */
  ca: string | null;
  /** A mail address. */
  contact: string | null;
  /** The account's key, PEM. */
  account_key: string;
  user_agent: string;
}

/** Proves to the authority that a name is ours: where it looks, what it must see. */
export interface ChallengeToMeet {
  type: "http-01" | "dns-01";
  name: string;
  token: string;
  /** The text at the address, or in the record. */
  answer: string;
}

/** `meet` resolves once the answer can be seen; the function that it gives takes it away again. */
type Meet = (challenge: ChallengeToMeet) => Promise<() => Promise<void>>;

export interface Issued {
  key: string;
  chain: string;
  /** Epoch milliseconds. */
  from: number;
  ends: number;
}

const FIRST_WAIT_MS = 3_600_000;

/** A sentence: why there is no certificate. `retry_ms`: the authority wants so long a pause; `first_ms`: how long the first one is otherwise. */
export class AcmeFailure extends Error {
  override readonly name = "AcmeFailure";
  constructor(
    message: string,
    readonly retry_ms = 0,
    readonly first_ms = FIRST_WAIT_MS,
  ) {
    super(message);
  }
}

const REQUEST_MS = 30_000;
const ORDER_MS = 5 * 60_000;
const MOST_BYTES = 256 * 1024;
/** A server may refuse nonces at random, to test clients. */
const MOST_NONCES = 20;
const POLL_MS = 1000;
const MOST_POLL_MS = 10_000;

interface WireAnswer {
  status: number;
  headers: Headers;
  text: string;
}

interface Problem {
  type: string;
  detail: string;
}

interface Directory {
  newNonce: string;
  newAccount: string;
  newOrder: string;
}

/** How the key goes into a request: the account's address, or for a new account the key itself. */
type SignedAs = { kid: string } | { jwk: object };

const base64url = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString("base64url");

function parsed(text: string, what: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // It is said below.
  }
  throw new AcmeFailure(
    `The certificate authority answered with no JSON ${what}: see whether SVC_ACME names its directory.`,
  );
}

function textMember(of: Record<string, unknown>, member: string): string {
  const value = of[member];
  if (typeof value === "string" && value.length <= 2000) return value;
  throw new AcmeFailure(
    `The certificate authority left "${member}" out of an answer: see whether SVC_ACME names its directory.`,
  );
}

/** The members in this order, without spaces (RFC 7638). */
function publicJwk(key: string) {
  const { crv, kty, x, y } = createPublicKey(createPrivateKey(key)).export({ format: "jwk" });
  return { crv, kty, x, y };
}

const retryMs = (headers: Headers, now: number): number => {
  const said = headers.get("retry-after") ?? "";
  const ms = /^\d{1,7}$/.test(said) ? Number(said) * 1000 : Date.parse(said) - now;
  return Number.isFinite(ms) && ms > 0 ? ms : 0;
};

const problemOf = (of: unknown): Problem => {
  const { type, detail } = (typeof of === "object" && of !== null ? of : {}) as Partial<Problem>;
  return {
    type: typeof type === "string" ? type.replace(/^urn:ietf:params:acme:error:/, "") : "",
    detail: typeof detail === "string" ? visibleLine(detail).slice(0, 300) : "",
  };
};

/** Advice for the operator or the owner, by the type of the problem (RFC 8555, 6.7). */
const ADVICE: Readonly<Record<string, (name: string) => string>> = {
  connection: (name) =>
    `The certificate authority reached nobody at http://${name}/: point the A or AAAA record of ${name} to this server, and let port 80 through.`,
  unauthorized: (name) =>
    `The certificate authority found another answer than this server's at http://${name}/: point the A or AAAA record of ${name} to this server alone.`,
  incorrectResponse: (name) =>
    `The certificate authority found another answer than this server's at http://${name}/: point the A or AAAA record of ${name} to this server alone.`,
  dns: (name) =>
    `The certificate authority finds no address for ${name}: give it an A or AAAA record with this server's.`,
  caa: (name) =>
    `A CAA record of ${name} lets other certificate authorities alone issue for it: add this one's, or remove it.`,
  rateLimited: () =>
    "The certificate authority has issued as many certificates as it does for now: it is asked again later.",
  rejectedIdentifier: (name) => `The certificate authority issues no certificate for ${name}.`,
  tls: (name) => `The certificate authority was sent on to https at ${name}, and could not go on there.`,
};

/** The same where DNS is looked at alone: the record that a hook has set. */
const hookAdvice = (name: string): string =>
  `The certificate authority did not find what SVC_DNS_HOOK set at ${challengeRecord(name)}: see whether each name server of the zone has it.`;
const ABOUT_RECORDS = ["connection", "unauthorized", "incorrectResponse", "dns"];

/** The name at which DNS-01 is looked for (RFC 8555, 8.4). */
export const challengeRecord = (name: string): string => `_acme-challenge.${name.replace(/^\*\./, "")}`;

function failureOf({ type, detail }: Problem, name: string, retry_ms = 0, by?: ChallengeToMeet["type"]): AcmeFailure {
  const found = by === "dns-01" && ABOUT_RECORDS.includes(type) ? hookAdvice : ADVICE[type];
  const advice = found?.(name) ?? `The certificate authority refused the order for ${name}.`;
  return new AcmeFailure(detail === "" ? advice : `${advice} It says: ${detail}`, retry_ms);
}

/** Reads no more than a bound of an answer. */
async function boundedText(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.length;
    if (bytes > MOST_BYTES) throw new AcmeFailure("The certificate authority answered with more than 256 KB.");
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

/** Requests to one server, with a nonce and a signature each. */
class Wire {
  #nonces: string[] = [];
  #directory: Directory | null = null;
  constructor(
    private readonly options: AcmeOptions,
    readonly now: () => number,
  ) {}

  /** An address of the same host, for what the server says is not trusted further. */
  #own(url: string): string {
    const there = URL.parse(url);
    const home = new URL(this.options.directory);
    if (there !== null && there.protocol === home.protocol && there.host === home.host) return there.href;
    throw new AcmeFailure(`The certificate authority at ${home.host} leads to another host: nothing was sent there.`);
  }
  async #fetch(url: string, init: RequestInit): Promise<WireAnswer> {
    const { ca, user_agent } = this.options;
    const headers = { ...(init.headers as Record<string, string>), "user-agent": user_agent };
    try {
      const signal = AbortSignal.timeout(REQUEST_MS);
      const request = {
        ...init,
        headers,
        redirect: "manual",
        signal,
        ...(ca !== null && { tls: { ca } }),
      } as RequestInit;
      const response = await fetch(this.#own(url), request);
      const nonce = response.headers.get("replay-nonce");
      if (nonce !== null && /^[\w-]{1,500}$/.test(nonce)) this.#nonces = [...this.#nonces.slice(-10), nonce];
      return { status: response.status, headers: response.headers, text: await boundedText(response) };
    } catch (error) {
      if (error instanceof AcmeFailure) throw error;
      const { host } = new URL(this.options.directory);
      const why = visibleLine((error as Error).message).slice(0, 200);
      throw new AcmeFailure(
        `The certificate authority at ${host} could not be asked (${why}): see whether this machine reaches it.`,
      );
    }
  }
  async directory(): Promise<Directory> {
    if (this.#directory !== null) return this.#directory;
    const { status, text } = await this.#fetch(this.options.directory, {});
    if (status !== 200)
      throw new AcmeFailure(
        `The directory of the certificate authority is answered ${status}: see whether SVC_ACME names it.`,
      );
    const told = parsed(text, "directory");
    const one = (member: string) => textMember(told, member);
    return (this.#directory = { newNonce: one("newNonce"), newAccount: one("newAccount"), newOrder: one("newOrder") });
  }
  async #nonce(): Promise<string> {
    const kept = this.#nonces.pop();
    if (kept !== undefined) return kept;
    await this.#fetch((await this.directory()).newNonce, { method: "HEAD" });
    const fresh = this.#nonces.pop();
    if (fresh === undefined) throw new AcmeFailure("The certificate authority gave no nonce.");
    return fresh;
  }
  /** A JWS (RFC 7515, 7.2.2); `payload` null is POST-as-GET. */
  async #signed(url: string, payload: unknown, as: SignedAs): Promise<string> {
    const head = base64url(JSON.stringify({ alg: "ES256", nonce: await this.#nonce(), url, ...as }));
    const body = payload === null ? "" : base64url(JSON.stringify(payload));
    const key = createPrivateKey(this.options.account_key);
    const signature = sign("sha256", Buffer.from(`${head}.${body}`), { key, dsaEncoding: "ieee-p1363" });
    return JSON.stringify({ protected: head, payload: body, signature: base64url(signature) });
  }
  /** Throws what the server refuses, as a sentence about `name`. */
  async post(url: string, payload: unknown, as: SignedAs, name: string): Promise<WireAnswer> {
    for (let tries = 0; ; tries++) {
      const body = await this.#signed(url, payload, as);
      const headers = { "content-type": "application/jose+json" };
      const answer = await this.#fetch(url, { method: "POST", headers, body });
      if (answer.status < 300) return answer;
      const problem = problemOf(answer.text.startsWith("{") ? parsed(answer.text, "problem") : null);
      if (problem.type === "badNonce" && tries < MOST_NONCES) continue;
      if (problem.type !== "" || answer.status < 500)
        throw failureOf(problem, name, retryMs(answer.headers, this.now()));
      throw new AcmeFailure(`The certificate authority answered ${answer.status}: it is asked again later.`);
    }
  }
}

type Order = Record<string, unknown>;

/** The chain goes with the key, is for the name, and counts now. */
function issued(key: string, chain: string, name: string, now: number): Issued {
  const told = () => {
    try {
      return new X509Certificate(chain);
    } catch {
      return null;
    }
  };
  const certificate = told();
  const host = name.replace(/^\*/, "any");
  if (!certificate?.checkPrivateKey(createPrivateKey(key)) || certificate.checkHost(host) === undefined) {
    throw new AcmeFailure(
      `The certificate authority sent a certificate that is not the one that was asked for, for ${name}.`,
    );
  }
  const [from, ends] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  if (!(ends > now)) throw new AcmeFailure(`The certificate authority sent a certificate for ${name} that has ended.`);
  return { key, chain, from, ends };
}

export const newKey = (): string =>
  generateKeyPairSync("ec", { namedCurve: "prime256v1" }).privateKey.export({ type: "pkcs8", format: "pem" }) as string;

/** Asks again, as slowly as the server wants, until it is one of these states. */
async function until(
  ask: () => Promise<WireAnswer>,
  { states, ends, now }: { states: readonly string[]; ends: number; now: () => number },
): Promise<Order> {
  for (;;) {
    const answer = await ask();
    const told = parsed(answer.text, "state");
    if (states.some((state) => state === told.status)) return told;
    const wait = Math.min(MOST_POLL_MS, Math.max(POLL_MS, retryMs(answer.headers, now())));
    if (performance.now() + wait > ends)
      throw new AcmeFailure(
        "The certificate authority did not come to an end in five minutes: it is asked again later.",
      );
    await Bun.sleep(wait);
  }
}

interface AcmeAccount {
  wire: Wire;
  thumbprint: string;
  /** Its address: registered at the first call, found again at later ones (RFC 8555, 7.3). */
  kid(): Promise<string>;
  now: () => number;
}

function openAccount(options: AcmeOptions, now: () => number): AcmeAccount {
  const wire = new Wire(options, now);
  const jwk = publicJwk(options.account_key);
  let known: Promise<string> | null = null;

  async function register(): Promise<string> {
    const contact = options.contact === null ? {} : { contact: [`mailto:${options.contact}`] };
    const { newAccount } = await wire.directory();
    const asked = { termsOfServiceAgreed: true, ...contact };
    const { headers } = await wire.post(newAccount, asked, { jwk }, "this server's account");
    const kid = headers.get("location");
    if (kid === null) throw new AcmeFailure("The certificate authority gave the account no address.");
    return kid;
  }
  return {
    wire,
    now,
    thumbprint: createHash("sha256").update(JSON.stringify(jwk)).digest("base64url"),
    kid: () =>
      (known ??= register().catch((error: unknown) => {
        known = null;
        throw error;
      })),
  };
}

interface Authorizing {
  url: string;
  name: string;
  type: ChallengeToMeet["type"];
  meet: Meet;
  /** By `performance.now()`. */
  ends: number;
}

const challengesOf = ({ challenges }: Order): Record<string, unknown>[] =>
  Array.isArray(challenges) ? (challenges as Record<string, unknown>[]) : [];

/** Meets one challenge of an authorization, and waits until it was seen. */
async function authorize({ wire, kid, thumbprint, now }: AcmeAccount, { url, name, type, meet, ends }: Authorizing) {
  const as = { kid: await kid() };
  const read = () => wire.post(url, null, as, name);
  const told = parsed((await read()).text, "authorization");
  if (told.status === "valid") return;
  const challenge = challengesOf(told).find((one) => one.type === type);
  if (challenge === undefined)
    throw new AcmeFailure(`The certificate authority offers no ${type} challenge for ${name}.`);
  const token = textMember(challenge, "token");
  if (!/^[\w-]{1,200}$/.test(token)) throw new AcmeFailure("The certificate authority sent a token that is none.");
  const proof = `${token}.${thumbprint}`;
  const answer = type === "http-01" ? proof : createHash("sha256").update(proof).digest("base64url");
  const done = await meet({ type, name, token, answer });
  try {
    await wire.post(textMember(challenge, "url"), {}, as, name);
    const end = await until(read, { states: ["valid", "invalid", "deactivated", "expired", "revoked"], ends, now });
    if (end.status === "valid") return;
    throw failureOf(problemOf(challengesOf(end).find(({ error }) => error !== undefined)?.error), name, 0, type);
  } finally {
    await done();
  }
}

export function createAcme(options: AcmeOptions, now: () => number) {
  const account = openAccount(options, now);
  const { wire } = account;

  /** Throws `AcmeFailure`. */
  return async (name: string, type: ChallengeToMeet["type"], meet: Meet): Promise<Issued> => {
    const ends = performance.now() + ORDER_MS;
    const as = { kid: await account.kid() };
    const { newOrder } = await wire.directory();
    const placed = await wire.post(newOrder, { identifiers: [{ type: "dns", value: name }] }, as, name);
    const order = parsed(placed.text, "order");
    const address = placed.headers.get("location") ?? "";
    const authorizations = Array.isArray(order.authorizations) ? order.authorizations.slice(0, 10) : [];
    for (const url of authorizations) await authorize(account, { url: String(url), name, type, meet, ends });
    const read = () => wire.post(address, null, as, name);
    await until(read, { states: ["ready", "valid", "invalid"], ends, now });
    const key = newKey();
    await wire.post(textMember(order, "finalize"), { csr: base64url(certificateRequest([name], key)) }, as, name);
    const end = await until(read, { states: ["valid", "invalid"], ends, now });
    if (end.status !== "valid") throw failureOf(problemOf(end.error), name);
    const { text } = await wire.post(textMember(end, "certificate"), null, as, name);
    return issued(key, text, name, now());
  };
}
