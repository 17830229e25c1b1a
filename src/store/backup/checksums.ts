/** The list that makes a backup whole: written last, and readable by `sha256sum -c`. */
import { open, readFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { flushFolder } from "../disk/durable.ts";

export const CHECKSUMS = "SHA256SUMS";
const UNFINISHED = `${CHECKSUMS}.unfinished`;

export interface CopiedFile {
  /** Below the backup's folder, with `/`. */
  path: string;
  sha256: string;
}

export interface Checksums {
  /** The schema of the database that was copied. */
  schema: number;
  created_at: string;
  entries: CopiedFile[];
}

const HEAD = /^# svc backup 1, schema (\d+), taken (\S+)$/;
const LINE = /^([0-9a-f]{64}) {2}(db|secrets|brands\.txt|blobs\/[0-9a-f]{2}\/[0-9a-f]{64})$/;

/** Adds entries as they are copied; only `finish` gives the list the name by which a restore knows it. */
export async function writeChecksums(folder: string, about: Omit<Checksums, "entries">) {
  const file = await open(join(folder, UNFINISHED), "wx", 0o600);
  let files = 0;
  await file.appendFile(`# svc backup 1, schema ${about.schema}, taken ${about.created_at}\n`);
  return {
    async add(entries: readonly CopiedFile[]): Promise<void> {
      files += entries.length;
      await file.appendFile(entries.map(({ path, sha256 }) => `${sha256}  ${path}\n`).join(""));
    },
    async finish(): Promise<void> {
      await file.appendFile(`# complete, ${files} files\n`);
      await file.sync();
      await file.close();
      await flushFolder(folder);
      await rename(join(folder, UNFINISHED), join(folder, CHECKSUMS));
      await flushFolder(folder);
    },
    close: (): Promise<void> => file.close().catch(() => {}),
  };
}

const incomplete = (folder: string): Error =>
  new Error(`The backup in ${folder} is incomplete: it was interrupted, or its ${CHECKSUMS} was changed. Use another.`);

/** Throws a sentence if the folder holds no backup, or half of one. */
export async function readChecksums(folder: string): Promise<Checksums> {
  const text = await readFile(join(folder, CHECKSUMS), "utf8").catch(() => null);
  if (text === null) {
    const begun = await stat(join(folder, UNFINISHED)).catch(() => null);
    throw begun ? incomplete(folder) : new Error(`There is no backup in ${folder}: no file ${CHECKSUMS} is there.`);
  }
  const [first = "", ...lines] = text.split("\n");
  const head = HEAD.exec(first);
  const entries = lines.slice(0, -2).map((line) => LINE.exec(line));
  if (!head || lines.at(-1) !== "" || lines.at(-2) !== `# complete, ${entries.length} files`) throw incomplete(folder);
  if (entries.some((entry) => entry === null)) throw incomplete(folder);
  return {
    schema: Number(head[1]),
    created_at: head[2]!,
    entries: entries.map((entry) => ({ sha256: entry![1]!, path: entry![2]! })),
  };
}
