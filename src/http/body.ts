/** Reading request bodies under a limit: what is too long is refused before it is read, or as soon as it is seen. */
import { Refusal } from "../base/errors.ts";
import { invalidJson, NotJson, ownMember, parseJson, textOf } from "../base/json.ts";
import type { Bytes } from "../base/types.ts";

const TEXT_BYTES = 64 * 1024;
const MOST_ITEMS = 100;

/**
 * The whole body, at most `limit` bytes; past it what `tooLarge` says is thrown. An announced length is judged before
 * anything is read, one that is not announced (chunked) as the bytes come.
 */
async function readBody(
  request: Request,
  limit: number,
  tooLarge: (actual: number | undefined) => Refusal,
): Promise<Bytes> {
  const announced = announcedLength(request, limit, tooLarge);
  try {
    return await readWhole(request, announced !== null, limit, tooLarge);
  } catch (error) {
    throw orCutShort(error);
  }
}

/** The same piece by piece, for callers that do not want all of it in memory. */
export async function* readPieces(
  request: Request,
  limit: number,
  tooLarge: (actual: number | undefined) => Refusal,
): AsyncGenerator<Bytes> {
  const announced = announcedLength(request, limit, tooLarge);
  let size = 0;
  try {
    for await (const piece of request.body ?? []) {
      size += piece.length;
      if (size > limit) throw tooLarge(undefined);
      yield piece;
    }
  } catch (error) {
    throw orCutShort(error);
  }
  if (announced !== null && size !== announced) throw orCutShort(null);
}

type TooLarge = (actual: number | undefined) => Refusal;

/** The length that the request announces; null if it announces none. */
function announcedLength({ headers }: Request, limit: number, tooLarge: TooLarge): number | null {
  const announced = headers.get("content-length");
  if (announced !== null && Number(announced) > limit) throw tooLarge(Number(announced));
  return announced === null ? null : Number(announced);
}

/** The client went away: that is no error of ours, and the log has no line of it. */
const orCutShort = (error: unknown): Refusal =>
  error instanceof Refusal ? error : new Refusal("invalid_input", "The body ended before it was complete.");

async function readWhole(
  request: Request,
  announced: boolean,
  limit: number,
  tooLarge: (actual: undefined) => Refusal,
): Promise<Bytes> {
  if (announced || request.body === null) return new Uint8Array(await request.arrayBuffer());
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of request.body) {
    size += part.length;
    if (size > limit) throw tooLarge(undefined);
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}

/** Returns what `read` returns; a body that is not JSON is refused. */
function orInvalid<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof NotJson ? invalidJson(error.message) : error;
  }
}

/** Read once and kept: the body is asked for its CSRF token first and for its members afterwards. */
const texts = new WeakMap<Request, Promise<string>>();

const tooLong = (limit: number) => (actual: number | undefined) =>
  new Refusal("body_too_large", `The body is longer than ${limit / 1024} KiB.`, { limit, actual });

/** A short text body: at most 64 KiB of UTF-8, or `limit` bytes. */
function readText(request: Request, limit = TEXT_BYTES): Promise<string> {
  const found = texts.get(request);
  if (found) return found;
  const text = readBody(request, limit, tooLong(limit)).then((bytes) => orInvalid(() => textOf(bytes)));
  texts.set(request, text);
  return text;
}

/** A body that another thread reads, as it came. Throws `body_too_large`. */
export async function readUnread(request: Request, limit: number): Promise<Bytes> {
  const read = await texts.get(request);
  return read === undefined ? readBody(request, limit, tooLong(limit)) : new TextEncoder().encode(read);
}

/** The media type without its parameters, in lower case; null if the request names none. */
export const mediaType = ({ headers }: Request): string | null =>
  headers.get("content-type")?.split(";", 1)[0]!.trim().toLowerCase() || null;

/** The JSON of a request, whatever it is: at most 64 KiB, or `limit` bytes, and 32 levels. Throws `invalid_json`. */
export async function readAnyJson(request: Request, limit?: number): Promise<unknown> {
  const text = await readText(request, limit);
  return orInvalid(() => parseJson(text));
}

/** The JSON object of a request. Its members are still to be checked one by one. */
export async function readJson(request: Request, limit?: number): Promise<Readonly<Record<string, unknown>>> {
  const value = await readAnyJson(request, limit);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalidJson("it is something else");
  return value as Record<string, unknown>;
}

/** The fields of a form, in their order. */
export const readFormFields = async (request: Request, limit?: number): Promise<URLSearchParams> =>
  new URLSearchParams(await readText(request, limit));

/** The fields of a form; of a repeated one the last, as in JSON. */
export const readForm = async (request: Request, limit?: number): Promise<Readonly<Record<string, string>>> =>
  Object.fromEntries(await readFormFields(request, limit));

export const isForm = (request: Request): boolean => mediaType(request) === "application/x-www-form-urlencoded";

/** The members of a JSON object or the fields of a form, whichever it says it is. */
export async function readFields(request: Request): Promise<Readonly<Record<string, unknown>>> {
  if (isForm(request)) return readForm(request);
  if (mediaType(request) === "application/json") return readJson(request);
  throw new Refusal(
    "unsupported_media_type",
    "Send JSON (Content-Type: application/json) or a form (application/x-www-form-urlencoded).",
  );
}

/** A member that must be a string of at most `longest` characters. */
export function stringMember(body: Readonly<Record<string, unknown>>, name: string, longest: number): string {
  const value = ownMember(body, name);
  if (typeof value === "string" && value.length > 0 && value.length <= longest) return value;
  throw new Refusal("invalid_input", `The member "${name}" must be a string of 1 to ${longest} characters.`, {
    field: name,
  });
}

/** A list of 1 to 100 items: more would hold the database too long. */
export function listMember(body: Readonly<Record<string, unknown>>, name: string): readonly unknown[] {
  const list = ownMember(body, name);
  if (Array.isArray(list) && list.length >= 1 && list.length <= MOST_ITEMS) return list;
  throw new Refusal("invalid_input", `The member "${name}" must be a list of 1 to ${MOST_ITEMS} items.`, {
    field: name,
  });
}
