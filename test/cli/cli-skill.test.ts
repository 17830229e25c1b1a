/** `svc install skill`: where it writes, what it leaves alone, and that what it teaches is true (CONTRACT.md 8). */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, link, lstat, mkdir, readdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { lineEndOf, withBlock } from "../../src/cli/skill/block.ts";
import { Home, json, type Screen } from "../kit/cli.ts";
import { ROOT } from "../kit/paths.ts";
import { type Person, signInByForm, signUp, submit } from "../kit/people.ts";
import { startServer, type TestServer } from "../kit/server.ts";
import { makeShell, runLine } from "../kit/skill-shell.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const SKILL = await Bun.file(join(ROOT, "src", "cli", "skill", "skill.md")).text();
const FILES = {
  agents: "AGENTS.md",
  claude: ".claude/skills/svc/SKILL.md",
  cursor: ".cursor/rules/svc.mdc",
  copilot: ".github/copilot-instructions.md",
  windsurf: ".windsurf/rules/svc.md",
  cline: ".clinerules/svc.md",
  roo: ".roo/rules/svc.md",
  gemini: "GEMINI.md",
} as const;
type Name = keyof typeof FILES;
const NAMES = Object.keys(FILES) as Name[];
const SHARED: readonly Name[] = ["agents", "copilot", "gemini"];

/** A project of its own for each test. */
let home: Home;
let projects = 0;
beforeAll(async () => void (home = await Home.make("http://127.0.0.1:1")));
afterAll(() => home[Symbol.asyncDispose]());
const project = (files: Record<string, string | Uint8Array | { link: string }> = {}) =>
  home.write(`project-${++projects}`, files);
const install = (cwd: string, ...flags: string[]) => home.run(["install", "skill", ...flags], { cwd });
const text = (cwd: string, file: string) => readFile(join(cwd, file), "utf8");
const listing = async (cwd: string): Promise<string[]> =>
  (await readdir(cwd, { recursive: true, withFileTypes: true }))
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(cwd.length + 1))
    .sort();
/** `name file status` of each line. */
const rows = (out: string): string[][] =>
  out
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ {2,}| (?=[.AG])/).map((part) => part.trim()));

describe("which targets", () => {
  test("without flags: what is always written, and nothing else", async () => {
    const cwd = await project();
    const { code, out, err } = await install(cwd);
    expect([code, err]).toEqual([0, ""]);
    expect(rows(out)).toEqual([
      ["agents", FILES.agents, "written"],
      ["claude", FILES.claude, "written"],
    ]);
    expect(await listing(cwd)).toEqual([FILES.claude, FILES.agents]);
  });

  test.each<[Name, string]>([
    ["cursor", ".cursor/x"],
    ["copilot", ".github/copilot-instructions.md"],
    ["windsurf", ".windsurf/x"],
    ["cline", ".clinerules/x"],
    ["roo", ".roo/x"],
    ["gemini", "GEMINI.md"],
  ])("%s is detected by %s", async (name, sign) => {
    const cwd = await project({ [sign]: "" });
    expect(rows((await install(cwd)).out).map(([target]) => target)).toEqual(
      NAMES.filter((n) => n === name || n === "agents" || n === "claude"),
    );
    expect(await text(cwd, FILES[name])).toContain(SKILL.trim());
  });

  test.each([
    [".github/workflows/ci.yml", "a folder .github alone"],
    [".clinerules", "a file where the folder would be"],
    ["GEMINI.md/x", "a folder where the file would be"],
  ])("%s is no sign: %s", async (file) => {
    const cwd = await project({ [file]: "" });
    expect(rows((await install(cwd)).out).map(([target]) => target)).toEqual(["agents", "claude"]);
  });

  test.each<[string[], Name[]]>([
    ...NAMES.map((name): [string[], Name[]] => [[`--${name}`], [name]]),
    [
      ["--gemini", "--cursor"],
      ["cursor", "gemini"],
    ],
    [["--all"], NAMES],
    [["--all", "--roo"], NAMES],
  ])("%j means exactly those, whatever is detected", async (flags, expected) => {
    const cwd = await project({ ".windsurf/x": "" });
    expect(rows((await install(cwd, ...flags)).out).map(([target]) => target)).toEqual(expected);
    expect(await listing(cwd)).toEqual([...expected.map((name) => FILES[name]), ".windsurf/x"].sort());
  });

  test("below the current folder, in a repository or not", async () => {
    const root = await project({ ".git/HEAD": "", "packages/a/x": "" });
    const cwd = join(root, "packages", "a");
    await install(cwd, "--agents");
    expect(await listing(root)).toEqual([".git/HEAD", "packages/a/AGENTS.md", "packages/a/x"]);
  });
});

