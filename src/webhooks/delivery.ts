/** Webhooks: signed, posted to checked addresses, tried again. Delivers the outbox: to a few receivers at a time, and
 *  each site's deliveries one after the other. Receivers that do not answer have slots of their own, and hold no other
 *  up. Runs in one process alone. */
import type { Delivery, DeliveryContent, Outbox } from "../store/notes/outbox.ts";
import { isCommitUnknown } from "../store/refusals.ts";
import { UNIT_MS } from "../base/units.ts";
import { messageOf, type Network, post } from "./post.ts";

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
  { network, dataOf, now }: DeliveryParts,
): Promise<string | null> {
  try {
    const message = messageOf(delivery, content, dataOf(content), now());
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
