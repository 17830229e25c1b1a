/** `bun run build --all`: for every platform the programs are compiled and packed, and beside the archives lie their
 *  sums, the list of what is inside them and the installer. */
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { ROOT, say } from "../run.ts";
import { type Archive, archiveOf, sumLine } from "./archives.ts";
import { sbom } from "./sbom.ts";

const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "windows-x64", "windows-arm64"] as const;

/** Compiles a program for a platform into a file. */
type Compile = (program: string, outfile: string, platform: string) => Promise<void>;

async function packed(program: string, platform: string, compile: Compile): Promise<Archive> {
  const folder = await mkdtemp(join(tmpdir(), "svc-build-"));
  try {
    const outfile = join(folder, platform.startsWith("windows-") ? `${program}.exe` : program);
    await compile(program, outfile, platform);
    return await archiveOf(program, platform, await Bun.file(outfile).bytes());
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function archives(programs: readonly string[], outdir: string, compile: Compile): Promise<string> {
  let sums = "";
  for (const program of programs) {
    for (const platform of PLATFORMS) {
      const archive = await packed(program, platform, compile);
      const file = join(outdir, archive.name);
      await Bun.write(file, archive.bytes);
      sums += sumLine(archive);
      say(`${relative(ROOT, file)}: ${(archive.bytes.length / 2 ** 20).toFixed(1)} MB`);
    }
  }
  return sums;
}

export async function release(programs: readonly string[], outdir: string, compile: Compile): Promise<void> {
  await Bun.write(join(outdir, "SHA256SUMS"), await archives(programs, outdir, compile));
  await Bun.write(join(outdir, "sbom.cdx.json"), await sbom());
  await copyFile(join(ROOT, "scripts", "install.sh"), join(outdir, "install.sh"));
}