describe.each(NAMES)("%s", (name) => {
  const file = FILES[name];
  const isShared = SHARED.includes(name);

  test("is written, then unchanged; a dry run writes nothing", async () => {
    const cwd = await project();
    for (const flag of ["--dry-run", "--print"]) {
      expect(rows((await install(cwd, `--${name}`, flag)).out)).toEqual([[name, file, "would be written"]]);
      expect(await listing(cwd)).toEqual([]);
    }
    expect(rows((await install(cwd, `--${name}`)).out)).toEqual([[name, file, "written"]]);
    const before = await stat(join(cwd, file));
    for (const flags of [[], ["--dry-run"]]) {
      expect(rows((await install(cwd, `--${name}`, ...flags)).out)).toEqual([[name, file, "unchanged"]]);
    }
    expect((await stat(join(cwd, file))).mtimeMs).toBe(before.mtimeMs);
    expect(await text(cwd, file)).toContain(SKILL.trim());
  });

  test.each([["\n"], ["\r\n"]])("an old one is updated, with its line ends %j and its mode", async (end) => {
    const cwd = await project();
    await install(cwd, `--${name}`);
    const fresh = (await text(cwd, file)).replaceAll("\n", end);
    const old = fresh.replace("### Deploy", "### Something older").replace("static files", "things");
    const around = isShared ? [`# Mine${end}${end}`, `${end}## Mine too${end}`] : ["", ""];
    await writeFile(join(cwd, file), around[0] + old + around[1]);
    await chmod(join(cwd, file), 0o640);
    expect(rows((await install(cwd, `--${name}`, "--dry-run")).out)).toEqual([[name, file, "would be updated"]]);
    expect(await text(cwd, file)).toBe(around[0] + old + around[1]);
    expect(rows((await install(cwd, `--${name}`)).out)).toEqual([[name, file, "updated"]]);
    expect(await text(cwd, file)).toBe(around[0] + fresh + around[1]);
    expect((await stat(join(cwd, file))).mode & 0o777).toBe(0o640);
    expect(rows((await install(cwd, `--${name}`)).out)).toEqual([[name, file, "unchanged"]]);
  });

  test("a link to it stays a link, and a second name of the file stays one", async () => {
    const cwd = await project({ "kept/real.md": "" });
    await mkdir(join(cwd, dirname(file)), { recursive: true });
    await symlink(join(cwd, "kept/real.md"), join(cwd, file));
    await link(join(cwd, "kept/real.md"), join(cwd, "kept/second.md"));
    await install(cwd, `--${name}`);
    expect((await lstat(join(cwd, file))).isSymbolicLink()).toBe(true);
    expect(await text(cwd, "kept/second.md")).toContain(SKILL.trim());
    expect(rows((await install(cwd, `--${name}`)).out)).toEqual([[name, file, "unchanged"]]);
  });

  test("a link that leads to nothing yet makes what it names", async () => {
    const cwd = await project();
    await mkdir(join(cwd, dirname(file)), { recursive: true });
    await symlink(join(cwd, "later.md"), join(cwd, file));
    expect(rows((await install(cwd, `--${name}`)).out)).toEqual([[name, file, "written"]]);
    expect(await text(cwd, "later.md")).toContain(SKILL.trim());
    expect(await readlink(join(cwd, file))).toBe(join(cwd, "later.md"));
  });

  test.each([["there.md"], ["not-there.md"]])("a link out of the project, to %s, is refused", async (outside) => {
    const away = await project({ "there.md": "mine\n" });
    const cwd = await project();
    await mkdir(join(cwd, dirname(file)), { recursive: true });
    await symlink(join(away, outside), join(cwd, file));
    const { code, err } = await install(cwd, "--agents", "--claude", `--${name}`);
    expect(code).toBe(1);
    expect(err).toContain("is a link out of this project");
    expect(await listing(away)).toEqual(["there.md"]);
    expect(await text(away, "there.md")).toBe("mine\n");
    expect(await listing(cwd)).toEqual([file]);
  });

  test("a folder in its place: exit 1, and it is named", async () => {
    const cwd = await project({ [`${file}/x`]: "" });
    const { code, err } = await install(cwd, `--${name}`);
    expect(code).toBe(1);
    expect(err).toContain("is a folder, not a file");
  });
});

