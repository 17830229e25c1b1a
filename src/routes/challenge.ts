/** The proof of work that an operator may ask of anonymous deploys (CONTRACT 10). A challenge is signed, and stored nowhere
 *  until it is used; all workers remember used ones. */
import { Refusal } from "../base/errors.ts";
import { randomKey } from "../base/random.ts";
import { sameSecret } from "../base/tokens.ts";
import type { Ctx, Handler } from "./context.ts";

const LIFETIME_S = 120;
/** 262,144 tries on average: a quarter of a second for one deploy, three days for a million. */
const BITS = 18;
const CHALLENGE = /^(\d{13})\.([\w-]{22})\.([\w-]{43})$/;
/** Longer than a challenge could pass: the clock may be set back. */
const REMEMBERED_MS = 2 * LIFETIME_S * 1000;

const signature = (text: string, key: string): string =>
  new Bun.CryptoHasher("sha256", key).update(text).digest("base64url");

/** `POST /challenge`. */
export const makeChallenge: Handler = async ({ parts }) => {
  const text = `${parts.now() + LIFETIME_S * 1000}.${randomKey(16)}`;
  return { challenge: `${text}.${signature(text, parts.secrets.challenge)}`, bits: BITS, expires_in: LIFETIME_S };
};

const failed = (why: string, base_url: string): Refusal =>
  new Refusal(
    "challenge_failed",
    `${why} Anonymous deploys need a proof of work here: get a challenge, solve it, send it.`,
    {
      next_actions: [
        {
          action: "get_challenge",
          description:
            "Get a challenge, find a nonce for which SHA-256 of <challenge>:<nonce> begins with `bits` zero bits, and deploy with the header Svc-Challenge: <challenge>:<nonce>.",
          method: "POST",
          url: `${base_url}/challenge`,
        },
        { action: "login", description: "Deploys of an account need no proof.", command: "svc login" },
      ],
    },
  );

function isSolved(challenge: string, nonce: string): boolean {
  const hash = new Bun.CryptoHasher("sha256").update(`${challenge}:${nonce}`).digest();
  return hash.readUInt32BE(0) >>> (32 - BITS) === 0;
}

/** Throws `challenge_failed` unless the operator asks for none, or `Svc-Challenge` holds a solved one that was never used. */
export async function refuseUnproved({ request, parts }: Ctx): Promise<void> {
  const { config, secrets, now, spendOnce } = parts;
  if (config.challenge === "off") return;
  const header = request.headers.get("svc-challenge");
  if (header === null) throw failed("The header Svc-Challenge is missing.", config.base_url);
  const colon = header.indexOf(":");
  const [challenge, nonce] = [header.slice(0, colon), header.slice(colon + 1)];
  const [, expires, random, signed] = CHALLENGE.exec(challenge) ?? [];
  const ours = signed !== undefined && sameSecret(signed, signature(`${expires}.${random}`, secrets.challenge));
  if (!ours) throw failed("The challenge is none of this server.", config.base_url);
  if (Number(expires) <= now()) throw failed("The challenge came too late.", config.base_url);
  if (nonce.length > 100 || !isSolved(challenge, nonce)) throw failed("The challenge is not solved.", config.base_url);
  if (!(await spendOnce(challenge, REMEMBERED_MS))) throw failed("The challenge was used already.", config.base_url);
}
