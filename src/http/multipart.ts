/** A form with one file, as a browser sends it (RFC 7578). What stands before the file is read first, a few kilobytes, so
 *  that it is known who asks and whether a page of ours made the request; the file comes last, and only to whoever asks
 *  for it. What no form of ours looks like is refused. */
import { Refusal } from "../base/errors.ts";
import type { Bytes } from "../base/types.ts";
import { mediaType } from "./body.ts";

const MOST_FIELDS = 16;
/** Of one part; a file's name is in there. */
const HEADER_BYTES = 4096;
const VALUE_BYTES = 8192;
/** Of all that stands before the file. */
const FIELDS_BYTES = 64 * 1024;
/** What the form takes beside its file, at most. */
export const FORM_BYTES = FIELDS_BYTES + HEADER_BYTES;

const LINE = "\r\n";
const HEADERS_END = "\r\n\r\n";
const END = "--";

interface FileForm {
  /** Of a repeated one the last. */
  fields: Readonly<Record<string, string>>;
  /** The name of the file's field; null where the form ends without a file. */
  file: string | null;
  /** The file, of at most `limit` bytes; past it what `tooLarge` says is thrown. Once. */
  readFile(limit: number, tooLarge: (actual: number | undefined) => Refusal): Promise<Bytes>;
}

const malformed = (why: string): Refusal =>
  new Refusal("invalid_input", `The form cannot be read: ${why}. Send it as a browser does, the file last.`);
const cutShort = (): Refusal => new Refusal("invalid_input", "The body ended before it was complete.");

export const isFileForm = (request: Request): boolean => mediaType(request) === "multipart/form-data";

const BOUNDARY = /;\s*boundary=(?:"([\x20-\x21\x23-\x5b\x5d-\x7e]{1,70})"|([\x21\x23-\x3a\x3c-\x7e]{1,70}))\s*(?:;|$)/i;

/** What every part begins with, the first one too: as if a line had ended before it. */
function delimiterOf({ headers }: Request): string {
  const [, quoted, plain] = BOUNDARY.exec(headers.get("content-type") ?? "") ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw malformed("its boundary is missing");
  return `${LINE}--${boundary}`;
}

/** The body piece by piece; undefined at its end. */
function piecesOf(body: ReadableStream<Uint8Array>) {
  const reader = body.getReader();
  return {
    async next(): Promise<Uint8Array | undefined> {
      try {
        return (await reader.read()).value;
      } catch {
        throw cutShort(); // the client went away
      }
    },
    /** Nobody wants what is left. */
    leave: () => void reader.cancel().catch(() => {}),
  };
}

/** The body as far as it was asked for. */
function bytesOf(body: ReadableStream<Uint8Array>) {
  const { next, leave } = piecesOf(body);
  let held: Buffer = Buffer.from(LINE);
  let taken = -LINE.length;

  function take(count: number): Buffer {
    const bytes = held.subarray(0, count);
    held = held.subarray(count);
    taken += count;
    return bytes;
  }
  return {
    /** How much of the body is behind. */
    taken: () => taken,
    /** What stands before `mark`, which is behind then, too. Null where that is more than `most` bytes. */
    async until(mark: string, most: number): Promise<Buffer | null> {
      for (;;) {
        const at = held.subarray(0, most + mark.length).indexOf(mark);
        if (at !== -1) return take(at + mark.length).subarray(0, at);
        if (held.length >= most + mark.length) return null;
        const more = await next();
        if (more === undefined) throw cutShort();
        held = Buffer.concat([held, more]);
      }
    },
    /** All that is left, into `room`, and how much it is; null where it does not fit. */
    async rest(room: Uint8Array): Promise<number | null> {
      let size = 0;
      for (let part: Uint8Array | undefined = take(held.length); part !== undefined; part = await next()) {
        if (size + part.length > room.length) return null;
        room.set(part, size);
        size += part.length;
      }
      return size;
    },
    leave,
  };
}

type Body = ReturnType<typeof bytesOf>;

