/** Certificates that sign themselves, for any hosts and any time, as PEM (RFC 5280). */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newKey } from "../../src/domains/acme.ts";
import { selfSigned } from "../../src/domains/x509.ts";

export interface Pair {
  cert: string;
  key: string;
}

const DAY_MS = 86_400_000;

/** A certificate that is valid for `days` from `from` on. Its common name is the first host. */
export function certificateFor(hosts: readonly string[], { from = Date.now() - DAY_MS, days = 90 } = {}): Pair {
  const key = newKey();
  return { key, cert: selfSigned(hosts, key, { from, days }) };
}

/** The two files in a folder, and the flags that name them. */
export function pairFiles(folder: string) {
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  return {
    cert,
    key,
    flags: ["--tls-cert", cert, "--tls-key", key],
    write: (pair: Pair) => Promise.all([writeFile(cert, pair.cert), writeFile(key, pair.key, { mode: 0o600 })]),
  };
}
