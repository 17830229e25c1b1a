/** Judges one name at a time: what a path of a site may look like. */
import { show } from "../show.ts";
import { refuseEntry } from "./refusals.ts";

interface CleanPath {
  /** Without a leading `./` or a trailing slash; empty for the root folder itself. */
  path: string;
  folder: boolean;
  backslashes: boolean;
}

/** What no path of a site may hold: controls, line breaks, and marks that turn or hide text. Narrower than what is
 *  escaped where a name is shown: a soft hyphen or a joiner in a name is no reason to refuse an upload. */
const REFUSED = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\u200b\u2060\ufeff]/u;
const LONGEST_PATH = 512;
const LONGEST_SEGMENT = 255;
const MOST_LEVELS = 64;

/** Windows wrote backslashes, tar and others a leading `./`, macOS decomposed letters: all three become one form. */
export function cleanPath(name: string): CleanPath {
  const slashed = name.replaceAll("\\", "/");
  const normal = slashed.replace(/^\.\//, "").normalize("NFC");
  const folder = slashed.endsWith("/");
  const path = folder && normal !== "/" ? normal.replace(/\/$/, "") : normal;
  const is_root = folder && path === "";
  const reason = is_root ? null : whyUnsafe(path);
  if (reason) throw refuseEntry("unsafe_path", show(name), `has an unsafe path: it ${reason}`);
  return { path, folder, backslashes: slashed !== name };
}

function whyUnsafe(path: string): string | null {
  if (path === "") return "is empty";
  if (REFUSED.test(path)) return "holds a control character or an invisible one";
  if (path.startsWith("/")) return "is absolute";
  if (/^[a-z]:/i.test(path)) return "starts with a drive letter";
  if (Buffer.byteLength(path) > LONGEST_PATH) return `is longer than ${LONGEST_PATH} bytes`;
  const segments = path.split("/");
  if (segments.length > MOST_LEVELS) return `goes deeper than ${MOST_LEVELS} levels`;
  return segments.map(whyUnsafeSegment).find((reason) => reason !== null) ?? null;
}

function whyUnsafeSegment(segment: string): string | null {
  if (segment === "..") return 'has a ".." segment';
  if (segment === ".") return 'has a "." segment';
  if (segment === "") return "has an empty segment";
  return Buffer.byteLength(segment) > LONGEST_SEGMENT ? `has a segment over ${LONGEST_SEGMENT} bytes` : null;
}
