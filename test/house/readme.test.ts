/** README.md's commands are those of package.json; what it shows of a terminal is in transcripts.test.ts. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import packageJson from "../../package.json";
import { ROOT } from "../kit/paths.ts";

const readme = await Bun.file(join(ROOT, "README.md")).text();
/** The fenced blocks of a language. */
const blocks = (language: string): string[] =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, "gm"))].map(([, text]) => text!);

test("the first block begins with the clone, and goes on with a command of the checkout", () => {
  const [clone, demo] = blocks("sh")[0]!.split("\n");
  expect(clone).toStartWith("git clone ");
  expect(clone).toEndWith(" svc && cd svc");
  expect(demo).toStartWith(`npx -y ${packageJson.packageManager} run demo `);
});

test("every command of the project that it names is one", () => {
  const named = [...readme.matchAll(/\bbun(?:@[\d.]+)? run ([a-z]+)/g)].map(([, name]) => name!);
  expect(new Set(named)).toEqual(new Set(["demo", "verify", "build", "torture"]));
  expect(named.filter((name) => !(name in packageJson.scripts))).toEqual([]);
});

test("it is short: a person reads it in five minutes", () => {
  expect(readme.split("\n").length - 1).toBeLessThanOrEqual(170);
});
