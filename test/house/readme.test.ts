/** README.md's first screen is what happens: its transcript is compared with a terminal's, its commands with package.json. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import packageJson from "../../package.json";
import { ROOT } from "../kit/paths.ts";
import { sharedHome } from "../kit/shared.ts";

const readme = await Bun.file(join(ROOT, "README.md")).text();
/** The fenced blocks of a language. */
const blocks = (language: string): string[] =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, "gm"))].map(([, text]) => text!);

/** What the README's folder has. */
const SITE = {
  "dist/index.html": `<!doctype html>
<title>Garden</title>
<link rel="stylesheet" href="style.css">
<img src="img/sunflower.jpg" alt="A sunflower">
<script src="http://localhost:5173/app.js"></script>
`,
  "dist/style.css": "body { margin: 2rem }",
  "dist/img/Sunflower.jpg": new Uint8Array(9000),
};

const { server, home } = await sharedHome();

/** Without what differs from run to run: the site's name, the server's port, the time it took. */
const steady = (line: string): string =>
  line
    .trimEnd()
    .replace(/\/\/[a-z]+-[a-z]+-[0-9a-z]{4}\.localhost:\d+/, "//<slug>")
    .replace(/\d+\.\d s$/, "<time>");

test("the transcript of svc ./dist, its receipt included, is what a terminal shows", async () => {
  const [command, ...told] = blocks("console")[0]!.trimEnd().split("\n");
  expect(command).toBe("$ svc ./dist");
  expect(told.join("\n")).toContain("→");
  const cwd = await home.write("project", SITE);
  const { lines } = await home.runOnTerminal(["./dist"], { cwd, program: ["svc"] });
  const shown = lines.map(steady);
  const wanted = told.map(steady).filter((line) => line !== "" && line !== "  …");
  let at = 0;
  for (const line of wanted) {
    const found = shown.indexOf(line, at);
    expect(found === -1 ? shown.slice(at) : line).toEqual(line);
    at = found + 1;
  }
});

test("the first block begins with the clone, and goes on with a command of the checkout", () => {
  const [clone, demo] = blocks("sh")[0]!.split("\n");
  expect(clone).toStartWith("git clone ");
  expect(clone).toEndWith(" svc && cd svc");
  expect(demo).toStartWith(`npx -y ${packageJson.packageManager} run demo `);
});

test("every command of the project that a block names is one", () => {
  const named = [
    ...blocks("sh")
      .join("")
      .matchAll(/\bbun(?:@[\d.]+)? run ([a-z]+)/g),
  ].map(([, name]) => name!);
  expect(new Set(named)).toEqual(new Set(["demo", "verify", "build"]));
  expect(named.filter((name) => !(name in packageJson.scripts))).toEqual([]);
});
