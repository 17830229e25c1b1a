/** The code of a deploy's process: the pipeline, then the store, on a connection of its own. It does one job after the other;
 *  its only way out is the channel to the server that started it. */
import { open } from "node:fs/promises";
import packageJson from "../../package.json" with { type: "json" };
import { plainFailure, Refusal } from "../base/errors.ts";
import { type BuiltVersion, GIVING_UP_ON_MARKDOWN, type Limits, type Progress, type Bytes } from "../base/types.ts";
import { carryThreads, type ReviewThread } from "../comments/carry.ts";
import { build, packed, planUpload, type Ingested, openDelta } from "../pipeline/index.ts";
import { inByteOrder } from "../base/version-id.ts";
import { dieWithParent, serveParent } from "../run/serve-parent.ts";
import { serviceClock } from "../run/thread.ts";
import {
  addressOf,
  compareUploads,
  countChanges,
  openStore,
  readBrands,
  type Store,
  type StoreAddress,
} from "../store/index.ts";
import { DamagedBlob, diskRefusal, refusals, refuseCollision } from "../store/refusals.ts";
import type { ChangedFile, Changes, Versions, Stored } from "../store/versions.ts";
import { takeZip } from "./zip-files.ts";
import type {
  Deployed,
  DeployOutcome,
  Planned,
  ProcessJob,
  RehearsalJob,
  Rehearsed,
  ToProcess,
  DeployAnswer,
} from "./job.ts";
import { createGate } from "../run/gate.ts";

let store: Promise<Store> | undefined;
let clock = serviceClock(0);
const now = (): number => clock();
/** The server's permission to publish; until it comes this process may be ended at any time. */
let allowed = Promise.withResolvers<void>();

const send = (message: FromProcess): void => void process.send!(message);

/** Processor time of this thread alone: others of the process work for others. */
function cpu(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** One connection, opened by the first job that needs it; a failure to open is that job's alone. */
async function connect(address: StoreAddress): Promise<Store> {
  try {
    return await (store ??= openStore({ ...addressOf(address), now, connections: 1 }));
  } catch (error) {
    store = undefined;
    throw error;
  }
}

/** A job that has a zip. */
type UploadJob = Exclude<ProcessJob, { carry: unknown } | { plan: unknown } | { pack: unknown }>;

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
    const upload = joins == null ? zip : await joinDelta(zip, joins, { limits, store: await connect(job) }, told);
    return build(upload, limits, told, { ...site, name: nameOf(job), brands: readBrands(data_dir) }, cpu);
  } finally {
    close();
  }
}

async function planFrom(job: Extract<ProcessJob, { plan: unknown }>) {
  const { zip, close } = takeZip(job.zip_path);
  close();
  return plan(zip, job.plan.site_id, job.limits, await connect(job));
}

/** From here on nothing ends this process: neither its server nor, if that ends, the kernel. A server that is gone ends it at the
 *  next step that waits, so never between COMMIT and its answer. */
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

/** Deploys may overtake each other: the last one carries to what is live. */
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

/** A deploy that is published stays published, whatever happens to its comments. */
async function carryPublished(store: Store, site_id: string): Promise<Pick<Deployed, "review" | "not_carried">> {
  try {
    return { review: await carryAlong(store, site_id) };
  } catch (error) {
    return { review: [], not_carried: String(error) };
  }
}

async function run(job: ProcessJob, progress: Progress, stages: () => Deployed["stages"]): Promise<DeployOutcome> {
  clock = serviceClock(job.now);
  if ("carry" in job) return { carried: await carryAlong(await connect(job), job.carry.site_id) };
  if ("plan" in job) return { planned: await planFrom(job) };
  if ("pack" in job) return { packed: await packTo(job.pack, await connect(job)) };
  const version = await buildFrom(job, progress);
  const store = await connect(job);
  if ("against" in job) return { rehearsed: await rehearse(version, job, store) };
  const { target, tokens, bounds, spa_override, renders } = job;
  const published = await publishing(() => {
    progress("publishing");
    return store.publish({ target, tokens, bounds, spa_override, renders, version });
  });
  const moved = target.kind === "existing" && published.changed;
  const carried = moved ? await carryPublished(store, target.site_id) : { review: [] };
  const { title, healed, warnings, checked, files, bytes } = version;
  const { site_id, live_version_id } = published.site;
  const compared =
    target.kind === "preview"
      ? { compared: pathsIn(await comparedWith({ site_id, version_id: live_version_id }, version, store.versions)) }
      : {};
  const said = { title, healed, warnings, checked, files, bytes, ...carried, ...compared, stages: stages() };
  return { deployed: { ...published, ...said } };
}

/** A disk or a machine that gives no more is no fault of the deploy: 503 or 507, and the log has the reason. */
const failure = (thrown: unknown): DeployOutcome => plainFailure(diskRefusal(thrown));

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

/** Which version an upload would be, and which of its files the site lacks (BEYOND 6). Nothing is stored or held for it. */
async function plan(list: Uint8Array, site_id: string, limits: Limits, store: Store): Promise<Planned> {
  const { version_id, digest, hashes } = planUpload(list, limits);
  const site = await store.sites.byId(site_id);
  if (site === null) throw refusals.unknownSite();
  const version = await store.versions.stored(site_id, version_id);
  refuseCollision(version?.digest, { version_id, digest });
  const stored = version !== null;
  const possessed = await store.versions.possessed(site_id, hashes);
  const need = hashes.filter((sha256) => !possessed.has(sha256));
  return { version_id, live: stored && site.live_version_id === version_id, stored, need };
}

