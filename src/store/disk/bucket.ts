/** Calls to an S3 bucket. Requests are signed by the runtime and sent by `fetch`: its own client neither repeats nor gives up, and sends no
 *  checksums. */
import type { Bytes } from "../../base/types.ts";
import { BUCKET, type S3Access } from "../../config/setting.ts";

/** How long one request may take. */
interface Patience {
  /** Without a body; and for each piece of one that comes. */
  first_ms: number;
  /** More for a body that is sent. */
  bytes_per_ms: number;
  /** Before the second try; four times as long before the third. */
  pause_ms: number;
}

const TRIES = 3;
const SIGNED_S = 7200;

type Sending = Pick<RequestInit, "body" | "headers"> & { bytes?: number };

const VERBS = { GET: "read", PUT: "keep", DELETE: "remove" } as const;

/** A bucket that cannot be used. The sentence names it, and no credential. */
export class BucketTrouble extends Error {
  constructor(
    message: string,
    /** It refused: another try would be answered alike. */
    readonly refused: boolean,
  ) {
    super(message);
  }
}

/** Calls to a bucket. What may have better luck is repeated: no answer, 429 and 5xx. */
function bucketCalls(
  name: string,
  client: Bun.S3Client,
  prefix: string,
  { first_ms, bytes_per_ms, pause_ms }: Patience,
) {
  const trouble = (what: string, why: string, refused = false) =>
    new BucketTrouble(`${name} could not be asked to ${what}: ${why}.`, refused);

  async function patiently<T>(what: string, once: () => Promise<T>): Promise<T> {
    for (let tried = 1; ; tried++) {
      try {
        return await once();
      } catch (error) {
        if (isLocal(error)) throw error;
        if (error instanceof Final) throw trouble(what, error.message, true);
        if (tried === TRIES) throw trouble(what, error instanceof Temporary ? error.message : silence(error));
        await Bun.sleep(pause_ms * 4 ** (tried - 1));
      }
    }
  }
  async function once(method: keyof typeof VERBS, key: string, { bytes = 0, ...sending }: Sending): Promise<Response> {
    const url = client.presign(prefix + key, { method, expiresIn: SIGNED_S });
    const { signal, ...waiting } = patience(first_ms + bytes / bytes_per_ms);
    const answer = await fetch(url, { method, signal, redirect: "manual", ...sending }).finally(waiting.end);
    if (answer.ok) return answer;
    const why = await reasonOf(answer);
    // One that is gone itself, or a proxy before it, says other things.
    if (answer.status === 404 && method !== "PUT" && why.endsWith("NoSuchKey")) return answer;
    throw answer.status === 429 || answer.status >= 500 ? new Temporary(why) : new Final(why);
  }
  return {
    /** For sentences. */
    name,
    prefix,
    /** A body, piece by piece. */
    pieces: (answer: Response) => pieces(answer, first_ms),
    /** A body that should have so many bytes: of a longer one the first. It is as long on its way as one that is sent. */
    bytesOf: (answer: Response, bytes: number) => gathered(answer, bytes, first_ms + bytes / bytes_per_ms),
    /** `take` reads the answer; what breaks off is asked for anew. */
    call: <T>(method: keyof typeof VERBS, key: string, take: (answer: Response) => Promise<T>, sending: Sending = {}) =>
      patiently(`${VERBS[method]} ${key}`, async () => take(await once(method, key, sending))),
    list: (below: string, from: string | undefined) =>
      patiently(`list ${below}`, () => listed(client, prefix + below, from, first_ms)),
  };
}

/** A refusal that no second try mends. */
class Final extends Error {}
class Temporary extends Error {}

/** Troubles of this machine's own disk: no second try helps. */
const LOCAL = new Set(["ENOENT", "ENOSPC", "EDQUOT", "EACCES", "EPERM", "EROFS", "EIO", "EMFILE", "ENFILE"]);

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? "");
const isLocal = (error: unknown): boolean =>
  LOCAL.has(codeOf(error)) && (error as { syscall?: unknown }).syscall !== "connect";

/** The code alone, a refused connection's or a certificate's: a message may have the signed address in it. */
function silence(error: unknown): string {
  const code = codeOf(error);
  return /^[A-Z][A-Za-z_]{1,60}$/.test(code) ? `it does not answer (${code})` : "it does not answer";
}

