/** The manual says what is: endpoints, settings and error codes stand in it, and every link leads somewhere. */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { COMMANDS } from "../../src/cli/commands/index.ts";
import { commandsBelow } from "../../src/command/index.ts";
import { API } from "../../src/api/index.ts";
import { SETTINGS } from "../../src/config/settings.ts";
import { startServer } from "../kit/server.ts";

const ROOT = join(import.meta.dir, "..", "..");
const read = (path: string): Promise<string> => Bun.file(join(ROOT, path)).text();
const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "SECURITY.md",
  "bench/README.md",
  "examples/README.md",
  ...(await listDocs()),
];

async function listDocs(): Promise<string[]> {
  return (await Array.fromAsync(new Bun.Glob("docs/**/*.md").scan({ cwd: ROOT }))).toSorted();
}

/** GitHub's anchors: lower case, punctuation gone, spaces to hyphens. */
const anchorsOf = (markdown: string): string[] =>
  [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );

describe("docs/http-api.md", () => {
  test("names every endpoint", async () => {
    const text = await read("docs/http-api.md");
    const missing = Object.keys(API).filter((endpoint) => !new RegExp(`\`${endpoint}[\`?]`).test(text));
    expect(missing).toEqual([]);
  });

  test("names every error code", async () => {
    const [text, source] = await Promise.all([read("docs/http-api.md"), read("src/base/errors.ts")]);
    const codes = [...source.matchAll(/^ {2}([a-z_]+): \d{3},$/gm)].map((match) => match[1]!);
    expect(codes.length).toBeGreaterThan(30);
    expect(codes.filter((code) => !text.includes(`\`${code}\``))).toEqual([]);
  });
});

describe("docs/self-hosting.md", () => {
  test("names every setting that has a flag, with its variables and its default", async () => {
    const lines = (await read("docs/self-hosting.md")).split("\n").filter((line) => line.startsWith("| `--"));
    const missing = Object.values(SETTINGS).filter(
      ({ flag, variables, fallback }) =>
        flag &&
        !lines.some(
          (line) =>
            line.includes(`\`${flag}\``) &&
            variables.every((variable) => line.includes(`\`${variable}\``)) &&
            (fallback === null || line.includes(fallback)),
        ),
    );
    expect(missing.map(({ flag }) => flag)).toEqual([]);
  });

  test("names every variable that has no flag, with its default", async () => {
    const text = (await read("docs/self-hosting.md")).replaceAll("`_", "`SVC_RATE_"); // `SVC_RATE_COMMENT`, `_COMMENT_SITE`
    const lines = text.split("\n");
    const missing = Object.values(SETTINGS)
      .filter(({ flag }) => flag === null)
      .map(({ variables: [variable], fallback }) => ({ variable, fallback: fallback ?? "none" }))
      .filter(({ variable, fallback }) => {
        const said = (line: string) => line.includes(`\`${variable}`) && line.includes(fallback);
        return !lines.some(said);
      });
    expect(missing).toEqual([]);
  });

  test("docs/watching.md lists every figure of /metrics, and no other", async () => {
    const listed = (await read("docs/watching.md"))
      .split("\n")
      .filter((line) => /^\| `(?:svc|process)_/.test(line))
      .flatMap((line) => [...line.split("|")[1]!.matchAll(/`([a-z_]+)/g)].map(([, name]) => name!));
    await using server = await startServer();
    const shown = (await (await fetch(`${server.base_url}/metrics`)).text()).matchAll(/^# TYPE (\S+)/gm);
    expect(listed.toSorted()).toEqual([...shown].map(([, name]) => name!).toSorted());
  });
});

