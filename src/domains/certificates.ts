/** Orders certificates for all domains that are active, and for the server's own names where a hook sets their DNS records (BEYOND 10): one turn
 *  orders what is due, a few at a time. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import packageJson from "../../package.json" with { type: "json" };
import { visibleLine } from "../base/visible.ts";
import { UNIT_MS } from "../base/units.ts";
import { environmentOfOthers } from "../run/child.ts";
import { type Config, ownNames } from "../config/index.ts";
import { readAuthority } from "../config/tls.ts";
import { certificateFiles, type Store } from "../store/index.ts";
import { AcmeFailure, challengeRecord, type ChallengeToMeet, createAcme, type Issued, newKey } from "./acme.ts";

interface OrderParts {
  data_dir: string;
  order: ReturnType<typeof createAcme>;
  store: Pick<Store, "certificates" | "keepCertificate" | "dropCertificate">;
  /** Names that no site has: the base URL's host and `*.<sites domain>`. Empty without a hook. */
  own_names: readonly string[];
  /** A program that sets and removes DNS records. */
  hook: string | null;
  /** Whether the plain port is there, at which an authority looks for the proof of a domain. */
  has_plain_port: boolean;
  now: () => number;
}

/** The end of one order. `error` is a sentence; null: there is a certificate until `ends`. */
export type Ordered = ({ error: string } | { error: null; ends: number }) & {
  name: string;
  /** A sentence about a DNS record that could not be taken away. */
  left?: string;
};

/** Orders at once: a name whose host does not answer takes an authority half a minute. */
const AT_ONCE = 4;
const HOOK_MS = 120_000;
/** The first pause after a hook that failed: its operator is about to mend it. */
const HOOK_PAUSE_MS = 5 * 60_000;
const MOST_SAID = 2000;
/** The owners of domains are told so; the log says once what the operator may do. */
const NO_PLAIN_PORT = "This server has no plain port";
const noPlainPort = {
  error: `${NO_PLAIN_PORT}, at which the authority would look for the proof: ask its operator to set --http-port (SVC_HTTP_PORT).`,
  first_ms: UNIT_MS.d,
  retry_ms: 7 * UNIT_MS.d,
};

/** Some errors are thrown, and others come as an event. */
function startHook(hook: string, words: string[]): ChildProcessByStdio<null, Readable, Readable> | Error {
  try {
    return spawn(hook, words, {
      env: environmentOfOthers(),
      stdio: ["ignore", "pipe", "pipe"],
      timeout: HOOK_MS,
      killSignal: "SIGKILL",
    });
  } catch (error) {
    return error as Error;
  }
}

/** Runs `<hook> present|cleanup <name> <value>`, without a shell and the server's own variables. Throws `AcmeFailure` unless it ends with 0 in two minutes. */
function runHook(hook: string, action: "present" | "cleanup", name: string, value: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let said = "";
  const keep = (piece: Buffer) => void (said.length < MOST_SAID && (said += piece.toString().slice(0, MOST_SAID)));
  const failed = (why: string) => {
    const words = visibleLine(said.trim()).slice(-300);
    const saying = words === "" ? "" : ` It said: ${words}`;
    const sentence = `SVC_DNS_HOOK (${hook} ${action} ${name} …) ${why}: see whether it ${action === "present" ? "sets" : "removes"} the record.${saying}`;
    reject(new AcmeFailure(sentence, 0, HOOK_PAUSE_MS));
  };
  const notStarted = (error: Error) =>
    failed(
      (error as NodeJS.ErrnoException).code === "ENOEXEC"
        ? "is no program (of a script the first line is #!/bin/sh, or names another program so)"
        : `could not be started (${error.message})`,
    );
  const child = startHook(hook, [action, name, value]);
  if (child instanceof Error) {
    notStarted(child);
    return promise;
  }
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  child.on("error", notStarted);
  // Not `close`: a grandchild that holds its pipes must not hold the order.
  child.on("exit", (code, signal) => {
    child.stdout.destroy();
    child.stderr.destroy();
    if (code === 0) return resolve();
    failed(signal === "SIGKILL" ? "did not end in two minutes" : `ended with ${signal ?? code}`);
  });
  return promise;
}

type Certificates = OrderParts["store"]["certificates"];

const meetByHttp =
  (certificates: Certificates) =>
  async ({ token, answer }: ChallengeToMeet) => {
    await certificates.putChallenge(token, answer);
    return () => certificates.dropChallenge(token);
  };

/** The record is taken away whether it could be set or not. */
const meetByDns =
  (hook: string, left: (sentence: string) => void) =>
  async ({ name, answer }: ChallengeToMeet) => {
    const record = challengeRecord(name);
    const cleanUp = () => runHook(hook, "cleanup", record, answer);
    try {
      await runHook(hook, "present", record, answer);
    } catch (error) {
      await cleanUp().catch(() => {}); // it says no more than what failed before it
      throw error;
    }
    return () => cleanUp().catch((error: unknown) => left((error as Error).message));
  };

/** A third of its life before its end. */
const nextAt = ({ from, ends }: Pick<Issued, "from" | "ends">): number => Math.floor(ends - (ends - from) / 3);

/** The operator's own pair is used and never renewed: true where there is one. */
async function isTheirOwn(name: string, { data_dir, now }: OrderParts): Promise<boolean> {
  const pair = await certificateFiles.read(data_dir, name, now());
  return pair !== null && !("why" in pair) && pair.manual;
}