describe("a shared file keeps everything but the block", () => {
  const BLOCK = withBlock("", SKILL);
  const [BEGIN, END] = [BLOCK.split("\n")[0]!, BLOCK.trimEnd().split("\n").at(-1)!];
  const crlf = (lf: string) => lf.replaceAll("\n", "\r\n");
  const OLD = `${BEGIN}\nolder text\n${END}\n`;

  test.each<[string, string, string]>([
    ["an empty file", "", BLOCK],
    ["text before", "# Mine\n", `# Mine\n\n${BLOCK}`],
    ["text without a last line end", "# Mine", `# Mine\n\n${BLOCK}`],
    ["text with blank lines at its end", "# Mine\n\n\n", `# Mine\n\n\n\n${BLOCK}`],
    ["CRLF", "# Mine\r\n", `# Mine\r\n\r\n${crlf(BLOCK)}`],
    ["mostly CRLF", "a\r\nb\nc\r\n", `a\r\nb\nc\r\n\r\n${crlf(BLOCK)}`],
    ["CR alone", "a\rb\r", `a\rb\r\r${BLOCK.replaceAll("\n", "\r")}`],
    ["an old block in the middle", `a\n${OLD}b\n`, `a\n${BLOCK}b\n`],
    ["an old block in CRLF", crlf(`a\n${OLD}b\n`), crlf(`a\n${BLOCK}b\n`)],
    ["an old block at the end, without a line end", `a\n${OLD.trimEnd()}`, `a\n${BLOCK.trimEnd()}`],
    ["indented markers", `a\n  ${OLD}`, `a\n${BLOCK}`],
    ["another marker text", `<!-- svc:begin -->\nx\n<!-- svc:end -->\nb\n`, `${BLOCK}b\n`],
    ["no end marker", `a\n${BEGIN}\nb\nc\n`, `a\n${BLOCK}b\nc\n`],
    ["no begin marker", `a\nb\n${END}\nc\n`, `a\nb\n${BLOCK}c\n`],
    ["markers the wrong way round", `a\n${END}\nb\n${BEGIN}\nc\n`, `a\n${BLOCK}b\nc\n`],
    ["the end marker lost from a whole block", `a\n${BLOCK.replace(`${END}\n`, "")}\nb\n`, `a\n${BLOCK}\nb\n`],
    ["the begin marker lost from a whole block", `a\n\n${BLOCK.replace(`${BEGIN}\n`, "")}b\n`, `a\n\n${BLOCK}b\n`],
    ["cut in the middle", `a\n${BLOCK.split("\n").slice(0, 4).join("\n")}\nb\n`, `a\n${BLOCK}b\n`],
    [
      "cut at a blank line, which may be anybody's",
      `${BLOCK.split("\n").slice(0, 3).join("\n")}\nb\n`,
      `${BLOCK}\nb\n`,
    ],
    ["two blocks", `a\n${OLD}b\n${OLD}c\n`, `a\n${BLOCK}b\nc\n`],
    ["three blocks, one torn", `a\n${OLD}b\n${BEGIN}\nc\n${OLD}d\n`, `a\n${BLOCK}b\nc\nd\n`],
    ["two begin markers", `${BEGIN}\na\n${OLD}b\n`, `${BLOCK}a\nb\n`],
    ["two end markers", `${OLD}a\n${END}\nb\n`, `${BLOCK}a\nb\n`],
    ["a marker only in a sentence", `see ${BEGIN}\n`, `see ${BEGIN}\n\n${BLOCK}`],
  ])("%s", async (_, before, after) => {
    expect(withBlock(before, SKILL)).toBe(after);
    expect(withBlock(after, SKILL)).toBe(after);
    const cwd = await project({ "AGENTS.md": before });
    await install(cwd, "--agents");
    expect(await text(cwd, "AGENTS.md")).toBe(after);
  });

  test("whatever stands where: no line outside is lost, and the second time nothing changes", () => {
    const own = BLOCK.split("\n");
    const pieces = [BEGIN, END, OLD.trimEnd(), BLOCK.trimEnd(), "mine", "", "# mine too", own[1]!, own[2]!, own[7]!];
    let seed = 1;
    const next = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
    for (let round = 0; round < 2000; round++) {
      const end = ["\n", "\r\n"][next(2)]!;
      const before = Array.from({ length: 1 + next(7) }, (_, n) =>
        `${pieces[next(pieces.length)]}`.replace(/^mine$/, `mine ${n}`),
      )
        .join("\n")
        .replaceAll("\n", end);
      const after = withBlock(before, SKILL);
      const isMine = (line: string) => line.startsWith("mine") || line.startsWith("# mine");
      // A line between a begin and the next end belongs to the block.
      const outside = before.split(end).filter((line, at, all) => {
        const marks = all.map((l) => (l === BEGIN ? "b" : l === END ? "e" : ""));
        const [left, right] = [marks.slice(0, at).findLast(Boolean), marks.slice(at).find(Boolean)];
        return isMine(line) && !(left === "b" && right === "e");
      });
      expect(after.split(/\r?\n/).filter(isMine)).toEqual(outside);
      expect(after.split(BEGIN)).toHaveLength(2);
      expect(withBlock(after, SKILL)).toBe(after);
    }
  });

  const bytes = (...parts: (number[] | string | Buffer)[]) =>
    Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  const utf16 = (value: string) => Buffer.from(value, "utf16le");

  test.each<[string, Buffer, Buffer]>([
    ["a UTF-8 BOM", bytes([0xef, 0xbb, 0xbf], OLD, "b\n"), bytes([0xef, 0xbb, 0xbf], BLOCK, "b\n")],
    ["UTF-8 text", bytes("grüße 日本\u00a0🎈\n"), bytes("grüße 日本\u00a0🎈\n\n", BLOCK)],
    ["Latin-1 and broken UTF-8", bytes([0xe9, 0xff, 0x00, 0x0a]), bytes([0xe9, 0xff, 0x00, 0x0a], "\n", BLOCK)],
    ["UTF-16", bytes([0xff, 0xfe], utf16(`é\r\n${crlf(OLD)}`)), bytes([0xff, 0xfe], utf16(`é\r\n${crlf(BLOCK)}`))],
    [
      "UTF-16, the other way round",
      bytes([0xfe, 0xff], utf16("é\n").swap16()),
      bytes([0xfe, 0xff], utf16(`é\n\n${BLOCK}`).swap16()),
    ],
  ])("%s stays", async (_, before, after) => {
    const cwd = await project({ "AGENTS.md": before });
    await install(cwd, "--agents");
    expect((await readFile(join(cwd, "AGENTS.md"))).equals(after)).toBe(true);
    expect((await install(cwd, "--agents")).out).toContain("unchanged");
  });

  test("the line end of a file is the one that most lines have", () => {
    expect(["", "a", "a\r\nb\nc\r\n", "a\nb\r\nc\n", "a\rb"].map(lineEndOf)).toEqual(["\n", "\n", "\r\n", "\n", "\r"]);
  });

  test("names that lead to one file change it once; a rules file that is a link to it does not overwrite it", async () => {
    const cwd = await project({ "AGENTS.md": "# Mine\n", "GEMINI.md": { link: "AGENTS.md" }, ".roo/rules/x": "" });
    await symlink("../../AGENTS.md", join(cwd, ".roo/rules/svc.md"));
    for (const agents of ["updated", "unchanged"]) {
      expect(rows((await install(cwd, "--roo", "--gemini", "--agents")).out)).toEqual([
        ["agents", FILES.agents, agents],
        ["roo", FILES.roo, "unchanged"],
        ["gemini", FILES.gemini, "unchanged"],
      ]);
      expect(await text(cwd, "AGENTS.md")).toBe(`# Mine\n\n${BLOCK}`);
    }
  });

  test.each([[".git/config"], [".git/hooks/post-commit"]])("a link into %s is refused", async (inside) => {
    const cwd = await project({ ".git/config": "[core]\n", ".git/hooks/x": "", "AGENTS.md": { link: inside } });
    const { code, err } = await install(cwd, "--agents");
    expect(code).toBe(1);
    expect(err).toContain(`AGENTS.md is a link into the .git folder`);
    expect(await listing(cwd)).toEqual([".git/config", ".git/hooks/x", "AGENTS.md"]);
    expect(await text(cwd, ".git/config")).toBe("[core]\n");
  });

  test("a pipe in a file's place is refused, and not waited for", async () => {
    const cwd = await project();
    expect(await Bun.spawn(["mkfifo", join(cwd, "AGENTS.md")]).exited).toBe(0);
    const { code, err } = await install(cwd, "--agents");
    expect([code, err]).toEqual([1, expect.stringContaining("AGENTS.md is not a file")]);
  });

  test("a link inside the repository, out of the current folder, is followed", async () => {
    const root = await project({
      ".git/HEAD": "",
      "AGENTS.md": "# Mine\n",
      "a/b/AGENTS.md": { link: "../../AGENTS.md" },
    });
    expect((await install(join(root, "a", "b"), "--agents")).out).toContain("updated");
    expect(await text(root, "AGENTS.md")).toBe(`# Mine\n\n${BLOCK}`);
  });

  test("where one target cannot be written, none is", async () => {
    const cwd = await project({ ".clinerules": "rules in a file\n" });
    const ran = await install(cwd, "--agents", "--cline", "--json");
    expect([ran.code, json(ran)["code"]]).toEqual([1, "not_a_folder"]);
    expect(await listing(cwd)).toEqual([".clinerules"]);
  });
});

