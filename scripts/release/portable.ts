/** What runs on Node 18 and later as well as on Bun: the CLI as one file, and the library. Both import `node:` alone. */
import { chmod, copyFile } from "node:fs/promises";
import { join } from "node:path";
import type { BunPlugin } from "bun";
import { ROOT, say, StepFailed } from "../run.ts";

/** Without its first line: Bun bundles an entry that asks for Bun as a second graph, with every shared module twice
 *  (BUN 1b). */
const withoutShebang: BunPlugin = {
  name: "without-shebang",
  setup: (build) =>
    void build.onLoad({ filter: /[\\/]cli\.ts$/ }, async ({ path }) => ({
      contents: (await Bun.file(path).text()).replace(/^#!.*\n/, ""),
      loader: "ts",
    })),
};

/** Its file for Node imports `module` for threads that nobody here starts. */
const fflateForBrowsers: BunPlugin = {
  name: "fflate-for-browsers",
  setup: (build) =>
    void build.onResolve({ filter: /^fflate$/ }, () => ({ path: Bun.resolveSync("fflate/browser", ROOT) })),
};

type Options = Pick<Bun.BuildConfig, "minify" | "banner" | "define">;

async function bundled(entry: string, options: Options): Promise<string> {
  const plugins = [withoutShebang, fflateForBrowsers];
  const how = { target: "node", format: "esm", plugins, throw: false, ...options } as const;
  const { success, outputs, logs } = await Bun.build({ entrypoints: [join(ROOT, entry)], ...how });
  if (!success) throw new StepFailed(`${entry} cannot be bundled:\n${logs.join("\n")}`);
  return outputs[0]!.text();
}

/** `define`: what the build is told of the service that it is for. */
export const libraryText = (define: Record<string, string>): Promise<string> => bundled("lib.ts", { define });
export const cliText = (define: Record<string, string>): Promise<string> =>
  bundled("cli.ts", { define, minify: true, banner: "#!/usr/bin/env node" });

/** The library's types, made by hand. */
export const TYPES = join(ROOT, "types", "lib.d.ts");

async function written(outfile: string, text: string): Promise<void> {
  await Bun.write(outfile, text);
  say(outfile);
}

export async function buildLibrary(outdir: string, define: Record<string, string>): Promise<void> {
  await written(join(outdir, "lib.js"), await libraryText(define));
  await copyFile(TYPES, join(outdir, "lib.d.ts"));
}

export async function buildCli(outdir: string, define: Record<string, string>): Promise<void> {
  const outfile = join(outdir, "cli.js");
  await written(outfile, await cliText(define));
  await chmod(outfile, 0o755);
}
