/** The whole store on a backend: its groups of operations, by the names that callers use, its blobs and its figures. Each
 *  row says whether the writer thread runs it; there is no other list. */
import { openFigures } from "./disk/figures.ts";
import { diskRoom } from "./disk/room.ts";
import { CERTIFICATES, DOMAINS } from "./domains.ts";
import { NAMES } from "./names.ts";
import { NOTES } from "./notes/index.ts";
import { OUTBOX } from "./notes/outbox.ts";
import { NOTICES } from "./notices.ts";
import { type Backend, bind, type Bound } from "./operation.ts";
import { OWNERSHIP } from "./ownership.ts";
import { ACCOUNTS } from "./people/accounts.ts";
import { DEPLOY_TOKENS } from "./people/deploy-tokens.ts";
import { DEVICE_LOGINS } from "./people/device-logins.ts";
import { SESSIONS } from "./people/sessions.ts";
import { PREVIEWS } from "./previews.ts";
import { PUBLISHING } from "./publish.ts";
import { RENDERS } from "./renders.ts";
import { REPORTS } from "./reports.ts";
import { RETENTION } from "./retention.ts";
import type { Blobs, BoxFigures, Generation } from "./serving.ts";
import { SITES, TOKENS } from "./sites.ts";
import { openBackend, type StoreAddress } from "./backends.ts";
import type { Opened } from "./sqlite/data-dir.ts";
import { EMBEDDED } from "./sqlite/sweep.ts";
import { type Figures, UPKEEP } from "./upkeep.ts";
import { VERSIONS } from "./versions.ts";

/** Groups under a name of their own: `store.notes.view`. `outbox` and `notices` are for the one process that delivers. */
const NAMED = {
  sites: SITES,
  names: NAMES,
  domains: DOMAINS,
  certificates: CERTIFICATES,
  versions: VERSIONS,
  previews: PREVIEWS,
  tokens: TOKENS,
  accounts: ACCOUNTS,
  sessions: SESSIONS,
  deploy_tokens: DEPLOY_TOKENS,
  device_logins: DEVICE_LOGINS,
  ownership: OWNERSHIP,
  notes: NOTES,
  outbox: OUTBOX,
  notices: NOTICES,
  renders: RENDERS,
  reports: REPORTS,
};

/** Operations of the store itself: `store.publish`. */
const OWN = { ...PUBLISHING, ...RETENTION, ...UPKEEP, ...EMBEDDED };

type Groups = { readonly [Group in keyof typeof NAMED]: Bound<(typeof NAMED)[Group]> };

export interface Store extends Groups, Bound<typeof OWN> {
  /** The service's clock: that of the database, where all boxes share one. */
  now: () => number;
  generation: Generation;
  blobs: Blobs;
  /** Whether the disk has room for an upload of this size (uncompressed bytes, files) and its bookkeeping. */
  hasRoomFor(bytes: number, files: number, beside?: number): boolean;
  /** Percent of the disk that are in use. */
  diskUse(): number;
  freeBytes(): number;
  figures: Figures;
  /** Present where a service has several boxes. */
  boxFigures: (() => BoxFigures) | undefined;
  /** Resolves when what was asked of it is done and the files are closed. */
  close(): Promise<void>;
}

/** Runs an operation that writes in another thread: `group` is one of `NAMED`, or `store`. */
export type Elsewhere = (group: string, name: string, args: readonly unknown[]) => Promise<unknown>;

/** Binds every group to an opened store; with `elsewhere` to a connection that only reads. */
export function storeOn(data: Opened, more: Pick<Backend, "noteUse" | "announces"> = {}, elsewhere?: Elsewhere): Store {
  const { data_dir } = data;
  const backend: Opened = { ...data, ...more };
  const via = (group: string) =>
    elsewhere && ((name: string, args: readonly unknown[]) => elsewhere(group, name, args));
  const named = Object.entries(NAMED).map(([group, rows]) => [group, bind(rows, backend, via(group))]);
  return {
    ...(Object.fromEntries(named) as Groups),
    ...bind(OWN, backend, via("store")),
    now: data.now,
    generation: data.generation,
    blobs: data.blobs,
    hasRoomFor: (...upload) => diskRoom.hasRoomFor(data_dir, ...upload),
    diskUse: () => diskRoom.use(data_dir),
    freeBytes: () => diskRoom.freeBytes(data_dir),
    figures: openFigures(data_dir),
    boxFigures: data.shared?.figures,
    close: async () => await data.close(),
  };
}

/** A write that does not get the lock for so long is refused. */
export const PATIENCE_MS = 5000;

interface StoreOptions extends StoreAddress {
  now: () => number;
  watch?: boolean;
  connections?: number;
}

/** Opens what `prepareStore` has readied, for what may wait for its writes: a deploy, the sweep. */
export const openStore = async (options: StoreOptions): Promise<Store> =>
  storeOn(openBackend(options, options.now, { ...options, patience_ms: PATIENCE_MS }));
