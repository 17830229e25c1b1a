/** The words of a command line: what the scanner makes of the odd ones, and what each program says of them. */
import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasFlag, type KnownFlag, scanArguments } from "../../src/command/arguments.ts";
import { readLine } from "../../src/cli/call.ts";
import { askedFor, readConfig } from "../../src/config/index.ts";
import type { OperatorCommand } from "../../src/operator/command.ts";
import { readWords, wantsHelp } from "../../src/operator/commands.ts";

const TABLE: KnownFlag[] = [
  { name: "site", value: "id" },
  { name: "json" },
  { name: "quiet", short: "q" },
  { name: "version", short: "v" },
];

/** Arguments, and each word of them: an argument as it is, `--flag` or `--flag=value`, `?` before an unknown one. */
const CASES: [args: string[], words: string[]][] = [
  [[], []],
  [[""], ["argument "]],
  [["-"], ["argument -"]],
  [
    ["a", "b"],
    ["argument a", "argument b"],
  ],
  [["--site", "a"], ["--site a"]],
  [["--site=a"], ["--site =a"]],
  [["--site=a=b"], ["--site =a=b"]],
  [["--site="], ["--site ="]],
  [["--site"], ["--site"]],
  [["--site", ""], ["--site "]],
  [["--site", "-5"], ["--site -5"]],
  [["--site", "-qv"], ["--site -qv"]],
  [["--site", "--json"], ["--site --json"]],
  [
    ["--site", "--", "a"],
    ["--site --", "argument a"],
  ],
  [
    ["--site", "a", "--site", "b"],
    ["--site a", "--site b"],
  ],
  [["--json="], ["--json ="]],
  [["--json=1"], ["--json =1"]],
  [
    ["--json", "1"],
    ["--json", "argument 1"],
  ],
  [["-qv"], ["-q", "-v"]],
  [["-qx"], ["-q", "?-x"]],
  [["-q=1"], ["-q", "?-=", "?-1"]],
  [
    ["-q-v", "--json"],
    ["-q", "?--", "-v", "--json"],
  ],
  [["-😀"], ["?-😀"]],
  [["-5"], ["?-5"]],
  [["--jsn"], ["?--jsn"]],
  [
    ["--jsn", "a"],
    ["?--jsn", "argument a"],
  ],
  [["--jsn=1"], ["?--jsn =1"]],
  [["--no-json"], ["?--no-json"]],
  [["--=a"], ["?--"]],
  [["---a"], ["?---a"]],
  [["--q"], ["?--q"]],
  [["--__proto__=a"], ["?--__proto__ =a"]],
  [["--constructor"], ["?--constructor"]],
  [["--"], ["dashes"]],
  [
    ["a", "--", "--json", "-q", "--"],
    ["argument a", "dashes", "behind --json", "behind -q", "behind --"],
  ],
];

type Scan = typeof scanArguments;

const told = (scan: Scan, args: string[], table: KnownFlag[]): string[] =>
  [...scan(args, table)].map((word) => {
    if (word.kind === "dashes") return "dashes";
    if (word.kind === "argument") return `${word.behindDashes ? "behind" : "argument"} ${word.argument}`;
    const value = word.value === undefined ? "" : ` ${word.inline ? "=" : ""}${word.value}`;
    return (word.known === undefined ? "?" : "") + word.written + value;
  });

test.each(CASES)("%j is %j", (args, words) => {
  expect(told(scanArguments, args, TABLE)).toEqual(words);
});

test.each<[string[], boolean]>([
  [["a", "--json"], true],
  [["-vq"], true],
  [["--site", "-q"], false],
  [["--site=-q"], false],
  [["--", "-q"], false],
  [["--site", "--", "-q"], true],
  [["--quiet=1"], false],
])("%j: whether it is quiet or in JSON", (args, given) => {
  expect(hasFlag(args, TABLE, "quiet") || hasFlag(args, TABLE, "json")).toBe(given);
});

test("on Node every word is the same", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-arguments-"));
  const built = await Bun.build({
    entrypoints: [join(import.meta.dir, "..", "..", "src", "command", "arguments.ts")],
    target: "node",
    outdir: folder,
  });
  expect(built.success).toBe(true);
  const program = `
    import { scanArguments } from "./arguments.js";
    const told = ${told.toString()};
    console.log(JSON.stringify(${JSON.stringify(CASES)}.map(([args]) => told(scanArguments, args, ${JSON.stringify(TABLE)}))));`;
  await Bun.write(join(folder, "package.json"), '{"type":"module"}');
  await Bun.write(join(folder, "run.js"), program);
  const child = Bun.spawn(["node", "run.js"], { cwd: folder, stdout: "pipe", stderr: "inherit" });
  const words = JSON.parse(await child.stdout.text()) as string[][];
  await rm(folder, { recursive: true });
  expect(words).toEqual(CASES.map(([, words]) => words));
});

