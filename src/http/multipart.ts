/** Reads a form with one file, as a browser sends it (RFC 7578). The fields come first, a few kilobytes: one of them proves that
 *  a page of ours made the request. The file comes last and is read only when it is asked for. A form that no page of ours
 *  would send is refused; `Response.formData()` takes many of those, and needs the file before it says anything
 *  (bench/README.md, "Measured once"). */
import { Refusal } from "../base/errors.ts";
import type { Bytes } from "../base/types.ts";
import { mediaType } from "./body.ts";

const MOST_FIELDS = 16;
/** The headers of one part, the file's name among them. */
const HEADER_BYTES = 4096;
const VALUE_BYTES = 8192;
/** All that comes before the file. */
const FIELDS_BYTES = 64 * 1024;
/** The bytes of a form that are not its file, at most. */
export const FORM_BYTES = FIELDS_BYTES + HEADER_BYTES;

const LINE = "\r\n";
const END = "--";

type TooLarge = (actual: number | undefined) => Refusal;

interface FileForm {
  /** If a field is repeated, its last value. */
  fields: Readonly<Record<string, string>>;
  /** The name of the file's field; null if the form has no file. */
  file: string | null;
  /** Reads the file, once. Throws `tooLarge` if it has more than `limit` bytes. */
  readFile(limit: number, tooLarge: TooLarge): Promise<Bytes>;
}

const malformed = (why: string): Refusal =>
  new Refusal("invalid_input", `The form cannot be read: ${why}. Send it as a browser does, the file last.`);
const cutShort = (): Refusal => new Refusal("invalid_input", "The body ended before it was complete.");

export const isFileForm = (request: Request): boolean => mediaType(request) === "multipart/form-data";

/** A form is kept once it is opened: first its CSRF token is asked for, later its file. */
const forms = new WeakMap<Request, Promise<FileForm>>();

/** Reads a form up to its file. */
export const openFileForm = (request: Request): Promise<FileForm> =>
  forms.getOrInsertComputed(request, () => open(request));

async function open(request: Request): Promise<FileForm> {
  const delimiter = delimiterOf(request);
  const body = bodyOf(request);
  const orLeave = <T>(read: Promise<T>): Promise<T> =>
    read.catch((error: unknown) => {
      body.leave();
      throw error;
    });
  return {
    ...(await orLeave(readFields(body, delimiter))),
    readFile: (limit, tooLarge) => orLeave(readLast(body, delimiter, limit, tooLarge)),
  };
}

const BOUNDARY = /;\s*boundary=(?:"([\x20-\x21\x23-\x5b\x5d-\x7e]{1,70})"|([\x21\x23-\x3a\x3c-\x7e]{1,70}))\s*(?:;|$)/i;

/** The bytes between two parts: the boundary and the end of the line before it. */
function delimiterOf({ headers }: Request): string {
  const [, quoted, plain] = BOUNDARY.exec(headers.get("content-type") ?? "") ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw malformed("its boundary is missing");
  return `${LINE}--${boundary}`;
}

/** The body, read only as far as it is asked for. The end of a line is put before it, so that its first part begins like the
 *  others. */
function bodyOf({ body, headers }: Request) {
  if (body === null) throw cutShort();
  const reader = body.getReader();
  const length = Number(headers.get("content-length") ?? Infinity);
  let held: Buffer = Buffer.from(LINE);
  let taken = -LINE.length;

  /** The next piece; undefined at the end. */
  async function next(): Promise<Uint8Array | undefined> {
    try {
      return (await reader.read()).value;
    } catch {
      throw cutShort(); // the client went away
    }
  }
  function take(count: number): Buffer {
    const bytes = held.subarray(0, count);
    held = held.subarray(count);
    taken += count;
    return bytes;
  }
  return {
    /** How many bytes were taken so far. */
    taken: () => taken,
    /** Returns the bytes before `mark`, and takes the mark with them; null if they are more than `most`. */
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
    /** Takes all that is left, or the first `most` bytes of it; `whole` says which. */
    async rest(most: number): Promise<{ bytes: Buffer<ArrayBuffer>; whole: boolean }> {
      const room = Buffer.from(new ArrayBuffer(Math.max(0, Math.min(most, length - taken))));
      let size = 0;
      for (let piece: Uint8Array | undefined = held; piece !== undefined; piece = await next()) {
        if (size + piece.length > room.length) return { bytes: room, whole: false };
        room.set(piece, size);
        size += piece.length;
      }
      return { bytes: room.subarray(0, size), whole: true };
    },
    /** Says that nobody reads the rest. */
    leave: () => void reader.cancel().catch(() => {}),
  };
}

type Body = ReturnType<typeof bodyOf>;

async function readFields(body: Body, delimiter: string): Promise<Pick<FileForm, "fields" | "file">> {
  const fields = new Map<string, string>();
  if ((await body.until(delimiter, 0)) === null) throw malformed("it does not begin with its boundary");
  for (let left = MOST_FIELDS; left > 0; left--) {
    const part = await nextPart(body, delimiter);
    if (part === null || part.is_file) return { fields: Object.fromEntries(fields), file: part?.name ?? null };
    fields.set(part.name, await readValue(body, delimiter));
    if (body.taken() > FIELDS_BYTES) throw malformed(`its fields have more than ${FIELDS_BYTES} bytes`);
  }
  throw malformed(`it has more than ${MOST_FIELDS} fields`);
}

const PARAMETER = /;\s*([a-z*]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/gi;

/** Reads the headers of the part after a delimiter; null after the last part. A part with a file name, even an empty one, is a
 *  file. */
async function nextPart(body: Body, delimiter: string): Promise<{ name: string; is_file: boolean } | null> {
  const after = await body.until(LINE, END.length);
  if (after?.toString() === END) return null;
  if (after === null || after.length > 0) throw malformed("there is something next to its boundary");
  const headers = await body.until(LINE + LINE, HEADER_BYTES);
  if (headers === null) throw malformed(`a field has headers of more than ${HEADER_BYTES} bytes`);
  if (headers.includes(delimiter)) throw malformed("a field has no headers");
  const lines = headers.toString().split(LINE);
  const disposition = lines.find((line) => /^content-disposition:\s*form-data\s*;/i.test(line)) ?? "";
  const given = new Map(
    [...disposition.matchAll(PARAMETER)].map(([, name, quoted, plain]) => [name!.toLowerCase(), quoted ?? plain!]),
  );
  const name = given.get("name");
  if (name === undefined) throw malformed("a field has no name");
  return { name, is_file: given.has("filename") || given.has("filename*") };
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

/** Reads the file, up to the next delimiter. Only the end of the form may follow. */
async function readLast(body: Body, delimiter: string, limit: number, tooLarge: TooLarge): Promise<Bytes> {
  const { bytes, whole } = await body.rest(limit + delimiter.length + END.length + LINE.length);
  const size = bytes.indexOf(delimiter);
  if (size === -1) throw whole ? cutShort() : tooLarge(undefined);
  const after = bytes.subarray(size + delimiter.length).toString();
  if (!whole || (after !== END && after !== END + LINE)) throw malformed("something comes after the file");
  if (size > limit) throw tooLarge(size);
  return new Uint8Array(bytes.buffer.transfer(size)); // a buffer of its own, whose memory can be given back
}
