/** Files too large for memory go out from the disk. Bun's own Range handling is kept out of it: its 416 is cacheable
 *  and empty, and it knows neither our entity tags nor `If-Range` rules (BUN 2). */
import type { Blobs, Stored } from "../store/serving.ts";
import type { ByteRange } from "../http/ranges.ts";

export async function fromDisk(
  blobs: Pick<Blobs, "open">,
  request: Request,
  stored: Stored,
  headers: Headers,
  part: ByteRange | null,
): Promise<Response> {
  // For HEAD too: Bun would answer 200 for a file that is not there.
  const { bytes } = stored;
  const file = await blobs.open(stored);
  if (request.method === "HEAD") {
    headers.set("content-length", String(bytes));
    return new Response(null, { headers });
  }
  if (part !== null) return new Response(file.slice(part.first, part.last + 1), { status: 206, headers });
  // Bun answers a Range of a file by itself, but leaves a stream of ours alone.
  return new Response(request.headers.has("range") ? exactly(file, bytes) : file, { headers });
}

/** A file that was cut short meanwhile breaks the connection: chunked, its end would look like the body's. */
async function* exactly(file: Bun.BunFile, bytes: number): AsyncGenerator<Uint8Array> {
  let sent = 0;
  for await (const chunk of file.stream()) {
    sent += chunk.byteLength;
    yield chunk;
  }
  if (sent !== bytes) throw new Error(`the stored file has ${sent} bytes, not ${bytes}`);
}
