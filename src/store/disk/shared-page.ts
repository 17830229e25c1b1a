/** Pages that all processes and threads of a server share: a file each, mapped. They are on tmpfs if there is one, for
 *  a full copy-on-write disk answers a write to a mapped page with SIGBUS; else in the data directory. Who may write to
 *  such a file may shorten it too, and the next access ends the process: so it is for this user alone, and looked at. */
import {
  closeSync,
  constants,
  existsSync,
  type FSWatcher,
  lstatSync,
  openSync,
  rmSync,
  type Stats,
  statfsSync,
  statSync,
  watch,
  writeSync,
} from "node:fs";
import { join } from "node:path";

interface PageFile {
  name: string;
  bytes: number;
}

interface SharedPage {
  /** Never kept across `mend`: another mapping may hold afterwards. */
  bytes(): Uint8Array;
  /** False if no server has made the page, or it cannot be seen from here (another container's `/dev/shm`). */
  shared(): boolean;
  /** Call it before touching the bytes. Mends a page that was shortened; follows to another one, and with `make` makes it
   *  if there is none any more. True if its content is lost. 3 µs. */
  mend(make?: boolean): boolean;
  /** Calls `look` at once when somebody touches the file; a call now and then is needed as well. */
  watch(look: () => void): { stop(): void };
}

const SHARED_MEMORY = "/dev/shm";
const TMPFS = 0x01021994;
const STICKY = 0o1000;
const WRITABLE_BY_OTHERS = 0o022;
const NEW_FILE = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/** In a folder that others write to, nobody may put another file in the place of one of ours: so it must be sticky. */
function hasSharedMemory(): boolean {
  if (process.platform !== "linux") return false;
  try {
    const { mode } = statSync(SHARED_MEMORY);
    return statfsSync(SHARED_MEMORY).type === TMPFS && ((mode & STICKY) !== 0 || (mode & WRITABLE_BY_OTHERS) === 0);
  } catch {
    return false;
  }
}

/** By device and inode: a copy of the data directory has pages of its own, and each name of the same one leads to the same. */
function placesOf(data_dir: string, name: string): string[] {
  const { dev, ino } = statSync(data_dir, { bigint: true });
  const inside = join(data_dir, name);
  return hasSharedMemory() ? [join(SHARED_MEMORY, `svc-${dev}-${ino}-${name}`), inside] : [inside];
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** A plain file with one name, of this user and for this user alone: a link, or what somebody else put there, is none. */
const isOurs = (seen: Stats): boolean =>
  seen.isFile() && seen.nlink === 1 && (seen.mode & 0o077) === 0 && seen.uid === (process.getuid?.() ?? seen.uid);

interface FoundPage {
  path: string;
  ino: number;
  size: number;
}

function find(places: readonly string[]): FoundPage | null {
  for (const path of places) {
    const seen = look(path);
    if (seen !== undefined && isOurs(seen)) return { path, ino: seen.ino, size: seen.size };
  }
  return null;
}

/** Zeros are written, not left out: a hole gets its memory at the first access, and SIGBUS if there is none. */
function fill(path: string, flags: number, bytes: number): void {
  const file = openSync(path, flags, 0o600);
  try {
    if (writeSync(file, new Uint8Array(bytes), 0, bytes, 0) < bytes) {
      throw Object.assign(new Error(`no room for ${path}`), { code: "ENOSPC" });
    }
  } finally {
    closeSync(file);
  }
}

/** At the first place that takes it. Throws what the last one says. */
function make(places: readonly string[], bytes: number): void {
  for (const path of places) {
    try {
      return fill(path, NEW_FILE, bytes);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EEXIST") remove(path);
      if (path === places.at(-1)) throw error;
    }
  }
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {} // somebody else's: the next place is taken
}

/** Makes a page with nothing of an earlier server in it, for the one process that holds the data directory. Returns a function
 *  that removes the page when the server ends; after kill -9 the next start removes it. */
export function makePage(data_dir: string, { name, bytes }: PageFile): () => void {
  const places = placesOf(data_dir, name);
  places.forEach(remove);
  make(places, bytes);
  const made = find(places);
  return () => {
    const found = find(places);
    if (found !== null && found.ino === made?.ino) remove(found.path);
  };
}

/** Maps a page; if it was shortened, it is first made whole, for all processes that have it mapped. */
function mapWhole({ path, size }: FoundPage, bytes: number): Uint8Array {
  if (size < bytes) fill(path, constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0), bytes);
  return Bun.mmap(path, { shared: true });
}

const isSame = (one: FoundPage, other: FoundPage | null): boolean => one.path === other?.path && one.ino === other.ino;

/** If there is no page, it is memory of this process alone. */
export function openPage(data_dir: string, { name, bytes }: PageFile): SharedPage {
  const places = placesOf(data_dir, name);
  const watched = watchOne();
  let mapped: FoundPage | null = null;
  let page: Uint8Array = new Uint8Array(bytes);

  function findOrMake(makes: boolean): FoundPage | null {
    const found = find(places);
    if (found !== null || !makes || !existsSync(data_dir)) return found;
    make(places, bytes);
    return find(places);
  }
  function mend(makes = false): boolean {
    try {
      const found = findOrMake(makes);
      if (found === null) return false; // removed: processes that had it mapped go on sharing it
      if (isSame(found, mapped) && found.size >= bytes) return false;
      page = mapWhole(found, bytes);
      mapped = found;
      watched.follow(found.path);
      return true;
    } catch {
      if (mapped === null || (look(mapped.path)?.size ?? bytes) >= bytes) return false;
      [mapped, page] = [null, new Uint8Array(bytes)]; // shortened, and it cannot be mended now: it is never touched again
      return true;
    }
  }
  mend();
  return {
    bytes: () => page,
    shared: () => mapped !== null,
    mend,
    watch(touched) {
      watched.start(touched, mapped?.path);
      return watched;
    },
  };
}

/** Watches one file by the kernel: a look now and then would be too late. */
function watchOne() {
  let touched: (() => void) | null = null;
  let watcher: FSWatcher | undefined;
  function follow(path: string | undefined): void {
    watcher?.close();
    watcher = undefined;
    if (touched === null || path === undefined) return;
    try {
      watcher = watch(path, { persistent: false }, touched).on("error", () => {});
    } catch {} // the file cannot be watched: a look now and then must do
  }
  return {
    start(call: () => void, path: string | undefined): void {
      touched = call;
      follow(path);
    },
    follow,
    stop(): void {
      touched = null;
      follow(undefined);
    },
  };
}
