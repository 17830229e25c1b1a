/** `doctor`: finds what keeps a server from being reached or from working, and says what to do about it (CONTRACT 7). It
 *  changes nothing. */
import { diskRoom, isServed, peekDataDir } from "../store/operations.ts";
import { visible } from "../base/visible.ts";
import { type Config, isSecure } from "../config/index.ts";
import type { ServerAddress } from "../store/upkeep.ts";
import { type Finding, JSON_FLAG, type OperatorCommand, type OperatorContext, type Patient, worst } from "./command.ts";
import { checkBackups as backups } from "./backups.ts";
import { SHARED_CHECKS } from "./boxes.ts";
import { json } from "./print.ts";
import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { humanSize, UNIT_MS } from "../base/units.ts";
import { X509Certificate } from "node:crypto";
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { randomName } from "../base/random.ts";
import { listenError, tryToListen } from "../config/machine.ts";
import { hookFault, readTls } from "../config/tls.ts";

const CHECKS: Readonly<Record<string, Check>> = { dns, certificate, disk, clock, permissions, ports, backups };

/** A check that breaks counts as failed: the results of the others are wanted all the same. */
async function carryOut(check: Check, patient: Patient): Promise<Finding> {
  try {
    return await check(patient);
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    const denied = /^(EACCES|EPERM)$/.test(code) || /\b(EACCES|EPERM)\b/.test(message);
    if (!denied) return { status: "fail", message: message.endsWith(".") ? message : `${message}.` };
    return { status: "fail", message: `It could not be checked (${message}): run this as the user of the server.` };
  }
}

/** With a base URL of its own, this call does not take the sites domain of the last start: that went with another one. */
function configOf(settings: OperatorContext["settings"], last: ServerAddress | null): Config {
  const config = settings(last);
  return config.base_url === last?.base_url ? config : settings(null);
}

export const doctor: OperatorCommand = {
  name: "doctor",
  arguments: [],
  flags: [JSON_FLAG],
  summary: "check DNS, certificate, disk, clock, permissions, ports and backups; exit code 1 where one fails",
  details: [
    "Give it the server's settings (flags or variables) and run it as the server's user. Base URL and sites domain, where they are not set, are those of the server's last start. Nothing is made or changed except a test file in SVC_BACKUP, or in SVC_BLOBS, which is removed.",
  ],
  async run({ data_dir, settings, print }, given) {
    const kept = peekDataDir(data_dir);
    const patient = { config: configOf(settings, kept?.address ?? null), kept, now: Date.now() };
    const table = Object.entries({ ...CHECKS, ...(patient.config.shared && SHARED_CHECKS) });
    const found = table.map(async ([check, look]) => ({ check, ...(await carryOut(look, patient)) }));
    const findings = await Promise.all(found);
    print(given.json ? json(findings) : findings.map(lineOf).join(""));
    return findings.some(({ status }) => status === "fail") ? 1 : 0;
  },
};

const lineOf = ({ check, status, message }: Finding & { check: string }): string =>
  `${status.padEnd(4)}  ${check.padEnd(11)}  ${visible(message)}\n`;
type Check = (patient: Patient) => Finding | Promise<Finding>;

// Checks whether the machine is fit for a server: room on the disk, the right time, and files that are its user's alone.

const WAYS = "make room, or give the server a larger disk (svc-server sites --sort stored tells who takes how much)";

