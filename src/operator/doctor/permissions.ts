/** Whether the data directory is this user's alone, and what is secret is read by nobody else. */
import { accessSync, constants, readdirSync, type Stats, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Config } from "../../config/index.ts";
import { type Finding, type Patient, worst } from "./finding.ts";
import { nearestThere } from "./places.ts";

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

/** What a folder that this user may not enter holds is not known. */
function secrets({ data_dir, tls_key }: Config): Finding[] {
  try {
    const own = secret(join(resolve(data_dir), "secrets"), OTHERS);
    return [...own, ...(tls_key === null ? [] : secret(tls_key, OTHERS_READ))];
  } catch {
    return [];
  }
}

export function permissions({ config }: Patient): Finding {
  const uid = process.getuid?.();
  if (uid === undefined)
    return { status: "skip", message: "This system has no users of files that could be compared." };
  const folder = resolve(config.data_dir);
  const stats = seen(folder);
  return worst([stats ? dataDir(folder, stats, uid) : place(folder, uid), ...secrets(config)]);
}