/** Throws `unknown_version`. */
async function packTo(
  asked: Extract<ProcessJob, { pack: unknown }>["pack"],
  { versions, blobs }: Store,
): Promise<{ bytes: number }> {
  const manifest = await versions.manifest(asked.site_id, asked.version_id);
  if (manifest === null) throw refusals.unknownVersion();
  const paths = inByteOrder([...manifest.values()].filter(({ made }) => !made).map(({ path }) => path));
  const file = await open(asked.path, "wx", 0o600);
  let bytes = 0;
  try {
    for await (const part of packed(paths, (path) => blobs.read(manifest.get(path)!), asked.version_id)) {
      await file.writeFile(part);
      bytes += part.length;
    }
  } finally {
    await file.close();
  }
  return { bytes };
}

const pathsOf = (files: readonly ChangedFile[]): string[] => files.map(({ path }) => path);

const pathsIn = ({ added, changed, removed }: Changes): Rehearsed["files"] => ({
  added: pathsOf(added),
  changed: pathsOf(changed),
  removed: pathsOf(removed),
});

/** How the uploaded files of a version differ from a stored one; without one all are added. */
async function comparedWith(
  stored: { site_id: string; version_id: string } | null,
  { manifest }: Pick<BuiltVersion, "manifest">,
  versions: Pick<Versions, "manifest">,
): Promise<Changes> {
  const live = stored && (await versions.manifest(stored.site_id, stored.version_id));
  return compareUploads(live?.values() ?? [], manifest);
}

async function rehearse(
  version: BuiltVersion,
  { against, charged, bounds }: Pick<RehearsalJob, "against" | "charged" | "bounds">,
  { admit, versions }: Pick<Store, "admit"> & { versions: Pick<Versions, "stored" | "manifest"> },
): Promise<Rehearsed> {
  const { version_id, title, spa, healed, warnings, checked, files, bytes } = version;
  if (against) refuseCollision((await versions.stored(against.site_id, version_id))?.digest, version);
  await admit(charged, version, bounds);
  const compared = await comparedWith(against, version, versions);
  return {
    ...{ version_id, title, spa, healed, warnings, checked },
    size: { files, bytes },
    changes: against && countChanges(against.version_id, compared),
    files: pathsIn(compared),
  };
}

interface Stages {
  at: Progress;
  /** Whole milliseconds by stage, in the order in which they began; ends the one that runs. */
  times(): Record<string, number>;
}

/** Measures how long each stage of a deploy takes. `clock` is in milliseconds. */
export function measureStages(clock: () => number): Stages {
  const spent = new Map<string, number>();
  let running: string | null = null;
  let since = clock();
  const end = (next: string | null) => {
    const now = clock();
    if (running !== null) spent.set(running, (spent.get(running) ?? 0) + now - since);
    [running, since] = [next, now];
  };
  return {
    at(stage) {
      if (stage !== running) end(stage);
    },
    times() {
      end(null);
      return Object.fromEntries([...spent].map(([stage, ms]) => [stage, Math.round(ms)]));
    },
  };
}

/** `may I publish`: from a yes on nothing ends it. */
type FromProcess = "may I publish" | DeployAnswer;

/** One by one a thousand files take three times as long. */
const READERS = 8;

interface Around {
  limits: Limits;
  store: Pick<Store, "versions" | "blobs">;
}

/** `damaged`: for the operator, a file that should have been there. */
function missingBlobs(need: string[], damaged: Error | undefined): Refusal {
  const [files, them] = need.length === 1 ? ["1 file", "it"] : [`${need.length} files`, "them"];
  const sentence = `The site does not have ${files} that the delta leaves out. Send the delta again with ${them}.`;
  return Object.assign(new Refusal("missing_blobs", sentence, { need }), { cause: damaged });
}

/** Each is hashed as it is read: one that is gone, or not what it was, is as good as never stored. */
async function readStored(stored: readonly Stored[], { blobs }: Around["store"]) {
  const contents = new Map<string, Bytes>();
  const damaged: Error[] = [];
  const reading = createGate({ width: READERS });
  const read = async (file: Stored) => {
    try {
      contents.set(file.sha256, await blobs.read(file));
    } catch (error) {
      if (!(error instanceof DamagedBlob)) throw error;
      damaged.push(error);
    }
  };
  await Promise.all(stored.map((file) => reading.run(() => read(file))));
  return { contents, damaged };
}

/** Throws what the whole upload would be refused with, `invalid_delta` and `missing_blobs`. */
async function joinDelta(
  zip: Uint8Array,
  site_id: string,
  { limits, store }: Around,
  progress: Progress,
): Promise<Ingested> {
  const delta = openDelta(zip, limits, progress);
  const stored = await store.versions.possessed(site_id, delta.left_out);
  const came = delta.unpack(new Map([...stored].map(([sha256, { bytes }]) => [sha256, bytes])));
  progress("joining");
  const { contents, damaged } = await readStored([...stored.values()], store);
  const need = delta.left_out.filter((sha256) => !contents.has(sha256));
  if (need.length > 0) throw missingBlobs(need, damaged[0]);
  return delta.join(new Map([...contents, ...came]));
}
