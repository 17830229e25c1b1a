/** SCALE 3 and 4: tests of several servers can fail. In a copy of the source one line is another, and the test that is for that line fails
 *  there. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { outcomeOf } from "../kit/on-postgres.ts";
import { ROOT } from "../kit/paths.ts";
import { temporaryFolder } from "../kit/process.ts";

setDefaultTimeout(240_000);

const COPIED = [
  "src",
  "test/kit",
  "test/store",
  "scripts",
  "server.ts",
  "lib.ts",
  "package.json",
  "bunfig.toml",
  "tsconfig.json",
  "types",
];
const LINKED = ["node_modules", "test/tools", "test/fixtures", "test/statistics", "docs"];
const RUN_MS = 150_000;

const NUMBERS = "blob_no = any(?::bigint[])";
const HASHES = "sha256 = any(?::text[])";

test.each<[what: string, path: string, lines: readonly (readonly [string, string])[], file: string, title: string]>([
  [
    "nobody waits for the other boxes (X5)",
    "src/store/postgres/box.ts",
    [["const WAIT_MS = 2500;", "const WAIT_MS = 0;"]],
    "test/store/boxes.long.test.ts",
    "a deploy that is answered is what the other box shows",
  ],
  [
    "keys are without the row's number",
    "src/store/bucket/objects.ts",
    [["`${sha256}-${blob_no}`", "sha256"]],
    "test/store/bucket.long.test.ts",
    "a deletion that comes late hits nothing",
  ],
  [
    "marks are by hash",
    "src/store/bucket/place.ts",
    [
      [`where ${NUMBERS} order by`, `where ${HASHES} order by`],
      [`stored = true where ${NUMBERS}`, `stored = true where ${HASHES}`],
      [`where stored and ${NUMBERS}`, `where stored and ${HASHES}`],
      ["({ blob_no }) => blob_no", "({ sha256 }) => sha256"],
    ],
    "test/store/bucket.long.test.ts",
    "a row that a sweep takes while its object is put is made anew",
  ],
])("where %s, the test of it fails", async (_, path, lines, file, title) => {
  await using folder = await temporaryFolder();
  await mkdir(join(folder.path, "test"));
  for (const one of COPIED) await cp(join(ROOT, one), join(folder.path, one), { recursive: true });
  for (const one of LINKED) await symlink(join(ROOT, one), join(folder.path, one));
  const run = async () => {
    const { SVC_TEST_SERVER: _, ...env } = process.env; // that one is compiled of the source as it is
    const child = Bun.spawn([process.execPath, "test", "--timeout=90000", `./${file}`, "-t", title], {
      cwd: folder.path,
      env: { ...env, SVC_TEST_RUN: "1", SVC_TEST_ALL: "1" },
      stdio: ["ignore", "ignore", "pipe"],
      timeout: RUN_MS,
    });
    const output = await child.stderr.text();
    return { ...outcomeOf(output), output };
  };
  const before = await run();
  if (before.passed !== 1 || before.failed.length > 0) throw new Error(`It fails as it is: ${before.output}`);
  const text = await readFile(join(folder.path, path), "utf8");
  let changed = text;
  for (const [line, other] of lines) {
    expect(changed.split(line)).toHaveLength(2);
    changed = changed.replace(line, () => other);
  }
  await writeFile(join(folder.path, path), changed);
  const { passed, failed } = await run();
  expect(passed).toBe(0);
  expect(failed).toEqual([expect.stringContaining(title)]);
});
