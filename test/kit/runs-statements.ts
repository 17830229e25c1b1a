/** A thread that runs statements on database servers, by the store's own driver, for tests that wait for it as for a file. */
import { openPool } from "../../src/store/postgres/connection.ts";
import { postgresDb, withoutPage } from "../../src/store/postgres/driver.ts";
import { type Op, statement } from "../../src/store/operation.ts";
import type { Asked, Order } from "./database-server.ts";

declare const self: Worker;

function* all(asked: readonly Asked[]): Op<unknown[][]> {
  const answers: unknown[][] = [];
  for (const one of asked) answers.push(yield* statement(one.statement).all(...one.values));
  return answers;
}

async function answerTo({ url, asked }: Order): Promise<string> {
  const pool = openPool(url, 1);
  try {
    return JSON.stringify({ rows: await postgresDb(pool, withoutPage()).write(() => all(asked)) });
  } catch (error) {
    return JSON.stringify({ failure: `${error} ${(error as Error).cause ?? ""}` });
  } finally {
    await pool.close();
  }
}

self.onmessage = async ({ data }: MessageEvent<Order>) => {
  const answer = Buffer.from(await answerTo(data));
  const [state, bytes] = [new Int32Array(data.shared, 0, 2), new Uint8Array(data.shared, 8)];
  bytes.set(answer.subarray(0, bytes.length));
  Atomics.store(state, 1, answer.length);
  Atomics.store(state, 0, 1);
  Atomics.notify(state, 0);
};
