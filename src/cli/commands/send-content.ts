/** Sends a new version to a site that exists. What the site already has is left out, if that saves enough to be worth asking
 *  (BEYOND 6): the client asks by a list of hashes (the plan), and sends the rest (the delta). */
import { contentHash } from "../../base/version-id.ts";
import type { Context } from "../command.ts";
import { ask } from "../service/api.ts";
import { ApiFailure } from "../service/refusal.ts";
import { type Shape, pick } from "../../api/shapes/builder.ts";
import { STOPPED, zipBody } from "../service/upload.ts";
import type { Spinner } from "../terminal/index.ts";
import { count } from "../terminal/units.ts";
import type { OpenedSite } from "./chosen-site.ts";
import { type Content, zipContent } from "./content.ts";
import * as deploys from "../../api/shapes/deploys.ts";

const PLAN = pick(deploys.PLAN, "need");

type Site = Pick<OpenedSite, "server" | "credential" | "site_id">;

interface ContentDelivery<Answer> {
  /** Below the server's base, query included. */
  path: string;
  shape: Shape<Answer>;
  spinner: Spinner;
  /** The sentence for a person who stops it after the whole upload was handed over. */
  late: string;
}

/** Fewer bytes are simply sent again: the plan and its answer take about as long. */
const WORTH_BYTES = 32 * 1024;
/** The server names what was pruned since the plan, or is damaged, once; a second time something else is wrong. */
const TRIES = 2;

type Hashed = ReturnType<typeof hashFiles>;
type Need = ReadonlySet<string>;

/** Whether the server takes no plan: it is older than plans, has had enough of them, or takes no list as long. */
function takesNoPlan(error: unknown): boolean {
  if (!(error instanceof ApiFailure)) return false;
  const { status, code } = error;
  return (status === 404 && code !== "unknown_site") || status === 405 || status === 429 || code === "body_too_large";
}

/** The hashes that the site lacks; null if everything must be sent. */
async function askNeed({ server, credential, site_id }: Site, files: Hashed, spinner: Spinner): Promise<Need | null> {
  spinner.label("Asking what the site has already");
  const path = `/sites/${site_id}/plan`;
  const call = { method: "POST" as const, path, credential, json: planBody(files), repeatable: true };
  try {
    return new Set((await ask(server, call, PLAN)).need);
  } catch (error) {
    if (takesNoPlan(error)) return null;
    throw error;
  }
}

/** The files to send after a delta was refused because some were left out: those as well. Null if everything must be sent. */
function needAfter(need: Need, error: unknown): Need | null {
  if (!(error instanceof ApiFailure)) throw error;
  if (error.code === "unsupported_media_type") return null;
  if (error.code !== "missing_blobs") throw error;
  return PLAN.check(error.body) === null ? new Set([...need, ...(error.body as { need: string[] }).need]) : null;
}

function sender<Answer>(
  context: Context,
  site: Site,
  content: Content,
  { path, shape, spinner, late }: ContentDelivery<Answer>,
) {
  const send = (zip: Uint8Array<ArrayBuffer>, type?: string): Promise<Answer> => {
    context.terminal.ifStopped(STOPPED.early);
    const body = zipBody(zip, spinner, () => context.terminal.ifStopped(late), type);
    // Equal content is one version, even if it arrives twice.
    const call = { method: "POST" as const, path, credential: site.credential, zip: body, repeatable: true };
    return ask(site.server, call, shape);
  };
  return {
    async whole(): Promise<Answer> {
      spinner.label(`Zipping ${count(content.files.size, "file")}`);
      return send(await zipContent(content));
    },
    async delta(files: Hashed, need: Need): Promise<Answer> {
      const entries = deltaEntries(files, need);
      spinner.label(`Zipping ${entries.length - 1} of ${count(files.length, "file")}`);
      return send(await zipContent(content, entries), "application/vnd.svc.delta+zip");
    },
  };
}

/** Posts the content to `path`, which takes a zip or a delta, and resolves to the answer. */
export async function sendContent<Answer>(
  context: Context,
  site: Site,
  content: Content,
  sending: ContentDelivery<Answer>,
): Promise<Answer> {
  const { whole, delta } = sender(context, site, content, sending);
  const files = hashFiles(content.files);
  const isWorth = (need: Need) => bytesLeftOut(files, need) >= WORTH_BYTES;
  let need = content.zip === undefined && isWorth(new Set()) ? await askNeed(site, files, sending.spinner) : null;
  for (let left = TRIES; left > 0 && need !== null && isWorth(need); left--) {
    try {
      return await delta(files, need);
    } catch (error) {
      need = needAfter(need, error);
    }
  }
  return whole();
}

type FileEntries = Iterable<readonly [path: string, bytes: Uint8Array<ArrayBuffer>]>;

interface HashedFile {
  path: string;
  sha256: string;
  content: Uint8Array<ArrayBuffer>;
}

export const hashFiles = (files: FileEntries): HashedFile[] =>
  [...files].map(([path, content]) => ({ path, sha256: contentHash(content), content }));

/** The body of a plan. */
export const planBody = (files: readonly HashedFile[]) => ({
  files: files.map(({ path, sha256, content }) => ({ path, sha256, bytes: content.length })),
});

/** Each content once, by its hash. */
const distinct = (files: readonly HashedFile[]) => new Map(files.map(({ sha256, content }) => [sha256, content]));

/** How many bytes are saved if only `need` is sent. */
export function bytesLeftOut(files: readonly HashedFile[], need: ReadonlySet<string>): number {
  const left = [...distinct(files)].filter(([sha256]) => !need.has(sha256));
  return left.reduce((sum, [, { length }]) => sum + length, 0);
}

/** The whole content as a list, then the contents that are needed under their hashes. */
export function deltaEntries(
  files: readonly HashedFile[],
  need: ReadonlySet<string>,
): [string, Uint8Array<ArrayBuffer>][] {
  const list = { files: files.map(({ path, sha256 }) => ({ path, sha256 })) };
  const sent = [...distinct(files)].filter(([sha256]) => need.has(sha256));
  return [["svc-delta.json", new TextEncoder().encode(JSON.stringify(list))], ...sent];
}
