/** `svc install skill` on a terminal: what is to be written is picked by keys. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { Home, json, type Screen } from "../kit/cli.ts";
import { shared } from "../kit/shared.ts";
import { FILES, listing, NAMES, projectsIn, SKILL } from "./skill-files.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const home = shared(await Home.make("http://127.0.0.1:1"));
const { project, install } = projectsIn(() => home);

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