const PARAMETER = /;\s*([a-z*]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/gi;

/** What a part says of itself; `isFile`: it has a file's name, be it an empty one. */
function describe(headers: string): { name: string; isFile: boolean } {
  const line = headers.split(LINE).find((one) => /^content-disposition:\s*form-data\s*;/i.test(one));
  const given = new Map(
    [...(line ?? "").matchAll(PARAMETER)].map(([, name, quoted, plain]) => [name!.toLowerCase(), quoted ?? plain!]),
  );
  const name = given.get("name");
  if (name === undefined) throw malformed("a field has no name");
  return { name, isFile: given.has("filename") || given.has("filename*") };
}

/** The next part's headers; null after the last part. A delimiter is behind. */
async function nextPart(body: Body, delimiter: string): Promise<{ name: string; isFile: boolean } | null> {
  const after = await body.until(LINE, END.length);
  if (after?.toString() === END) return null;
  if (after === null || after.length > 0) throw malformed("something stands beside its boundary");
  const headers = await body.until(HEADERS_END, HEADER_BYTES);
  if (headers === null) throw malformed(`a field has headers of more than ${HEADER_BYTES} bytes`);
  if (headers.includes(delimiter)) throw malformed("a field has no headers");
  return describe(headers.toString());
}

async function readValue(body: Body, delimiter: string): Promise<string> {
  const value = await body.until(delimiter, VALUE_BYTES);
  if (value === null) throw malformed(`a field has more than ${VALUE_BYTES} bytes`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(value);
  } catch {
    throw malformed("a field is not UTF-8");
  }
}

/** Up to where the file begins. */
async function readFields(body: Body, delimiter: string): Promise<Pick<FileForm, "fields" | "file">> {
  const fields = new Map<string, string>();
  if ((await body.until(delimiter, 0)) === null) throw malformed("it does not begin with its boundary");
  for (let left = MOST_FIELDS; left > 0; left--) {
    const part = await nextPart(body, delimiter);
    if (part === null || part.isFile) return { fields: Object.fromEntries(fields), file: part?.name ?? null };
    fields.set(part.name, await readValue(body, delimiter));
    if (body.taken() > FIELDS_BYTES) throw malformed(`its fields have more than ${FIELDS_BYTES} bytes`);
  }
  throw malformed(`it has more than ${MOST_FIELDS} fields`);
}

/** The file has what stands before the next delimiter, and nothing but the form's end comes after that. */
async function readLast(
  { headers }: Request,
  body: Body,
  delimiter: string,
  limit: number,
  tooLarge: (actual: number | undefined) => Refusal,
): Promise<Bytes> {
  const most = limit + delimiter.length + END.length + LINE.length;
  const announced = Number(headers.get("content-length") ?? Infinity) - body.taken();
  const room = new Uint8Array(Math.max(0, Math.min(most, announced)));
  const size = await body.rest(room);
  const bytes = Buffer.from(room.buffer, 0, size ?? room.length);
  const at = bytes.indexOf(delimiter);
  if (at === -1) throw size === null ? tooLarge(undefined) : cutShort();
  const after = size === null ? null : bytes.subarray(at + delimiter.length).toString();
  if (after !== END && after !== END + LINE) throw malformed("something comes after the file");
  if (at > limit) throw tooLarge(at);
  return new Uint8Array(room.buffer.transfer(at));
}

async function open(request: Request): Promise<FileForm> {
  const delimiter = delimiterOf(request);
  if (request.body === null) throw cutShort();
  const body = bytesOf(request.body);
  const orLeave = async <T>(read: Promise<T>): Promise<T> => {
    try {
      return await read;
    } catch (error) {
      body.leave();
      throw error;
    }
  };
  const { fields, file } = await orLeave(readFields(body, delimiter));
  return {
    fields,
    file,
    readFile: (limit, tooLarge) => orLeave(readLast(request, body, delimiter, limit, tooLarge)),
  };
}

/** Read once and kept: the form is asked for its CSRF token first and for its file afterwards. */
const forms = new WeakMap<Request, Promise<FileForm>>();

/** Reads a form as far as its file. */
export const openFileForm = (request: Request): Promise<FileForm> =>
  forms.getOrInsertComputed(request, () => open(request));
