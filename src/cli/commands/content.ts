/** What is deployed: found, measured against the server's limits, then read and zipped. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { findBuildDir } from "../../client/build-dir.ts";
import { readFiles, type Files } from "../../client/collect.ts";
import { listFiles, type Listed } from "../../client/list-files.ts";
import { zipFiles } from "../../client/zip.ts";
import { ask } from "../service/api.ts";
import type { Context } from "../command.ts";
import { Failure } from "../failure.ts";
import { svc } from "../invocation.ts";
import { nearest } from "../../nearest.ts";
import type { Server } from "../saved/state.ts";
import { count, sizeAndLimit, size } from "../terminal/units.ts";
import type { Limits } from "../service/wire.ts";

export interface Content {
  /** As it is shown: the path given, or the build folder that was found. */
  source: string;
  files: Files;
  bytes: number;
  /** Left out because it is never deployed. */
  secrets: string[];
  limits: Limits;
}

/** Refuses a path that is not there. Where the word is near a command, the sentence names the command. */
export function requireExisting({ cwd, words }: Context, path: string): void {
  if (path !== "" && existsSync(resolve(cwd, path))) return;
  if (path.includes("\uFFFD"))
    throw new Failure("not_found", `${path} cannot be sent: its name is not UTF-8. Rename it.`);
  const guess = /^[\w-]+$/.test(path) ? nearest(path, words) : null;
  const hint = guess === null ? "" : ` Did you mean ${svc(guess)}?`;
  throw new Failure("not_found", `There is no file or folder ${path === "" ? "without a name" : path}.${hint}`);
}

/** The build folder of a project. `command` is the command that a person would run with the right folder. */
export async function findBuildFolder(project: string, command: string): Promise<string> {
  return findBuildDir(project, command).catch((error: Error) => {
    throw new Failure("no_build_directory", error.message);
  });
}

const askLimits = (server: Server): Promise<Limits> =>
  ask<Limits>(server, { method: "GET", path: "/limits", credential: null, repeatable: true });

const largest = (files: readonly { path: string; bytes: number }[]): string =>
  [...files]
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, 3)
    .map(({ path, bytes }) => `${path} (${size(bytes)})`)
    .join(", ");

function checkLimits(source: string, files: readonly Listed[], bytes: number, limits: Limits): void {
  if (files.length === 0) {
    throw new Failure("empty_deploy", `${source} holds nothing to deploy. Name the folder that your build writes to.`);
  }
  const advice = `The largest files: ${largest(files)}. Leave files out with a .svcignore, or deploy a smaller folder.`;
  if (files.length > limits.max_files) {
    const has = `${source} has ${count(files.length, "file")}, and the server takes ${limits.max_files} in one deploy.`;
    throw new Failure("too_many_files", `${has} ${advice}`);
  }
  if (bytes > limits.max_bytes) {
    const [is, most] = sizeAndLimit(bytes, limits.max_bytes);
    const has = `${source} is ${is} large, and the server takes ${most} in one deploy.`;
    throw new Failure("deploy_too_large", `${has} ${advice}`);
  }
}

/** Compares the sizes with the server's limits before a file is read: nothing is loaded that could not be sent. */
export async function readContent(server: Server, location: string, source: string): Promise<Content> {
  const [limits, listing] = await Promise.all([askLimits(server), listFiles(location)]);
  const bytes = listing.files.reduce((sum, file) => sum + file.bytes, 0);
  checkLimits(source, listing.files, bytes, limits);
  return { source, files: await readFiles(listing.files), bytes, secrets: listing.secrets, limits };
}

export async function zipContent({ source, files, limits }: Content): Promise<Uint8Array<ArrayBuffer>> {
  const zip = await zipFiles(files);
  if (zip.length <= limits.max_zip_bytes) return zip;
  const sizes = [...files].map(([path, { length }]) => ({ path, bytes: length }));
  const [is, most] = sizeAndLimit(zip.length, limits.max_zip_bytes);
  throw new Failure(
    "zip_too_large",
    `${source} is ${is} large when zipped, and the server takes ${most}. ` +
      `The largest files: ${largest(sizes)}. Leave files out with a .svcignore, or compress images and media.`,
  );
}