/** Whether the disk has room for deploys. */
function disk({ config }: Patient): Finding {
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
function clock({ kept, now }: Patient): Finding {
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
function permissions({ config }: Patient): Finding {
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

// Checks whether the server can be reached: its names have addresses, its certificate is for them, and it can listen.

/** The two hosts that a server is reached by. */
interface Hosts {
  base: string;
  sites: string;
  /** A name below `sites` that no site has. */
  some_site: string;
}

function hostsOf({ base_url, sites_domain }: Pick<Config, "base_url" | "sites_domain">): Hosts {
  const sites = sites_domain.split(":", 1)[0]!;
  return { base: new URL(base_url).hostname, sites, some_site: `doctor-${randomName(8)}.${sites}` };
}

const LOOKUP_MS = 5000;

/** Browsers and the resolvers of most systems send these to the machine itself. */
const isLocal = (name: string): boolean => name === "localhost" || name.endsWith(".localhost");
const isAddress = (name: string): boolean => isIP(name.replace(/^\[|\]$/g, "")) !== 0;

const NO_ANSWER = "no name server answered";
const WHY: Readonly<Record<string, string>> = { ENOTFOUND: "there is no such name", EAI_AGAIN: NO_ANSWER };

/** The addresses of a name, or the reason why it has none. */
async function addressesOf(name: string): Promise<string[] | string> {
  const late = Promise.withResolvers<string>();
  const timer = setTimeout(() => late.resolve(NO_ANSWER), LOOKUP_MS);
  const found = lookup(name, { all: true }).then(
    (all) => [...new Set(all.map(({ address }) => address))],
    (error: NodeJS.ErrnoException) => WHY[String(error.code)] ?? String(error.code),
  );
  return Promise.race([found, late.promise]).finally(() => clearTimeout(timer));
}

/** Looks up `asked`, a name that the DNS record `record` answers for. */
async function look(asked: string, record: string): Promise<Finding> {
  if (isLocal(asked)) return { status: "ok", message: `${record} needs no DNS: it is this machine itself.` };
  if (isAddress(asked)) return { status: "ok", message: `${record} is an address.` };
  const found = await addressesOf(asked);
  if (typeof found !== "string") return { status: "ok", message: `${record} is ${found.join(", ")}.` };
  return {
    status: "fail",
    message: `${record} has no address (${found}): add the DNS record "${record}. A <address of this machine>", or AAAA for IPv6.`,
  };
}

/** Whether the base host, and every name below the sites domain, has an address. */
async function dns({ config }: Patient): Promise<Finding> {
  const { base, sites, some_site } = hostsOf(config);
  return worst(await Promise.all([look(base, base), look(some_site, `*.${sites}`)]));
}

const SOON_MS = 14 * UNIT_MS.d;

/** The names that browsers accept: the alternative names alone count, and `*` is one whole label. */
function namesOf({ subjectAltName }: X509Certificate): string[] {
  const entries = (subjectAltName ?? "").split(", ");
  return entries.flatMap((entry) => /^(?:DNS|IP Address):(.+)$/.exec(entry)?.[1]?.toLowerCase() ?? []);
}

const covers = (names: readonly string[], host: string): boolean =>
  names.includes(host) || (isIP(host) === 0 && names.includes(`*${host.slice(host.indexOf("."))}`));

const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const READ_AGAIN = "then have it read again by SIGHUP (systemctl reload svc)";

function inTime(from: number, to: number, now: number): Finding {
  const renew = `renew it, ${READ_AGAIN}.`;
  if (now < from)
    return { status: "fail", message: `It is not valid before ${day(from)}: look at the clock, or ${renew}` };
  if (now >= to) return { status: "fail", message: `It ended on ${day(to)}: ${renew}` };
  if (to - now >= SOON_MS) return { status: "ok", message: `It is valid until ${day(to)}.` };
  return { status: "warn", message: `It ends on ${day(to)}, in ${Math.floor((to - now) / UNIT_MS.d)} days: ${renew}` };
}

function forHosts(names: readonly string[], { config }: Patient): Finding {
  const { base, sites, some_site } = hostsOf(config);
  const wanted = [...(covers(names, base) ? [] : [base]), ...(covers(names, some_site) ? [] : [`*.${sites}`])];
  if (wanted.length === 0) return { status: "ok", message: `It is for ${base} and *.${sites}.` };
  const is = names.length === 0 ? "names no host" : `is for ${names.join(", ")}`;
  return {
    status: "fail",
    message: `It ${is}, and not for ${wanted.join(" and ")}: get one that names ${base} and *.${sites} (a wildcard takes a DNS challenge), ${READ_AGAIN}.`,
  };
}

/** Whether the certificate can be read, goes with its key, is for both hosts, and is in its time. */
function certificate(patient: Patient): Finding {
  const { config, now } = patient;
  let pair: ReturnType<typeof readTls>;
  try {
    pair = readTls(config);
  } catch (error) {
    const { message } = error as Error;
    return { status: "fail", message: `${message} Is it readable for this user, and are both of one pair?` };
  }
  const fault = hookFault(config);
  if (fault !== null) return { status: "fail", message: fault };
  if (pair === null) {
    const message = isSecure(config)
      ? "No certificate is set (--tls-cert): the server orders one for its own names itself (SVC_ACME, SVC_DNS_HOOK), and its log says how that went."
      : "No certificate is set (--tls-cert): the server speaks HTTP.";
    return { status: "skip", message };
  }
  const { validFrom, validTo, ...own } = readCertificate(pair.cert);
  return worst([forHosts(own.names, patient), inTime(Date.parse(validFrom), Date.parse(validTo), now)]);
}

/** The first of the chain: the server's own. */
function readCertificate(pem: string) {
  const own = new X509Certificate(pem);
  return { names: namesOf(own), validFrom: own.validFrom, validTo: own.validTo };
}

const LISTENS = "0A";

/** The sockets that listen at a port, as Linux lists them: number → user. */
function listening(port: number): Map<string, number> {
  const sockets = new Map<string, number>();
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    for (const line of readText(table).split("\n").slice(1)) {
      const [, local = "", , state, , , , uid, , inode = ""] = line.trim().split(/\s+/);
      const at = Number.parseInt(local.split(":").at(-1)!, 16);
      if (state === LISTENS && at === port) sockets.set(inode, Number(uid));
    }
  }
  return sockets;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return ""; // another system, or no IPv6
  }
}

/** The files and sockets that a process has open; empty if this user may not know. */
function openIn(pid: string): string[] {
  try {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).flatMap((name) => linkOf(join(folder, name)));
  } catch {
    return [];
  }
}

