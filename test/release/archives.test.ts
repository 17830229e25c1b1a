/** CONTRACT 8: what `bun run build --all` writes beside the compiler's work, with small files for the programs. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unzipSync } from "fflate";
import packageJson from "../../package.json";
import { release } from "../../scripts/release/index.ts";
import { ROOT, TOOLS } from "../kit/paths.ts";

const PROGRAMS = ["svc", "svc-server"];
const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "windows-x64", "windows-arm64"];
const archiveName = (program: string, platform: string): string =>
  `${program}-${platform}${platform.startsWith("windows") ? ".zip" : ".tar.gz"}`;
const ARCHIVES = PROGRAMS.flatMap((program) => PLATFORMS.map((platform) => archiveName(program, platform)));

/** What a fake of the compiler makes; longer than a block of tar, and not a whole number of them. */
const contents = (program: string, platform: string): string => `${program} for ${platform}\n`.repeat(100);

let folder: string;
const build = (outdir: string): Promise<void> =>
  release(PROGRAMS, outdir, async (program, outfile, platform) => {
    await Bun.write(outfile, contents(program, platform));
  });
const read = (name: string): Promise<string> => Bun.file(join(folder, name)).text();
const run = (...command: string[]): Promise<string> => Bun.spawn(command, { cwd: folder }).stdout.text();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-release-"));
  await build(folder);
});
afterAll(() => rm(folder, { recursive: true }));

test("an archive for each program and platform, their sums, the list of what is inside and the installer", async () => {
  const beside = ["SHA256SUMS", "sbom.cdx.json", "install.sh"];
  expect((await readdir(folder)).toSorted()).toEqual([...ARCHIVES, ...beside].toSorted());
  expect(await read("install.sh")).toBe(await Bun.file(join(ROOT, "scripts", "install.sh")).text());
});

test.each(ARCHIVES.filter((name) => name.endsWith(".tar.gz")))(
  "%s: the program under its plain name, 0755, and LICENSE",
  async (name) => {
    const [, program, platform] = /^(svc|svc-server)-([a-z]+-[a-z0-9]+)\./.exec(name)!;
    const rows = (await run("tar", "-tvzf", name))
      .trim()
      .split("\n")
      .map((row) => row.split(/\s+/));
    expect(rows.map(([mode, , , , , file]) => [mode, file])).toEqual([
      ["-rwxr-xr-x", program!],
      ["-rw-r--r--", "LICENSE"],
    ]);
    expect(await run("tar", "-xzOf", name, program!)).toBe(contents(program!, platform!));
  },
);

test.each(ARCHIVES.filter((name) => name.endsWith(".zip")))("%s: the program with .exe, and LICENSE", async (name) => {
  const [, program, platform] = /^(svc|svc-server)-([a-z]+-[a-z0-9]+)\./.exec(name)!;
  const files = unzipSync(await Bun.file(join(folder, name)).bytes());
  expect(Object.keys(files)).toEqual([`${program}.exe`, "LICENSE"]);
  expect(new TextDecoder().decode(files[`${program}.exe`])).toBe(contents(program!, platform!));
});

test("SHA256SUMS has the sum of each archive, names without folder", async () => {
  const lines = (await read("SHA256SUMS")).trimEnd().split("\n");
  expect(lines.map((line) => line.slice(66))).toEqual(ARCHIVES);
  for (const line of lines) {
    const [, sum, name] = /^([0-9a-f]{64}) {2}(\S+)$/.exec(line)!;
    const bytes = await Bun.file(join(folder, name!)).bytes();
    expect([name, createHash("sha256").update(bytes).digest("hex")]).toEqual([name, sum!]);
  }
});

test("the same programs make the same files, byte by byte", async () => {
  const again = join(folder, "..", `${folder}-again`);
  await build(again);
  for (const name of await readdir(folder)) {
    const [one, other] = await Promise.all([folder, again].map((where) => Bun.file(join(where, name)).bytes()));
    expect([name, Buffer.compare(one!, other!)]).toEqual([name, 0]);
  }
  await rm(again, { recursive: true });
});

describe("sbom.cdx.json", () => {
  interface Bom {
    metadata: { component: { name: string; version: string } };
    components: { name: string; version: string; purl: string; hashes?: unknown[] }[];
  }

  test("keeps the schema of CycloneDX 1.6, as the makers of the format check it", async () => {
    const { Validation, Spec } = await import(Bun.resolveSync("@cyclonedx/cyclonedx-library", TOOLS));
    const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
    expect(await validator.validate(await read("sbom.cdx.json"))).toBeNull();
    const wrong = { ...JSON.parse(await read("sbom.cdx.json")), components: [{ name: "no type" }] };
    expect(await validator.validate(JSON.stringify(wrong))).not.toBeNull();
  });

  test("names the runtime and every package that the programs bundle, with the lock's sum, and no other", async () => {
    const { metadata, components } = JSON.parse(await read("sbom.cdx.json")) as Bom;
    expect(metadata.component).toMatchObject({ name: "svc", version: packageJson.version });
    const threads = await Array.fromAsync(new Bun.Glob("src/**/*thread.ts").scan({ cwd: ROOT }));
    const built = await Bun.build({
      entrypoints: ["server.ts", "cli.ts", ...threads].map((entry) => join(ROOT, entry)),
      target: "bun",
      metafile: true,
    });
    const inputs = Object.keys(built.metafile!.inputs).map((path) => /node_modules\/([^/]+)\//.exec(path)?.[1]);
    const packages = [...new Set(inputs.filter((name) => name !== undefined))].toSorted();
    expect(packages).toEqual(["fflate", "marked"]);
    const version = (name: string) => packageJson.devDependencies[name as "fflate"];
    expect(components.map(({ purl }) => purl)).toEqual([
      `pkg:npm/bun@${Bun.version}`,
      ...packages.map((name) => `pkg:npm/${name}@${version(name)}`),
    ]);
    expect(components.filter(({ hashes }) => hashes?.length === 1)).toHaveLength(packages.length);
  });
});
