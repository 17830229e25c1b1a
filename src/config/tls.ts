/** Reads the certificate and key that the settings name, and tries them before anything listens. */
import { X509Certificate } from "node:crypto";
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { type Config, ConfigError } from "./index.ts";

function read(flag: string, variable: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(
      `${flag === "" ? variable : `${flag} (${variable})`} is ${JSON.stringify(path)}: it must be a PEM file that can be read (${code}).`,
    );
  }
}

/** Null if the settings name none. Throws `ConfigError`. */
export function readTls({
  tls_cert,
  tls_key,
}: Pick<Config, "tls_cert" | "tls_key">): { cert: string; key: string } | null {
  if (tls_cert === null || tls_key === null) return null;
  const cert = read("--tls-cert", "SVC_TLS_CERT", tls_cert);
  const key = read("--tls-key", "SVC_TLS_KEY", tls_key);
  try {
    createSecureContext({ cert, key });
  } catch {
    throw new ConfigError(
      `--tls-cert ${JSON.stringify(tls_cert)} and --tls-key ${JSON.stringify(tls_key)} (SVC_TLS_CERT, SVC_TLS_KEY) must be a certificate chain and its private key, both PEM: they do not fit together.`,
    );
  }
  return { cert, key };
}

/** PEM of whom to trust for the certificate authority's own certificate. */
export const readAuthority = (path: string): string => read("", "SVC_ACME_CA", path);

/** The end of the certificate itself, the first of its chain, in epoch milliseconds; null if it cannot be read. */
export function endOfCertificate(chain: string): number | null {
  try {
    return Date.parse(new X509Certificate(chain).validTo) || null;
  } catch {
    return null;
  }
}

/** Why the program that sets DNS records cannot be run, as a sentence; null where it can, is found on PATH or is not set. */
export function hookFault({ dns_hook }: Pick<Config, "dns_hook">): string | null {
  if (dns_hook === null || !dns_hook.includes("/")) return null;
  try {
    accessSync(dns_hook, constants.X_OK);
    if (statSync(dns_hook).isFile()) return null;
  } catch {} // said below
  return `SVC_DNS_HOOK is ${JSON.stringify(dns_hook)}: it must be a program that this user can run (chmod 755).`;
}
