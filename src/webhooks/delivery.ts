/** Webhooks and notices: signed, posted to checked addresses by a process of their own, tried again. This file empties the outbox: a
 *  few letters at a time, of each site one after the other. Slots go by turns, and those whose receivers are slow or do
 *  not answer use up half of them at most. Runs in one process alone. */
import type { Missed } from "../store/notes/deliveries.ts";
import type { DeliveryContent, DueDelivery, Outbox } from "../store/notes/outbox.ts";
import { isCommitUnknown } from "../store/refusals.ts";
import { type CalledChild, startCalledChild } from "../run/child.ts";
import { ownCommand, WEBHOOK_COMMAND } from "../run/program.ts";
import { createHmac } from "node:crypto";
import type { Letter, Posted, SignedRequest } from "./post.ts";

const SLOTS = 16;
/** So many of the slots are for sites whose last letter took long or was not taken. */
const SLOTS_OF_OTHERS = SLOTS / 2;
/** A place that holds a quarter of the slots gets more only while another quarter is free. */
const QUARTER = 4;
/** A receiver that takes longer is not quick. */
const QUICK_MS = 1000;
/** More sites are not asked for at once, nor more places remembered. */
const MOST_SITES = 10_000;
/** Until an outcome that could not be written down is written again. */
const AGAIN_MS = 5000;

/** The news of a letter. `told`: worth a line of the log, since the one before went otherwise. */
export interface DeliveryNews {
  site_id: string;
  id: string;
  type: string;
  outcome: "delivered" | "recovered" | "failed" | "given_up" | "ended";
  tries: number;
  /** The receiver's. */
  host: string | null;
  why: string | null;
  told: boolean;
}

/** A letter as its receiver gets it. */
export interface Addressed {
  url: string;
  /** The key of its signature; null if that cannot be read any more. */
  secret: string | null;
  /** The members of the body behind `id`, `type` and `created_at`. */
  members: object;
}

