/** kill -9 amid an upgrade, from each schema that ever landed: `bun run torture upgrades [rounds]`. About five minutes.
 *  K36: after each step, and at random moments several times in a row, the next start goes on; at the end schema, rows and
 *  pages are those of an upgrade that nobody interrupted, and `verify` finds nothing. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { operate } from "../kit/operator.ts";
import { enlarge, expectOldFacts, OLD_SCHEMAS, type OldFacts, shapeOf, unpackOldFolder } from "../kit/old-folders.ts";
import { startProcess, SVC_SERVER, temporaryFolder } from "../kit/process.ts";

const ROUNDS = Number(process.argv[2] ?? 2);
/** Versions that the owned site is given: an upgrade from schema 2 then takes some hundred milliseconds. */
const COPIES = 3000;
/** So many kills in a row at most; then it is let end. */
const KILLS = 3;

const flagsOf = (data_dir: string) => ["--data-dir", data_dir, "--log", "off"];

/** Lets it end; returns what is there then. */
async function finished(data_dir: string, facts: OldFacts) {
  const server = await startProcess(flagsOf(data_dir));
  try {
    await expectOldFacts(server, facts);
  } finally {
    server.kill("SIGTERM");
    await server.exited;
  }
  await operate(data_dir, "verify");
  return { shape: shapeOf(data_dir), told: server.stderr() };
}

/** Starts it and kills it when `due` resolves. True if it was not ready by then. */
async function killed(
  data_dir: string,
  due: (stderr: ReadableStream<Uint8Array>) => Promise<unknown>,
): Promise<boolean> {
  const child = Bun.spawn([...SVC_SERVER, "--port", "0", ...flagsOf(data_dir)], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "" },
  });
  await Promise.race([due(child.stderr), child.exited]);
  child.kill("SIGKILL");
  await child.exited;
  return (await child.stdout.text()) === "";
}

/** Resolves when `steps` steps are said to be done. */
const afterSteps = (steps: number) => async (stderr: ReadableStream<Uint8Array>) => {
  let text = "";
  for await (const chunk of stderr) {
    text += Buffer.from(chunk).toString();
    if ((text.match(/ after \d+ ms/g) ?? []).length >= steps) return;
  }
};

function same(what: string, found: unknown, expected: unknown): void {
  if (Bun.deepEquals(found, expected)) return;
  throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
}

for (const schema of OLD_SCHEMAS) {
  await using dir = await temporaryFolder();
  const [before, whole] = [join(dir.path, "before"), join(dir.path, "whole")];
  const facts = await unpackOldFolder(schema, before);
  enlarge(before, facts, COPIES);
  cpSync(before, whole, { recursive: true });
  const began = performance.now();
  const { shape, told } = await finished(whole, facts);
  const took = performance.now() - began;
  const steps = (told.match(/ after \d+ ms/g) ?? []).length;
  let met = 0;
  const moments = [
    ...Array.from({ length: steps }, (_, n) => [afterSteps(n + 1)]),
    ...Array.from({ length: ROUNDS }, () =>
      Array.from({ length: KILLS }, () => () => Bun.sleep(Math.random() * took * 0.6)),
    ),
  ];
  for (const [n, kills] of moments.entries()) {
    const data_dir = join(dir.path, `killed-${n}`);
    cpSync(before, data_dir, { recursive: true });
    for (const due of kills) if (await killed(data_dir, due)) met++;
    same(`schema ${schema}, round ${n}`, (await finished(data_dir, facts)).shape, shape);
  }
  process.stdout.write(
    `schema ${schema}: ${steps} steps, ${moments.length} rounds, ${met} kills before it was ready\n`,
  );
}
process.stdout.write("no violation\n");
