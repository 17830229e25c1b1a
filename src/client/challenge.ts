/** The proof of work that a service may demand of anonymous deploys (CONTRACT 10). Runs in browsers too. */

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

/** Makes a function that hashes the challenge with a nonce. The part that is the same for every nonce is computed once. */
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
  for (let at = 0; at < whole; at += 64) hashBlock(start, new DataView(prefix.buffer), at);
  const state = new Int32Array(8);
  const digits = prefix.length - whole;

  /** The first 32 bits of the hash. */
  return (nonce: string): number => {
    for (let i = 0; i < DIGITS; i++) rest[digits + i] = nonce.charCodeAt(i);
    state.set(start);
    for (let at = 0; at < rest.length; at += 64) hashBlock(state, view, at);
    return state[0]! >>> 0;
  };
}

/** Solves a challenge: the value of the header `Svc-Challenge`. */
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
/** How many proofs are tried: one can arrive too late, or a request whose answer was lost can have used it. */
export const MOST_PROOFS = 3;

// SHA-256 is computed here, block by block: WebCrypto answers by promises, and a million nonces would wait for them half a
// minute.

const primes = (count: number): number[] => {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) if (found.every((prime) => n % prime !== 0)) found.push(n);
  return found;
};
const fraction = (root: number): number => ((root - Math.floor(root)) * 2 ** 32) | 0;
const ROUNDS = Int32Array.from(primes(64), (prime) => fraction(Math.cbrt(prime)));

const initialState = (): Int32Array => Int32Array.from(primes(8), (prime) => fraction(Math.sqrt(prime)));

const schedule = new Int32Array(64);
const rotate = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

/** The compression step of SHA-256: takes the 64 bytes of `data` from `at` on into the state. */
function hashBlock(state: Int32Array, data: DataView, at: number): void {
  for (let i = 0; i < 16; i++) schedule[i] = data.getInt32(at + 4 * i);
  for (let i = 16; i < 64; i++) {
    const x = schedule[i - 15]!;
    const y = schedule[i - 2]!;
    const s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3);
    const s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10);
    schedule[i] = (schedule[i - 16]! + s0 + schedule[i - 7]! + s1) | 0;
  }
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  let e = state[4]!;
  let f = state[5]!;
  let g = state[6]!;
  let h = state[7]!;
  for (let i = 0; i < 64; i++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + ROUNDS[i]! + schedule[i]!) | 0;
    const t2 = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
  state[4]! += e;
  state[5]! += f;
  state[6]! += g;
  state[7]! += h;
}
