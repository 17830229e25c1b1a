/** Percent-encoding of paths. Names of files in a site are NFC. */
import { normalForm } from "./normal-form.ts";

/** Null if the text is no valid encoding of UTF-8. */
export function decodePercent(text: string): string | null {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Four steps of a request ask for the name of its path, one behind the other. */
const last: { path: string; name: string | null } = { path: "", name: "" };

/** The name that a path means, decoded once. A run of slashes is one (CONTRACT 6). */
export function decodePath(path: string): string | null {
  if (path !== last.path) {
    last.name = readPath(path);
    last.path = path;
  }
  return last.name;
}

function readPath(path: string): string | null {
  const decoded = decodePercent(path);
  const name = decoded !== null && decoded.includes("//") ? decoded.replace(/\/{2,}/g, "/") : decoded;
  return name === null ? null : normalForm(name);
}

/** Most names need no encoding. */
const PLAIN = /^[\w./-]*$/;

export const encodePath = (name: string): string =>
  PLAIN.test(name) ? name : name.split("/").map(encodeURIComponent).join("/");
