/** The content of a deploy: found, compared with the server's limits, then read and zipped. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { findBuildDir } from "../../client/build-dir.ts";
import { type FilesByPath, type ListedFile, listFiles, readFiles } from "../../client/collect.ts";
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

const largest = (files: readonly { path: string; bytes: number }[]): string =>
  [...files]
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, 3)
    .map(({ path, bytes }) => `${path} (${size(bytes)})`)
    .join(", ");

/** The folders with most files, three at most; empty if there are no folders. */
function fullest(files: readonly { path: string }[]): string {
  const counts = new Map<string, number>();
  for (const { path } of files) {
    const folder = path.slice(0, path.lastIndexOf("/") + 1);
    if (folder !== "") counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, 3);
  return most.map(([folder, n]) => `${folder} (${n})`).join(", ");
}

/** The way out for a person who runs the server, as in the first week, or knows its operator. */
function raised(needs: Parameters<typeof limitsRaised>[0], limits: UploadLimits): string {
  const command = limitsRaised(needs, limits);
  return command === null ? "" : ` Or the server's operator raises the limits: ${command}`;
}

function checkLimits(source: string, files: readonly ListedFile[], bytes: number, limits: UploadLimits): void {
  if (files.length === 0) {
    throw new Failure("empty_deploy", `${source} holds nothing to deploy. Name the folder that your build writes to.`);
  }
  const less = "Leave files out with a .svcignore, or deploy a smaller folder.";
  const raise = raised({ files: files.length, bytes }, limits);
  if (files.length > limits.max_files) {
    const has = `${source} has ${count(files.length, "file")}, and the server takes ${limits.max_files} in one deploy.`;
    const folders = fullest(files);
    const where = folders === "" ? "" : `The fullest folders: ${folders}. `;
    throw new Failure("too_many_files", `${has} ${where}${less}${raise}`);
  }
  if (bytes > limits.max_bytes) {
    const [is, most] = sizeAndLimit(bytes, limits.max_bytes);
    const has = `${source} is ${is} large, and the server takes ${most} in one deploy.`;
    throw new Failure("deploy_too_large", `${has} The largest files: ${largest(files)}. ${less}${raise}`);
  }
}

/** Compares the sizes with the server's limits before a file is read: nothing is loaded that could not be sent. */
async function readContent(
  server: Server,
  location: string,
  how: Pick<Content, "source" | "looked_up">,
): Promise<Content> {
  const { source } = how;
  const [limits, listing] = await Promise.all([askLimits(server), listFiles(location)]);
  const bytes = listing.files.reduce((sum, file) => sum + file.bytes, 0);
  checkLimits(source, listing.files, bytes, limits);
  const files = await readFiles(listing.files);
  return { ...how, location, files, bytes, secrets: listing.secrets, limits };
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
  { source, files, limits }: Content,
  entries: Iterable<readonly [string, Uint8Array]> = files,
): Promise<Uint8Array<ArrayBuffer>> {
  const zip = await zipFiles(entries);
  if (zip.length <= limits.max_zip_bytes) return zip;
  const sizes = [...files].map(([path, { length }]) => ({ path, bytes: length }));
  const needs = { files: files.size, bytes: sizes.reduce((sum, { bytes }) => sum + bytes, 0), zip_bytes: zip.length };
  const [is, most] = sizeAndLimit(zip.length, limits.max_zip_bytes);
  throw new Failure(
    "zip_too_large",
    `${source} is ${is} large when zipped, and the server takes ${most}. ` +
      `The largest files: ${largest(sizes)}. Leave files out with a .svcignore, or compress images and media.` +
      raised(needs, limits),
  );
}

type UploadLimits = Infer<typeof LIMITS>;

/** A size and the limit that it passed. If they would look the same, both are written in bytes. */
const sizeAndLimit = (bytes: number, limit: number): [string, string] =>
  size(bytes) === size(limit) ? [count(bytes, "byte"), count(limit, "byte")] : [size(bytes), size(limit)];