describe("--list, --json, --global", () => {
  test("--list: one line a target, with what is detected, and nothing is written", async () => {
    const cwd = await project({ ".cursor/x": "" });
    const { code, out } = await install(cwd, "--list");
    expect(code).toBe(0);
    expect(rows(out)).toEqual(
      NAMES.map((name) => [
        name,
        FILES[name],
        name === "agents" || name === "claude" ? "always" : name === "cursor" ? "detected" : "not detected",
      ]),
    );
    expect(await listing(cwd)).toEqual([".cursor/x"]);
    expect(json(await install(cwd, "--list", "--json"))["targets"]).toContainEqual({
      target: "cursor",
      file: FILES.cursor,
      found: "detected",
    });
  });

  test("--json is one object, which beats -q", async () => {
    const cwd = await project();
    const targets = [{ target: "agents", file: "AGENTS.md", status: "written" }];
    const dry = await install(cwd, "--agents", "--dry-run", "--json", "-q");
    expect(json(dry)).toEqual({ ok: true, dry_run: true, targets });
    expect(json(await install(cwd, "--agents", "--json"))).toEqual({ ok: true, dry_run: false, targets });
  });

  test("--global writes below the home folder what has a place there, and names the rest", async () => {
    await using own = await Home.make("http://127.0.0.1:1");
    await own.write("project", {});
    const run = (...flags: string[]) =>
      own.run(["install", "skill", "--global", ...flags], { cwd: own.path("project") });
    const first = await run();
    expect(rows(first.out)).toEqual([["claude", "~/.claude/skills/svc/SKILL.md", "written"]]);
    expect(first.err).toContain("agents, cursor, copilot, windsurf, cline, roo, gemini");
    expect(await text(own.dir, FILES.claude)).toContain(SKILL.trim());
    expect(await readdir(own.path("project"))).toEqual([]);
    expect((await run("--claude")).err).toBe("");
    const none = await run("--cursor", "--json");
    expect([none.code, json(none)["code"]]).toEqual([1, "no_global_place"]);
  });

  test.each([
    [["install"], "What can be installed is the skill: svc install skill"],
    [["install", "skil"], "What can be installed is the skill"],
    [["install", "skill", "here"], "svc install takes one argument"],
    [["install", "skill", "--curser"], "Did you mean --cursor?"],
  ])("%j is wrong usage", async (args, sentence) => {
    const { code, err, out } = await home.run(args);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(sentence);
  });
});

