/** Sites that others published on npm, as their packages hold them. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { collectDist } from "../../../lib.ts";
import { run } from "../../kit/process.ts";

/** The files of a package's folder, fetched by npm; nothing of the package runs. `spec`: `name@version`. */
export async function npmSite(spec: string, folder: string): Promise<Map<string, Uint8Array>> {
  const room = await mkdtemp(join(tmpdir(), "svc-npm-"));
  try {
    const packed = await run(["npm", "pack", "--silent", "--pack-destination", room, spec], { cwd: room });
    if (packed.code !== 0) throw new Error(`npm has no ${spec}: ${packed.stderr}`);
    const tarball = join(room, packed.stdout.trim().split("\n").at(-1)!);
    const unpacked = await run(["tar", "-xzf", tarball, "--no-same-owner", "--strip-components=1", "-C", room]);
    if (unpacked.code !== 0) throw new Error(`${spec} cannot be unpacked: ${unpacked.stderr}`);
    await rm(tarball);
    return await collectDist(join(room, folder));
  } finally {
    await rm(room, { recursive: true });
  }
}
