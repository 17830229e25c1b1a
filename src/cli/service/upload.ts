/** The upload of a zip, with its progress on the spinner. */
import type { Body } from "./api.ts";
import type { Spinner } from "../terminal/spinner.ts";
import { size } from "../terminal/units.ts";

const CHUNK = 64 * 1024;

/** Hands the zip to the network in small pieces: handed over whole, it would lie in a buffer and count as sent. */
function watched(zip: Uint8Array<ArrayBuffer>, onSent: (bytes: number) => void): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        controller.enqueue(zip.subarray(sent, sent + CHUNK));
        sent = Math.min(sent + CHUNK, zip.length);
        onSent(sent);
        if (sent === zip.length) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** The body of the upload for `ask`. Where no progress is shown, the bytes are sent as they are. */
export const zipBody = (zip: Uint8Array<ArrayBuffer>, spinner: Spinner) => ({
  bytes: zip.length,
  body: (): Body =>
    !spinner.visible
      ? zip
      : watched(zip, (sent) =>
          spinner.label(
            sent < zip.length
              ? `Uploading ${Math.floor((100 * sent) / zip.length)} % of ${size(zip.length)}`
              : "Publishing",
          ),
        ),
});
