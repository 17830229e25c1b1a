/** The questions before a drop is sent (WEB 4.3), and the refusals before it is sent (WEB 4.2). */
import { limitsRaised } from "../../../base/limit-flags.ts";
import { isPageName } from "../../../base/page-names.ts";
import { BUILD_DIR_CANDIDATES } from "../../../client/build-dir-candidates.ts";
import { type Collected, type Found, MOST_FOUND } from "./collect.ts";
import type { Trouble } from "./refusals.ts";
import { count } from "../../../base/units.ts";
import { size } from "./words.ts";

/** From the page, never from the script. */
export interface UploadLimits {
  max_files: number;
  max_bytes: number;
  max_zip_bytes: number;
}

const bytesOf = (files: readonly Found[]): number => files.reduce((sum, { bytes }) => sum + bytes, 0);

const largestOf = (files: readonly Found[]): { path: string; bytes: number }[] =>
  files
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, 3)
    .map(({ path, bytes }) => ({ path, bytes }));

export const isZip = ({ path }: Pick<Found, "path">): boolean => /\.zip$/i.test(path);

/** The build of a project whose root was given. */
export function builtFolder({ files }: Collected): string | null {
  const paths = new Set(files.map(({ path }) => path));
  if (!paths.has("package.json")) return null;
  return BUILD_DIR_CANDIDATES.find((folder) => paths.has(`${folder}/index.html`)) ?? null;
}

export const hasPage = (files: readonly Found[]): boolean => files.some(({ path }) => isPageName(path));

export function nothingIn({ files, empty }: Collected): Trouble | null {
  if (files.length > 0) return null;
  return {
    sentence: `There is nothing to publish: ${empty ? "the folder is empty" : "everything in it is left out"}.`,
  };
}

/** A limit that is passed, which no upload would change. */
export function tooMuch({ files, more }: Collected, limits: UploadLimits, name = "It"): Trouble | null {
  const { max_files, max_bytes } = limits;
  if (more || files.length > max_files) {
    const there = more ? `more than ${count(MOST_FOUND, "file")}` : count(files.length, "file");
    const less = "Leave some out, or give the folder that is the site alone.";
    const way = more ? "" : ` ${raised({ files: files.length, bytes: bytesOf(files) }, limits)}`;
    return {
      sentence: `There are ${there} in it, and a site may have ${count(max_files, "file")}. ${less}${way}`,
    };
  }
  const bytes = bytesOf(files);
  if (bytes <= max_bytes) return null;
  const [has, may] = sizeAndLimit(bytes, max_bytes);
  return {
    sentence: `${name} has ${has}, and a site may have ${may}. ${raised({ files: files.length, bytes }, limits)} Leave out or shrink what takes the most:`,
    files: largestOf(files),
  };
}

/** The way out for a person who runs the server, or knows its operator. */
function raised(needs: Parameters<typeof limitsRaised>[0], limits: UploadLimits): string {
  const command = limitsRaised(needs, limits);
  return command === null ? "" : `The operator of this server can raise its limits: ${command}.`;
}

/** `files` are those in the zip, if they are known. */
export function zipTooLarge(bytes: number, limits: UploadLimits, files: readonly Found[]): Trouble | null {
  const { max_zip_bytes } = limits;
  if (bytes <= max_zip_bytes) return null;
  const way = raised({ files: 0, bytes: 0, zip_bytes: bytes }, limits);
  const [has, may] = sizeAndLimit(bytes, max_zip_bytes);
  if (files.length === 1 && isZip(files[0]!)) {
    const { path } = files[0]!;
    const sentence = `${path} has ${has}, and a zip may have ${may}. Leave out what the site does not need, and zip it again. ${way}`;
    return { sentence, files: [{ path, bytes }] };
  }
  return {
    sentence: `Zipped it has ${has}, and a zip may have ${may}. ${way} Leave out or shrink what takes the most:`,
    files: largestOf(files),
  };
}

/** "Publish everything" names what it would send. */
export const everything = (files: readonly Found[]): string =>
  `${count(files.length, "file")}, ${size(bytesOf(files))}`;

/** A size and the limit that it passed. Where both would be written alike, both are written in bytes. */
const sizeAndLimit = (bytes: number, limit: number): [string, string] =>
  size(bytes) === size(limit) ? [count(bytes, "byte"), count(limit, "byte")] : [size(bytes), size(limit)];
