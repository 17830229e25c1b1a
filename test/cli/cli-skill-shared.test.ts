/** `svc install skill` in a file that belongs to the user: everything but the block stays as it is. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { link, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { lineEndOf, withBlock } from "../../src/cli/commands/skill-block.ts";
import { Home, json } from "../kit/cli.ts";
import { shared } from "../kit/shared.ts";
import { FILES, listing, projectsIn, rows, SKILL, text } from "./skill-files.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const home = shared(await Home.make("http://127.0.0.1:1"));
const { project, install } = projectsIn(() => home);

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
