/** `bun scripts/smoke.ts [DIST]`: the two binaries of a build, from a folder that is not the project's, deploy, serve,
 *  update and roll back. `--svc WORD…` is another command line tool in the place of DIST/svc, `--server WORD…` another
 *  server in the place of DIST/svc-server; each is one word or several with spaces between them, and `{base}` is the server's URL. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { cliEnvironment, main, ROOT, say, StepFailed } from "./run.ts";

const READY = /listening on (\S+)/;

async function firstMatch(stream: ReadableStream<Uint8Array>, pattern: RegExp): Promise<string> {
  let output = "";
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    output += decoder.decode(chunk, { stream: true });
    const found = pattern.exec(output)?.[1];
    if (found) return found;
  }
  throw new StepFailed("svc-server ended before it was ready: see above.");
}

function expectThat(holds: boolean, what: string): void {
  if (!holds) throw new StepFailed(`not so: ${what}`);
  say(`ok: ${what}`);
}

/** Runs svc to its end; what it printed. */
type Svc = (...args: string[]) => Promise<string>;

const svcIn =
  (cwd: string, program: string[], base_url: string): Svc =>
  async (...args) => {
    const env = { ...cliEnvironment(base_url), SVC_CONFIG_DIR: join(cwd, "config") };
    const child = Bun.spawn([...program, ...args], { cwd, env, stdin: "ignore", stderr: "pipe" });
    const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    if (code !== 0) throw new StepFailed(`svc ${args.join(" ")} ended with ${code}: ${err}`);
    return out.trim();
  };

async function deployAndFetch(svc: Svc, cwd: string): Promise<void> {
  const page = join(cwd, "site", "index.html");
  await Bun.write(page, "<!doctype html><title>One</title><p>It is live.");
  const { url } = JSON.parse(await svc("site", "--json")) as { url: string };
  const shows = async (text: string) => (await (await fetch(url)).text()).includes(text);
  expectThat(await shows("It is live."), `svc deploys a folder, and ${url} shows the page`);
  await writeFile(page, "<!doctype html><title>Two</title><p>It is new.");
  expectThat((await svc("update", "site", "-q")) === url && (await shows("It is new.")), "svc update changes it");
  expectThat((await svc("versions", "site")).split("\n").length === 2, "svc versions lists both");
  expectThat(
    (await svc("rollback", "-q")) === url && (await shows("It is live.")),
    "svc rollback brings the first back",
  );
}

await main(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { svc: { type: "string" }, server: { type: "string" } },
  });
  const dist = resolve(positionals[0] ?? join(ROOT, "dist"));
  const program = (given: string | undefined, name: string): string[] => given?.split(" ") ?? [join(dist, name)];
  const cwd = await mkdtemp(join(tmpdir(), "svc-smoke-"));
  const flags = ["--port", "0", "--data-dir", "data", "--log", "off"];
  const command = [...program(values.server, "svc-server"), ...flags];
  const server = Bun.spawn(command, { cwd, stdin: "ignore", stderr: "inherit" });
  try {
    const base_url = await firstMatch(server.stdout, READY);
    const words = program(values.svc, "svc").map((word) => word.replace("{base}", base_url));
    const svc = svcIn(cwd, words, base_url);
    await deployAndFetch(svc, cwd);
    expectThat((await svc("--version")).startsWith("svc "), "svc --version");
  } finally {
    server.kill("SIGTERM");
    const code = await server.exited;
    await rm(cwd, { recursive: true });
    expectThat(code === 0, "svc-server drains and exits 0");
  }
  return 0;
});
