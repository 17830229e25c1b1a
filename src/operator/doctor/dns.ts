/** Whether the base host, and every name below the sites domain, has an address. */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { Finding, Patient } from "./finding.ts";
import { worst } from "./finding.ts";
import { hostsOf } from "./hosts.ts";

const PATIENCE_MS = 5000;

/** Browsers and the resolvers of most systems send these to the machine itself. */
const isLocal = (name: string): boolean => name === "localhost" || name.endsWith(".localhost");
const isAddress = (name: string): boolean => isIP(name.replace(/^\[|\]$/g, "")) !== 0;

const NOBODY = "no name server answered";
const WHY: Readonly<Record<string, string>> = { ENOTFOUND: "there is no such name", EAI_AGAIN: NOBODY };

/** Its addresses, or why there are none. */
async function addressesOf(name: string): Promise<string[] | string> {
  const late = Promise.withResolvers<string>();
  const timer = setTimeout(() => late.resolve(NOBODY), PATIENCE_MS);
  const found = lookup(name, { all: true }).then(
    (all) => [...new Set(all.map(({ address }) => address))],
    (error: NodeJS.ErrnoException) => WHY[String(error.code)] ?? String(error.code),
  );
  return Promise.race([found, late.promise]).finally(() => clearTimeout(timer));
}

/** `asked`: a name that the record `record` answers for. */
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

export async function dns({ config }: Patient): Promise<Finding> {
  const { base, sites, some_site } = hostsOf(config);
  return worst(await Promise.all([look(base, base), look(some_site, `*.${sites}`)]));
}
