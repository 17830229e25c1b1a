/** Passwords and e-mail addresses as accounts know them. argon2id runs off the thread and takes 64 MiB a go, so that
 *  two at once are all that run, and who waits for it is taken in turn by network (RELIABILITY A6). */
import { Refusal } from "../base/errors.ts";
import { normalForm } from "../base/normal-form.ts";
import { createGate, type FairnessKey } from "../run/gate.ts";

const SHORTEST = 10;
/** Far above any passphrase, far below what would make hashing it a burden. */
const LONGEST_BYTES = 1024;
const LONGEST_EMAIL = 254;

const ARGON2ID = { algorithm: "argon2id", memoryCost: 65_536, timeCost: 2 } as const;

const busy = (): Refusal =>
  new Refusal(
    "unavailable",
    "Too many people are signing in right now. Try again in a moment.",
    {},
    { "retry-after": "3" },
  );
/** The most that wait: in all, of known users or of strangers, of an IPv6 /48, of a network. A quick core does 16 in
 *  the 3 s. */
const MOST_WAITING = [512, 256, 64, 16];
const twoAtOnce = createGate({ width: 2, ms: 3_000, most: MOST_WAITING, late: busy });

/** The queue's key of an operator at the machine itself. */
const HERE: FairnessKey = ["known", "operator", "operator"];

/** The hash of random bytes that were thrown away. It is compared for an unknown address, so that its answer takes as
 *  long as another. */
const NOBODYS_HASH =
  "$argon2id$v=19$m=65536,t=2,p=1$RU3s/8OEYc9pt1itE8GYzfc+S0gvuSM2irUSA7qG+8w$cyivZpYF12bR13KO8Smht5kt7K2F8bEkD3WIwEJe128";

/** The same characters typed on another keyboard are the same password. */
const bytesOf = (password: string): Uint8Array => Buffer.from(normalForm(password));

/** Throws `invalid_input` for a password that is not allowed. */
export function checkPassword(password: string, field = "password"): void {
  const refuse = (why: string) => new Refusal("invalid_input", why, { field });
  if ([...normalForm(password)].length < SHORTEST) {
    throw refuse(`The password must have at least ${SHORTEST} characters.`);
  }
  if (bytesOf(password).length > LONGEST_BYTES) throw refuse(`The password must have at most ${LONGEST_BYTES} bytes.`);
}

/** `from`: who asks. */
export async function hashPassword(password: string, from = HERE): Promise<string> {
  checkPassword(password);
  return twoAtOnce.run(() => Bun.password.hash(bytesOf(password), ARGON2ID), from);
}

/** Whether the password has this hash. If the hash is null (no such account), the answer is false, after as much work.
 *  */
export async function isPassword(password: string, hash: string | null, from: FairnessKey): Promise<boolean> {
  const bytes = bytesOf(password);
  if (bytes.length === 0 || bytes.length > LONGEST_BYTES) return false;
  const same = await twoAtOnce.run(() => Bun.password.verify(bytes, hash ?? NOBODYS_HASH), from);
  return same && hash !== null;
}

/** The shortest passcode of a site's comments. Many visitors know it, so it is shorter than a password and costs less.
 *  It has a queue of its own: a crowd of visitors cannot delay a sign-in. */
const SHORTEST_PASSCODE = 8;
const PASSCODE_ARGON2ID = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;
const NOBODYS_PASSCODE =
  "$argon2id$v=19$m=19456,t=2,p=1$nTf5xXyJf5vygAtuq3upw1vlRy5s4wkz7qr/DhkCx1Q$Bc17z1PfuzYKpcwXpZ/WCPp+2wqLQz1GS0MsVjVcCbo";
const oneAtATime = createGate({
  width: 1,
  ms: 5_000,
  most: [256, 64, 32],
  late: () =>
    new Refusal(
      "unavailable",
      "Too many passcodes are being entered right now. Try again in a moment.",
      {},
      { "retry-after": "3" },
    ),
});

/** Throws `invalid_input` for what is too short or too long. `site_id`: whose; each has its own place in the line. */
export async function hashPasscode(passcode: string, site_id: string): Promise<string> {
  const bytes = bytesOf(passcode);
  if ([...normalForm(passcode)].length < SHORTEST_PASSCODE || bytes.length > LONGEST_BYTES) {
    const why = `The passcode must have at least ${SHORTEST_PASSCODE} characters and at most ${LONGEST_BYTES} bytes.`;
    throw new Refusal("invalid_input", why, { field: "passcode" });
  }
  return oneAtATime.run(() => Bun.password.hash(bytes, PASSCODE_ARGON2ID), [`the owner of ${site_id}`]);
}

/** The lengths of a site's password, in characters (BEYOND 8): visitors know it, as they know a passcode, and wait in the same line. */
const SITE_PASSWORD = { shortest: 8, longest: 256 };

/** Throws `invalid_input` for what is too short or too long. */
export async function hashSitePassword(password: string, site_id: string): Promise<string> {
  const { length } = [...normalForm(password)];
  if (length < SITE_PASSWORD.shortest || length > SITE_PASSWORD.longest) {
    const why = `The password must have ${SITE_PASSWORD.shortest} to ${SITE_PASSWORD.longest} characters.`;
    throw new Refusal("invalid_input", why, { field: "password" });
  }
  return oneAtATime.run(() => Bun.password.hash(bytesOf(password), PASSCODE_ARGON2ID), [`the owner of ${site_id}`]);
}

/** The same as `isPassword`, for a passcode or a site's password. */
export async function isPasscode(passcode: string, hash: string | null, from: FairnessKey): Promise<boolean> {
  const bytes = bytesOf(passcode || " ");
  const same = await oneAtATime.run(() => Bun.password.verify(bytes, hash ?? NOBODYS_PASSCODE), from);
  return same && hash !== null;
}

/** The address as it is stored and compared. Throws `invalid_input` for a text that is not an address. */
export function normalEmail(text: string): string {
  const email = normalForm(text).trim().toLowerCase();
  if (email.length <= LONGEST_EMAIL && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(email)) return email;
  throw new Refusal("invalid_input", "That is not an e-mail address.", { field: "email" });
}
