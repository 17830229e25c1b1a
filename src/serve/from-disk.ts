/** Bodies too large for memory go out from the disk: a file by `sendfile`, a page in pieces with its tags among them.
 *  Bun's own Range handling is kept out of it: its 416 is cacheable and empty, and it knows neither our entity tags nor
 *  `If-Range` rules. It answers a Range of a whole file, and leaves a slice alone: so a whole file goes out as a slice that
 *  ends one byte after it (BUN 2). */
import type { Blobs } from "../store/serving.ts";
import type { Bytes } from "../base/types.ts";
import type { ByteRange } from "../http/conditional.ts";
import type { Content, Form, Inserted } from "./kept.ts";

type Opened = Pick<Blobs, "open">;

/** `part`: null for the whole. `crowded`: no answer may keep a descriptor or much memory, so a file goes in pieces too. At
 *  once where the file's hash is known already. */
export function fromDisk(
  blobs: Opened,
  { method }: Request,
  content: Content,
  form: Form,
  init: { status?: number; headers: Headers },
  crowded: boolean,
  part: ByteRange | null = null,
): Response | Promise<Response> {
  const respond = (file: Bun.BunFile): Response => {
    if (method === "HEAD") return headOnly(init, form.size);
    if (content.page_of === null && !crowded) return new Response(sliceOf(file, form.size, part), init);
    const range = part ?? { first: 0, last: form.size - 1 };
    return new Response(pieces(file, form, range, crowded ? SMALL_PIECE : PIECE), init);
  };
  // For HEAD too: Bun would answer 200 for a file that is not there.
  const file = blobs.open(content.stored);
  return file instanceof Promise ? file.then(respond) : respond(file);
}

/** Of a whole body: HEAD knows no ranges. */
function headOnly(init: { status?: number; headers: Headers }, size: number): Response {
  const headers = new Headers(init.headers);
  headers.set("content-length", String(size));
  return new Response(null, { ...init, headers });
}

const sliceOf = (file: Bun.BunFile, size: number, part: ByteRange | null): Blob =>
  part === null ? file.slice(0, size + 1) : file.slice(part.first, part.last + 1);

/** What a slow reader of a page holds. */
const PIECE = 64 * 1024;
const SMALL_PIECE = 16 * 1024;

/** Bun sends a stream in chunks, without its length. A file that was cut short meanwhile breaks the connection. */
function pieces(file: Bun.BunFile, { inserted }: Form, { first, last }: ByteRange, most: number): ReadableStream {
  let next = first;
  const pull = async (controller: ReadableStreamDefaultController) => {
    if (next > last) return controller.close();
    const piece = await pieceAt(file, inserted, next, Math.min(last + 1, next + most));
    if (piece.byteLength === 0) throw new Error(`the stored file ends ${last + 1 - next} bytes too early`);
    next += piece.byteLength;
    controller.enqueue(piece);
  };
  return new ReadableStream({ pull }, { highWaterMark: 0 });
}

/** Some bytes from `from` on, at most up to `to`: of the file, or of what is inserted. */
async function pieceAt(file: Bun.BunFile, inserted: readonly Inserted[], from: number, to: number): Promise<Bytes> {
  let before = 0;
  for (const { at, bytes } of inserted) {
    const begins = at + before;
    if (from < begins) return file.slice(from - before, Math.min(to, begins) - before).bytes();
    const ends = begins + bytes.byteLength;
    if (from < ends) return bytes.subarray(from - begins, to - begins);
    before += bytes.byteLength;
  }
  return file.slice(from - before, to - before).bytes();
}
