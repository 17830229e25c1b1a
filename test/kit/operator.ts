/** `svc-server <command>` as an operator runs it: a process of its own on the data directory, the server running or not. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { read } from "./database.ts";
import { databases, onlyEmbedded, settingsOf } from "./database-server.ts";
import { SVC_SERVER } from "./process.ts";

export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a command to its end. `input` is what stdin has; the environment holds nothing of the developer's shell. */
export async function operator(
  data_dir: string,
  argv: readonly string[],
  options: { input?: string; env?: Record<string, string> } = {},
): Promise<CommandResult> {
  const address = databases.addressOf(data_dir);
  const elsewhere = address.database_url !== undefined;
  if (elsewhere && address.bucket === undefined)
    throw onlyEmbedded("no setting has a database without a bucket (SCALE 1)");
  const child = Bun.spawn([...SVC_SERVER, ...argv, "--data-dir", data_dir], {
    stdin: new Blob([options.input ?? ""]),
    stdout: "pipe",
    stderr: "pipe",
    env: {
      PATH: process.env.PATH ?? "",
      HOME: process.env.HOME ?? "",
      ...(elsewhere && settingsOf(address)),
      ...options.env,
    },
  });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, stdout, stderr };
}

/** The same, where anything but exit code 0 is a fault of the test. */
export async function operate(data_dir: string, ...argv: string[]): Promise<CommandResult> {
  const result = await operator(data_dir, argv);
  if (result.code !== 0) throw new Error(`svc-server ${argv.join(" ")} ended with ${result.code}: ${result.stderr}`);
  return result;
}

/** Parses what a command prints with `--json`. */
export const listed = async <T>(data_dir: string, command: "sites" | "reports" | "audit"): Promise<T[]> =>
  JSON.parse((await operate(data_dir, command, "--json")).stdout) as T[];

export interface AuditLine {
  at: string;
  actor: string;
  action: string;
  site_id: string | null;
  account_id: string | null;
  reason: string | null;
}

/** The folder of the stored files. */
export function blobsFolder(data_dir: string): string {
  if (databases.bucketOf(data_dir) !== undefined) throw onlyEmbedded("its blobs are files");
  return join(data_dir, "blobs");
}
/** The stored files: those in the folder, or those of which a bucket's store has rows. */
export const storedBlobs = (data_dir: string): string[] =>
  databases.bucketOf(data_dir) === undefined
    ? readdirSync(blobsFolder(data_dir), { recursive: true })
        .map(String)
        .filter((path) => path.includes("/"))
    : read<{ sha256: string }>(data_dir, "select sha256 from blobs order by 1").map(({ sha256 }) => sha256);
/** The path under which bytes of this hash are stored. */
export const blobOf = (data_dir: string, sha256: string): string =>
  join(blobsFolder(data_dir), sha256.slice(0, 2), sha256);
/** The path under which the bytes of a text are stored. */
export const blobFile = (data_dir: string, contents: string | Uint8Array): string =>
  blobOf(data_dir, new Bun.CryptoHasher("sha256").update(contents).digest("hex"));
