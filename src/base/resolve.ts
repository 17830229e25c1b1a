/** Finds the file that answers a path (CONTRACT 6, PIPELINE 2). Pure: it sees names and a path, no request and no site.
 *  Serving and the lint both ask it, so that they agree. */
import { Refusal } from "./errors.ts";
import { decodePath } from "./percent.ts";
import { isNeverServed } from "./reserved-paths.ts";

/** Path → the file, as its row in the manifest or its bytes. */
type FilesByName<File> = ReadonlyMap<string, File>;

export type Resolution<File> =
  /** Found `by` its own name, as a folder's index, or by a name without `.html`. */
  | { kind: "file"; file: File; by: "file" | "index" | "clean_url" }
  /** A folder, asked for without its slash. `location` is a path on the same host, never `//…`. */
  | { kind: "redirect"; location: string }
  | {
      kind: "unmatched";
      /** Whether the version's fallback document may answer here, if the site is a single-page app. */
      fallback: boolean;
      /** The nearest 404.html of the site, up the path. */
      page: File | null;
    };

/** A missing file in one of these is a missing file, never a route of the app. */
const ASSET_FOLDERS = new Set(["assets", "static", "_app", "_next", "_nuxt", "_expo"]);
/** No name in an upload is longer (CONTRACT 4.1), so a longer path needs no walk up its folders. */
const LONGEST_NAME = 512;
/** Names that svc makes of them (`x.html` of `x.md`) are some letters longer. A longer path is no file, and to look for it takes a
 *  microsecond for each 2 KB. */
const LONGEST_FILE = 2 * LONGEST_NAME;

/** `path` is percent-encoded, as the request has it. A run of slashes is one. Throws `invalid_path`. */
export function resolve<File>(files: FilesByName<File>, path: string): Resolution<File> {
  const name = nameOf(path);
  if (isNeverServed(name)) return { kind: "unmatched", fallback: false, page: null };
  if (name.length > LONGEST_FILE) return unmatched(files, name);
  if (name === "" || name.endsWith("/")) return found(files, `${name}index.html`, "index") ?? unmatched(files, name);
  return (
    found(files, name, "file") ??
    found(files, `${name}.html`, "clean_url") ??
    folder(files, name, path) ??
    unmatched(files, name)
  );
}

/** A path without its first slash, decoded once. Names in a site are NFC and hold no control character, so a path with one
 *  cannot mean a file. Throws `invalid_path`. */
export function nameOf(path: string): string {
  const name = decodePath(path);
  if (name === null) {
    throw new Refusal(
      "invalid_path",
      "This address is not valid percent-encoded UTF-8. Check the characters after a %.",
    );
  }
  if (/[\x00-\x1f\x7f\\]|(?:^|\/)\.\.(?:\/|$)/.test(name)) {
    throw new Refusal(
      "invalid_path",
      "This address has a .. segment, a backslash or a control character. Leave it out.",
    );
  }
  return name.slice(1);
}

type FoundBy = Extract<Resolution<never>, { kind: "file" }>["by"];

function found<File>(files: FilesByName<File>, name: string, by: FoundBy): Resolution<File> | null {
  const file = files.get(name);
  return file === undefined ? null : { kind: "file", file, by };
}

/** The location begins with one slash: `//evil.example` would be another host. */
const folder = <File>(files: FilesByName<File>, name: string, path: string): Resolution<File> | null =>
  files.has(`${name}/index.html`) ? { kind: "redirect", location: `${path.replace(/(?:\/|%2f){2,}/gi, "/")}/` } : null;

const unmatched = <File>(files: FilesByName<File>, name: string): Resolution<File> => ({
  kind: "unmatched",
  // A getter, as it may cost a look at every name: a site that is no app never asks.
  get fallback() {
    return mayBeRoute(files, name);
  },
  page: nearestPage(files, name),
});

/** Whether a missing path may be a route of an app in the browser (PIPELINE 2), and not a missing file. */
export function mayBeRoute(files: FilesByName<unknown>, name: string): boolean {
  const segments = name.split("/");
  const top = segments[0]!;
  const last = segments.findLast((segment) => segment !== "") ?? "";
  if (top === ".well-known" || last.includes(".")) return false;
  return !(ASSET_FOLDERS.has(top) && files.keys().some((file) => file.startsWith(`${top}/`)));
}

function nearestPage<File>(files: FilesByName<File>, name: string): File | null {
  for (let slash = name.lastIndexOf("/", LONGEST_NAME); slash > 0; slash = name.lastIndexOf("/", slash - 1)) {
    const page = files.get(`${name.slice(0, slash)}/404.html`);
    if (page !== undefined) return page;
  }
  return files.get("404.html") ?? null;
}