function linkOf(path: string): string[] {
  try {
    return [readlinkSync(path)];
  } catch {
    return []; // closed meanwhile
  }
}

const socketsAmong = (open: readonly string[], sockets: ReadonlyMap<string, number>): string[] =>
  open.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []).filter((inode) => sockets.has(inode));

/** Whether a process that listens there has this directory's database open. A process with a capability (for a port below
 *  1024) does not show what it has open: then a socket of this user counts, while a server has the data directory. */
function isOwnServers(port: number, data_dir: string): boolean {
  const sockets = listening(port);
  if (sockets.size === 0 || !isServed(data_dir)) return false;
  const database = join(realpathSync(data_dir), "db");
  const seen = new Set<string>();
  for (const name of readdirSync("/proc").filter((one) => /^\d+$/.test(one))) {
    const open = openIn(name);
    const its = socketsAmong(open, sockets);
    if (its.length > 0 && open.includes(database)) return true;
    for (const inode of its) seen.add(inode);
  }
  return [...sockets].some(([inode, uid]) => uid === process.getuid?.() && !seen.has(inode));
}

/** Whether the server can listen, or already does: at both of its ports. */
function ports({ config }: Patient): Finding {
  const { http_port } = config;
  return worst([
    portOf(config, "--port"),
    ...(http_port === null ? [] : [portOf({ ...config, port: http_port }, "--http-port")]),
  ]);
}

function portOf({ host, port, data_dir }: Pick<Config, "host" | "port" | "data_dir">, flag: string): Finding {
  if (port === 0) return { status: "ok", message: "The server picks a free one (--port 0)." };
  if (isOwnServers(port, data_dir)) {
    return { status: "ok", message: `Port ${port} is held by this data directory's own server.` };
  }
  const error = tryToListen(host, port);
  if (error === null) return { status: "ok", message: `Port ${port} of ${host} is free.` };
  const known = listenError(error, { host, port });
  const taken = `Port ${port} of ${host} is taken by another program: ss -ltnp 'sport = :${port}' names it. Stop that, or set another ${flag}.`;
  return {
    status: "fail",
    message: known ?? (error.code === "EADDRINUSE" ? taken : `${error.message}: set another ${flag} or --host.`),
  };
}
