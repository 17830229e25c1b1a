/** Checks whether the machine is fit for a server: room on the disk, the right time, and files that are its user's alone. */
import { accessSync, constants, existsSync, readdirSync, type Stats, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { humanSize } from "../base/units.ts";
import type { Config } from "../config/index.ts";
import { diskRoom } from "../store/operations.ts";
import { type Finding, type Patient, worst } from "./finding.ts";

const WAYS = "make room, or give the server a larger disk (svc-server sites tells who takes how much)";

/** Whether the disk has room for deploys. */
export function disk({ config }: Patient): Finding {
  const folder = nearestThere(config.data_dir);
  const use = Math.floor(diskRoom.use(folder));
  const state = `${humanSize(diskRoom.freeBytes(folder))} are free at ${folder}, and ${use} % of its bytes or inodes are in use`;
  if (!diskRoom.hasRoomFor(folder, config.max_bytes, config.max_files)) {
    return { status: "fail", message: `${state}: deploys are refused (507). Sites stay online; ${WAYS}.` };
  }
  if (config.disk_high !== null && use >= config.disk_high) {
    return {
      status: "warn",
      message: `${state}: from ${config.disk_high} % on (SVC_DISK_HIGH) deploys without an account are refused; ${WAYS}.`,
    };
  }
  return { status: "ok", message: `${state}.` };
}

/** Clocks of one machine do not differ by more. */
const APART_MS = 1000;
const SET = "set it: timedatectl set-ntp true";

/** Whether a time service keeps the clock right; null if the system cannot tell. */
function isKept(): boolean | null {
  try {
    const child = Bun.spawnSync(["timedatectl", "show", "--property=NTPSynchronized", "--value"], {
      stdio: ["ignore", "pipe", "ignore"],
      timeout: 2000,
    });
    const said = child.stdout.toString().trim();
    return child.exitCode === 0 && said !== "" ? said === "yes" : null;
  } catch {
    return null; // no systemd here
  }
}

/** Whether the clock is right, as far as this machine can tell. */
export function clock({ kept, now }: Patient): Finding {
  const shows = `It shows ${new Date(now).toISOString()}`;
  const newest = Math.max(...(kept?.deployed_at ?? []).map((at) => Date.parse(at)), -Infinity);
  if (newest > now + APART_MS) {
    const until = new Date(newest).toISOString();
    return {
      status: "fail",
      message: `${shows}, and the last deploys are of up to ${until}: it is behind, or was ahead. ${SET}.`,
    };
  }
  if (isKept() === false) {
    return {
      status: "warn",
      message: `${shows}, and no time service keeps it right; expiry and certificates go by it. ${SET}.`,
    };
  }
  return { status: "ok", message: `${shows}.` };
}

const OTHERS = 0o077;
const OTHERS_READ = 0o004;
const seen = (path: string): Stats | undefined => statSync(path, { throwIfNoEntry: false });
const mode = (stats: Stats): string => `0${(stats.mode & 0o777).toString(8)}`;

function place(folder: string, uid: number): Finding {
  const parent = nearestThere(folder);
  try {
    accessSync(parent, constants.W_OK | constants.X_OK);
    return { status: "ok", message: `${folder} is not there yet, and this user may make it.` };
  } catch {
    const make = `install -d -o ${uid} -m 700 ${folder}`;
    return { status: "fail", message: `${folder} is not there, and this user may not make it in ${parent}: ${make}` };
  }
}

/** Root's commands leave files that the server cannot open. */
function foreignFile(folder: string, uid: number): string | undefined {
  return readdirSync(folder).find((name) => seen(join(folder, name))?.uid !== uid);
}

function dataDir(folder: string, stats: Stats, uid: number): Finding {
  const take = (what: string): Finding => ({
    status: "fail",
    message: `${what}: run this as the user of the server, or give it to that user: chown -R <user>: ${folder}`,
  });
  if (!stats.isDirectory()) return { status: "fail", message: `${folder} is no folder: name another with --data-dir.` };
  if (stats.uid !== uid) return take(`${folder} belongs to uid ${stats.uid}, and this is uid ${uid}`);
  if ((stats.mode & OTHERS) !== 0) {
    return { status: "fail", message: `${folder} is open to others (${mode(stats)}): chmod 700 ${folder}` };
  }
  const foreign = foreignFile(folder, uid);
  if (foreign !== undefined) return take(`${join(folder, foreign)} does not belong to uid ${uid}`);
  return { status: "ok", message: `${folder} is this user's alone.` };
}

function secret(path: string, bits: number): Finding[] {
  const stats = seen(path);
  if (stats === undefined || (stats.mode & bits) === 0) return [];
  const message = `${path} can be read by others (${mode(stats)}): chmod ${bits === OTHERS ? "600" : "o-rwx"} ${path}`;
  return [{ status: "warn", message }];
}

/** Secrets in a folder that this user may not enter are not known, so nothing is said of them. */
function secrets({ data_dir, tls_key }: Config): Finding[] {
  try {
    const own = secret(join(resolve(data_dir), "secrets"), OTHERS);
    return [...own, ...(tls_key === null ? [] : secret(tls_key, OTHERS_READ))];
  } catch {
    return [];
  }
}

/** Whether the data directory is this user's alone, and no other user can read what is secret. */
export function permissions({ config }: Patient): Finding {
  const uid = process.getuid?.();
  if (uid === undefined)
    return { status: "skip", message: "This system has no users of files that could be compared." };
  const folder = resolve(config.data_dir);
  const stats = seen(folder);
  return worst([stats ? dataDir(folder, stats, uid) : place(folder, uid), ...secrets(config)]);
}

/** The folder, or the nearest one around it that exists. */
function nearestThere(folder: string): string {
  const path = resolve(folder);
  return existsSync(path) || dirname(path) === path ? path : nearestThere(dirname(path));
}
