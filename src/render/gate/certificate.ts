/** A certificate that signs itself, for the gate alone: the page must have the security of its real address, and the
 *  server's own certificate may be a proxy's in front of it. Written as X.509 has it (RFC 5280): the runtime reads
 *  certificates and makes none. */
import { createSign, generateKeyPairSync } from "node:crypto";

type Der = Buffer;

function der(tag: number, ...parts: Uint8Array[]): Der {
  const body = Buffer.concat(parts);
  const size = body.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

const sequence = (...parts: Uint8Array[]): Der => der(0x30, ...parts);
const hex = (text: string): Der => Buffer.from(text, "hex");
const ECDSA_WITH_SHA256 = sequence(hex("06082a8648ce3d040302"));
const COMMON_NAME = hex("0603550403");
const SUBJECT_ALT_NAME = hex("0603551d11");

const nameOf = (text: string): Der => sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(text)))));
/** As `YYYYMMDDHHMMSSZ`. */
const timeOf = (text: string): Der => der(0x18, Buffer.from(text));

function unsigned(names: readonly string[], key: Uint8Array): Der {
  const name = nameOf("svc render");
  const alternative = sequence(...names.map((one) => der(0x82, Buffer.from(one))));
  return sequence(
    der(0xa0, hex("020102")),
    der(0x02, Buffer.from([1])),
    ECDSA_WITH_SHA256,
    name,
    sequence(timeOf("20200101000000Z"), timeOf("20991231235959Z")),
    name,
    key,
    der(0xa3, sequence(sequence(SUBJECT_ALT_NAME, der(0x04, alternative)))),
  );
}

const pem = (bytes: Uint8Array): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(bytes).toString("base64").replace(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`;

/** PEM texts of a new key and its certificate for these names. */
export function selfSigned(names: readonly string[]): { key: string; cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const body = unsigned(names, publicKey.export({ type: "spki", format: "der" }));
  const signature = createSign("SHA256").update(body).sign(privateKey);
  const whole = sequence(body, ECDSA_WITH_SHA256, der(0x03, Buffer.from([0]), signature));
  return { key: privateKey.export({ type: "pkcs8", format: "pem" }) as string, cert: pem(whole) };
}