const isOwn = (name: string, { own_names }: OrderParts): boolean => own_names.some((own) => own === name);

/** Orders one; null where the operator has put a pair of their own there, or set no port at which it could be proved. */
async function orderOne(name: string, parts: OrderParts): Promise<Ordered | null> {
  const { certificates } = parts.store;
  if (await isTheirOwn(name, parts)) return null;
  await certificates.begin(name);
  if (!isOwn(name, parts) && !parts.has_plain_port) {
    await certificates.noteFailed({ name, ...noPlainPort });
    return null;
  }
  const untidy: Pick<Ordered, "left"> = {};
  try {
    const pair = isOwn(name, parts)
      ? await parts.order(
          name,
          "dns-01",
          meetByDns(parts.hook!, (left) => Object.assign(untidy, { left })),
        )
      : await parts.order(name, "http-01", meetByHttp(certificates));
    await parts.store.keepCertificate(name, pair);
    await certificates.noteIssued(name, new Date(pair.ends).toISOString(), nextAt(pair));
    return { name, error: null, ends: pair.ends, ...untidy };
  } catch (thrown) {
    const told =
      thrown instanceof AcmeFailure ? thrown : new AcmeFailure(`It could not be stored: ${(thrown as Error).message}`);
    const { message: error, retry_ms, first_ms } = told;
    await certificates.noteFailed({ name, error, retry_ms, first_ms });
    return { name, error, ...untidy };
  }
}

/** Names that nobody has any more. */
async function forgetOrphans(parts: OrderParts): Promise<void> {
  const { data_dir, now } = parts;
  const { certificates } = parts.store;
  for (const { name } of await certificates.orphans()) {
    if (isOwn(name, parts)) continue;
    const pair = await certificateFiles.read(data_dir, name, now());
    if (pair === null || "why" in pair || !pair.manual) await parts.store.dropCertificate(name);
    await certificates.forget(name);
  }
}

async function dueNames({ own_names, store: { certificates } }: OrderParts): Promise<string[]> {
  const names = (await certificates.due(AT_ONCE)).map(({ name }) => name);
  const own = await Promise.all(own_names.map(async (name) => ({ name, since: await certificates.dueSince(name) })));
  // One at a time: both may have one record, and a hook that replaces it. The one that waits longest: neither keeps the other waiting
  // for ever where a clock runs so far ahead that each is due as soon as it is there.
  const [first] = own.filter(({ since }) => since !== null).sort((a, b) => a.since! - b.since!);
  return first === undefined ? names : [first.name, ...names].slice(0, AT_ONCE);
}

const OWN_PAIRS_MS = 10 * UNIT_MS.s;

/** Keeps what the operator put into the folder on record: owners see it, and may have browsers insist on https. Such a row is due when the
 *  certificate ends, and no other is: by that those of an earlier process are known. */
function notingOwnPairs(data_dir: string, certificates: Certificates, now: () => number): () => Promise<void> {
  let noted: Map<string, number> | null = null;
  let next = 0;
  const before = async () => {
    const rows = await certificates.active();
    return new Map(
      rows.filter((row) => Date.parse(row.expires_at) === row.next_at).map((row) => [row.name, row.next_at]),
    );
  };
  return async () => {
    if (Math.abs(next - now()) <= OWN_PAIRS_MS && now() < next) return;
    next = now() + OWN_PAIRS_MS;
    const known: Map<string, number> = noted ?? (await before());
    const own = new Map<string, number>();
    for (const name of await certificateFiles.manual(data_dir)) {
      const pair = await certificateFiles.read(data_dir, name, now());
      if (pair !== null && !("why" in pair)) own.set(name, pair.ends);
    }
    for (const [name, ends] of own) {
      if (known.get(name) !== ends) await certificates.noteIssued(name, new Date(ends).toISOString(), ends);
    }
    for (const name of known.keys()) if (!own.has(name)) await certificates.forget(name);
    noted = own;
  };
}

/** The turn of this server, by its settings: the account's key is made at the first one. Without an authority nothing is ordered. */
export async function openOrders(config: Config, store: Store, now: () => number): Promise<() => Promise<Ordered[]>> {
  const noteOwnPairs = notingOwnPairs(config.data_dir, store.certificates, now);
  const orders = config.acme === null ? null : await openAuthority(config, config.acme, store, now);
  return async () => {
    await noteOwnPairs();
    return orders === null ? [] : orders();
  };
}

async function openAuthority(config: Config, directory: string, store: Store, now: () => number) {
  const { data_dir, acme_ca, acme_contact: contact, dns_hook: hook } = config;
  const options = {
    directory,
    ca: acme_ca === null ? null : readAuthority(acme_ca),
    contact,
    account_key: await store.acmeAccount(newKey()),
    user_agent: `svc-server/${packageJson.version}`,
  };
  const own_names = hook === null || config.tls_cert !== null ? [] : ownNames(config);
  const has_plain_port = config.http_port !== null;
  // A server is started anew once its hook is mended, or its plain port set.
  await store.certificates.hasten("SVC_DNS_HOOK");
  if (has_plain_port) await store.certificates.hasten(NO_PLAIN_PORT);
  const parts: OrderParts = { data_dir, order: createAcme(options, now), store, own_names, hook, has_plain_port, now };
  return async (): Promise<Ordered[]> => {
    await forgetOrphans(parts);
    const names = await dueNames(parts);
    return (await Promise.all(names.map((name) => orderOne(name, parts)))).filter((one) => one !== null);
  };
}
