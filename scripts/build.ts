/** `bun run build`: dist/svc and dist/svc-server for this machine, dist/cli.js, dist/lib.js and dist/lib.d.ts.
 *  `--all`: the archives of both programs for every platform, and what lies beside them (scripts/release). `--only svc|svc-server|cli|lib` and `--outdir DIR` narrow and move it. */
import { mkdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { buildCli, buildLibrary } from "./release/portable.ts";
import { install, main, ROOT, say, step, StepFailed } from "./run.ts";

/** A thread is an entry of its own in the binary, by this very path (BUN 1). */
const PROGRAMS = {
  svc: ["cli.ts"],
  "svc-server": [
    "server.ts",
    "src/pipeline/markdown/thread.ts",
    "src/server/quote-search-thread.ts",
    "src/statistics/thread.ts",
    "src/store/writer-thread.ts",
    "src/upkeep/thread.ts",
  ],
} as const;
type Program = keyof typeof PROGRAMS;

/** For Node and Bun, on any machine. */
const PORTABLE = { cli: buildCli, lib: buildLibrary } as const;

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

async function compile(program: string, outfile: string, platform: string | null): Promise<void> {
  const target = platform ? [`--target=bun-${platform}`] : [];
  await step(platform ? `${program} for ${platform}` : relative(ROOT, outfile), [
    "build",
    ...COMPILE,
    ...defines,
    ...target,
    `--outfile=${outfile}`,
    ...PROGRAMS[program as Program],
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
  await install("packages", ROOT); // a fresh clone has none, and a pulled one old ones
  await mkdir(outdir, { recursive: true });
  const programs = wanted.filter(isProgram);
  if (values.all) await (await import("./release/index.ts")).release(programs, outdir, compile);
  else for (const program of programs) await compile(program, join(outdir, program), null);
  for (const name of wanted.filter(isPortable)) await PORTABLE[name](outdir, define);
  say(`built in ${outdir}`);
  return 0;
});
