/** Each file of the data folder missing, empty, garbage or a folder, before a start and while a server runs, with real
 *  processes: `bun test/torture/data-folder.ts`, about four minutes. A start comes up or says which file and what to do; a
 *  running server answers rightly or with an error, and where it ends (a page that SQLite has mapped was cut) the next
 *  start is what it would have been before. */
import { join } from "node:path";
import { startProcess, temporaryFolder } from "../kit/process.ts";
import { blobsIn, CASES, harmedCopy, harmRunning, makeFolder, type Site, worksOn } from "../store/data-folder.ts";

type Case = (typeof CASES)[number];

await using home = await temporaryFolder();
const made = join(home.path, "made");
const site: Site = await makeFolder(made);

/** What the start said; null where it came up. */
async function refusal(data_dir: string): Promise<string | null> {
  try {
    const server = await startProcess(["--data-dir", data_dir, "--log", "off"]);
    await server.end();
    return null;
  } catch (error) {
    return String((error as Error).message);
  }
}

async function beforeStart(data_dir: string, one: Case): Promise<string> {
  harmedCopy(made, data_dir, one);
  const blobs = blobsIn(data_dir);
  if (typeof one.outcome === "number") {
    const server = await startProcess(["--data-dir", data_dir, "--log", "off"]);
    await worksOn(server, site, one.outcome).finally(() => server.end());
    return `starts, ${one.outcome}`;
  }
  const said = await refusal(data_dir);
  if (said === null || !one.outcome.test(said)) throw new Error(`the start said ${said}`);
  if (blobsIn(data_dir) !== blobs) throw new Error("blobs are gone");
  return "refused";
}

async function whileRunning(data_dir: string, one: Case): Promise<string> {
  harmedCopy(made, data_dir, { file: "tmp/left", harm: "missing" });
  const { before, deploy, ended } = await harmRunning(data_dir, site, one);
  const said = await refusal(data_dir);
  if (said !== null && !said.includes(data_dir)) throw new Error(`the next start said ${said}`);
  const [first] = (said ?? "").split(": ").slice(-2);
  return `page ${before}, deploy ${deploy}${ended === null ? "" : `, ended ${ended}`}; then ${said === null ? "starts" : `refused (${first?.slice(0, 40)})`}`;
}

const only = process.argv[2] ?? "";
for (const one of CASES) {
  if (!one.file.startsWith(only)) continue;
  const name = `${one.file.slice(0, 20)} ${one.harm}`.padEnd(32);
  for (const [when, run] of [
    ["before", beforeStart],
    ["running", whileRunning],
  ] as const) {
    await using dir = await temporaryFolder();
    try {
      process.stdout.write(`${name} ${when.padEnd(8)} ${await run(join(dir.path, "data"), one)}\n`);
    } catch (error) {
      process.stdout.write(`${name} ${when.padEnd(8)} ${(error as Error).message}\n`);
      process.exitCode = 1;
    }
  }
}
process.stdout.write(process.exitCode ? "see above\n" : `no violation: ${CASES.length} harms, twice each\n`);
