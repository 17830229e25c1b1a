/** The files of `DATA` that all boxes of a service have alike, as texts by their names (SCALE 4). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { durable } from "./durable.ts";

const NAMES = ["secrets", "brands.txt"] as const;

/** Without those that are not there. */
function readTexts(data_dir: string): Map<string, string> {
  const texts = new Map<string, string>();
  for (const name of NAMES) {
    try {
      texts.set(name, readFileSync(join(data_dir, name), "utf8"));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  return texts;
}

/** Writes those that are other here. A name that this program does not know is a newer one's. */
function putTexts(data_dir: string, texts: ReadonlyMap<string, string>): void {
  const own = readTexts(data_dir);
  for (const name of NAMES) {
    const text = texts.get(name);
    if (text !== undefined && text !== own.get(name)) durable.putPrivate(data_dir, name, text);
  }
}

export const alikeFiles = { read: readTexts, put: putTexts };