describe("what the programs say", () => {
  const flags = TABLE.map((flag) => ({ ...flag, help: "" }));
  test.each<[string[], string]>([
    [["--site"], "--site needs a value: --site <id>"],
    [["--site", "-5"], "--site needs a value: --site <id>"],
    [["--site", "-"], "--site needs a value: --site <id>"],
    [["--site", "--", "a"], "--site needs a value: --site <id>"],
    [["--site="], "--site was given an empty value."],
    [["--site", ""], "--site was given an empty value."],
    [["--json="], "--json takes no value."],
  ])("svc %j: %s", (args, sentence) => {
    expect(() => readLine(args, flags)).toThrow(sentence);
  });

  test("svc takes the last of a repeated flag, and a value that begins with a dash behind =", () => {
    const { words } = readLine(["--site=a", "--site=-b", "--json", "--json"], flags);
    expect([...words.flags.keys()]).toEqual(["site", "json"]);
    expect(words.given().value("site")).toBe("-b");
    expect(words.given().value("json")).toBeUndefined();
  });

  test.each<[string[], string]>([
    [["--port="], '--port is "": it must be a number from 0 to 65535.'],
    [["--port", "-1"], '--port is "-1": it must be a number from 0 to 65535.'],
    [["--port", "--host"], '--port is "--host": it must be a number from 0 to 65535.'],
    [["--port", "1", "--port"], "--port needs a value: a number from 0 to 65535."],
    [["-p", "1"], "Unknown argument -p: see svc-server --help."],
    [["-pq=1"], "Unknown argument -pq=1: see svc-server --help."],
    [["--prot=1"], "Unknown argument --prot=1: did you mean --port?"],
    [["--", "--port", "1"], "Unknown argument --: see svc-server --help."],
    [["--", "--help"], "Unknown argument --: see svc-server --help."],
    [["--help=1"], "--help takes no value."],
    [["--print-config=1"], "--print-config takes no value."],
    [["sevre"], "Unknown argument sevre: see svc-server --help."],
  ])("svc-server %j: %s", (args, sentence) => {
    expect(() => readConfig(args, {})).toThrow(sentence);
  });

  test.each<[string[], ReturnType<typeof askedFor>]>([
    [[], null],
    [["--help"], "help"],
    [["--prot", "-h"], "help"],
    [["--version", "--help"], "help"],
    [["--print-config", "--version", "--port", "1"], "version"],
    [["--port=1", "--print-config"], "print-config"],
    [["--contact", "--help"], null],
    [["--contact", "-h", "--version"], "version"],
    [["--contact=--version"], null],
    [["--contact", "--print-config"], null],
    [["--", "--help"], null],
    [["--help=1"], null],
  ])("svc-server %j asks for %j", (args, asked) => {
    expect(askedFor(args)).toBe(asked);
  });

  test("svc-server takes a flag for the value of the one before it", () => {
    expect(readConfig(["--contact", "--print-config", "--print-config"], {})).toMatchObject({
      contact: "--print-config",
    });
  });

  test("svc-server takes the last of a repeated flag", () => {
    expect(readConfig(["--port=1", "--port", "2"], {})).toMatchObject({ port: 2 });
  });

  const command: OperatorCommand = {
    name: "disable",
    arguments: ["<site>"],
    flags: [{ name: "reason", value: "text", required: true }, { name: "force" }],
    summary: "",
    details: [],
    run: async () => 0,
  };
  test.each<[string[], string]>([
    [["a", "--reason="], "--reason needs a value. Usage: svc-server disable <site> --reason <text> [--force]"],
    [["a", "--reason", " "], "--reason needs a value."],
    [["a", "--reason"], "--reason needs a value."],
    [["a", "--force="], "--force takes no value."],
    [["a"], "--reason is missing."],
    [["--reason", "x"], "The argument <site> is missing."],
    [["a", "b", "--reason", "x"], '"b" is one argument too many.'],
    [["-", "--reason", "x"], "Unknown argument -: see svc-server disable --help."],
    [["a", "--", "--reason", "x"], "Unknown argument --: see svc-server disable --help."],
    [["a", "-f=1"], "Unknown argument -f: see svc-server disable --help."],
    [["a", "-fx"], "Unknown argument -fx: see svc-server disable --help."],
    [["a", "--reason", "x", "--help=1"], "--help takes no value."],
    [["a", "--reason", "x", "--version"], "Unknown argument --version: see svc-server disable --help."],
    [["a", "--raeson=x"], "Unknown argument --raeson: did you mean --reason?"],
  ])("svc-server disable %j: %s", (args, sentence) => {
    expect(() => readWords(command, args)).toThrow(sentence);
  });

  test.each<[string[], boolean]>([
    [["a", "--help"], true],
    [["-h"], true],
    [["a", "--raeson", "-h"], true],
    [["a", "--reason", "x", "-h"], true],
    [["a", "--reason", "-h"], false],
    [["a", "--reason=--help"], false],
    [["a", "--data-dir", "--help"], false],
    [["a", "--", "--help"], false],
    [["a"], false],
  ])("svc-server disable %j: whether it asks for help", (args, asked) => {
    expect(wantsHelp(args, command.flags)).toBe(asked);
  });

  test("a subcommand takes the last of a repeated option, any value of it, and leaves settings to the server", () => {
    const args = ["--reason=x", "--force", "--data-dir", "-d", "a", "--reason", "--force", "--log=off", "--port"];
    const { words, settings } = readWords(command, args);
    const given = words.given();
    expect(given.all).toEqual(["a"]);
    expect([...words.flags.keys()].toSorted()).toEqual(["force", "reason"]);
    expect([given.value("reason"), given.value("force")]).toEqual(["--force", undefined]);
    expect(settings).toEqual(["--data-dir", "-d", "--log=off", "--port"]);
  });
});
