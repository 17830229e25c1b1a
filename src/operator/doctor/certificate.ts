/** Whether the certificate can be read, goes with its key, is for both hosts, and is in its time. */
import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { readTls } from "../../config/tls.ts";
import { UNIT_MS } from "../../base/units.ts";
import { type Finding, type Patient, worst } from "./finding.ts";
import { hostsOf } from "./hosts.ts";

const SOON_MS = 14 * UNIT_MS.d;

/** As browsers do: the alternative names alone count, and `*` is one whole label. */
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

export function certificate(patient: Patient): Finding {
  const { config, now } = patient;
  let pair: ReturnType<typeof readTls>;
  try {
    pair = readTls(config);
  } catch (error) {
    const { message } = error as Error;
    return { status: "fail", message: `${message} Is it readable for this user, and are both of one pair?` };
  }
  if (pair === null) {
    return { status: "skip", message: "No certificate is set (--tls-cert): the server speaks HTTP." };
  }
  const { validFrom, validTo, ...own } = readCertificate(pair.cert);
  return worst([forHosts(own.names, patient), inTime(Date.parse(validFrom), Date.parse(validTo), now)]);
}

/** The first of the chain: the server's own. */
function readCertificate(pem: string) {
  const own = new X509Certificate(pem);
  return { names: namesOf(own), validFrom: own.validFrom, validTo: own.validTo };
}
