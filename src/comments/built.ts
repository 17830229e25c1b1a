/** Called at build time alone, as a macro (BUN 1). */
import { fileURLToPath } from "node:url";
import { buildOutput } from "../run/build-output.ts";

interface Scripts {
  loader: string;
  widget: string;
  /** With the widget's hash: `/_svc/c/0123456789ab.js`. */
  widget_path: string;
}

/** A child bundles them, for `Bun.build` inside a macro is refused. */
export function scripts(): Scripts {
  const bundle = fileURLToPath(new URL("./bundle.ts", import.meta.url));
  return JSON.parse(buildOutput([bundle], "The scripts of src/comments/widget cannot be bundled:")) as Scripts;
}
