/** CONTRACT 9: the 512 MB of a page are those of all its processes together, shared memory too, wherever it lies. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPageProcess } from "../../src/render/engine.ts";
import { removeFolder } from "../kit/process.ts";
import { until } from "../kit/until.ts";

let room: string;
beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "svc-memory-"));
});
afterAll(() => removeFolder(room));

/** A program in place of the engine's, which maps so many megabytes of one file in as many pieces, as a browser does where
 *  /dev/shm is small: nobody sees the file any more. */
const mapping = (megabytes: number, pieces: number, folder: string): string => `
  const { closeSync, ftruncateSync, openSync, unlinkSync, writeFileSync } = require("node:fs");
  const size = ${megabytes} * 1048576 / ${pieces};
  globalThis.all = Array.from({ length: ${pieces} }, (_, n) => {
    const file = ${JSON.stringify(folder)} + "/shared-" + n;
    const open = openSync(file, "w+");
    ftruncateSync(open, size);
    closeSync(open);
    const mapped = Bun.mmap(file, { shared: true });
    unlinkSync(file);
    for (let at = 0; at < mapped.length; at += 4096) globalThis.read = mapped[at];
    return mapped;
  });
  writeFileSync(${JSON.stringify(folder)} + "/there", "");
  setInterval(() => {}, 1000);
`;

async function outcome(megabytes: number, pieces: number): Promise<string> {
  const folder = join(room, `${megabytes}-${pieces}`);
  await mkdir(folder);
  const program = [process.execPath, "-e", mapping(megabytes, pieces, folder)];
  const page = startPageProcess({ try: { program: "", sandbox: false, folder } }, 20_000, program);
  let over = false;
  const ended = page.done.catch(() => {}).then(() => (over = true));
  await until(() => over || existsSync(join(folder, "there")));
  await Promise.race([ended, Bun.sleep(500)]);
  page.kill();
  return page.done.then(
    () => "answered",
    (error: Error) => error.message,
  );
}

describe("CONTRACT 9: shared memory that lies in files counts", () => {
  test.each([
    [600, 1, "The page was given up: it took more than 512 MB of memory."],
    [600, 150, "The page was given up: it took more than 512 MB of memory."],
    [200, 50, "The browser that looked at the page crashed."], // it was ended here
  ])("%i MB in %i files", async (megabytes, pieces, told) => expect(await outcome(megabytes, pieces)).toBe(told));
});
