/** The content of a deploy: found, compared with the server's limits, then read and zipped. */
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { findBuildDir } from "../../client/build-dir.ts";
import { type FilesByPath, type ListedFile, listFiles, readFiles } from "../../client/collect.ts";
import { isZip, readZip } from "../../client/unzip.ts";
import { zipFiles } from "../../client/zip.ts";
import { ask } from "../service/api.ts";
import type { Context } from "../command.ts";
import { linkKey, shownFrom } from "./find-link.ts";
import { Failure } from "../failure.ts";
import type { Server } from "../saved/server.ts";
import { limitsRaised } from "../../base/limit-flags.ts";
import { count, size } from "../terminal/units.ts";
import { type Infer, pick } from "../../api/shapes/builder.ts";
import * as account from "../../api/shapes/account.ts";

const LIMITS = pick(account.LIMITS, "max_files", "max_bytes", "max_zip_bytes");

export interface Content {
  /** Its name for a person: the path given, or the build folder that was found. */
  source: string;
  /** Its path on this machine, as in a link. */
  location: string;
  /** Whether it was looked up among the candidates. */
  looked_up: boolean;
  files: FilesByPath;
  /** The upload as it is; left out where one is made of the files. */
  zip?: Uint8Array<ArrayBuffer>;
  bytes: number;
  /** Paths left out because they are never deployed. */
  secrets: string[];
  limits: UploadLimits;
}

/** Refuses a path that is not there. */
export function requireExisting({ cwd }: Context, path: string): void {
  if (path !== "" && existsSync(resolve(cwd, path))) return;
  if (path.includes("\uFFFD"))
    throw new Failure("not_found", `${path} cannot be sent: its name is not UTF-8. Rename it.`);
  throw new Failure("not_found", `There is no file or folder ${path === "" ? "without a name" : path}.`);
}

const askLimits = (server: Server): Promise<UploadLimits> =>
  ask(server, { method: "GET", path: "/limits", credential: null, repeatable: true }, LIMITS);

type Sized = Pick<ListedFile, "path" | "bytes">;

/** The folders with most of something, three at most. */
function fullest(files: readonly Sized[], amountOf: (file: Sized) => number): [folder: string, amount: number][] {
  const amounts = new Map<string, number>();
  for (const file of files) {
    const folder = file.path.slice(0, file.path.lastIndexOf("/") + 1);
    if (folder !== "") amounts.set(folder, (amounts.get(folder) ?? 0) + amountOf(file));
  }
  return [...amounts].sort(([, a], [, b]) => b - a).slice(0, 3);
}

/** The largest files; or the largest folders, where no three files are most of it. */
function largest(files: readonly Sized[]): string {
  const named = (all: readonly (readonly [string, number])[]) =>
    all.map(([path, bytes]) => `${path} (${size(bytes)})`).join(", ");
  const first = [...files].sort((a, b) => b.bytes - a.bytes).slice(0, 3);
  const sum = (some: readonly Sized[]) => some.reduce((bytes, file) => bytes + file.bytes, 0);
  const folders = fullest(files, ({ bytes }) => bytes);
  return 2 * sum(first) < sum(files) && folders.length > 0
    ? `The largest folders: ${named(folders)}.`
    : `The largest files: ${named(first.map(({ path, bytes }) => [path, bytes]))}.`;
}

/** The way out for a person who runs the server, as in the first week, or knows its operator. */
function raised(needs: Parameters<typeof limitsRaised>[0], limits: UploadLimits): string {
  const command = limitsRaised(needs, limits);
  return command === null ? "" : ` Or the server's operator raises the limits: ${command}`;
}

interface CheckedContent {
  source: string;
  files: readonly Sized[];
  bytes: number;
  /** Its size, where a zip is there already. */
  zip_bytes?: number;
  /** The way to make it smaller. */
  less: string;
}

function checkLimits({ source, files, bytes, zip_bytes, less }: CheckedContent, limits: UploadLimits): void {
  if (files.length === 0) {
    throw new Failure("empty_deploy", `${source} holds nothing to deploy. Name the folder that your build writes to.`);
  }
  const raise = raised({ files: files.length, bytes, ...(zip_bytes !== undefined && { zip_bytes }) }, limits);
  if (files.length > limits.max_files) {
    const too_large = bytes > limits.max_bytes ? ` It is too large as well: ${sizesOf(bytes, limits.max_bytes)}.` : "";
    const has = `${source} has ${count(files.length, "file")}, and the server takes ${limits.max_files} in one deploy.${too_large}`;
    const folders = fullest(files, () => 1).map(([folder, n]) => `${folder} (${n})`);
    const where = folders.length === 0 ? "" : `The fullest folders: ${folders.join(", ")}. `;
    throw new Failure("too_many_files", `${has} ${where}${less}${raise}`);
  }
  if (bytes > limits.max_bytes) {
    const has = `${source} is ${sizesOf(bytes, limits.max_bytes)} in one deploy.`;
    throw new Failure("deploy_too_large", `${has} ${largest(files)} ${less}${raise}`);
  }
}

