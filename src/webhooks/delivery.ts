/** Webhooks: signed, posted to checked addresses, tried again. Delivers the outbox: to a few receivers at a time, and
 *  each site's deliveries one after the other. Receivers that do not answer have slots of their own, and hold no other
 *  up. Runs in one process alone. */
import type { Delivery, DeliveryContent, Outbox } from "../store/notes/outbox.ts";
import { isCommitUnknown } from "../store/refusals.ts";
import { UNIT_MS } from "../base/units.ts";
import { createHmac } from "node:crypto";
import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

/** After the first try and each that follows; then it is given up. */
const WAITS_MS = [10 * UNIT_MS.s, UNIT_MS.m, 5 * UNIT_MS.m, 30 * UNIT_MS.m, 2 * UNIT_MS.h];
const SLOTS = 16;
/** So many of the slots are for sites whose last try failed. */
const SLOTS_OF_FAILING = 8;
/** More are neither asked for at once nor remembered. */
const MOST_SITES = 10_000;
/** Until an outcome that could not be written down is written again. */
const AGAIN_MS = 5000;

export type DeliveryOutcome = "delivered" | "failed" | "given_up";

interface DeliveryParts {
  outbox: Omit<Outbox, "forget">;
  network: Network;
  /** The annotation that is sent. */
  dataOf(content: DeliveryContent): object;
  /** The key of its signature; null if that cannot be read any more. */
  secretOf(content: DeliveryContent): string | null;
  now: () => number;
  /** `why` it failed; null when that is no news, because the site's receiver failed the last time too. */
  heard(outcome: DeliveryOutcome, delivery: Delivery, why: string | null): void;
  /** For a write whose outcome is unknown: the process must end, and nothing is written after it. */
  lost(error: unknown): Promise<never>;
}

