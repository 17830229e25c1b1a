/** What the manual has people type exists: each command of `svc` and `svc-server`, each of their flags, each variable. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { COMMANDS } from "../../src/cli/commands/index.ts";
import { SETTINGS } from "../../src/config/settings.ts";
import { commandsHelp } from "../../src/operator/commands.ts";
import { ROOT } from "../kit/paths.ts";

const PAGES = ["README.md", ...[...new Bun.Glob("docs/*.md").scanSync({ cwd: ROOT })].toSorted()];
const read = (page: string): Promise<string> => Bun.file(join(ROOT, page)).text();

/** Lines of shell blocks, with their continuations, and code in a line of prose. */
const codeOf = (page: string): string[] => [
  ...[...page.matchAll(/^ *```(\w*)\n([^]*?)^ *```$/gm)]
    .filter(([, language]) => ["", "sh", "console"].includes(language!))
    .flatMap(([, , text]) => text!.replaceAll(/\\\n\s*/g, " ").split("\n")),
  ...[...page.replaceAll(/^ *```[^]*?^ *```$/gm, "").matchAll(/`([^`\n]+)`/g)].map(([, text]) => text!),
];

/** The words behind a program's name, up to a comment or another command. Only `svc-server` is also called by others. */
const callsOf = (code: readonly string[], program: "svc" | "svc-server"): string[][] => {
  const before = program === "svc" ? "(?:^|[;&|(] *|^\\$ |^(?:[A-Z_]+=\\S+ )+)" : "(?:^|[ ;(/])";
  const call = new RegExp(`${before}${program}((?: +[^\\s;|&#)]+)*)`, "g");
  return code.flatMap((line) =>
    [...line.replace(/ #.*/, "").matchAll(call)].map(([, words]) => words!.trim().split(/ +/).filter(Boolean)),
  );
};

const OPERATORS = commandsHelp();
const operatorWords = new Set(["serve", ...[...OPERATORS.matchAll(/^ {2}([a-z]+)/gm)].map(([, word]) => word!)]);
const flagsIn = (text: string): string[] => text.match(/--[a-z][a-z-]+/g) ?? [];
const serverFlags = new Set([
  ...flagsIn(OPERATORS),
  ...Object.values(SETTINGS).flatMap(({ flag }) => flag ?? []),
  ...["--help", "--version", "--print-config"],
]);
const svcWords = new Set(["help", ...COMMANDS.map(({ name }) => name.split(" ", 1)[0]!)]);
const svcFlags = new Set([
  ...COMMANDS.flatMap(({ flags }) => flags.map(({ name }) => `--${name}`)),
  ...["--help", "--version", "--json", "--quiet"],
]);
/** A folder that the examples deploy. */
const FOLDER = "dist";

const variables = new Set([
  ...Object.values(SETTINGS).flatMap(({ variables }) => variables),
  ...["SVC_TOKEN", "SVC_API_KEY", "SVC_CONFIG_DIR", "SVC_RELEASE", "SVC_DEFAULT_SERVER", "SVC_INSTALL_DIR"],
  ...["SVC_SITE", "SVC_PREVIEW_TOKEN"], // variables of the recipes for CI
  "SVC_BACKUPS", // of the script for nightly backups
]);

describe.each(PAGES)("%s", (page) => {
  test("names commands and flags of svc-server that exist", async () => {
    const calls = callsOf(codeOf(await read(page)), "svc-server");
    if (page === "docs/server-in-ten-minutes.md") expect(calls.length).toBeGreaterThan(3);
    const unknown = calls.flatMap(([first = "", ...rest]) => [
      ...(/^[a-z]+$/.test(first) && !operatorWords.has(first) ? [first] : []),
      ...flagsIn([first, ...rest].join(" ")).filter((flag) => !serverFlags.has(flag)),
    ]);
    expect(unknown).toEqual([]);
  });

  test("names commands and flags of svc that exist", async () => {
    const calls = callsOf(codeOf(await read(page)), "svc");
    if (page === "docs/cli.md") expect(calls.length).toBeGreaterThan(100);
    const unknown = calls.flatMap(([first = "", ...rest]) => [
      ...(/^[a-z]+$/.test(first) && !svcWords.has(first) && first !== FOLDER ? [first] : []),
      ...flagsIn([first, ...rest].join(" ")).filter((flag) => !svcFlags.has(flag)),
    ]);
    expect(unknown).toEqual([]);
  });

  test("names variables that exist", async () => {
    const named = new Set((await read(page)).match(/\bSVC_[A-Z0-9_]*[A-Z0-9]\b/g));
    expect([...named].filter((name) => !variables.has(name))).toEqual([]);
  });
});
