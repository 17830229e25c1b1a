/** Certificates that sign themselves, for any hosts and any time, as PEM (RFC 5280). */
import { generateKeyPairSync, sign } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface Pair {
  cert: string;
  key: string;
}

/** Tag, length, contents (X.690, 8.1). */
function der(tag: number, ...contents: Uint8Array[]): Buffer {
  const body = Buffer.concat(contents);
  const size = body.length.toString(16);
  const long = Buffer.from(size.padStart(size.length + (size.length % 2), "0"), "hex");
  const length =
    body.length < 128 ? Buffer.from([body.length]) : Buffer.concat([Buffer.from([128 | long.length]), long]);
  return Buffer.concat([Buffer.from([tag]), length, body]);
}
const SEQUENCE = 0x30;
const sequence = (...parts: Uint8Array[]) => der(SEQUENCE, ...parts);
const oid = (hex: string) => der(0x06, Buffer.from(hex, "hex"));
const ECDSA_SHA256 = sequence(oid("2a8648ce3d040302"));
const name = (text: string) => sequence(der(0x31, sequence(oid("550403"), der(0x0c, Buffer.from(text))))); // one common name
const time = (ms: number) => der(0x18, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]|\..*/g, "")}Z`)); // GeneralizedTime
const DNS_NAME = 0x82;
const altNames = (hosts: readonly string[]) =>
  sequence(oid("551d11"), der(0x04, sequence(...hosts.map((host) => der(DNS_NAME, Buffer.from(host))))));

const DAY_MS = 86_400_000;
const pem = (label: string, bytes: Uint8Array) =>
  `-----BEGIN ${label}-----\n${Buffer.from(bytes)
    .toString("base64")
    .replace(/.{64}(?=.)/g, "$&\n")}\n-----END ${label}-----\n`;

/** A certificate that is valid for `days` from `from` on. Its common name is the first host. */
export function certificateFor(hosts: readonly string[], { from = Date.now() - DAY_MS, days = 90 } = {}): Pair {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const version = der(0xa0, der(0x02, Buffer.from([2])));
  const serial = der(0x02, Buffer.concat([Buffer.from([1]), crypto.getRandomValues(new Uint8Array(8))]));
  const who = name(hosts[0]!);
  const signed = sequence(
    version,
    serial,
    ECDSA_SHA256,
    who,
    sequence(time(from), time(from + days * DAY_MS)),
    who,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(altNames(hosts))),
  );
  const signature = der(0x03, Buffer.from([0]), sign("sha256", signed, privateKey));
  return {
    cert: pem("CERTIFICATE", sequence(signed, ECDSA_SHA256, signature)),
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
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
