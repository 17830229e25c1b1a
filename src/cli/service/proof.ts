/** A call for which the service may demand a proof of work. The CLI makes the proof and shows its progress. */
import { MOST_PROOFS, solve, type Challenge } from "../../client/challenge.ts";
import { ApiFailure, ask, type ApiCall } from "./api.ts";
import type { Spinner } from "../terminal/spinner.ts";
import type { Server } from "../saved/state.ts";

const isAsked = (error: unknown): boolean => error instanceof ApiFailure && error.code === "challenge_failed";

/** Per cent: how likely it is that this many tries are enough. */
const done = (tries: number, expected: number): number => Math.floor(100 * (1 - Math.exp(-tries / expected)));

export async function askWithProof<Answer>(server: Server, call: ApiCall, spinner: Spinner): Promise<Answer> {
  let proof: string | undefined;
  for (let left = MOST_PROOFS; ; left--) {
    try {
      return await ask<Answer>(server, { ...call, ...(proof !== undefined && { proof }) });
    } catch (error) {
      if (left === 0 || !isAsked(error)) throw error;
    }
    const path = "/challenge";
    const challenge = await ask<Challenge>(server, { method: "POST", path, credential: null, repeatable: true });
    proof = await solve(challenge, (tries, expected) =>
      spinner.label(`Proving that this is no robot: ${done(tries, expected)} %`),
    );
  }
}
