/** The parts of a setting, and how values are read that several settings share: numbers, sizes, durations. */
import { BlockList, isIP } from "node:net";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { milliseconds, sizeText, UNIT_MS } from "../base/units.ts";

export interface Setting<T> {
  /** Null if it has a variable only. */
  flag: string | null;
  /** The first one that is set counts. */
  variables: readonly string[];
  /** The default, as it would be written; null for none. */
  fallback: string | null;
  meaning: string;
  /** Completes "it must be …". */
  allowed: string;
  /** Undefined for a value that is not allowed. */
  parse: (text: string) => T | undefined;
  /** The variable without which this one is not even read. */
  only_with?: string;
  /** The default where that variable is set. */
  fallback_with?: { variable: string; fallback: string };
  /** Writes a number with its unit. */
  show?: (value: number) => string;
  secret?: true;
}

const UNIT_BYTES: Readonly<Record<string, number>> = { "": 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

const bytesFrom = (form: RegExp, most: number) => (text: string) => {
  const [, amount, unit = ""] = form.exec(text.toLowerCase()) ?? [];
  const bytes = amount === undefined ? 0 : Number(amount) * UNIT_BYTES[unit.replace("b", "")]!;
  return bytes >= 1 && bytes <= most ? bytes : undefined;
};

/** Reads `50MB`, `64kb`, `10B` or a number of bytes, at least one. */
export const size = (most: number) => bytesFrom(/^(\d{1,15})([kmg]?b)?$/, most);

/** Reads a size, also as `5g`, `500m` or `64k`; at most a petabyte. */
export const quotaSize = bytesFrom(/^(\d{1,15})([kmg]?b?)$/, 2 ** 50);

/** Reads `30s`, `15m`, `12h` or `14d` as milliseconds, at least one second and at most a hundred years. */
export function duration(text: string): number | undefined {
  const parts = /^(\d{1,9})([smhd])$/.exec(text);
  if (!parts) return undefined;
  const ms = milliseconds(parts[1]!, parts[2]!);
  return ms >= 1000 && ms <= 36_500 * UNIT_MS.d ? ms : undefined;
}

/** A bucket's name as Amazon has it, and the folders in it. */
export const BUCKET = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/(?!\.\.?(?:\/|$))[\w!.*'()-]+)*)\/?$/;

/** The way to a bucket, by the names that tools for S3 have for it. */
export interface S3Access {
  /** Null means Amazon's own. */
  endpoint: string | null;
  region: string | null;
  access_key_id: string | null;
  secret_access_key: string | null;
  session_token: string | null;
}

/** The address of a bucket, with its key: never in a log, an argument or an answer. */
export interface BucketAddress {
  /** `s3://bucket/prefix`. */
  url: string;
  access: S3Access;
  /** So much of it is kept below the data directory. */
  cache_bytes: number;
}

/** Whether the path is the folder or leads into it, by its letters alone: links are not followed. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(resolve(folder), resolve(path));
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Whether the text names a bucket; any address does, so that no folder is called `s3:` or `https:`. */
export const namesBucket = (text: string): boolean => text.startsWith("s3:") || /^[a-z][a-z0-9+.-]+:\/\//i.test(text);

// Words of the rows, and how their values are read.

export const integer = (least: number, most: number) => (text: string) => {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  return value >= least && value <= most ? value : undefined;
};

/** Reads `90%` or `90`. */
export const percent = (text: string): number | undefined => integer(1, 100)(text.replace(/%$/, ""));

/** Reads `off` as null. */
export const orOff =
  <T>(parse: (text: string) => T | undefined) =>
  (text: string): T | null | undefined =>
    text === "off" ? null : parse(text);

export const filled = (text: string): string | undefined => text.trim() || undefined;

export const oneOf =
  <const T extends string>(...words: T[]) =>
  (text: string): T | undefined =>
    words.find((word) => word === text);

export const SIZE = "a size such as 64KB, 50MB or 2GB (the most), or a number of bytes";

export const DURATION = "a duration such as 30s, 15m, 12h or 14d";

export const setting = <T>(row: Setting<T>): Setting<T> => row;

/** A setting that has a variable and no flag. */
export const variable = <T>(name: string, row: Omit<Setting<T>, "flag" | "variables">): Setting<T> => ({
  flag: null,
  variables: [`SVC_${name}`],
  ...row,
});

export const onOrOff = (name: string, meaning: string): Setting<"on" | "off"> =>
  variable(name, { fallback: "off", meaning, allowed: "on or off", parse: oneOf("on", "off") });

export function baseUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== "/" || url.search || url.hash) return undefined;
  return url.username || url.password ? undefined : url.origin;
}