/** Compares the sizes with the server's limits before a file is read: nothing is loaded that could not be sent. */
async function readContent(
  server: Server,
  location: string,
  how: Pick<Content, "source" | "looked_up">,
): Promise<Content> {
  const { source } = how;
  if (isZip(location) && statSync(location).isFile()) return zipAt(server, location, how);
  const [limits, listing] = await Promise.all([askLimits(server), listFiles(location)]);
  const bytes = listing.files.reduce((sum, file) => sum + file.bytes, 0);
  const less = "Leave files out with a .svcignore, or deploy a smaller folder.";
  checkLimits({ source, files: listing.files, bytes, less }, limits);
  const files = await readFiles(listing.files);
  return { ...how, location, files, bytes, secrets: listing.secrets, limits };
}

const NO_BYTES = new Uint8Array(0);
const LESS_IN_ZIP = "Leave files out of the zip, or compress images and media.";

/** The content of a zip: sent as it is, so its files are names alone here. One that cannot be read goes to the server, which says why. */
async function zipAt(server: Server, location: string, how: Pick<Content, "source" | "looked_up">): Promise<Content> {
  const { source } = how;
  const limits = await askLimits(server);
  const zip_bytes = statSync(location).size;
  if (zip_bytes > limits.max_zip_bytes) {
    const raise = raised({ files: 0, bytes: 0, zip_bytes }, limits);
    throw new Failure(
      "zip_too_large",
      `${source} is ${sizesOf(zip_bytes, limits.max_zip_bytes)}. ${LESS_IN_ZIP}${raise}`,
    );
  }
  const { zip, entries } = await readZip(location);
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  if (entries.length > 0) checkLimits({ source, files: entries, bytes, zip_bytes, less: LESS_IN_ZIP }, limits);
  const files: FilesByPath = new Map(entries.map(({ path }) => [path, NO_BYTES]));
  return { ...how, location, files, zip, bytes, secrets: [], limits };
}

/** The content at a place that a person or a link named. */
export const contentAt = ({ cwd }: Context, server: Server, location: string, source = shownFrom(cwd, location)) =>
  readContent(server, linkKey(location), { source, looked_up: false });

/** The build folder of a project. `command` is the one that a person would run with the right folder. */
export async function contentOfProject({ cwd }: Context, server: Server, project: string, command: string) {
  const folder = await findBuildDir(project, command).catch((error: Error) => {
    throw new Failure("no_build_directory", error.message);
  });
  return readContent(server, linkKey(folder), { source: shownFrom(cwd, folder), looked_up: true });
}

/** The zip of the content; `entries` is the part that is sent, if not all of it is. */
export async function zipContent(
  { source, files, limits, zip: whole }: Content,
  entries?: Iterable<readonly [string, Uint8Array]>,
): Promise<Uint8Array<ArrayBuffer>> {
  const zip = (entries === undefined && whole) || (await zipFiles(entries ?? files));
  if (zip.length <= limits.max_zip_bytes) return zip;
  const sizes = [...files].map(([path, { length }]) => ({ path, bytes: length }));
  const needs = { files: files.size, bytes: sizes.reduce((sum, { bytes }) => sum + bytes, 0), zip_bytes: zip.length };
  throw new Failure(
    "zip_too_large",
    `${source} is ${sizesOf(zip.length, limits.max_zip_bytes, " when zipped")}. ` +
      `${largest(sizes)} Leave files out with a .svcignore, or compress images and media.` +
      raised(needs, limits),
  );
}

type UploadLimits = Infer<typeof LIMITS>;

/** A size and the limit that it passed. If they would look the same, both are written in bytes. */
function sizesOf(bytes: number, limit: number, how = ""): string {
  const written = size(bytes) === size(limit) ? (one: number) => count(one, "byte") : size;
  return `${written(bytes)} large${how}, and the server takes ${written(limit)}`;
}
