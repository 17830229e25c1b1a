/** Sites that others published on npm, as their packages hold them. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { collectDist } from "../../../lib.ts";
import { run } from "../../kit/process.ts";

/** A row of a list: `name@version`, the folder of the package, and what its tarball must be. */
export type NpmSite = readonly [spec: string, folder: string, integrity?: string];

/** The files of a package's folder, fetched by npm; nothing of the package runs. */
export async function npmSite([spec, folder, integrity]: NpmSite): Promise<Map<string, Uint8Array>> {
  const room = await mkdtemp(join(tmpdir(), "svc-npm-"));
  try {
    const packed = await run(["npm", "pack", "--silent", "--pack-destination", room, spec], { cwd: room });
    if (packed.code !== 0) throw new Error(`npm has no ${spec}: ${packed.stderr}`);
    const tarball = join(room, packed.stdout.trim().split("\n").at(-1)!);
    const digest = new Bun.CryptoHasher("sha512").update(await Bun.file(tarball).bytes()).digest("base64");
    if (integrity && integrity !== `sha512-${digest}`) throw new Error(`${spec} is not what it was: sha512-${digest}`);
    const unpacked = await run(["tar", "-xzf", tarball, "--no-same-owner", "--strip-components=1", "-C", room]);
    if (unpacked.code !== 0) throw new Error(`${spec} cannot be unpacked: ${unpacked.stderr}`);
    await rm(tarball);
    return await collectDist(join(room, folder));
  } finally {
    await rm(room, { recursive: true });
  }
}
