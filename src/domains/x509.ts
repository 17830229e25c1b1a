/** Requests for certificates (PKCS #10, RFC 2986), and certificates that sign themselves (RFC 5280), as DER and PEM: keys are P-256. */
import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { randomBlock } from "../base/random.ts";
import { UNIT_MS } from "../base/units.ts";

/** Tag, length, contents (X.690, 8.1). */
function der(tag: number, ...contents: Uint8Array[]): Buffer {
  const body = Buffer.concat(contents);
  const size = body.length.toString(16);
  const long = Buffer.from(size.padStart(size.length + (size.length % 2), "0"), "hex");
  const length =
    body.length < 128 ? Buffer.from([body.length]) : Buffer.concat([Buffer.from([128 | long.length]), long]);
  return Buffer.concat([Buffer.from([tag]), length, body]);
}

const sequence = (...parts: Uint8Array[]): Buffer => der(0x30, ...parts);
const set = (...parts: Uint8Array[]): Buffer => der(0x31, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));
const bits = (bytes: Uint8Array): Buffer => der(0x03, Buffer.from([0]), bytes);
const integer = (bytes: Uint8Array): Buffer => der(0x02, bytes);
/** GeneralizedTime. */
const time = (ms: number): Buffer =>
  der(0x18, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]|\..*/g, "")}Z`));

const ECDSA_SHA256 = sequence(oid("2a8648ce3d040302"));
const COMMON_NAME = oid("550403");
const ALT_NAMES = oid("551d11");
const EXTENSION_REQUEST = oid("2a864886f70d01090e");
const DNS_NAME = 0x82;

/** A common name has at most 64 characters: a longer one is among the alternative names alone. */
const subject = (name: string): Buffer =>
  name.length > 64 ? sequence() : sequence(set(sequence(COMMON_NAME, der(0x0c, Buffer.from(name)))));
const altNames = (names: readonly string[]): Buffer =>
  sequence(ALT_NAMES, der(0x04, sequence(...names.map((name) => der(DNS_NAME, Buffer.from(name))))));

const publicBytes = (key: KeyObject): Buffer => createPublicKey(key).export({ type: "spki", format: "der" });

const pem = (label: string, bytes: Uint8Array): string =>
  `-----BEGIN ${label}-----\n${Buffer.from(bytes)
    .toString("base64")
    .replace(/.{64}(?=.)/g, "$&\n")}\n-----END ${label}-----\n`;

/** A request for these names, as DER. `key`: PEM. */
export function certificateRequest(names: readonly string[], key: string): Buffer {
  const secret = createPrivateKey(key);
  const asked = der(0xa0, sequence(EXTENSION_REQUEST, set(sequence(altNames(names)))));
  const info = sequence(integer(Buffer.from([0])), sequence(), publicBytes(secret), asked);
  return sequence(info, ECDSA_SHA256, bits(sign("sha256", info, secret)));
}

interface SelfSigned {
  /** Epoch milliseconds. */
  from: number;
  days: number;
}

/** A certificate that nobody trusts, as PEM, for names whose real one is on the way. `key`: PEM. */
export function selfSigned(names: readonly string[], key: string, { from, days }: SelfSigned): string {
  const secret = createPrivateKey(key);
  const version = der(0xa0, integer(Buffer.from([2])));
  const serial = integer(Buffer.concat([Buffer.from([1]), randomBlock(8)]));
  const who = subject(names[0]!);
  const times = sequence(time(from), time(from + days * UNIT_MS.d));
  const extensions = der(0xa3, sequence(altNames(names)));
  const body = sequence(version, serial, ECDSA_SHA256, who, times, who, publicBytes(secret), extensions);
  return pem("CERTIFICATE", sequence(body, ECDSA_SHA256, bits(sign("sha256", body, secret))));
}
