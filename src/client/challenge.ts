/** The proof of work that a service may ask of anonymous deploys (CONTRACT 10). Runs in browsers too. */
import { compress, initialState } from "./sha256.ts";

export interface Challenge {
  challenge: string;
  /** Zero bits that the hash must begin with. */
  bits: number;
}

/** Called while it works, with the tries so far and how many are needed on average. */
type WorkProgress = (tries: number, expected: number) => void;

/** The nonce is a number of eight hexadecimal digits. */
const DIGITS = 8;
const MOST_BITS = 28;
/** Tries before the clock is read again, and milliseconds before the event loop gets a turn. */
const BATCH = 2048;
const TURN_MS = 25;

/** A function that hashes the challenge with a nonce. What is the same for every nonce is computed once. */
function trial(challenge: string) {
  const prefix = new TextEncoder().encode(`${challenge}:`);
  const whole = prefix.length - (prefix.length % 64);
  const length = prefix.length + DIGITS;
  const rest = new Uint8Array(Math.ceil((length - whole + 9) / 64) * 64);
  rest.set(prefix.subarray(whole));
  rest[length - whole] = 0x80;
  const view = new DataView(rest.buffer);
  view.setUint32(rest.length - 4, length * 8);
  const start = initialState();
  for (let at = 0; at < whole; at += 64) compress(start, new DataView(prefix.buffer), at);
  const state = new Int32Array(8);
  const digits = prefix.length - whole;

  /** The first 32 bits of the hash. */
  return (nonce: string): number => {
    for (let i = 0; i < DIGITS; i++) rest[digits + i] = nonce.charCodeAt(i);
    state.set(start);
    for (let at = 0; at < rest.length; at += 64) compress(state, view, at);
    return state[0]! >>> 0;
  };
}

/** The value of the header `Svc-Challenge`. */
export async function solve({ challenge, bits }: Challenge, progress: WorkProgress = () => {}): Promise<string> {
  if (!Number.isInteger(bits) || bits < 1 || bits > MOST_BITS)
    throw new Error(`a proof of ${bits} bits is too much work`);
  const first = trial(challenge);
  const expected = 2 ** bits;
  for (let tries = 0, turn = performance.now(); tries < 16 ** DIGITS; tries++) {
    const nonce = tries.toString(16).padStart(DIGITS, "0");
    if (first(nonce) >>> (32 - bits) === 0) return `${challenge}:${nonce}`;
    if (tries % BATCH !== 0 || performance.now() - turn < TURN_MS) continue;
    progress(tries, expected);
    await new Promise((resolve) => setTimeout(resolve, 0));
    turn = performance.now();
  }
  throw new Error("no proof was found");
}

/** The code of a refusal that a proof can lift. */
export const asksForProof = (body: unknown): boolean =>
  (Object(body) as { code?: unknown }).code === "challenge_failed";
/** A proof can arrive too late, or a request whose answer was lost can have used it. */
export const MOST_PROOFS = 3;
