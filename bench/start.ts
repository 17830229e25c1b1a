/** `bun bench/start.ts [runs] [node…]`: how long the compiled `svc` takes to start, beside three compiled programs of one
 *  line: one that prints a line by `process.stdout`, one that writes it by `node:fs`, and one that does nothing at all; then
 *  the npm package's command, by Bun and by each Node that is named. User and system time of the whole process, in turns;
 *  the lower quartile, for what a busy machine adds is never less than nothing. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildCli } from "../scripts/release/portable.ts";

const [runs = "40", ...NODES] = process.argv.slice(2);
const RUNS = Number(runs);
const ROOT = join(import.meta.dir, "..");
// As scripts/build.ts compiles the product.
const COMPILE = ["--compile", "--minify", "--bytecode", "--format=esm"];

/** The least that a program can do with files and a terminal. */
const FS_LINE = 'import { writeSync } from "node:fs"; writeSync(1, "hi\\n");';

async function compile(folder: string, name: string, source: string): Promise<string> {
  const program = join(folder, name);
  await Bun.$`${process.execPath} build ${COMPILE} --outfile=${program} ${source}`.cwd(ROOT).quiet();
  return program;
}

async function compileText(folder: string, name: string, text: string): Promise<string> {
  const source = join(folder, `${name}.ts`);
  await Bun.write(source, text);
  return compile(folder, name, source);
}

async function cpuOf(command: string[]): Promise<number> {
  const child = Bun.spawn(command, { stdio: ["ignore", "ignore", "ignore"], env: { HOME: tmpdir() } });
  await child.exited;
  const { user, system } = child.resourceUsage()!.cpuTime;
  return Number(user + system) / 1000;
}

const quartile = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)]!;

const folder = await mkdtemp(join(tmpdir(), "svc-start-"));
try {
  const svc = await compile(folder, "svc", join(ROOT, "cli.ts"));
  const rows: [name: string, command: string[], ms: number[]][] = [
    ["prints a line", [await compileText(folder, "line", 'process.stdout.write("hi\\n");')], []],
    ["does nothing", [await compileText(folder, "nothing", "export {};")], []],
    ["writes one by node:fs", [await compileText(folder, "fs", FS_LINE)], []],
    ["svc --version", [svc, "--version"], []],
    ["svc list (signed out)", [svc, "list"], []],
  ];
  await Bun.write(join(folder, "package.json"), '{"type":"module"}');
  await buildCli(folder, {});
  const command = join(folder, "cli.js");
  for (const runner of [process.execPath, ...NODES]) {
    const name = `${runner === process.execPath ? "bun" : await Bun.$`${runner} --version`.text()}`.trim();
    await Bun.write(join(folder, `${name}.mjs`), 'process.stdout.write("hi\\n");');
    rows.push([`${name}: a line`, [runner, join(folder, `${name}.mjs`)], []]);
    rows.push([`${name}: svc --version`, [runner, command, "--version"], []]);
    rows.push([`${name}: svc list`, [runner, command, "list"], []]);
  }
  for (let run = 0; run < RUNS; run++) for (const [, command, ms] of rows) ms.push(await cpuOf(command));
  const [line, nothing] = [quartile(rows[0]![2]), quartile(rows[1]![2])];
  for (const [name, , ms] of rows) {
    const own = quartile(ms);
    const ratios = `${(own / line).toFixed(2)} of one that prints a line, ${(own / nothing).toFixed(2)} of nothing`;
    process.stdout.write(`${name.padEnd(24)}${own.toFixed(1).padStart(6)} ms  ${ratios}\n`);
  }
} finally {
  await rm(folder, { recursive: true });
}
