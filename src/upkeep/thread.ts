/** The upkeep thread: one store on a connection of its own, and the jobs that were due once. A job's turn runs by itself;
 *  when it fails the others go on. */
import { workerData } from "node:worker_threads";
import { type Config, storeAddress } from "../config/index.ts";
import { serviceClock } from "../run/thread.ts";
import { openStore, openTurns, type Store } from "../store/index.ts";
import { isCommitUnknown } from "../store/refusals.ts";
import { type FromUpkeep, JOBS, type StartedJob, type ToUpkeep, type UpkeepJob } from "./jobs.ts";

declare const self: Worker;

const config = workerData as Config;
const started = new Map<string, StartedJob>();
let clock = serviceClock(0);
let opened: Promise<Store> | undefined;
let turns: ReturnType<typeof openTurns> | undefined;
let stopped = false;

const send = (message: FromUpkeep): void => self.postMessage(message);
const now = (): number => clock();

/** To a database server: a job waits for no other. */
const CONNECTIONS = 5;

/** A store that could not be opened (too many open files, a failing disk) is tried again by the next turn. */
const openedStore = (): Promise<Store> =>
  (opened ??= openStore({ ...storeAddress(config), now, connections: CONNECTIONS }).catch((error: unknown) => {
    opened = undefined;
    throw error;
  }));

/** The cause, when the store has put an error into words for a caller. */
function sentenceOf(thrown: unknown): string {
  const error = thrown instanceof Error && thrown.cause ? thrown.cause : thrown;
  return error instanceof Error ? error.message : String(error);
}

function lost(job: string, error: unknown): Promise<never> {
  stopped = true;
  send({ job, error: sentenceOf(error), fatal: true });
  return new Promise(() => {});
}

const hasTurn = (row: UpkeepJob): boolean => (turns ??= openTurns(storeAddress(config), now)).has(row.name);

async function start(row: UpkeepJob, store: Store): Promise<StartedJob> {
  const { name } = row;
  const say = (said: unknown) => send({ job: name, said });
  const goesOn = () => hasTurn(row);
  const job = await row.start({
    config,
    store,
    now: store.now,
    machine: now,
    goesOn,
    say,
    lost: (error) => lost(name, error),
  });
  started.set(name, job);
  return job;
}

async function runTurn(job: UpkeepJob): Promise<void> {
  const { name } = job;
  try {
    const begun = started.get(name) ?? (await start(job, await openedStore()));
    if (stopped) return;
    await (hasTurn(job) ? begun.turn() : begun.elsewhere?.());
    send({ job: name, error: null, fatal: false });
  } catch (error) {
    if (isCommitUnknown(error)) void lost(name, error);
    else send({ job: name, error: sentenceOf(error), fatal: false });
  }
}

async function stop(): Promise<void> {
  stopped = true;
  await Promise.all([...started.values()].map((job) => job.end?.()));
  send("stopped");
}

self.onmessage = ({ data }: MessageEvent<ToUpkeep>) => {
  if (data === "stop") return void stop();
  clock = serviceClock(data.now);
  const job = JOBS.find(({ name }) => name === data.job);
  if (job !== undefined && !stopped) void runTurn(job);
};
