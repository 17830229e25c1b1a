/** The files of `DATA` that all boxes of a service have alike, as texts by their names (SCALE 4): secrets, brands, and the certificates that
 *  the service has ordered. Those that an operator put beside them are each box's own. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { certificateFiles } from "./certificate-files.ts";
import { durable } from "./durable.ts";
import FIRST_BRANDS from "./first-brands.txt" with { type: "text" };

const PLAIN = ["secrets", "brands.txt"] as const;

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT";

/** The plain ones, without those that are not there. */
function readPlain(data_dir: string): Map<string, string> {
  const texts = new Map<string, string>();
  for (const name of PLAIN) {
    try {
      texts.set(name, readFileSync(join(data_dir, name), "utf8"));
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  return texts;
}

/** Writes those plain ones that are other here. */
function putPlain(data_dir: string, texts: ReadonlyMap<string, string>): void {
  const own = readPlain(data_dir);
  for (const name of PLAIN) {
    const text = texts.get(name);
    if (text !== undefined && text !== own.get(name)) durable.putPrivate(data_dir, name, text);
  }
}

async function isOther(data_dir: string, name: string, text: string | undefined): Promise<boolean> {
  const own = await readFile(join(data_dir, name), "utf8").catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  return own !== text;
}

/** Makes all of them here what they are elsewhere. A name that this program does not know is a newer one's. */
async function putAll(data_dir: string, texts: ReadonlyMap<string, string>): Promise<void> {
  putPlain(data_dir, texts);
  const account = texts.get(certificateFiles.ACCOUNT);
  if (account !== undefined) await certificateFiles.accountKey(data_dir, () => account);
  const manual = new Set(await certificateFiles.manual(data_dir));
  const names = [...texts.keys()].flatMap((name) => certificateFiles.nameIn(name) ?? []);
  for (const name of new Set(names)) {
    const [key, chain] = certificateFiles.pathsOf(name).map((path) => texts.get(path));
    if (manual.has(name) || key === undefined || chain === undefined) continue;
    const [key_path, chain_path] = certificateFiles.pathsOf(name);
    const differs = (await isOther(data_dir, key_path, key)) || (await isOther(data_dir, chain_path, chain));
    if (differs) await certificateFiles.put(data_dir, name, { key, chain });
  }
  for (const name of await certificateFiles.names(data_dir)) {
    if (!manual.has(name) && names.every((one) => one !== name)) await certificateFiles.remove(data_dir, name);
  }
}

export const alikeFiles = { readPlain, putPlain, putAll };

// `DATA/brands.txt`: brands that phishing pages borrow. The first start makes the file; then it is the operator's.

export const BRANDS = "brands.txt";
const fileOf = (data_dir: string): string => join(data_dir, BRANDS);

export function prepareBrands(data_dir: string): void {
  if (!existsSync(fileOf(data_dir))) writeFileSync(fileOf(data_dir), FIRST_BRANDS, { mode: 0o600 });
}

/** Empty if the operator has removed the file: then there are none until the next start. */
export function readBrands(data_dir: string): string {
  try {
    return readFileSync(fileOf(data_dir), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
