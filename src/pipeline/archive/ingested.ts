/** Files with their contents become a draft: a wrapping folder is stripped, what was fixed and what is odd is noted, and
 *  folders get their index under its usual name. */

import { droppedAs, type Reserved, reservedFor } from "../../base/reserved-paths.ts";
import type { Bytes, Draft, Healed, Warning } from "../../base/types.ts";
import { deployDigest, wrappingFolder } from "../../base/version-id.ts";
import { caseCollisions } from "./paths.ts";
import type { NamedEntry } from "./uploads.ts";

export interface Ingested {
  draft: Draft;
  /** Over the uploaded names after clean-up and strip: the index copies of `draft.made` do not count. */
  digest: string;
  /** Path → SHA-256 of its bytes, uploaded files alone. */
  hashes: ReadonlyMap<string, string>;
}

/** A file with its content. */
export interface Unpacked extends Omit<NamedEntry, "bytes"> {
  bytes: Bytes;
  sha256: string;
}

/** The folder that the site starts in, and its files with paths from there. */
export function stripFolder<File extends { path: string }>(files: readonly File[]): [string | null, File[]] {
  const folder = wrappingFolder(files.map(({ path }) => path));
  const start = folder === null ? 0 : folder.length + 1;
  return [folder, files.map((file) => ({ ...file, path: file.path.slice(start) }))];
}

export const hashesOf = (files: readonly { path: string; sha256: string }[]): Map<string, string> =>
  new Map(files.map(({ path, sha256 }) => [path, sha256]));

/** `secrets`: paths that were left out. */
export function ingestedFrom(unpacked: readonly Unpacked[], secrets: readonly string[]): Ingested {
  const [folder, files] = stripFolder(unpacked);
  const hashes = hashesOf(files);
  const draft = fixIndexCase({
    files: new Map(files.map(({ path, bytes }) => [path, bytes])),
    made: new Set(),
    stripped_folder: folder,
    healed: healedBy(files, folder),
    warnings: [...droppedSecrets(secrets), ...warningsOf(files)],
  });
  return { draft, digest: deployDigest(hashes), hashes };
}

function healedBy(files: readonly Unpacked[], folder: string | null): Healed[] {
  const healed: Healed[] = [];
  const turned = files.filter(({ backslashes }) => backslashes).length;
  if (turned > 0)
    healed.push({
      code: "backslash_paths",
      message: `Backslashes in ${turned === 1 ? "a name" : `${turned} names`} were read as slashes.`,
    });
  if (folder !== null)
    healed.push({
      code: "stripped_root_folder",
      message: `Everything lay in ${folder}/, so the site starts inside it.`,
      path: folder,
    });
  return healed;
}

const warningsOf = (files: readonly Unpacked[]): Warning[] => [
  ...files.filter(({ guessed }) => guessed).map(({ path }) => guessedName(path)),
  ...caseCollisions(files.map(({ path }) => path)),
  ...files.flatMap(({ path }) => [...reservedPath(path), ...windowsUnsafe(path)]),
];

// Folders whose index has another name than `index.html`: IIS, old editors and Windows leave such names.

/** Gives such a folder an `index.html` of the same bytes. The uploaded name stays reachable. */
function fixIndexCase(draft: Draft): Draft {
  const files = new Map(draft.files);
  const made = new Set(draft.made);
  const healed: Healed[] = [];
  for (const [folder, source] of otherIndexes(draft.files.keys())) {
    const path = `${folder}index.html`;
    if (files.has(path)) continue;
    files.set(path, draft.files.get(source)!);
    made.add(path);
    healed.push({ code: "index_case_fixed", message: `${source} is also served as ${path}.`, path: source });
  }
  return { ...draft, files, made, healed: [...draft.healed, ...healed] };
}

/** The best candidate of each folder: `index.html` in any case before `index.htm`, then by spelling. */
function otherIndexes(paths: Iterable<string>): Map<string, string> {
  const best = new Map<string, string>();
  for (const path of [...paths].sort()) {
    const [, folder, ending] = /^(.*\/)?index\.(html?)$/i.exec(path) ?? [];
    if (ending === undefined) continue;
    const before = best.get(folder ?? "");
    if (before === undefined || (ending.length === 4 && /\.htm$/i.test(before))) best.set(folder ?? "", path);
  }
  return best;
}

// Warnings about paths that are served, or dropped, in a way that their author may not expect.

const WINDOWS_UNSAFE = /[<>:"|?*]|[. ]$/;
const WINDOWS_DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\.|$)/i;

function windowsUnsafe(path: string): Warning[] {
  const segment = path.split("/").find((name) => WINDOWS_UNSAFE.test(name) || WINDOWS_DEVICE.test(name));
  if (segment === undefined) return [];
  return [
    {
      code: "windows_unsafe_name",
      path,
      message: `${path} is served, but Windows cannot keep a file or folder called "${segment}".`,
      fix_recipe: `Rename "${segment}" without < > : " | ? *, without a dot or space at its end, and to no device name such as CON.`,
    },
  ];
}

const KEPT_FOR: Record<Reserved, string> = {
  service: "the service answers under /_svc/ itself, so this file is never served",
  certificates: "certificates are proved under this path, so this file is never served",
  comments: "the service keeps comments at this path; the file is served in their place",
};

function reservedPath(path: string): Warning[] {
  const reserved = reservedFor(path);
  return reserved !== null
    ? [
        {
          code: "reserved_path",
          path,
          message: `${path} is a reserved path: ${KEPT_FOR[reserved]}.`,
          fix_recipe: `Rename ${path} to a path that the service does not use, and change the links to it.`,
        },
      ]
    : [];
}

const guessedName = (path: string): Warning => ({
  code: "name_encoding_guessed",
  path,
  message: `The zip does not say in which encoding the name ${path} is; it was read as CP437.`,
  fix_recipe: `Make the zip with a program that writes UTF-8 names, or rename ${path} to plain ASCII.`,
});

/** One warning for each secret file, or for each folder of them: node_modules alone can hold thousands. */
function droppedSecrets(paths: readonly string[]): Warning[] {
  const by_root = Map.groupBy(paths, secretRoot);
  return [...by_root].map(([root, files]) => {
    const path = files.length === 1 ? files[0]! : `${root}/`;
    return {
      code: "secret_file_dropped",
      path,
      message: `${path} was left out${files.length > 1 ? ` (${files.length} files)` : ""}: such files may hold secrets and are never published.`,
      fix_recipe: `Leave ${root} out of what you deploy.`,
    };
  });
}

/** The shortest beginning of the path that is dropped itself. */
function secretRoot(path: string): string {
  const segments = path.split("/");
  const depth = segments.findIndex((_, index) => droppedAs(segments.slice(0, index + 1).join("/")) === "secret");
  return segments.slice(0, depth + 1).join("/");
}