function patience(ms: number) {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ms);
  return { signal: late.signal, end: () => clearTimeout(timer) };
}

/** A body, however long it takes: only one that stops coming breaks off. */
async function* pieces(answer: Response, most_ms: number): AsyncGenerator<Uint8Array> {
  const reader = answer.body?.getReader();
  try {
    while (reader !== undefined) {
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(() => late.reject(new Temporary("it stopped answering")), most_ms);
      const { done, value } = await Promise.race([reader.read(), late.promise]).finally(() => clearTimeout(timer));
      if (done) return;
      yield value;
    }
  } finally {
    void reader?.cancel().catch(() => {}); // it is over, or it is asked for anew
  }
}

/** The first bytes of a body, and one more than `bytes` at least where it is longer. */
async function gathered(answer: Response, bytes: number, most_ms: number): Promise<Bytes> {
  const late = Promise.withResolvers<never>();
  late.promise.catch(() => {});
  const timer = setTimeout(() => late.reject(new Temporary("it is too slow")), most_ms);
  const coming = pieces(answer, most_ms);
  const all: Uint8Array[] = [];
  try {
    for (let total = 0; total <= bytes; total += all.at(-1)!.length) {
      const { done, value } = await Promise.race([coming.next(), late.promise]);
      if (done) break;
      all.push(value);
    }
    return Buffer.concat(all) as Bytes;
  } finally {
    clearTimeout(timer);
    void coming.return(undefined).catch(() => {});
  }
}

const LONGEST_REASON = 16 * 1024;
const REASON_MS = 3000;

/** The code of a bucket's refusal, `NoSuchBucket` say. */
async function reasonOf(answer: Response): Promise<string> {
  const text = await gathered(answer, LONGEST_REASON, REASON_MS).then(String, () => ""); // the status says enough
  const code = /<Code>(\w{1,60})<\/Code>/.exec(text)?.[1];
  return `it answered ${answer.status}${code === undefined ? "" : ` ${code}`}`;
}

async function listed(client: Bun.S3Client, prefix: string, startAfter: string | undefined, most_ms: number) {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Temporary("it does not answer")), most_ms);
  try {
    return await Promise.race([client.list({ prefix, ...(startAfter !== undefined && { startAfter }) }), late.promise]);
  } catch (error) {
    throw listError(error);
  } finally {
    clearTimeout(timer);
  }
}

/** A bucket's words for troubles that pass. */
const PASSING = /^(SlowDown|InternalError|ServiceUnavailable|RequestTimeout|TooManyRequests)$/;

/** Its own client tells a bucket's code and no status. */
function listError(error: unknown): unknown {
  const code = codeOf(error);
  const is_word = (error as { name?: unknown }).name === "S3Error" && /^[A-Z][A-Za-z0-9]{1,60}$/.test(code);
  if (!is_word || ["UnknownError", "ConnectionRefused"].includes(code)) return error;
  if (code === "InvalidResponse") return new Temporary("it answered with something that is no list");
  return PASSING.test(code) ? new Temporary(`it says ${code}`) : new Final(`it says ${code}`);
}

export type BucketCalls = ReturnType<typeof bucketCalls>;

/** Throws a sentence for a bucket that cannot be asked. */
export function openBucket(text: string, access: S3Access, patience: Patience): BucketCalls {
  const [, bucket, prefix = ""] = BUCKET.exec(text) ?? [];
  if (bucket === undefined) throw new Error("This names no bucket: write s3://bucket/prefix.");
  const { access_key_id, secret_access_key } = access;
  if (access_key_id === null || secret_access_key === null) {
    throw new Error(`For ${text} AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set.`);
  }
  const client = new Bun.S3Client({
    bucket,
    endpoint: access.endpoint ?? undefined,
    region: access.region ?? undefined,
    accessKeyId: access_key_id,
    secretAccessKey: secret_access_key,
    sessionToken: access.session_token ?? undefined,
  });
  return bucketCalls(text.replace(/\/$/, ""), client, prefix === "" ? "" : `${prefix.slice(1)}/`, patience);
}
