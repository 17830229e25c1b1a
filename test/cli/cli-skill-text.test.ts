/** What the skill says, run as it stands. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Commenter } from "../comments/commenter.ts";
import { Home, json } from "../kit/cli.ts";
import { ROOT } from "../kit/paths.ts";
import { type Person, signInByForm, signUp, submit } from "../kit/people.ts";
import { startServer, type TestServer } from "../kit/server.ts";
import { shared } from "../kit/shared.ts";
import { makeShell, runLine } from "../kit/skill-shell.ts";
import { FILES, projectsIn, SKILL, text } from "./skill-files.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const home = shared(await Home.make("http://127.0.0.1:1"));
const { project, install } = projectsIn(() => home);

describe("the text", () => {
  const commands = [...SKILL.matchAll(/^```sh\n([^]*?)^```/gm)].flatMap(([, lines]) => lines!.trimEnd().split("\n"));
  const inline = [...SKILL.replace(/^```[^]*?^```/gm, "").matchAll(/`(svc [^`]+)`/g)].map(([, command]) => command!);

  test("is short, one source, and plain ASCII, so that it fits into a file of any encoding", () => {
    expect(SKILL.trimEnd().split("\n").length).toBeLessThan(120);
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
      if (command.startsWith("svc comments resolve")) {
        const url = (await runLine(shell, bin, cwd, "svc comments status")).out.trim().split(" ")[1]!;
        const site = { site_id: "", url, slug: new URL(url).hostname.split(".")[0]! };
        known.set("c_id", await new Commenter(server, site).comment("Is this still true?"));
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