describe("the picker", () => {
  const [UP, DOWN, SPACE, ENTER] = ["\x1b[A", "\x1b[B", " ", "\r"];
  const QUESTION = "Enter writes.";

  async function picking(cwd: string, keys: string[], flags: string[] = []): Promise<Screen> {
    const left = [...keys];
    return home.runOnTerminal(["install", "skill", ...flags], { cwd }, (seen, terminal) => {
      // One key for each picture, as a person types.
      const pictures = seen.split(QUESTION).length - 1;
      while (left.length > 0 && keys.length - left.length < pictures) terminal.write(left.shift()!);
    });
  }

  test("what is always written or detected is ticked; Enter writes that", async () => {
    const cwd = await project({ ".roo/x": "" });
    const { code, raw } = await picking(cwd, [ENTER]);
    expect(code).toBe(0);
    const first = raw.slice(0, raw.indexOf(QUESTION));
    const ticks = [...first.matchAll(/\[([x ])\] (\w+)/g)].map(([, tick, name]) => [name, tick === "x"]);
    expect(ticks).toEqual(NAMES.map((name) => [name, ["agents", "claude", "roo"].includes(name)]));
    expect(await listing(cwd)).toEqual([FILES.claude, ".roo/rules/svc.md", ".roo/x", FILES.agents]);
  });

  test("arrows move, around the ends too, Space ticks and unticks; the list is wiped in the end", async () => {
    const cwd = await project();
    const { code, raw } = await picking(cwd, [SPACE, DOWN, DOWN, SPACE, UP, UP, UP, SPACE, ENTER]);
    expect(code).toBe(0);
    expect(await listing(cwd)).toEqual([FILES.claude, FILES.cursor, FILES.gemini]);
    const end = raw.slice(raw.lastIndexOf(QUESTION));
    expect(end).toContain("\x1b[9A\r\x1b[J");
    expect(end).toMatch(/claude +\.claude\/skills\/svc\/SKILL\.md +written/);
  });

  test("nothing ticked: nothing is written", async () => {
    const cwd = await project();
    const { code, lines } = await picking(cwd, [SPACE, DOWN, SPACE, ENTER]);
    expect(code).toBe(0);
    expect(lines.join("\n")).toContain("nothing written");
    expect(await listing(cwd)).toEqual([]);
  });

  test("Ctrl-C: exit 130, the list is wiped, nothing is written", async () => {
    const cwd = await project();
    const { code, raw } = await picking(cwd, [DOWN, "\x03"]);
    expect(code).toBe(130);
    expect(raw).toEndWith("\x1b[9A\r\x1b[J");
    expect(await listing(cwd)).toEqual([]);
  });

  test.each([[["--agents"]], [["--dry-run"]], [["--list"]], [["--json"]], [["-q"]], [["--global", "--dry-run"]]])(
    "%j asks nobody",
    async (flags) => {
      const { code, raw } = await picking(await project(), [], flags);
      expect(code).toBe(0);
      expect(raw).not.toContain(QUESTION);
    },
  );
});

