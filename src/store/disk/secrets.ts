/** `DATA/secrets`: the random keys that the service signs and encrypts with, one for each purpose. If they are lost, open forms
 *  end and webhooks must be set again; if they leak, forged forms pass, and who has the database too reads what is encrypted. */
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { randomBlock, randomKey } from "../../base/random.ts";
import { UNIT_MS } from "../../base/units.ts";
import { durable } from "./durable.ts";

/** A purpose that a newer version adds gets its key at the next start. */
const PURPOSES = [
  "csrf",
  "challenge",
  "sign_in_networks",
  "network",
  "comment_people",
  "comment_owner",
  "comment_cursor",
  "webhook",
  "rates",
  "access",
  "domains",
] as const;

export type Secrets = Readonly<Record<(typeof PURPOSES)[number], string>>;

/** Purposes whose keys are changed while what they signed goes on to count: each key is kept as `<purpose>.<kid>`. */
const RINGS = ["comment_visitor", "comment_grant"] as const;
type Ring = (typeof RINGS)[number];

interface RingKey {
  /** The day that it was made, in base 36. */
  kid: string;
  key: string;
}

/** A new one is made by the first start or sweep after so many days, and signs from then on (KNOWN_MS); what it signed counts for as long again as a cookie may. */
const SIGNS_DAYS = 90;
const COUNTS_DAYS = 400;

const dayOf = (now: number): number => Math.floor(now / UNIT_MS.d);

const SECRETS = "secrets";
const fileOf = (data_dir: string): string => join(data_dir, SECRETS);

/** All keys of the file, also those of purposes that this version does not know. */
function readAll(data_dir: string): Record<string, string> {
  const path = fileOf(data_dir);
  try {
    const keys = JSON.parse(readFileSync(path, "utf8")) as Record<string, string>;
    if (Object.values(keys).every((key) => typeof key === "string" && key.length >= 43)) return keys;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
  }
  throw new Error(
    `${path} is damaged: restore it from a backup, or remove it to get new keys (open forms then end, and webhooks must be set again).`,
  );
}

/** Newest first. */
function ringOf(keys: Readonly<Record<string, string>>, ring: Ring): (RingKey & { day: number })[] {
  return Object.keys(keys)
    .filter((name) => name.startsWith(`${ring}.`))
    .map((name) => ({ kid: name.slice(ring.length + 1), key: keys[name]! }))
    .map((one) => ({ ...one, day: parseInt(one.kid, 36) }))
    .sort((a, b) => b.day - a.day);
}

/** The same keys, with a new one for each ring whose newest is old, and without those that no longer count. */
function turned(keys: Readonly<Record<string, string>>, today: number): Record<string, string> {
  const kept = { ...keys };
  for (const ring of RINGS) {
    const known = ringOf(keys, ring);
    const newest = known[0]?.day ?? -Infinity;
    if (newest + SIGNS_DAYS <= today) kept[`${ring}.${today.toString(36)}`] = randomKey(32);
    for (const { kid, day } of known) if (day + SIGNS_DAYS + COUNTS_DAYS < today) delete kept[`${ring}.${kid}`];
  }
  return kept;
}

/** The text of the file with a new key where the newest of a ring is old; null if none is. */
function turnedText(text: string, now: number): string | null {
  const made = JSON.stringify(turned(JSON.parse(text) as Record<string, string>, dayOf(now)));
  return made === text ? null : made;
}

/** Makes a key if the newest of a ring is old. For the sweep of the one process that prepared the data directory; if the
 *  file is gone the keys in memory go on, and the next start makes others. */
function turnKeys(data_dir: string, now: number): void {
  const found = readAll(data_dir);
  if (Object.keys(found).length === 0) return;
  const made = turnedText(JSON.stringify(found), now);
  if (made !== null) durable.putPrivate(data_dir, SECRETS, made);
}

/** Makes what keys are missing. For the one process that prepares the data directory. */
function prepareSecrets(data_dir: string, now: number): void {
  const found = readAll(data_dir);
  const keys = turned(found, dayOf(now));
  for (const purpose of PURPOSES) keys[purpose] ??= randomKey(32);
  const same = Object.keys(keys).join() === Object.keys(found).join();
  if (!same || !existsSync(fileOf(data_dir))) durable.putPrivate(data_dir, SECRETS, JSON.stringify(keys));
  chmodSync(fileOf(data_dir), 0o600);
}

const readSecrets = (data_dir: string): Secrets => readAll(data_dir) as Secrets;

/** The first one signs; what any of them signed counts. */
const readRing = (data_dir: string, ring: Ring): RingKey[] =>
  ringOf(readAll(data_dir), ring).map(({ kid, key }) => ({ kid, key }));

/** A key that comes while a process runs signs in it after this time: by then every other box has it too. */
const KNOWN_MS = UNIT_MS.m;
const READ_ANEW_MS = 10 * UNIT_MS.m;
/** Unknown names of keys make it read no oftener. */
const ASKED_ANEW_MS = UNIT_MS.s;

interface Keyring {
  /** The key that signs. */
  newest(): RingKey;
  find(kid: string): RingKey | undefined;
}

/** Keys that are changed while what they signed goes on to count, for a process that runs for months: they are read anew now
 *  and then, and if a key is named that it does not know, for another process may sign with it already. */
function openKeyring(data_dir: string, ring: Ring, now: () => number): Keyring {
  let keys = readRing(data_dir, ring);
  let read_at = now();
  let newest_since = -Infinity;
  function read(): void {
    read_at = now();
    try {
      const found = readRing(data_dir, ring);
      if (found.length === 0) return;
      if (found[0]!.kid !== keys[0]?.kid && keys.length > 0) newest_since = now();
      keys = found;
    } catch {
      // The keys that were read before go on to count; the sweep says that the file is damaged.
    }
  }
  /** A clock that was set back counts as long past. */
  const isOlderThan = (ms: number): boolean => Math.abs(now() - read_at) >= ms;
  const known = (kid: string): RingKey | undefined => keys.find((one) => one.kid === kid);
  return {
    newest() {
      if (isOlderThan(READ_ANEW_MS)) read();
      const is_new = Math.abs(now() - newest_since) < KNOWN_MS;
      return (is_new && keys[1]) || keys[0]!;
    },
    find(kid) {
      const found = known(kid);
      if (found !== undefined || !isOlderThan(ASKED_ANEW_MS)) return found;
      read();
      return known(kid);
    },
  };
}

// A secret that must be read again, as that of a webhook, is encrypted before it is stored: who gets the database alone, or a
// disk that it was on, has nothing.

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const cipherKey = (key: string): Uint8Array => new Uint8Array(hkdfSync("sha256", key, "", "svc encrypted", 32));

/** AES-256-GCM under a key of the file. `of`: whose it is; encrypted for one, it opens for no other. */
function encrypt(key: string, text: string, of: string): string {
  const nonce = randomBlock(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, cipherKey(key), nonce).setAAD(Buffer.from(of));
  return Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString("base64url");
}

/** Null if it was encrypted under a key that is gone, or for another. */
function decrypt(key: string, encrypted: string, of: string): string | null {
  const bytes = Buffer.from(encrypted, "base64url");
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
  const decipher = createDecipheriv(CIPHER, cipherKey(key), bytes.subarray(0, NONCE_BYTES)).setAAD(Buffer.from(of));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
  } catch {
    return null;
  }
}

/** The file of secrets and its keys. */
export const secretFiles = {
  turn: turnKeys,
  turnedText,
  prepare: prepareSecrets,
  read: readSecrets,
  openKeyring,
  encrypt,
  decrypt,
};
