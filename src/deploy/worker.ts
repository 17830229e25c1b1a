/** What runs in a deploy's process: the pipeline, then the store, on a connection of its own. One job after the other;
 *  its only way out is the channel to the server that started it. */
import packageJson from "../../package.json" with { type: "json" };
import { plainFailure } from "../base/errors.ts";
import { type BuiltVersion, GIVING_UP_ON_MARKDOWN, type Progress } from "../base/types.ts";
import { carryThreads, type ReviewThread } from "../comments/carry.ts";
import { build } from "../pipeline/index.ts";
import { dieWithParent } from "../run/parent-death.ts";
import { serveParent } from "../run/serve-parent.ts";
import { openStore, readBrands, type Store } from "../store/index.ts";
import { diskRefusal } from "../store/refusals.ts";
import { takeZip } from "./handed-zip.ts";
import type { Deployed, FromProcess, Outcome, ProcessJob, ToProcess } from "./job.ts";
import { joinDelta } from "./join.ts";
import { plan } from "./plan.ts";
import { comparedWith, rehearse } from "./rehearse.ts";
import { measureStages } from "./stages.ts";

let store: Promise<Store> | undefined;
/** What the service's clock showed when the last job began, and when that was by ours. */
let begun = { now: 0, at: 0 };
const now = (): number => begun.now + Math.round(performance.now() - begun.at);
/** The server's word; until it comes this process may be ended at any time. */
let allowed = Promise.withResolvers<void>();

const send = (message: FromProcess): void => void process.send!(message);

/** Of this thread alone: others of the process work for others. */
function cpu(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** One connection, opened by the first job that needs it; a failure to open is that job's alone. */
async function connect(data_dir: string): Promise<Store> {
  try {
    return await (store ??= openStore({ data_dir, now }));
  } catch (error) {
    store = undefined;
    throw error;
  }
}

/** A job that has a zip. */
type UploadJob = Exclude<ProcessJob, { carry: unknown } | { plan: unknown }>;

const nameOf = (job: UploadJob): string | undefined =>
  "target" in job && job.target.kind === "new" ? job.target.slugs[0] : (job.site.slug ?? undefined);

async function buildFrom(job: UploadJob, progress: Progress): Promise<BuiltVersion> {
  const { zip_path, limits, site, data_dir, joins } = job;
  const { zip, note, close } = takeZip(zip_path);
  try {
    const told: Progress = (stage, file) => {
      progress(stage, file);
      note(stage, file);
    };
    const upload = joins == null ? zip : await joinDelta(zip, joins, { limits, store: await connect(data_dir) }, told);
    return build(upload, limits, told, { ...site, name: nameOf(job), brands: readBrands(data_dir) }, cpu);
  } finally {
    close();
  }
}

async function planFrom({ zip_path, data_dir, limits, plan: { site_id } }: Extract<ProcessJob, { plan: unknown }>) {
  const { zip, close } = takeZip(zip_path);
  close();
  return plan(zip, site_id, { limits, store: await connect(data_dir) });
}

/** From here on nobody ends this process: neither its server nor, should that end, the kernel. What is left then is done
 *  with the next step that waits, so never between COMMIT and its answer. */
async function publishing<T>(work: () => Promise<T>): Promise<T> {
  allowed = Promise.withResolvers();
  send("may I publish");
  await allowed.promise;
  dieWithParent(false);
  try {
    return await work();
  } finally {
    dieWithParent(true);
  }
}

/** Deploys that overtake each other: whoever carries last carries to what is live. */
const MOST_CARRIES = 3;

async function carryAlong({ sites, ...store }: Store, site_id: string): Promise<ReviewThread[]> {
  const review = new Map<string, ReviewThread>();
  let carried: string | null = null;
  for (let left = MOST_CARRIES; left > 0; left--) {
    const site = await sites.byId(site_id);
    if (site === null || site.live_version_id === carried) break;
    for (const thread of await carryThreads(store, site)) review.set(thread.id, thread);
    carried = site.live_version_id;
  }
  return [...review.values()];
}

/** What a deploy has published stays published, whatever becomes of its comments. */
async function carryPublished(store: Store, site_id: string): Promise<Pick<Deployed, "review" | "not_carried">> {
  try {
    return { review: await carryAlong(store, site_id) };
  } catch (error) {
    return { review: [], not_carried: String(error) };
  }
}

async function run(job: ProcessJob, progress: Progress, stages: () => Deployed["stages"]): Promise<Outcome> {
  begun = { now: job.now, at: performance.now() };
  if ("carry" in job) return { carried: await carryAlong(await connect(job.data_dir), job.carry.site_id) };
  if ("plan" in job) return { planned: await planFrom(job) };
  const version = await buildFrom(job, progress);
  const store = await connect(job.data_dir);
  if ("against" in job) return { rehearsed: await rehearse(version, job, store) };
  const { target, tokens, bounds, spa_override, renders } = job;
  const published = await publishing(() => {
    progress("publishing");
    return store.publish({ target, tokens, bounds, spa_override, renders, version });
  });
  const moved = target.kind === "existing" && published.changed;
  const carried = moved ? await carryPublished(store, target.site_id) : { review: [] };
  const { title, healed, warnings, files, bytes } = version;
  const { site_id, live_version_id } = published.site;
  const compared =
    target.kind === "preview"
      ? { compared: await comparedWith({ site_id, version_id: live_version_id }, version, store.versions) }
      : {};
  const said = { title, healed, warnings, files, bytes, ...carried, ...compared, stages: stages() };
  return { deployed: { ...published, ...said } };
}

/** A disk or a machine that gives no more is no fault of the deploy: 503 or 507, and the log has the reason. */
const failure = (thrown: unknown): Outcome => plainFailure(diskRefusal(thrown));

async function answer(job: ProcessJob): Promise<void> {
  if (job.version !== packageJson.version) {
    return send({ outcome: { other_version: packageJson.version }, spent: true });
  }
  const stages = measureStages(() => performance.now());
  let spent = false;
  const progress: Progress = (stage) => {
    stages.at(stage);
    if (stage === GIVING_UP_ON_MARKDOWN) spent = true;
  };
  send({ outcome: await run(job, progress, stages.times).catch(failure), spent });
}

async function close(): Promise<never> {
  await (await store)?.close();
  process.exit();
}

export function serveDeploys(): void {
  serveParent("svc-deploy", (message: ToProcess | "close") => {
    if (message === "close") return close();
    if (message === "publish") return allowed.resolve();
    return answer(message);
  });
}