describe("README.md", () => {
  test("shows each picture of the web side in both themes, each of 60 KB at most", async () => {
    const readme = await read("README.md");
    const named = [...readme.matchAll(/"(docs\/screenshots\/[^"]+)"/g)].map(([, path]) => path!);
    const shown = ["receipt", "home", "sites", "site", "changes", "comments"];
    expect(named).toEqual(
      shown.flatMap((name) => [`docs/screenshots/${name}-dark.webp`, `docs/screenshots/${name}-light.webp`]),
    );
    const sizes = await Promise.all(named.map(async (path) => (await Bun.file(join(ROOT, path)).bytes()).length));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(60_000);
    expect(Math.min(...sizes)).toBeGreaterThan(10_000);
  });

  test("each promise names tests that name the promise", async () => {
    const rows = (await read("README.md")).split("\n").filter((line) => /^\| P\d+ /.test(line));
    expect(rows.length).toBe(10);
    for (const row of rows) {
      const [, promise = "", , where = ""] = row.split("|").map((cell) => cell.trim());
      const tests = [...where.matchAll(/`(test\/[^`]+)`/g)].map(([, path]) => path!);
      expect(tests).not.toEqual([]);
      for (const path of tests)
        expect([path, await read(path)]).toEqual([path, expect.stringMatching(new RegExp(`\\b${promise}\\b`))]);
    }
  });
});

test.each(PAGES)("every program of `bun run torture` that %s names is there", async (page) => {
  const named = [...(await read(page)).matchAll(/bun run torture ([a-z][a-z-]+)/g)].map(([, name]) => name!);
  expect(named.filter((name) => !existsSync(join(ROOT, "test", "torture", `${name}.ts`)))).toEqual([]);
});

describe("docs/cli.md", () => {
  test("names every command and every flag", async () => {
    const text = await read("docs/cli.md");
    const commands = COMMANDS.filter(({ name }) => name === "" || commandsBelow(COMMANDS, name).length === 0);
    const calls = commands.map((command) => ["svc", command.name, ...command.arguments].filter(Boolean).join(" "));
    expect(calls.filter((call) => !text.includes(`\`${call}\``))).toEqual([]);
    const flags = commands.flatMap((command) => command.flags.map(({ name }) => `--${name}`));
    expect([...new Set(flags)].filter((flag) => !new RegExp(`\`${flag}[\` ]`).test(text))).toEqual([]);
  });

  test("names every code that a command fails with", async () => {
    const text = await read("docs/cli.md");
    const files = await Array.fromAsync(new Bun.Glob("src/cli/**/*.ts").scan({ cwd: ROOT }));
    const source = (await Promise.all(files.map(read))).join("\n");
    const codes = [...source.matchAll(/new (?:Api)?Failure\(\s*(?:status,\s*)?"([a-z_]+)"/g)].map((match) => match[1]!);
    expect(codes.length).toBeGreaterThan(20);
    expect(codes.filter((code) => !text.includes(`\`${code}\``))).toEqual([]);
  });
});

describe("docs/decisions/", () => {
  const pages = PAGES.filter((page) => /^docs\/decisions\/[a-z]/.test(page));

  test.each(pages)("%s has a dated paragraph for each decision, and the index names it", async (page) => {
    const [text, index] = await Promise.all([read(page), read("docs/decisions/README.md")]);
    const [, ...decisions] = text.split(/^## /m);
    expect(decisions.length).toBeGreaterThan(1);
    expect(text.split("\n").length - 1).toBeLessThanOrEqual(60);
    for (const decision of decisions) {
      const [title = "", ...paragraphs] = decision.trim().split(/\n\n/);
      expect([title, paragraphs.length]).toEqual([title, 1]);
      expect(paragraphs[0]).toMatch(/^\d{4}-\d\d-\d\d\. /);
      expect(index).toContain(`[${title}](${page.slice("docs/decisions/".length)}#`);
    }
  });
});

/** STYLE 11: the subject first. A question may begin so. */
const RIDDLE = /(?:^|[.!?] )(?:- )?(?:Of|Who|Whoever|Whose) [^.!?]*(?:[.!]|$)/gm;

test.each(PAGES.filter((page) => /^(?:README|docs\/[\w-]+)\.md$/.test(page)))(
  "no sentence of %s begins with Of, Who, Whoever or Whose",
  async (page) => {
    const prose = (await read(page)).replaceAll(/^ *```[^]*?^ *```$/gm, "").replaceAll(/(?<=\S)\n(?=[^\n|#-])/g, " ");
    expect(prose.match(RIDDLE) ?? []).toEqual([]);
  },
);

test.each(PAGES)("every file of the project that %s names is there", async (page) => {
  const named =
    (await read(page)).match(/(?<![\w./@-])(?:src|test|bench|scripts|types|examples)\/[\w./-]*[\w-]/g) ?? [];
  const lost = named.filter((path) => !existsSync(join(ROOT, path)));
  expect(lost).toEqual([]);
});

test.each(PAGES)("every link of %s leads to a file and a heading that exist", async (page) => {
  const text = (await read(page)).replaceAll(/```[^]*?```|`[^`\n]*`/g, "");
  const broken: string[] = [];
  for (const [, target] of text.matchAll(/\]\(([^)]+)\)/g)) {
    if (/^https?:/.test(target!)) continue;
    const [file = "", anchor] = target!.split("#");
    const path = file === "" ? page : join(dirname(page), file);
    if (!existsSync(join(ROOT, path))) broken.push(target!);
    else if (anchor && !anchorsOf(await read(path)).includes(anchor)) broken.push(target!);
  }
  expect(broken).toEqual([]);
});
