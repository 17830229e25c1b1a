/** Percent-encoding of paths. Names of files in a site are NFC. */
import { normalForm } from "./normal-form.ts";

/** Null if the text is no valid encoding of UTF-8. */
export function decodePercent(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** The name that a path means, decoded once. A run of slashes is one (CONTRACT 6). */
export function decodePath(path: string): string | null {
  const decoded = decodePercent(path);
  const name = decoded !== null && decoded.includes("//") ? decoded.replace(/\/{2,}/g, "/") : decoded;
  return name === null ? null : normalForm(name);
}

/** Most names need no encoding. */
const PLAIN = /^[\w./-]*$/;

export const encodePath = (name: string): string =>
  PLAIN.test(name) ? name : name.split("/").map(encodeURIComponent).join("/");
