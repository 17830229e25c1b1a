/** Taking in an upload: everything that can be refused before its bytes are looked at, how much may be under way, then the
 *  bytes. */
import { Refusal } from "../../base/errors.ts";
import { mostListBytes, zipTooLarge } from "../../base/over-limit.ts";
import { hashToken } from "../../base/tokens.ts";
import type { Bytes } from "../../base/types.ts";
import type { Config } from "../../config/index.ts";
import type { UploadBody } from "../../deploy/job.ts";
import { mediaType, readPieces, readUnread } from "../../http/body.ts";
import { customerOf, networkOf } from "../../http/context.ts";
import { FORM_BYTES, isFileForm, openFileForm } from "../../http/multipart.ts";
import type { Bounds } from "../../store/quotas.ts";
import type { ApiParts, Ctx, InFlight } from "../context.ts";
import { noteReceived } from "./facts.ts";

const ZIP_TYPES = new Set(["application/zip", "application/x-zip-compressed", "application/octet-stream"]);
/** A zip of what a site lacks (BEYOND 6). */
const DELTA_TYPE = "application/vnd.svc.delta+zip";
/** Bun cuts a body that is slower than 16 KiB/s over this many seconds: the most it takes (BUN 2). */
const UPLOAD_TIMEOUT_S = 255;

/** `of_site`: what a delta would be joined with. */
function refuseUnlessZip(request: Request, of_site: string | null): void {
  const type = mediaType(request) ?? "";
  if (type === DELTA_TYPE && of_site === null) {
    throw new Refusal(
      "unsupported_media_type",
      "A new site has no files that a delta could leave out: send the whole zip, with Content-Type: application/zip.",
    );
  }
  if (type !== DELTA_TYPE && !ZIP_TYPES.has(type)) {
    throw new Refusal("unsupported_media_type", "Send the zip itself as the body, with Content-Type: application/zip.");
  }
  if (request.headers.has("content-encoding")) {
    throw new Refusal("unsupported_media_type", "A zip is compressed already: send it without Content-Encoding.");
  }
}

const storageFull = (sentence: string): Refusal =>
  new Refusal("storage_full", `${sentence} Sites stay online.`, {}, { "retry-after": "60" });

/** Deploys without an account end before the disk is full: the last room is for accounts. */
function refuseUnlessRoom({ store, config, uploads }: ApiParts, owned: boolean): void {
  const { max_bytes, max_zip_bytes, max_files, disk_high, shared } = config;
  const bucket = shared?.bucket;
  // With a bucket the upload alone comes to this disk.
  const [bytes, files] = bucket === undefined ? [max_bytes, max_files] : [max_zip_bytes, 1];
  if (!store.hasRoomFor(bytes, files, uploads.bytes())) {
    throw storageFull("The server's disk is nearly full, so it takes no deploys.");
  }
  if (!owned && bucket === undefined && disk_high !== null && store.diskUse() >= disk_high) {
    throw storageFull("The server's disk is filling up, so it takes no deploys without an account for now.");
  }
}

/** Makes ready to read the bytes of a zip. `beside`: how many other bytes may come with them. */
function makeReady(ctx: Ctx, owned: boolean, beside = 0) {
  const { request, exchange, parts, client_address, after } = ctx;
  const { max_zip_bytes } = parts.config;
  const tooLarge = (actual: number | undefined) => zipTooLarge(max_zip_bytes, actual);
  const length = request.headers.get("content-length");
  const announced = length === null ? max_zip_bytes : Number(length);
  if (announced > max_zip_bytes + beside) throw tooLarge(beside > 0 ? undefined : announced);
  refuseUnlessRoom(parts, owned);
  exchange.peer.extendTimeout(UPLOAD_TIMEOUT_S);
  // Until the answer: zips that wait for a slot take room, too.
  after(parts.uploads.hold(client_address(), Math.min(announced, max_zip_bytes)));
  return { max_zip_bytes, tooLarge };
}

/** Measures how long an upload was on its way: a slow client must not look like a queue. */
async function received<T>({ exchange }: Ctx, read: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const bytes = await read();
  noteReceived(exchange, performance.now() - began);
  return bytes;
}

/** The body of an upload, read to its end into a file: a slow one, or one that waits for its turn, takes no memory. Refuses
 *  in the order of CONTRACT 4.4: type, length, room. `owned`: the site has an owner. `of_site`: the site whose files may
 *  complete it; null for a new one. */
export async function readUpload(ctx: Ctx, owned: boolean, of_site: string | null): Promise<UploadBody> {
  refuseUnlessZip(ctx.request, of_site);
  const joins = mediaType(ctx.request) === DELTA_TYPE ? of_site : null;
  const { max_zip_bytes, tooLarge } = makeReady(ctx, owned);
  const pieces = readPieces(ctx.request, max_zip_bytes, tooLarge);
  const zip = await received(ctx, () => ctx.parts.pool.receive(pieces));
  ctx.after(() => void zip.remove()); // where it comes to no deploy
  return { zip, joins };
}

