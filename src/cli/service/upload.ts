/** The upload of a zip with its progress on the spinner, and the proof of work that the service may demand before it. */
import { MOST_PROOFS, solve } from "../../client/challenge.ts";
import type { Server } from "../saved/server.ts";
import type { Spinner } from "../terminal/spinner.ts";
import { size } from "../terminal/units.ts";
import { type ApiCall, ask, type Body } from "./api.ts";
import { ApiFailure, unexpected } from "./refusal.ts";
import type { Shape } from "../../api/shapes/builder.ts";
import { CHALLENGE } from "./wire.ts";

const CHUNK = 64 * 1024;

/** Hands the zip to the network in small pieces: as a whole it would wait in a buffer and count as sent. */
function watched(zip: Uint8Array<ArrayBuffer>, onSent: (bytes: number) => void): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = zip.subarray(sent, sent + CHUNK);
        sent += chunk.length;
        onSent(sent);
        controller.enqueue(chunk);
        if (sent === zip.length) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** The body of the upload for `ask`. `onAll` is called when all of it is handed to the network: from then on the server can
 *  publish it. */
export const zipBody = (
  zip: Uint8Array<ArrayBuffer>,
  spinner: Spinner,
  onAll: () => void,
  type = "application/zip",
) => ({
  type,
  bytes: zip.length,
  body: (): Body =>
    watched(zip, (sent) => {
      if (sent < zip.length) {
        return spinner.label(`Uploading ${Math.floor((100 * sent) / zip.length)} % of ${size(zip.length)}`);
      }
      onAll();
      spinner.label("Publishing");
    }),
});

/** Sentences for a person who stops a deploy: before the upload is whole the server cannot have published it. */
export const STOPPED = { early: "Nothing was published.", late: "It may have been published." } as const;

const isAsked = (error: unknown): boolean => error instanceof ApiFailure && error.code === "challenge_failed";

/** The progress in per cent: how likely it is that this many tries are enough. */
const done = (tries: number, expected: number): number => Math.floor(100 * (1 - Math.exp(-tries / expected)));

/** Asks, and makes a proof of work if the service demands one. `refused` is called then: what came without a proof was not
 *  stored. */
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
