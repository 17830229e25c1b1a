/** The upload of a zip with its progress on the spinner, and the proof of work that the service may demand before it. */
import type { Spinner } from "../terminal/index.ts";
import { size } from "../terminal/units.ts";
import { type Body } from "./api.ts";

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