interface DeliveryParts {
  outbox: Pick<Outbox, "due" | "content" | "drop" | "delivered" | "failed">;
  /** Throws when no process can be started: then no receiver is to blame. */
  post: () => (letter: Omit<Letter, "allowed">) => Promise<Posted>;
  /** Null if there is nothing to tell any more. */
  letterOf(content: DeliveryContent): Addressed | null;
  now: () => number;
  heard(news: DeliveryNews): void;
  /** For a write whose outcome is unknown: the process must end, and nothing is written after it. */
  lost(error: unknown): Promise<never>;
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

type SlotKind = "quick" | "other";

/** A site that was never sent a letter is quick until it shows otherwise. */
const kindOf = ({ failing, took_ms }: DueDelivery): SlotKind =>
  failing === 1 || took_ms > QUICK_MS ? "other" : "quick";

/** One delivery at a time of each site; a crowd of sites that belong together has one turn like everybody else. */
function createSlots() {
  const under_way = new Map<string, { kind: SlotKind; place: string }>();
  /** Places in the order in which they last had a slot. */
  const turns = new Map<string, number>();
  let turn = 0;

  function countOf(is_counted: (one: { kind: SlotKind; place: string }) => boolean): number {
    return [...under_way.values()].filter(is_counted).length;
  }
  /** `most` slots are shared by those that `among` counts. */
  function hasShare(place: string, most: number, among: (kind: SlotKind) => boolean): boolean {
    const free = most - countOf((one) => among(one.kind));
    const own = countOf((one) => among(one.kind) && one.place === place);
    const quarter = (QUARTER * most) / SLOTS;
    return free > 0 && (own < quarter || free > quarter);
  }
  function mayTake(delivery: DueDelivery): boolean {
    if (under_way.has(delivery.site_id) || !hasShare(delivery.place, SLOTS, () => true)) return false;
    return kindOf(delivery) === "quick" || hasShare(delivery.place, SLOTS_OF_OTHERS, (kind) => kind === "other");
  }
  return {
    isFull: () => under_way.size >= SLOTS,
    underWay: (): ReadonlySet<string> => new Set(under_way.keys()),
    /** The one whose turn is next, which then has a slot; null if none may have one. `waiting`: by their sites' turns. */
    take(waiting: readonly DueDelivery[]): DueDelivery | null {
      let next: DueDelivery | null = null;
      const turnOf = ({ place }: DueDelivery) => turns.get(place) ?? 0;
      for (const delivery of waiting) {
        if ((next === null || turnOf(delivery) < turnOf(next)) && mayTake(delivery)) next = delivery;
      }
      if (next === null) return null;
      if (turns.size >= MOST_SITES) turns.clear();
      turns.set(next.place, ++turn);
      under_way.set(next.site_id, { kind: kindOf(next), place: next.place });
      return next;
    },
    give: (site_id: string) => void under_way.delete(site_id),
  };
}

const isTaken = (posted: Posted): boolean => posted.status !== null && posted.status >= 200 && posted.status < 300;

/** The sentences for the operator and for the site's owner. */
const reasonsOf = (posted: Posted) => {
  if (posted.status === null) return { why: posted.why, told: posted.told };
  const why = `it answered ${posted.status}`;
  return { why, told: why };
};

type HeardOf = Pick<DeliveryNews, "site_id" | "host">;

/** Tells of the try, and of the letters that are lost with it. */
function hearMissed(heard: DeliveryParts["heard"], delivery: DueDelivery, missed: Missed, why: string, of: HeardOf) {
  const { id, type } = delivery;
  const outcome = missed.ended ? "ended" : "failed";
  const given_up = missed.lost.some((one) => one.id === id);
  if (missed.ended || !given_up) {
    heard({ ...of, id, type, outcome, tries: delivery.tries + 1, why, told: missed.first || missed.ended });
  }
  // The line of the receiver that is gone for good says it of all that waited for it.
  for (const one of missed.lost) heard({ ...of, ...one, outcome: "given_up", why, told: !missed.ended });
}

const unreadable = "its secret cannot be read, for the keys of the server are new: its owner must set it again";
const UNREADABLE: Posted = { status: null, ms: 0, why: unreadable, told: unreadable };

/** Sends one letter and writes down what became of it. False if its receiver did not take it. */
async function deliver(
  parts: DeliveryParts,
  post: ReturnType<DeliveryParts["post"]>,
  delivery: DueDelivery,
): Promise<boolean> {
  const { outbox, letterOf, now, heard } = parts;
  const { id, site_id, type, created_at, place } = delivery;
  const content = await surely(parts, () => outbox.content(id));
  const letter = content && letterOf(content);
  if (letter === null) {
    await surely(parts, () => outbox.drop(id));
    return true;
  }
  const { url, secret, members } = letter;
  const posted =
    secret === null
      ? UNREADABLE
      : await post({ url, message: signedMessage({ id, type, created_at }, members, secret, now()), place });
  const answer = { id, url, status: posted.status, took_ms: posted.ms };
  const of = { site_id, host: URL.parse(url)?.host ?? null };
  if (isTaken(posted)) {
    const recovered = (await surely(parts, () => outbox.delivered(answer)))?.recovered ?? false;
    const outcome = recovered ? "recovered" : "delivered";
    heard({ ...of, id, type, outcome, tries: delivery.tries + 1, why: null, told: recovered });
    return true;
  }
  const { why, told } = reasonsOf(posted);
  const missed = await surely(parts, () => outbox.failed({ ...answer, told }));
  if (missed !== null) hearMissed(heard, delivery, missed, why, of);
  return false;
}

export function createDeliveries(parts: DeliveryParts): Deliveries {
  const { outbox, now } = parts;
  const slots = createSlots();

  function begin(post: ReturnType<DeliveryParts["post"]>, delivery: DueDelivery): void {
    void deliver(parts, post, delivery).then(async () => {
      slots.give(delivery.site_id);
      await turn().catch(() => {}); // what keeps it from the next one now is said by the turn after
    });
  }

  const turn = oneAtATime(async () => {
    if (slots.isFull()) return;
    // One that ends while this is read is here as it was before.
    const under_way = slots.underWay();
    // Sites that are under way, and those that find no slot, must not hide the rest.
    const waiting = (await outbox.due(now(), MOST_SITES)).filter(({ site_id }) => !under_way.has(site_id));
    if (waiting.length === 0) return;
    const post = parts.post();
    for (let next = slots.take(waiting); next !== null; next = slots.take(waiting)) begin(post, next);
  });
  return { turn };
}

interface PostProcess {
  /** Starts the process where none runs. Throws when the machine gives none. */
  post(): (letter: Omit<Letter, "allowed">) => Promise<Posted>;
  close(): Promise<unknown>;
}

/** A process that posts is replaced after so long: it has read /etc/resolv.conf once. */
const LIFE_MS = 60_000;

/** The process answers within 5 s by itself. One that hangs is ended, with all that it sends. */
const PATIENCE_MS = 15_000;

interface Poster {
  child: CalledChild<Letter, Posted>;
  under_way: number;
}

/** The process that posts: started with the first letter, again with the next one when it died, and anew each minute.
 *  `died` hears why. */
export function postProcess(allowed: readonly string[] | null, died: (why: string) => void): PostProcess {
  const command = ownCommand(WEBHOOK_COMMAND, new URL("./entry.ts", import.meta.url));
  const running = new Set<Poster>();
  let current: Poster | null = null;
  let closed = false;

  function endIfDone(poster: Poster): void {
    if (poster === current || poster.under_way > 0 || closed || !running.delete(poster)) return;
    void poster.child.close();
  }
  function start(): Poster {
    const child = startCalledChild<Letter, Posted>(command, (error) => died(error.message));
    const poster = { child, under_way: 0 };
    running.add(poster);
    setTimeout(() => {
      if (current === poster) current = null;
      endIfDone(poster);
    }, LIFE_MS).unref();
    return poster;
  }
  async function call(poster: Poster, letter: Letter): Promise<Posted> {
    poster.under_way++;
    const late = setTimeout(poster.child.kill, PATIENCE_MS);
    try {
      return await poster.child.call(letter);
    } catch {
      // At a stop nobody asks any more: the letter is sent again after the next start. Else it may be what ended the
      // process, and counts as a try.
      if (closed) return new Promise(() => {});
      const why = "the process that posts letters ended";
      return { status: null, why, told: "the server was interrupted while it sent", ms: 0 };
    } finally {
      clearTimeout(late);
      poster.under_way--;
      endIfDone(poster);
    }
  }
  return {
    post() {
      if (current === null || !current.child.alive()) {
        if (current !== null) running.delete(current);
        current = start();
      }
      const poster = current;
      return (letter) => call(poster, { ...letter, allowed });
    },
    close() {
      closed = true;
      return Promise.all([...running].map(({ child }) => child.close()));
    },
  };
}

const BASE64_SECRET = "whsec_";

/** As Standard Webhooks writes a key, `whsec_` and its base64; any other secret is taken letter by letter. */
const keyOf = (secret: string): Buffer =>
  secret.startsWith(BASE64_SECRET) ? Buffer.from(secret.slice(BASE64_SECRET.length), "base64") : Buffer.from(secret);

/** `timestamp`: whole seconds. */
const signed = (secret: string, id: string, timestamp: number, body: string): string =>
  `v1,${createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest("base64")}`;

/** A new timestamp and signature for each try, the id stays. */
export function signedMessage(
  { id, type, created_at }: { id: string; type: string; created_at: string },
  members: object,
  secret: string,
  now: number,
): SignedRequest {
  const body = JSON.stringify({ id, type, created_at, ...members });
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