/** The list of a plan, unread. Nothing is stored for it, so it needs no room. */
export async function readPlan({ request, parts, client_address, after }: Ctx): Promise<Bytes> {
  const most = mostListBytes(parts.config);
  const announced = Math.min(Number(request.headers.get("content-length") ?? most), most);
  after(parts.uploads.hold(client_address(), Math.min(announced, parts.config.max_zip_bytes)));
  return readUnread(request, most);
}

/** The field of a form that has the zip. */
const ZIP_FIELD = "zip";

/** The same for a form: its file, and the fields before it. */
export async function readUploadForm(ctx: Ctx, owned: boolean) {
  if (!isFileForm(ctx.request) || ctx.request.headers.has("content-encoding")) {
    throw new Refusal("unsupported_media_type", "Send the zip in a form: multipart/form-data.");
  }
  const { max_zip_bytes, tooLarge } = makeReady(ctx, owned, FORM_BYTES);
  const { fields, zip } = await received(ctx, async () => {
    const { fields, file, readFile } = await openFileForm(ctx.request);
    return { fields, zip: file === ZIP_FIELD ? await readFile(max_zip_bytes, tooLarge) : null };
  });
  if (zip === null || zip.length === 0) {
    throw new Refusal("invalid_input", "Choose a zip file first.", { field: ZIP_FIELD });
  }
  return { fields, zip };
}

export const boundsOf = ({ quota_account, quota_address, keep_versions }: Config): Bounds => ({
  quota_account,
  quota_address,
  keep_versions,
});

/** A keyed hash: no address can be read out of it. */
const keyedHash = ({ secrets }: Ctx["parts"], name: string): string =>
  new Bun.CryptoHasher("sha256", secrets.network).update(name).digest("base64url").slice(0, 22);

type From = Pick<Ctx, "parts" | "client_address">;

/** The name by which an unowned site remembers who deployed it. */
export const networkKey = ({ parts, client_address }: From): string => keyedHash(parts, networkOf(client_address()));

/** The name under which a version waits to be looked at; null if nobody looks. */
export const renderKey = ({ parts, client_address }: From): string | null =>
  parts.config.render === "off" ? null : keyedHash(parts, customerOf(client_address()));

const SPA_SETTINGS = { on: 1, off: 0, auto: null } as const;

/** `?spa=on|off|auto`; undefined if it is left out, and the setting stays as it is. */
export function spaSetting(query: URLSearchParams): 0 | 1 | null | undefined {
  const value = query.get("spa");
  if (value === null) return undefined;
  if (Object.hasOwn(SPA_SETTINGS, value)) return SPA_SETTINGS[value as keyof typeof SPA_SETTINGS];
  throw new Refusal("invalid_input", "The parameter spa must be on, off or auto.", { field: "spa" });
}

/** The hash of what came as `Idempotency-Key`, or null. A key is a secret: it gets fresh tokens of its site. */
export function idempotencyKey(key: string | null): string | null {
  if (key === null) return null;
  if (/^[\x21-\x7e]{22,255}$/.test(key)) return hashToken(key);
  throw new Refusal(
    "invalid_input",
    "An Idempotency-Key must have 22 to 255 visible ASCII characters: take at least 128 random bits.",
    { field: "Idempotency-Key" },
  );
}

/** How many a network may have under way: uploads, and requests that are no GET, a quarter of the writes that may wait
 *  (store/writer.ts). A loop of rollbacks must not take all turns of the thread of writes (CONTRACT 4.1). */
const MOST = { uploads: 16, requests: 64 };
/** How many bytes may be under way, in multiples of the largest body: one customer's; all together, for customers who have
 *  some under way already; all together. Slow uploads must not fill the disk. */
const MOST_BYTES = { customer: 16, shared: 24, all: 48 };

const refusal = (sentence: string): Refusal => new Refusal("unavailable", sentence, {}, { "retry-after": "1" });

/** Sums by name; a sum of zero is forgotten. */
function sums() {
  const by_name = new Map<string, number>();
  const of = (name: string): number => by_name.get(name) ?? 0;
  return {
    of,
    add(name: string, amount: number): void {
      const sum = of(name) + amount;
      if (sum === 0) by_name.delete(name);
      else by_name.set(name, sum);
    },
  };
}

/** `largest`: the bytes of the largest body. */
export function inFlight(what: keyof typeof MOST, largest = Infinity): InFlight {
  const [counts, bytes_of] = [sums(), sums()];
  let all = 0;

  function refusePast(network: string, customer: string, bytes: number): void {
    if (counts.of(network) >= MOST[what]) {
      throw refusal(`Your address already has ${MOST[what]} ${what} under way. Wait until one of them is done.`);
    }
    const own = bytes_of.of(customer);
    const most = (times: number) => times * largest;
    if (own + bytes > most(MOST_BYTES.customer) || all + bytes > most(own > 0 ? MOST_BYTES.shared : MOST_BYTES.all)) {
      throw refusal("The server has as many uploads under way as it has room for. Try again in a moment.");
    }
  }
  return {
    bytes: () => all,
    hold(address: string, bytes = 0): () => void {
      const [network, customer] = [networkOf(address), customerOf(address)];
      refusePast(network, customer, bytes);
      const count = (sign: 1 | -1): void => {
        counts.add(network, sign);
        bytes_of.add(customer, sign * bytes);
        all += sign * bytes;
      };
      count(1);
      return () => count(-1);
    },
  };
}
