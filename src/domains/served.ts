/** The certificates that a serving process gives to those who connect: the server's own first, which whoever names no host or an unknown one gets, and
 *  one for each name in `DATA/certs` (BEYOND 10). They are read again when the folder says so, and by SIGHUP. */
import { type Config, ownNames } from "../config/index.ts";
import { endOfCertificate, readTls } from "../config/tls.ts";
import { UNIT_MS } from "../base/units.ts";
import { every, loggedBy } from "../run/every.ts";
import type { Log } from "../run/log.ts";
import { certificateFiles, type CertificatePair } from "../store/index.ts";
import { newKey } from "./acme.ts";
import { selfSigned } from "./x509.ts";

/** As the runtime takes them; without `serverName` it is for all other names. */
export interface ServedCertificate {
  cert: string;
  key: string;
  serverName?: string;
}

/** Changes are gathered for so long. */
const LOOK_MS = 1000;
/** Opening a socket with thousands of certificates holds up all answers: so many times as long as it took is the pause until the next. */
const PACE = 20;
/** Until the real one is there; its key lives as long as the process. */
const MAKESHIFT_DAYS = 90;

interface ServedParts {
  config: Pick<Config, "tls_cert" | "tls_key" | "data_dir" | "base_url" | "sites_domain">;
  now: () => number;
  log: Log;
}

type Renew = (fresh: ServedCertificate[]) => void;

/** Says of each pair that cannot be used why, once. */
function tellingUnusable(log: Log) {
  const told = new Map<string, string>();
  return (unusable: readonly { name: string; why: string }[]): void => {
    for (const { name, why } of unusable) {
      if (told.get(name) === why) continue;
      told.set(name, why);
      log.error("certificate", `what is in certs for ${name} is not used: ${why}`);
    }
    for (const name of told.keys()) if (!unusable.some((one) => one.name === name)) told.delete(name);
  };
}

/** A pair that nobody trusts: it is there so that the port can be opened before the first order is through. */
function makeshift({ config, now, log }: ServedParts): () => ServedCertificate {
  const names = ownNames(config);
  let made: ServedCertificate | null = null;
  return () => {
    if (made !== null) return made;
    const key = newKey();
    log.event(`certificate: until the one for ${names[0]} is there, new connections get one that signs itself`);
    return (made = { key, cert: selfSigned(names, key, { from: now() - UNIT_MS.h, days: MAKESHIFT_DAYS }) });
  };
}

/** Throws `ConfigError` where the operator's pair cannot be used. */
export async function openCertificates(parts: ServedParts) {
  const { config, now, log } = parts;
  const base = new URL(config.base_url).hostname;
  const read = certificateFiles.reader(config.data_dir);
  const tell = tellingUnusable(log);
  const untilThen = makeshift(parts);
  let own = readTls(config);
  let first_end: number | null = null;
  let not_before = 0;
  let changed = certificateFiles.changedAt(config.data_dir);

  const first = (pairs: readonly CertificatePair[]): ServedCertificate => {
    if (own !== null) return own;
    const ordered = pairs.find(({ name }) => name === base);
    return ordered === undefined ? untilThen() : { cert: ordered.cert, key: ordered.key };
  };
  async function all(): Promise<ServedCertificate[]> {
    const { pairs, unusable } = await read(now());
    tell(unusable);
    const others = first(pairs);
    const ends = [endOfCertificate(others.cert), ...pairs.map((pair) => pair.ends)].filter((end) => end !== null);
    first_end = ends.length === 0 ? null : Math.min(...ends);
    return [others, ...pairs.map(({ name, cert, key }) => ({ cert, key, serverName: name }))];
  }
  async function look(renew: Renew): Promise<void> {
    const at = certificateFiles.changedAt(config.data_dir);
    if (at === changed || now() < not_before) return;
    const begun = now();
    renew(await all());
    not_before = now() + PACE * Math.max(0, now() - begun);
    changed = at;
  }

  return {
    all,
    /** Does what SIGHUP asks for: all is read again, the operator's own pair too. What can no longer be used stays as it was. */
    async reload(renew: Renew): Promise<void> {
      try {
        own = readTls(config);
        renew(await all());
        log.event("SIGHUP: the certificate was read again, and new connections get it");
      } catch (error) {
        log.error("SIGHUP: the certificate stays as it was", (error as Error).message);
      }
    },
    /** When the first of them ends, in epoch milliseconds. */
    firstEnd: () => first_end,
    /** Looks whether the folder has changed, and hands over what is in it then. */
    watch: (renew: Renew) =>
      every(
        LOOK_MS,
        alone(() => look(renew)),
        loggedBy(log, "looking for new certificates"),
      ),
  };
}

/** Does nothing while it is still at it. */
function alone(work: () => Promise<void>): () => Promise<void> {
  let running = false;
  return async () => {
    if (running) return;
    running = true;
    await work().finally(() => (running = false));
  };
}
