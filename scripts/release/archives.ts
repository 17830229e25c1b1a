/** What one downloads: a program and the licence, packed for its system, and the sums of all of them. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { tarOf, type PackedFile } from "../../src/base/tar.ts";
import { ROOT } from "../run.ts";
import { zipOf } from "./zip.ts";

export interface Archive {
  /** Of the file: `svc-linux-x64.tar.gz`. */
  name: string;
  bytes: Uint8Array;
}

const gzipped = promisify(gzip);

const isWindows = (platform: string): boolean => platform.startsWith("windows-");

/** `binary`: the program's bytes. In the archive it has its plain name. */
export async function archiveOf(program: string, platform: string, binary: Uint8Array): Promise<Archive> {
  const windows = isWindows(platform);
  const licence = await Bun.file(join(ROOT, "LICENSE")).bytes();
  const entries: PackedFile[] = [
    { name: windows ? `${program}.exe` : program, bytes: binary, mode: 0o755 },
    { name: "LICENSE", bytes: licence, mode: 0o644 },
  ];
  const bytes = windows ? await zipOf(entries) : await gzipped(tarOf(entries), { level: 9 });
  return { name: `${program}-${platform}${windows ? ".zip" : ".tar.gz"}`, bytes };
}

const sumOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** A line as `sha256sum --check` reads it. */
export const sumLine = ({ name, bytes }: Archive): string => `${sumOf(bytes)}  ${name}\n`;