const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*(?::\\d{1,5})?$`);
export const domain = (text: string): string | undefined =>
  DOMAIN.test(text.toLowerCase()) ? text.toLowerCase().replace(/:0*(\d+)$/, ":$1") : undefined;

/** An https address without a user, as it was meant. */
export function secureUrl(text: string): string | undefined {
  const url = text.length <= 2000 ? URL.parse(text) : null;
  return url?.protocol === "https:" && !url.username && !url.password ? url.href : undefined;
}

export function backupPlace(text: string): string | undefined {
  return namesBucket(text) && !BUCKET.test(text) ? undefined : filled(text);
}

/** A setting that is never shown, by the name that other programs have for it. */
export const secretOf = (name: string, meaning: string): Setting<string> => ({
  ...{ flag: null, variables: [name], fallback: null, meaning, secret: true },
  ...{ allowed: "visible ASCII characters", parse: (text) => (/^[\x21-\x7e]{1,4096}$/.test(text) ? text : undefined) },
});

/** A limit for all sites of one owner (BEYOND 9). */
export const quota = (name: string, fallback: string, meaning: string): Setting<number | null> =>
  variable(`QUOTA_${name}`, {
    fallback,
    meaning,
    allowed: "a size such as 64KB, 500MB or 5GB, or off",
    parse: orOff(quotaSize),
    show: sizeText,
  });

// Networks as a setting names them: addresses, and ranges in CIDR notation.

/** A zone (`fe80::1%eth0`) is refused: a peer's address is compared without one. */
const NETWORK = /^([^/%]+)(?:\/(\d{1,3}))?$/;

export const familyOf = (address: string): "ipv4" | "ipv6" => (isIP(address) === 4 ? "ipv4" : "ipv6");

/** Throws if one of them is no network. */
export function networkList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [, address = "", bits] = NETWORK.exec(network) ?? [];
    if (bits === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(bits), familyOf(address));
  }
  return list;
}

/** Reads a setting's value, networks separated by commas; undefined if one of them is none. */
export function networks(text: string): string[] | undefined {
  const list = text.split(",").map((part) => part.trim());
  try {
    networkList(list);
    return list;
  } catch {
    return undefined;
  }
}

/** `192.0.2.1`, `192.0.2.1:53`, `2001:db8::1` or `[2001:db8::1]:53`. */
const SERVER = /^(?:\[([^\]]+)\](?::(\d{1,5}))?|([\d.]+)(?::(\d{1,5}))?|([^\]%]*:[^\]%]*:[^\]%]*))$/;

function isServer(text: string): boolean {
  const [, bracketed, port6, plain, port4, bare] = SERVER.exec(text) ?? [];
  return isIP(bracketed ?? plain ?? bare ?? "") !== 0 && Number(port6 ?? port4 ?? 53) <= 65_535;
}

/** Reads a setting's value: at most eight addresses with an optional port, as `setServers` of node:dns takes them; undefined if
 *  one of them is none. */
export function servers(text: string): string[] | undefined {
  const list = text.split(",").map((part) => part.trim());
  return list.length <= 8 && list.every(isServer) ? list : undefined;
}
