/** Browser scripts, pictures and the manual, for the binary to carry. Called at build time alone, as macros (BUN 1): from source, in
 *  `bun test` and by `bun build --compile` alike. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildOutput } from "../run/build-output.ts";

/** The scripts that pages load, each a file of browser/: one more is one more line. */
const ENTRIES = ["claim", "copy", "manual", "once", "password", "select", "zone", "zone-worker"] as const;
export type ScriptName = (typeof ENTRIES)[number];

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Bundled and minified, by name. A child bundles them, for `Bun.build` inside a macro is refused. */
export function scripts(): Record<ScriptName, string> {
  const entries = ENTRIES.map((name) => here(`./browser/${name}.ts`));
  const bundled = buildOutput([here("./bundle.ts"), ...entries], "The scripts of src/web/browser cannot be bundled:");
  return JSON.parse(bundled) as Record<ScriptName, string>;
}

/** A picture of style/, or of another folder by its path from there, as base64. */
export const picture = (name: string): string => readFileSync(here(`./style/${name}`)).toString("base64");

/** The files of the npm package as JSON, path → text. */
export const packageAsJson = (): string =>
  buildOutput([here("../../scripts/package.ts")], "The npm package could not be made:");

/** The chapters of the manual as JSON. A process renders them, for a macro cannot wait for anything. */
export function manualAsJson(): string {
  return buildOutput([here("../../scripts/manual.ts")], "The manual could not be made from docs/:");
}
