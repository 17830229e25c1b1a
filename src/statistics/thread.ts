/** The thread of statistics: it keeps `DATA/stats.db` for a serving process, so that no request waits for that file. */
import { workerData } from "node:worker_threads";
import type { CountedDay } from "../base/statistics.ts";
import { linesForMissed } from "../rules/nearest.ts";
import { answerCalls } from "../run/thread.ts";
import { openStatistics, type StoreAddress } from "../store/index.ts";

export type StatisticsOrder =
  | { do: "add"; counted: readonly CountedDay[] }
  | { do: "read"; site_id: string; from: number; to: number }
  | { do: "begin"; day: number };

export interface StatisticsReply {
  value: unknown;
  /** Sentences for the log. */
  told: string[];
}

const address = workerData as StoreAddress;
let opened: ReturnType<typeof openStatistics> | undefined;
let told: string[] = [];

async function done(order: StatisticsOrder): Promise<unknown> {
  const stats = (opened ??= openStatistics(address, (sentence) => void told.push(sentence)));
  if (order.do === "add") return stats.add(order.counted);
  if (order.do === "begin") return stats.beginDay(order.day);
  return stats.read(order.site_id, order.from, order.to, linesForMissed);
}

let last: Promise<unknown> = Promise.resolve();

/** Orders are done in turn: what is read has what was added before. */
async function answer(order: StatisticsOrder): Promise<StatisticsReply> {
  const doing = last.then(() => done(order));
  last = doing.catch(() => {});
  const value = await doing;
  const said = told;
  told = [];
  return { value, told: said };
}

answerCalls(answer, () => opened?.close());
