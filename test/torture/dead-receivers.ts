/** A day of receivers that are dead (RELIABILITY A31, COMMENTS 2): `bun test/torture/dead-receivers.ts`, about two minutes. Twelve
 *  sites' receivers answer 500 or nothing, with sixty letters each, while the clock goes through 24 hours in steps of five
 *  minutes. Each hour a visitor of another site comments: that letter must arrive within seconds. Each dead site is tried as
 *  often as its waits say, no letter is given up within the day, and when they are there again each gets its sixty letters once. */
import { UNIT_MS } from "../../src/base/units.ts";
import { commentedSite, startCommented } from "../comments/agents.ts";
import { read } from "../kit/database.ts";
import { until } from "../kit/until.ts";
import { type Receiver, startReceiver } from "../webhooks/receiver.ts";
import { progress } from "./parts/figures.ts";

const SECRET = "sixteen letters or more";
const DEAD = 12;
const LETTERS = 60;
const STEP_MS = 5 * UNIT_MS.m;
/** 10 s, 1 min, 5 min, 30 min, 2 h and 8 h end within the day; the first try is none of the waits. */
const TRIES = 7;

const faults: string[] = [];
const receivers: Receiver[] = [];
const received = ({ received }: Receiver): string[] => received.map(({ headers }) => headers["webhook-id"]!);

const first = await startCommented({ SVC_WEBHOOKS: "on", SVC_WEBHOOKS_ALLOW: "127.0.0.0/8" });
const { server } = first;
try {
  const dead = await Promise.all(
    Array.from({ length: DEAD }, async (_, n) => {
      const there = startReceiver();
      receivers.push(there);
      there.answer = n % 3 === 0 ? "silence" : 500;
      const site = await commentedSite(server);
      await site.configure({ mode: "anonymous" });
      await site.configure({ webhook: { url: there.url, events: ["thread.created"], secret: SECRET } });
      return { site, there };
    }),
  );
  for (const { site } of dead) for (let n = 0; n < LETTERS; n++) await site.comment(`Letter ${n}`);

  const alive = startReceiver();
  receivers.push(alive);
  await first.configure({ mode: "anonymous" });
  await first.configure({ webhook: { url: alive.url, events: ["thread.created"], secret: SECRET } });

  const isDue = "select 1 from webhook_states where failing_since is not null and next_at <= ?";
  const nothingIsDue = () => until(() => read(server.data_dir, isDue, server.now()).length === 0, 50);
  let slowest_ms = 0;
  for (let at = 0; at < UNIT_MS.d; at += STEP_MS) {
    if (at % UNIT_MS.h === 0) {
      const before = alive.received.length;
      await first.comment(`At ${at / UNIT_MS.h}`);
      const begun = performance.now();
      await until(() => alive.received.length > before, 20);
      slowest_ms = Math.max(slowest_ms, performance.now() - begun);
    }
    server.advance(STEP_MS);
    await nothingIsDue();
    progress(`${Math.floor(at / UNIT_MS.h)} of 24 hours`);
  }
  if (slowest_ms > 5000) faults.push(`a letter of a site that is well took ${Math.round(slowest_ms)} ms`);

  const tries = dead.map(({ there }) => there.received.length);
  if (tries.some((n) => n < TRIES - 2 || n > TRIES + 1))
    faults.push(`tries of the dead within a day: ${tries.join(" ")}`);
  const waiting = read(server.data_dir, "select 1 from webhook_outbox").length;
  if (waiting !== DEAD * LETTERS) faults.push(`${waiting} letters wait, and ${DEAD * LETTERS} should`);

  for (const { there } of dead) there.answer = 200;
  const before = dead.map(({ there }) => there.received.length);
  server.advance(UNIT_MS.d);
  await until(() => read(server.data_dir, "select 1 from webhook_outbox").length === 0, 100);
  for (const [n, { there }] of dead.entries()) {
    const ids = received(there).slice(before[n]);
    if (new Set(ids).size !== LETTERS || ids.length !== LETTERS)
      faults.push(`receiver ${n} got ${ids.length} letters with ${new Set(ids).size} ids`);
  }
  process.stdout.write(
    `${faults.join("\n") || "no violation"}: ${JSON.stringify({ tries, slowest_ms: Math.round(slowest_ms) })}\n`,
  );
} finally {
  await server[Symbol.asyncDispose]();
  for (const one of receivers) one.stop();
}
process.exit(faults.length === 0 ? 0 : 1);
