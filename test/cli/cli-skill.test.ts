/** `svc install skill`: where it writes, what it leaves alone, and that what it teaches is true (CONTRACT 8). */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, link, lstat, mkdir, readdir, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Home, json } from "../kit/cli.ts";
import { shared } from "../kit/shared.ts";
import { FILES, listing, type Name, NAMES, projectsIn, rows, SKILL, text } from "./skill-files.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const SHARED: readonly Name[] = ["agents", "copilot", "gemini"];

const home = shared(await Home.make("http://127.0.0.1:1"));
const { project, install } = projectsIn(() => home);

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
