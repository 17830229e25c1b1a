/** What README.md and docs/ show of a terminal is what a terminal shows: each command of a ```console block is run, in its
 *  order, and every line below it must come, in its order. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { Home } from "../kit/cli.ts";
import { ROOT } from "../kit/paths.ts";
import { decideLogin } from "../kit/people.ts";
import { sharedPerson } from "../kit/shared.ts";

setDefaultTimeout(60_000);

/** What stands in the folder that README deploys. */
const BROKEN_SITE = {
  "dist/index.html": `<!doctype html>
<title>Garden</title>
<link rel="stylesheet" href="style.css">
<img src="img/sunflower.jpg" alt="A sunflower">
<script src="http://localhost:5173/app.js"></script>
`,
  "dist/style.css": "body { margin: 2rem }",
  "dist/img/Sunflower.jpg": new Uint8Array(9000),
};
const GARDEN = {
  "garden/index.html": "<!doctype html><title>The garden</title><p>Spring.</p>",
  ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((n) => [`garden/beds/${n}.html`, `<title>Bed ${n}</title>`])),
  "garden/plan.bin": new Uint8Array(5600),
};
const SUMMER = { "garden/index.html": "<!doctype html><title>The garden in summer</title><p>Summer.</p>" };

interface Told {
  command: string;
  lines: string[];
}

/** Of the ```console blocks of a file. */
async function transcripts(file: string): Promise<Told[][]> {
  const text = await Bun.file(join(ROOT, file)).text();
  return [...text.matchAll(/^```console\n([^]*?)^```$/gm)].map(([, block]) =>
    block!
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const [command, ...lines] = part.trimEnd().split("\n");
        return { command: command!, lines };
      }),
  );
}

/** Without what differs from run to run: names, addresses, ids, tokens, days, the time it took. */
const steady = (line: string): string =>
  line
    .trimEnd()
    .replace(/https?:\/\/[a-z]+-[a-z]+-[0-9a-z]{4}\.(?:localhost:\d+|sites\.example)/, "<slug>")
    .replace(/https?:\/\/(?:localhost:\d+|svc\.example)/g, "<server>")
    .replace(/\bsite_[0-9a-z]+/, "<site_id>")
    .replace(/\b(svc_claim|fau)_(?:…|[\w-]+…?)/, "<token>")
    .replace(/\b[0-9a-f]{16}\b/g, "<version>")
    .replace(/\b[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}\b/, "<code>")
    .replace(/\d+ [A-Z][a-z]+ 20\d\d/, "<day>")
    .replace(/\d+\.\d s(?=$|:)/, "<time>");

const { server, person } = await sharedPerson();

const approving = (raw: string): void => {
  const code = /Your code: \S*?([B-Z]{4}-[B-Z]{4})/.exec(raw)?.[1];
  if (code !== undefined && !approved.has(code)) {
    approved.add(code);
    void decideLogin(server, code, "approve", person);
  }
};
const approved = new Set<string>();

async function expectShown(home: Home, cwd: string, { command, lines }: Told): Promise<void> {
  const [program, ...args] = command.split(" ");
  const ran = await home.runOnTerminal(args, { cwd, program: [program!] }, approving);
  const seen = ran.lines.map((line) => line.slice(line.lastIndexOf("\r") + 1)); // the spinner draws over itself
  expect(seen.filter((line) => /\S $/.test(line))).toEqual([]);
  const shown = seen.map(steady);
  let at = 0;
  for (const line of lines.map(steady).filter((line) => line !== "" && line !== "  …")) {
    const found = shown.indexOf(line, at);
    expect(found === -1 ? shown.slice(at) : line).toEqual(line);
    at = found + 1;
  }
}

test("README.md: svc ./dist, its receipt included", async () => {
  await using home = await Home.make(server.base_url);
  const [[first, ...more] = []] = await transcripts("README.md");
  expect([first!.command, more]).toEqual(["svc ./dist", []]);
  expect(first!.lines.join("\n")).toContain("→");
  await expectShown(home, await home.write("project", BROKEN_SITE), first!);
});

test("docs/cli.md: a deploy, an update, the versions; a login", async () => {
  await using home = await Home.make(server.base_url);
  const cwd = await home.write("project", GARDEN);
  const told = (await transcripts("docs/cli.md")).flat();
  for (const command of ["svc ./garden", "svc update ./garden", "svc versions ./garden", "svc login"]) {
    const one = told.find((each) => each.command === command);
    if (!one) throw new Error(`docs/cli.md does not show ${command}`);
    if (command.startsWith("svc update")) await home.write("project", SUMMER);
    await expectShown(home, cwd, one);
  }
});

test("docs/comments.md: comments turned on, a token for an agent", async () => {
  await using home = await Home.make(server.base_url);
  const cwd = await home.write("project", GARDEN);
  await home.run(["."], { cwd });
  for (const one of (await transcripts("docs/comments.md")).slice(0, 2).flat()) await expectShown(home, cwd, one);
});
