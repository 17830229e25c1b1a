/** `DATA/secrets`: the random keys that the service signs with, one for each purpose. Whoever loses them ends the
 *  forms that are open; whoever leaks them lets forged ones pass. */
import { chmodSync, closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { randomKey } from "../../random.ts";
import { flushFolderSync } from "./durable.ts";

/** A purpose that a newer version adds gets its key at the next start. */
const PURPOSES = ["csrf", "challenge", "sign_in_networks", "network"] as const;

export type Secrets = Readonly<Record<(typeof PURPOSES)[number], string>>;

const fileOf = (data_dir: string): string => join(data_dir, "secrets");

/** All keys of the file, also those of purposes that this version does not know. */
function readAll(data_dir: string): Record<string, string> {
  const path = fileOf(data_dir);
  try {
    const keys = JSON.parse(readFileSync(path, "utf8")) as Record<string, string>;
    if (Object.values(keys).every((key) => typeof key === "string" && key.length >= 43)) return keys;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
  }
  throw new Error(`${path} is damaged: restore it from a backup, or remove it to get new keys (open forms then end).`);
}

/** Whole or not at all, and for this user alone. */
function write(data_dir: string, keys: Record<string, string>): void {
  const temporary = join(data_dir, "tmp", `secrets-${process.pid}`);
  const file = openSync(temporary, "w", 0o600);
  try {
    writeSync(file, JSON.stringify(keys));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, fileOf(data_dir));
  flushFolderSync(data_dir);
}

/** Makes what keys are missing. For the one process that prepares the data directory. */
export function prepareSecrets(data_dir: string): void {
  const keys = readAll(data_dir);
  const missing = PURPOSES.filter((purpose) => !Object.hasOwn(keys, purpose));
  for (const purpose of missing) keys[purpose] = randomKey(32);
  if (missing.length > 0 || !existsSync(fileOf(data_dir))) write(data_dir, keys);
  chmodSync(fileOf(data_dir), 0o600);
}

export const readSecrets = (data_dir: string): Secrets => readAll(data_dir) as Secrets;
