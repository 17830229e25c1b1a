/** What the delivery does where the database does not take what became of a letter (RELIABILITY 2). */
import { afterEach, describe, expect, test } from "bun:test";
import type { DeliveryContent, DueDelivery, Outbox } from "../../src/store/notes/outbox.ts";
import { refusals } from "../../src/store/refusals.ts";
import { createDeliveries, type DeliveryNews } from "../../src/webhooks/delivery.ts";
import { post } from "../../src/webhooks/post.ts";
import { until } from "../kit/until.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

const receivers: Receiver[] = [];
afterEach(() => receivers.splice(0).forEach(({ stop }) => stop()));

const SECRET = "sixteen letters or more";

/** An outbox of one letter, whose `delivered` fails as it is told to, one time after the other. */
function delivering(failures: unknown[], secret: string | null = SECRET) {
  const there = startReceiver();
  receivers.push(there);
  const letter = { id: "msg_1", site_id: "site_1", type: "thread.created", created_at: "", tries: 0 } as const;
  const delivery: DueDelivery = { ...letter, place: "", turn_at: 0, took_ms: 0, failing: 0 };
  let waiting = true;
  const writes: string[] = [];
  const outbox: Pick<Outbox, "due" | "content" | "drop" | "delivered" | "failed"> = {
    due: async () => (waiting ? [delivery] : []),
    content: async () => (waiting ? ({ visibility: "public" } as DeliveryContent) : null),
    async delivered() {
      writes.push("delivered");
      if (failures.length > 0) throw failures.shift();
      waiting = false;
      return { recovered: false };
    },
    async failed() {
      writes.push("failed");
      waiting = false;
      return { first: true, ended: false, lost: [] };
    },
    drop: async () => void writes.push("drop"),
  };
  const outcomes: DeliveryNews["outcome"][] = [];
  const reasons: (string | null)[] = [];
  const lost: unknown[] = [];
  const deliveries = createDeliveries({
    outbox,
    post:
      () =>
      async ({ url, message }) => {
        const status = await post(new URL(url), message, { resolve: async () => [], isCallable: () => true });
        return { status, ms: 1 };
      },
    letterOf: () => ({ url: there.url, secret, members: {} }),
    now: Date.now,
    heard({ outcome, why }) {
      outcomes.push(outcome);
      reasons.push(why);
    },
    lost(error) {
      lost.push(error);
      return new Promise(() => {});
    },
  });
  return { deliveries, there, writes, outcomes, reasons, lost };
}

test("A32 a letter whose secret was encrypted by keys that are gone is not sent, and the log is told what to do", async () => {
  const { deliveries, there, writes, outcomes, reasons } = delivering([], null);
  await deliveries.turn();
  await until(() => writes.length === 1);
  expect([there.received, writes, outcomes]).toEqual([[], ["failed"], ["failed"]]);
  expect(reasons[0]).toEndWith("its owner must set it again");
});

describe("RELIABILITY 2: a letter that was taken, and a database that does not take that it was", () => {
  test("busy: it is written down again and not sent again", async () => {
    const { deliveries, there, writes, outcomes } = delivering([refusals.busy()]);
    await deliveries.turn();
    await until(() => writes.length === 1);
    for (let n = 0; n < 5; n++) await deliveries.turn();
    await until(() => writes.length === 2, 100);
    await deliveries.turn();
    expect(there.received).toHaveLength(1);
    expect([writes, outcomes]).toEqual([["delivered", "delivered"], ["delivered"]]);
  }, 30_000);

  test("a COMMIT that nobody knows the end of: the process is told, and nothing is written after it", async () => {
    const error = refusals.commitUnknown("the disk failed");
    const { deliveries, there, writes, lost } = delivering([error]);
    await deliveries.turn();
    await until(() => lost.length === 1);
    for (let n = 0; n < 5; n++) await deliveries.turn();
    expect(lost).toEqual([error]);
    expect([writes, there.received.length]).toEqual([["delivered"], 1]);
  });
});
