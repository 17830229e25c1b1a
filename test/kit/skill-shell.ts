/** A shell in which the commands of the skill can be run as they stand: `svc` is the CLI under test, `zip` and `curl`
 *  are stand-ins, for not every machine has them. `bun test/kit/skill-shell.ts curl|zip …` is the stand-in. */
import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Home, Ran } from "./cli.ts";
import { zipOf } from "./zip.ts";

/** `curl -sS [-H header]… [--data-binary @file] url` */
async function curl(args: readonly string[]): Promise<void> {
  const headers = new Headers();
  let [url, file] = ["", ""];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    if (arg === "-H") headers.append(...(args[++at]!.split(/:\s*/, 2) as [string, string]));
    else if (arg === "--data-binary") file = args[++at]!.slice(1);
    else if (arg.startsWith("-") && arg !== "-sS") throw new Error(`curl ${arg} is not understood`);
    else if (!arg.startsWith("-")) url = arg;
  }
  const upload = file === "" ? {} : { method: "POST", body: await readFile(file) };
  const answer = await fetch(url, { headers, ...upload });
  process.stdout.write(await answer.text());
  if (!answer.ok) process.exitCode = 22;
}

/** `zip -qr archive .` */
async function zip([flags, archive, folder]: readonly string[]): Promise<void> {
  if (flags !== "-qr" || folder !== ".") throw new Error(`zip ${flags} ${folder} is not understood`);
  const entries = await readdir(".", { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(".", join(entry.parentPath, entry.name)));
  await writeFile(
    archive!,
    zipOf(Object.fromEntries(await Promise.all(files.map(async (f) => [f, await readFile(f)])))),
  );
}

const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(" ");

/** The folder for PATH. */
export async function makeShell(home: Home): Promise<string> {
  const tool = (name: string) => [process.execPath, import.meta.path, name];
  const programs = { curl: tool("curl"), zip: tool("zip") };
  const bin = await home.write("bin", {});
  for (const [name, words] of Object.entries(programs)) {
    await writeFile(join(bin, name), `#!/bin/sh\nexec ${quoted(words)} "$@"\n`);
    await chmod(join(bin, name), 0o755);
  }
  return bin;
}

export const runLine = (home: Home, bin: string, cwd: string, line: string): Promise<Ran> =>
  home.run(["-c", line], { cwd, program: ["/bin/sh"], env: { PATH: `${home.bin}:${bin}:${process.env["PATH"]}` } });

if (import.meta.main) {
  const [name, ...args] = process.argv.slice(2);
  await (name === "curl" ? curl(args) : zip(args));
}
