/** `bun run build`: dist/svc and dist/svc-server for this machine, dist/cli.js, dist/lib.js and dist/lib.d.ts.
 *  `--all`: both programs for every platform. `--only svc|svc-server|cli|lib` and `--outdir DIR` narrow and move it. */
import { mkdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { buildCli, buildLibrary } from "./release/portable.ts";
import { main, ROOT, say, step, StepFailed } from "./run.ts";

/** A thread is an entry of its own in the binary, by this very path (BUN 1). */
const PROGRAMS = {
  svc: ["cli.ts"],
  "svc-server": [
    "server.ts",
    "src/pipeline/markdown/thread.ts",
    "src/server/locate-thread.ts",
    "src/server/rendering/thread.ts",
    "src/server/sweep-thread.ts",
    "src/server/webhook-thread.ts",
    "src/store/writer-thread.ts",
  ],
} as const;
type Program = keyof typeof PROGRAMS;

/** For Node and Bun, on any machine. */
const PORTABLE = { cli: buildCli, lib: buildLibrary } as const;

const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "windows-x64", "windows-arm64"] as const;

// A binary takes nothing from the folder it is started in: neither a .env nor a bunfig.toml with a preload.
const COMPILE = [
  "--compile",
  "--minify",
  "--bytecode",
  "--format=esm",
  "--sourcemap",
  "--no-compile-autoload-dotenv",
  "--no-compile-autoload-bunfig",
];

/** The hosted service's URL for the CLI, where the build is for one. */
const hosted = process.env["SVC_DEFAULT_SERVER"];
const define: Record<string, string> = hosted ? { SVC_DEFAULT_SERVER: JSON.stringify(hosted) } : {};
const defines = Object.entries(define).flatMap(([name, value]) => ["--define", `${name}=${value}`]);

async function compile(program: Program, outfile: string, platform: string | null): Promise<void> {
  const target = platform ? [`--target=bun-${platform}`] : [];
  await step(relative(ROOT, outfile), [
    "build",
    ...COMPILE,
    ...defines,
    ...target,
    `--outfile=${outfile}`,
    ...PROGRAMS[program],
  ]);
}

const isProgram = (name: string): name is Program => name in PROGRAMS;
const isPortable = (name: string): name is keyof typeof PORTABLE => name in PORTABLE;

await main(async () => {
  const { values } = parseArgs({
    options: { all: { type: "boolean" }, only: { type: "string", multiple: true }, outdir: { type: "string" } },
  });
  const wanted = values.only ?? [...Object.keys(PROGRAMS), ...Object.keys(PORTABLE)];
  const unknown = wanted.find((name) => !isProgram(name) && !isPortable(name));
  if (unknown) throw new StepFailed(`--only ${unknown}: it must be svc, svc-server, cli or lib.`);
  const outdir = values.outdir ?? join(ROOT, "dist");
  await mkdir(outdir, { recursive: true });
  for (const program of wanted.filter(isProgram)) {
    for (const platform of values.all ? PLATFORMS : [null]) {
      const name = platform ? `${program}-${platform}` : program;
      await compile(program, join(outdir, name), platform);
    }
  }
  for (const name of wanted.filter(isPortable)) await PORTABLE[name](outdir, define);
  say(`built in ${outdir}`);
  return 0;
});
