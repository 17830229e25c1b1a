/** `bun run build`: dist/svc, dist/svc-server, dist/lib.js and dist/lib.d.ts for this machine.
 *  `--all`: both programs for every platform. `--only svc|svc-server|lib` and `--outdir DIR` narrow and move it. */
import { copyFile, mkdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
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
const defines = (): string[] => {
  const server = process.env["SVC_DEFAULT_SERVER"];
  return server ? ["--define", `SVC_DEFAULT_SERVER=${JSON.stringify(server)}`] : [];
};

async function compile(program: Program, outfile: string, platform: string | null): Promise<void> {
  const target = platform ? [`--target=bun-${platform}`] : [];
  await step(relative(ROOT, outfile), [
    "build",
    ...COMPILE,
    ...defines(),
    ...target,
    `--outfile=${outfile}`,
    ...PROGRAMS[program],
  ]);
}

async function library(outdir: string): Promise<void> {
  const outfile = join(outdir, "lib.js");
  await step(relative(ROOT, outfile), [
    "build",
    "lib.ts",
    "--target=node",
    "--format=esm",
    ...defines(),
    `--outfile=${outfile}`,
  ]);
  await copyFile(join(ROOT, "types", "lib.d.ts"), join(outdir, "lib.d.ts"));
}

const isProgram = (name: string): name is Program => name in PROGRAMS;

await main(async () => {
  const { values } = parseArgs({
    options: { all: { type: "boolean" }, only: { type: "string", multiple: true }, outdir: { type: "string" } },
  });
  const wanted = values.only ?? [...Object.keys(PROGRAMS), "lib"];
  const unknown = wanted.find((name) => name !== "lib" && !isProgram(name));
  if (unknown) throw new StepFailed(`--only ${unknown}: it must be svc, svc-server or lib.`);
  const outdir = values.outdir ?? join(ROOT, "dist");
  await mkdir(outdir, { recursive: true });
  for (const program of wanted.filter(isProgram)) {
    for (const platform of values.all ? PLATFORMS : [null]) {
      const name = platform ? `${program}-${platform}` : program;
      await compile(program, join(outdir, name), platform);
    }
  }
  if (wanted.includes("lib")) await library(outdir);
  say(`built in ${outdir}`);
  return 0;
});
