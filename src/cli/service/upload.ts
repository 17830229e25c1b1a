/** A zip on its way to the server, told to whoever watches. */
import type { Body } from "./api.ts";
import type { Spinner } from "../terminal/spinner.ts";
import { size } from "../terminal/units.ts";

const CHUNK = 64 * 1024;

/** How much was handed to the network, in pieces, so that progress is that of the upload and not of a buffer. */
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

/** The body of the upload for `ask`. Without anyone watching the bytes go as they are. */
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
