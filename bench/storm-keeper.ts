/** The process of bench/storm-bare.ts that stores uploads: each file that it is told of goes to disk as bench/floor.ts has it. */
import { readFile, rm } from "node:fs/promises";
import { floor } from "./floor.ts";

process.on("message", async (path: string) => {
  const zip = await readFile(path);
  await rm(path);
  await floor(zip, `${path}-files`);
  process.send!(path);
});
