/** The flags with which an operator lets a deploy in that is over the limits. Runs in browsers: it imports nothing. */

interface Limits {
  max_files: number;
  max_bytes: number;
  max_zip_bytes: number;
}

const MB = 1024 * 1024;
/** No server takes more (CONTRACT 1). */
const MOST_BYTES = 2048 * MB;
const MOST_FILES = 100_000;
const inMB = (bytes: number): string => `${Math.ceil(bytes / MB)}MB`;

/** `svc-server --max-files 961 --max-bytes 60MB …`, with as much as this deploy needs; null if no flag would do. `zip_bytes` is missing
 *  before it was zipped: then the zip counts as large as the files. */
export function limitsRaised(
  needs: { files: number; bytes: number; zip_bytes?: number },
  limits: Limits,
): string | null {
  const { files, bytes, zip_bytes = bytes } = needs;
  if (files > MOST_FILES || Math.max(bytes, zip_bytes) > MOST_BYTES) return null;
  const flags = [
    files > limits.max_files && `--max-files ${files}`,
    bytes > limits.max_bytes && `--max-bytes ${inMB(bytes)}`,
    zip_bytes > limits.max_zip_bytes && `--max-zip-bytes ${inMB(zip_bytes)}`,
  ].filter((flag) => flag !== false);
  return ["svc-server", ...flags].join(" ");
}
