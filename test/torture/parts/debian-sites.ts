/** Sites that packages of Debian hold, as those install them. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { collectDist } from "../../../lib.ts";
import { run } from "../../kit/process.ts";

/** A site: the package, its version, the folder in it, and the SHA-256 of the package's file. */
export type DebianSite = readonly [name: string, version: string, folder: string, sha256: string];

export type Kind = "manual" | "library" | "page";

/** A list's sites by kind: `kind name version folder sha256`, one a line. */
export function byKind(list: string): Record<Kind, readonly DebianSite[]> {
  const rows = list
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split(" "));
  const sites = (kind: Kind): DebianSite[] =>
    rows
      .filter((row) => row[0] === kind)
      .map(([, name, version, folder, sha256]) => [name!, version!, folder!, sha256!]);
  return { manual: sites("manual"), library: sites("library"), page: sites("page") };
}

async function runs(what: string, command: string[], cwd: string): Promise<void> {
  const done = await run(command, { cwd }).catch((error: Error) => ({ code: 1, stderr: error.message }));
  if (done.code !== 0) throw new Error(`${what}: ${done.stderr}`);
}

/** The files of a package's folder, fetched by apt-get; nothing of the package is installed or runs. Throws where
 *  Debian has replaced that version. */
export async function debianSite([name, version, folder, sha256]: DebianSite): Promise<Map<string, Uint8Array>> {
  const room = await mkdtemp(join(tmpdir(), "svc-debian-"));
  try {
    const lacks = `This set needs a Debian 12 with its lists (apt-get update), which has no ${name} ${version}`;
    await runs(lacks, ["apt-get", "download", "-qq", `${name}=${version}`], room);
    const [file] = await readdir(room);
    const digest = new Bun.CryptoHasher("sha256").update(await Bun.file(join(room, file!)).bytes()).digest("hex");
    if (digest !== sha256) throw new Error(`${name} ${version} is not what it was: ${digest}`);
    await runs(`${name} cannot be unpacked`, ["dpkg-deb", "--extract", file!, "files"], room);
    return await collectDist(join(room, "files", folder));
  } finally {
    await rm(room, { recursive: true });
  }
}
