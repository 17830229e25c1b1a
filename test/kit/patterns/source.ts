/** Every regular expression that the pipeline or a server runs on what strangers send, out of the source: a new one is found by
 *  itself (RELIABILITY A24). */
import { join } from "node:path";
import { ROOT } from "../paths.ts";
import { importsOf } from "../../house/fence/source.ts";

export interface Pattern {
  file: string;
  source: string;
  flags: string;
}

const PIPELINE = ["src/pipeline/index.ts", "src/pipeline/markdown/thread.ts"];
const SERVER = ["server.ts"];
/** These read what is the operator's own, or run in a browser. */
const OWN = /^src\/(?:operator|config|command|web\/browser|comments\/widget)\//;

/** The entries and all that they import, of values and of types. */
export async function filesOf(entries: readonly string[] = PIPELINE): Promise<string[]> {
  const seen = new Set(entries);
  for (const path of seen) {
    const text = await Bun.file(join(ROOT, path)).text();
    for (const { name } of importsOf(path, text)) if (/^src\/.*\.ts$/.test(name)) seen.add(name);
  }
  return [...seen].toSorted();
}

const TOKENS =
  /\/\/[^\n]*|\/\*[^]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|(?<=(?:[(,=:[!&|?;{+]|=>|\breturn|\bcase)\s*)\/(?![/*])((?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)/g;

/** Literals, as `bun fmt` lays them out. */
export function literalsIn(file: string, text: string): Pattern[] {
  return [...text.matchAll(TOKENS)]
    .filter((found) => found[1] !== undefined)
    .map((found) => ({ file, source: found[1]!, flags: found[2]! }));
}

/** The files that read what strangers send. */
export const readers = async (): Promise<string[]> =>
  (await filesOf([...PIPELINE, ...SERVER])).filter((path) => !OWN.test(path) && !SERVER.includes(path));

/** The code with its strings and expressions emptied, and without its comments. */
export const codeAlone = (text: string): string =>
  text.replace(TOKENS, (found) => (/^\/[/*]/.test(found) ? " " : found.startsWith("/") ? "/x/" : '""'));

export async function literals(): Promise<Pattern[]> {
  const files = await readers();
  return (
    await Promise.all(files.map(async (file) => literalsIn(file, await Bun.file(join(ROOT, file)).text())))
  ).flat();
}

/** Run in a process of its own, where no module is there yet: what `new RegExp` is called with as they are loaded. */
const RECORD = `
  await import("marked");
  const Real = RegExp, made = new Map();
  globalThis.RegExp = new Proxy(Real, { construct(target, [source, flags]) {
    const one = new target(source, flags);
    made.set(one.source + "/" + one.flags, { file: "new RegExp", source: one.source, flags: one.flags });
    return one;
  } });
  for (const path of process.argv.slice(1)) await import(path);
  globalThis.RegExp = Real;
  console.log(JSON.stringify([...made.values()]));`;

/** Expressions that are put together as their module is loaded. */
export async function madePatterns(): Promise<Pattern[]> {
  const pipeline = (await filesOf()).filter((path) => path !== "src/pipeline/markdown/thread.ts");
  const texts = await Promise.all(
    (await readers()).map(async (path) => ({ path, text: await Bun.file(join(ROOT, path)).text() })),
  );
  const making = texts.filter(({ text }) => text.includes("new RegExp(")).map(({ path }) => path);
  const files = [...new Set([...pipeline, ...making])];
  const child = Bun.spawn([process.execPath, "-e", RECORD, ...files.map((path) => join(ROOT, path))], {
    stdout: "pipe",
  });
  return JSON.parse(await child.stdout.text()) as Pattern[];
}
