/** A call for which the service may demand a proof of work. The CLI makes the proof and shows its progress. */
import { MOST_PROOFS, solve } from "../../client/challenge.ts";
import { ask, type ApiCall } from "./api.ts";
import { ApiFailure, unexpected } from "./refusal.ts";
import type { Shape } from "./shape.ts";
import { CHALLENGE } from "./wire.ts";
import type { Spinner } from "../terminal/spinner.ts";
import type { Server } from "../saved/server.ts";

const isAsked = (error: unknown): boolean => error instanceof ApiFailure && error.code === "challenge_failed";

/** Per cent: how likely it is that this many tries are enough. */
const done = (tries: number, expected: number): number => Math.floor(100 * (1 - Math.exp(-tries / expected)));

/** `refused` is called where the server wants a proof first: what came without one is nowhere. */
export async function askWithProof<Answer>(
  server: Server,
  call: ApiCall,
  shape: Shape<Answer>,
  { spinner, refused }: { spinner: Spinner; refused(): void },
): Promise<Answer> {
  let proof: string | undefined;
  for (let left = MOST_PROOFS; ; left--) {
    try {
      return await ask(server, { ...call, ...(proof !== undefined && { proof }) }, shape);
    } catch (error) {
      if (left === 0 || !isAsked(error)) throw error;
    }
    if (proof === undefined) refused();
    const path = "/challenge";
    const challenge = await ask(server, { method: "POST", path, credential: null, repeatable: true }, CHALLENGE);
    const tell = (tries: number, expected: number) =>
      spinner.label(`Proving that this is no robot: ${done(tries, expected)} %`);
    proof = await solve(challenge, tell).catch((error: Error) => {
      throw unexpected(server, 200, `${server.origin} asks for what svc does not do: ${error.message}.`);
    });
  }
}