/** Null when it was taken, else why it was not. */
async function tried(
  delivery: Delivery,
  content: DeliveryContent,
  { network, dataOf, secretOf, now }: DeliveryParts,
): Promise<string | null> {
  const secret = secretOf(content);
  if (secret === null)
    return "its secret cannot be read, for the keys of the server are new: its owner must set it again";
  try {
    const message = messageOf(delivery, content.visibility, { data: dataOf(content), secret }, now());
    const status = await post(new URL(content.webhook.url), message, network);
    return status >= 200 && status < 300 ? null : `it answered ${status}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Asks until it is answered: what was delivered must not go out again because the database is busy for a while. */
async function surely<T>({ lost }: Pick<DeliveryParts, "lost">, ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (isCommitUnknown(error)) return lost(error);
      await Bun.sleep(AGAIN_MS);
    }
  }
}

interface Deliveries {
  /** Begins what is due; resolves when it is begun. */
  turn(): Promise<void>;
}

/** Puts it off, or gives it up. `news`: the site's receiver took the one before. */
async function miss(parts: DeliveryParts, delivery: Delivery, why: string, news: boolean): Promise<void> {
  const { outbox, now, heard } = parts;
  const { id, tries } = delivery;
  const wait = WAITS_MS[tries];
  heard(wait === undefined ? "given_up" : "failed", delivery, news || wait === undefined ? why : null);
  await surely(parts, () => (wait === undefined ? outbox.done(id) : outbox.later(id, now() + wait)));
}

/** Asked for while it is under way, it is done once more, however often it was asked for. */
function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let working = false;
  let asked = false;
  return async () => {
    asked = true;
    if (working) return;
    working = true;
    try {
      while (asked) {
        asked = false;
        await work();
      }
    } finally {
      working = false;
    }
  };
}

/** One delivery at a time of each site. */
function createSlots() {
  const under_way = new Map<string, "new" | "failing">();
  return {
    isFull: () => under_way.size >= SLOTS,
    /** False when none is free for it. */
    take(site_id: string, kind: "new" | "failing"): boolean {
      const of_kind = [...under_way.values()].filter((one) => one === kind).length;
      const full = under_way.size >= SLOTS || (kind === "failing" && of_kind >= SLOTS_OF_FAILING);
      if (full || under_way.has(site_id)) return false;
      under_way.set(site_id, kind);
      return true;
    },
    give: (site_id: string) => void under_way.delete(site_id),
  };
}

export function createDeliveries(parts: DeliveryParts): Deliveries {
  const { outbox, now, heard } = parts;
  const slots = createSlots();
  const failing = new Set<string>();

  /** False when its receiver did not take it: the next one then waits for the next turn. */
  async function deliver(delivery: Delivery): Promise<boolean> {
    const { id, site_id } = delivery;
    const content = await surely(parts, () => outbox.content(id));
    const why = content && (await tried(delivery, content, parts));
    if (why !== null) {
      const news = !failing.has(site_id);
      if (failing.size < MOST_SITES) failing.add(site_id);
      await miss(parts, delivery, why, news);
      return false;
    }
    if (content !== null) {
      failing.delete(site_id);
      heard("delivered", delivery, null);
    }
    await surely(parts, () => outbox.done(id));
    return true;
  }

  function begin(delivery: Delivery): void {
    const { site_id } = delivery;
    if (!slots.take(site_id, failing.has(site_id) ? "failing" : "new")) return;
    void deliver(delivery).then(async (taken) => {
      slots.give(site_id);
      if (taken) await turn().catch(() => {}); // what keeps it from the next one now is said by the turn after
    });
  }

  const turn = oneAtATime(async () => {
    if (slots.isFull()) return;
    // Sites that are under way, and those that find no slot, must not hide the rest.
    for (const delivery of await outbox.due(now(), MOST_SITES)) begin(delivery);
  });
  return { turn };
}

// One POST to an address that a stranger chose. It goes by a socket of our own: the name is resolved once, every address of
// it is checked, and the connection is made to the one that was; no redirect is followed, no proxy asked, and of the answer
// nothing is read but its status.

interface Network {
  /** All addresses of a name, the best first. */
  resolve(name: string): Promise<readonly string[]>;
  isCallable(address: string): boolean;
}

/** For all of it: name, connection, answer. */
const LIMIT_MS = 5000;
/** No receiver has more to say before it says how it went, nor much after it. */
const LONGEST_HEAD = 16 * 1024;
const MOST_READ = 64 * 1024;
/** So many addresses of one name are tried. */
const MOST_ADDRESSES = 3;

/** Throws when one is of a private network: a name that has both kinds is up to something. */
async function addressesOf(name: string, { resolve, isCallable }: Network): Promise<readonly string[]> {
  const addresses = isIP(name) === 0 ? await resolve(name) : [name];
  if (addresses.length === 0) throw new Error(`${name} has no address`);
  const refused = addresses.find((address) => !isCallable(address));
  if (refused !== undefined) throw new Error(`${name} is at ${refused}, which is no address of the internet`);
  return addresses.slice(0, MOST_ADDRESSES);
}

function requestOf(url: URL, { headers, body }: SignedRequest): Buffer {
  const lines = [
    `POST ${url.pathname}${url.search} HTTP/1.1`,
    `host: ${url.host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`);
}

/** The status of the final answer; null while its head is not complete. */
function statusIn(text: string): number | null {
  const final = text.replace(/^(?:HTTP\/1\.[01] 1\d\d[^]*?\r\n\r\n)+/, "");
  const [, status] = /^HTTP\/1\.[01] ([2-5]\d\d)[ \r][^]*?\r\n\r\n/.exec(final) ?? [];
  return status === undefined ? null : Number(status);
}

function connect(url: URL, name: string, host: string): Socket {
  const secure = url.protocol === "https:";
  const port = Number(url.port) || (secure ? 443 : 80);
  if (!secure) return connectPlain({ host, port });
  return connectTls({ host, port, ...(isIP(name) === 0 && { servername: name }) });
}

/** Resolves with the status. The rest of the answer is thrown away, for as long as `ends` allows. */
function ask(socket: Socket, connected: "connect" | "secureConnect", request: Buffer, ends: AbortSignal) {
  const answer = Promise.withResolvers<number>();
  let head: string | null = "";
  let read = 0;
  const end = (error: Error) => {
    answer.reject(error);
    socket.destroy();
  };
  ends.addEventListener("abort", () => end(new Error(`no answer within ${LIMIT_MS / 1000} seconds`)), { once: true });
  socket.on(connected, () => socket.write(request));
  socket.on("error", end);
  socket.on("close", () => end(new Error("the connection was closed before an answer")));
  socket.on("data", (bytes: Buffer) => {
    if ((read += bytes.length) > MOST_READ) socket.destroy();
    if (head === null) return;
    head += bytes.toString("latin1");
    const status = statusIn(head);
    if (status === null) return head.length > LONGEST_HEAD ? end(new Error("the answer is no HTTP")) : undefined;
    head = null;
    answer.resolve(status);
    socket.end();
  });
  return answer.promise;
}

const unreachable = (error: unknown): boolean => {
  const { code } = error as { code?: unknown };
  return typeof code === "string" && /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/.test(code);
};

async function send(url: URL, message: SignedRequest, network: Network, ends: AbortSignal): Promise<number> {
  const name = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const request = requestOf(url, message);
  const connected = url.protocol === "https:" ? "secureConnect" : "connect";
  let failure: unknown;
  for (const address of await addressesOf(name, network)) {
    ends.throwIfAborted();
    try {
      return await ask(connect(url, name, address), connected, request, ends);
    } catch (error) {
      if (!unreachable(error)) throw error;
      failure = error;
    }
  }
  throw failure;
}

/** The status of the answer. Throws without an answer, and when the address may not be called. */
export async function post(url: URL, message: SignedRequest, network: Network): Promise<number> {
  const ends = AbortSignal.timeout(LIMIT_MS);
  const late = Promise.withResolvers<never>();
  ends.addEventListener("abort", () => late.reject(new Error(`no answer within ${LIMIT_MS / 1000} seconds`)));
  return Promise.race([send(url, message, network, ends), late.promise]);
}

/** The request that a receiver gets (COMMENTS 2): the body, and the headers of Standard Webhooks that prove its origin. */
interface SignedRequest {
  headers: Readonly<Record<string, string>>;
  body: string;
}

const BASE64_SECRET = "whsec_";

/** As Standard Webhooks writes a key, `whsec_` and its base64; any other secret is taken letter by letter. */
const keyOf = (secret: string): Buffer =>
  secret.startsWith(BASE64_SECRET) ? Buffer.from(secret.slice(BASE64_SECRET.length), "base64") : Buffer.from(secret);

/** `timestamp`: whole seconds. */
const signed = (secret: string, id: string, timestamp: number, body: string): string =>
  `v1,${createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest("base64")}`;

/** `data`: the comment's annotation. A new timestamp and signature for each try, the id stays. */
function messageOf(
  delivery: Delivery,
  visibility: DeliveryContent["visibility"],
  { data, secret }: { data: object; secret: string },
  now: number,
): SignedRequest {
  const { id, type, created_at, site_id } = delivery;
  const body = JSON.stringify({ id, type, created_at, site_id, visibility, data });
  const timestamp = Math.floor(now / 1000);
  return {
    body,
    headers: {
      "content-type": "application/json",
      "user-agent": "svc-webhooks",
      "webhook-id": id,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": signed(secret, id, timestamp, body),
    },
  };
}
