/** The 413 refusals: which limit, by how much, what weighs most, and who can raise it. */
import { Refusal } from "./errors.ts";

interface Sized {
  /** A path that is fit to be shown. */
  path: string;
  bytes: number;
}

const SETTINGS = {
  too_many_files: "max-files",
  deploy_too_large: "max-bytes",
  zip_too_large: "max-zip-bytes",
} as const;

/** A 413 refusal. `actual` is unknown for a body that was not read to its end; `largest` is null for a zip that was not
 *  read. */
export function overLimit(
  code: keyof typeof SETTINGS,
  sentence: string,
  { limit, actual }: { limit: number; actual: number | undefined },
  largest: readonly Sized[] | null,
): Refusal {
  const flag = `--${SETTINGS[code]}`;
  const variable = `SVC_${SETTINGS[code].toUpperCase().replaceAll("-", "_")}`;
  return new Refusal(code, sentence, {
    limit,
    actual,
    ...(largest && { largest }),
    next_actions: [
      {
        action: "raise_limit",
        description: `Deploy less, or ask the operator of this server to raise ${flag} (${variable}).`,
        ...(actual !== undefined && { command: `svc-server ${flag} ${actual}` }),
      },
    ],
  });
}

export const zipTooLarge = (limit: number, actual: number | undefined): Refusal =>
  overLimit(
    "zip_too_large",
    `The zip is larger than the ${limit} bytes that this server takes. Leave out what the site does not need.`,
    { limit, actual },
    null,
  );

/** The three largest, largest first. Takes linear time, as there may be very many. */
export function largestThree<T>(all: Iterable<T>, size: (one: T) => number): T[] {
  const top: T[] = [];
  for (const one of all) {
    if (top.length === 3 && size(one) <= size(top[2]!)) continue;
    top.push(one);
    top.sort((a, b) => size(b) - size(a)).splice(3);
  }
  return top;
}

/** How long a list of a deploy's files may be, in bytes of JSON (BEYOND 6). */
export const mostListBytes = ({ max_files }: { max_files: number }): number => 1024 * Math.max(64, max_files);