describe("the text", () => {
  const commands = [...SKILL.matchAll(/^```sh\n([^]*?)^```/gm)].flatMap(([, lines]) => lines!.trimEnd().split("\n"));
  const inline = [...SKILL.replace(/^```[^]*?^```/gm, "").matchAll(/`(svc [^`]+)`/g)].map(([, command]) => command!);

  test("is short, one source, and plain ASCII, so that it fits into a file of any encoding", () => {
    expect(SKILL.split("\n").length).toBeLessThan(120);
    expect(SKILL).toMatch(/^[\x20-\x7e\n]+$/);
    expect(SKILL).toEndWith("\n");
  });

  test.each(["claude", "cursor", "windsurf"] as const)(
    "the file of %s begins with what its agent reads first",
    async (name) => {
      const cwd = await project();
      await install(cwd, `--${name}`);
      const written = await text(cwd, FILES[name]);
      const front = /^---\n([^]*?)\n---\n\n/.exec(written)![1]!;
      expect(front).toMatch(/^description: [A-Z][^\n:#]{60,500}$/m);
      expect(front).toContain(
        { claude: "name: svc", cursor: "alwaysApply: false", windsurf: "trigger: model_decision" }[name],
      );
    },
  );

  describe("every command in it works", () => {
    let server: TestServer;
    let person: Person;
    let shell: Home;
    let bin: string;
    let cwd: string;
    const known = new Map<string, string>();
    beforeAll(async () => {
      server = await startServer();
      person = await signUp(server);
      shell = await Home.make(server.base_url);
      bin = await makeShell(shell);
      cwd = await shell.write("work", {
        "dist/index.html": "<title>one</title>",
        "report.html": "<title>report</title>",
      });
    });
    afterAll(async () => {
      await shell[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    });

    const learn = (answer: Record<string, unknown>) => {
      for (const [name, value] of Object.entries(answer)) if (typeof value === "string") known.set(name, value);
      if (typeof answer["version_id"] === "string") known.set("version", answer["version_id"]);
    };

    /** What happens around the commands: the project changes, the person approves. */
    async function before(command: string): Promise<void> {
      // Three ways to deploy are shown: a person takes one.
      if (command === "svc update ./dist --json")
        await runLine(shell, bin, cwd, "svc forget report.html && svc forget .");
      if (command.startsWith("svc update"))
        await writeFile(join(cwd, "dist", "new.html"), `<title>${Math.random()}</title>`);
      if (command.startsWith("svc claim")) {
        const site = await server.deploy({ "index.html": "<title>elsewhere</title>" });
        learn({ site_id: site.site_id, claim_token: site.claim_token! });
      }
      if (command.startsWith("svc login --check")) {
        const { cookie, csrf } = await signInByForm(server, person);
        const fields = { user_code: known.get("user_code")!, csrf, decision: "approve" };
        expect((await submit(server, "/device", fields, { cookie })).status).toBe(303);
      }
      // The last form of the page asks for a site of its own.
      if (command.startsWith("curl")) await rm(shell.config, { recursive: true, force: true });
    }

    test("in its order, with what the commands before have answered", async () => {
      expect(commands.length).toBeGreaterThan(15);
      for (const command of commands) {
        await before(command);
        const line = command.replaceAll(/<(\w+)>/g, (_, name: string) => known.get(name) ?? `unknown ${name}`);
        const ran = await runLine(shell, bin, cwd, line);
        expect({ command, code: ran.code, err: ran.code === 0 ? "" : ran.err + ran.out }).toEqual({
          command,
          code: 0,
          err: "",
        });
        if (ran.out.startsWith("{")) learn(json(ran));
      }
      const { sites } = (await (await server.api("/account/sites", { headers: person.bearer })).json()) as {
        sites: unknown[];
      };
      // The first one was attached, the one from elsewhere claimed.
      expect(sites.length).toBe(2);
    });

    test.each([...new Set(inline)])("%s is a command that there is", async (command) => {
      const { code, out } = await runLine(shell, bin, cwd, command.includes("--help") ? command : `${command} --help`);
      expect(code).toBe(0);
      expect(out).toContain(
        command.split(" ")[1]!.startsWith("-") ? "svc [path]" : command.split(" ").slice(0, 2).join(" "),
      );
    });

    test("its codes and members are those of the CLI", async () => {
      const sources = await Promise.all(
        ["src/cli", "src/client", "src"].flatMap((folder) =>
          [...new Bun.Glob("**/*.ts").scanSync({ cwd: join(ROOT, folder) })].map((file) =>
            text(join(ROOT, folder), file),
          ),
        ),
      );
      const codes = [...SKILL.matchAll(/^- ((?:`\w+`(?:, )?)+):/gm)].flatMap(([, list]) => list!.match(/\w+/g)!);
      expect(codes.length).toBeGreaterThan(7);
      expect(codes.filter((code) => !sources.some((source) => new RegExp(`\\b${code}\\b`).test(source)))).toEqual([]);
      const shown = JSON.parse(SKILL.slice(SKILL.indexOf('{"ok":true'), SKILL.indexOf("}\n") + 1)) as object;
      const real = json(await runLine(shell, bin, cwd, "svc dist --json"));
      expect(Object.keys(shown)).toEqual(Object.keys(real));
    });
  });
});
