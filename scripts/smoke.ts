/** `bun scripts/smoke.ts DIST`: the two binaries of a build, from a folder that is not the project's, deploy and serve a page. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
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

async function deployAndFetch(svc: string, base_url: string, cwd: string): Promise<void> {
  const env = { ...cliEnvironment(base_url), SVC_CONFIG_DIR: join(cwd, "config") };
  const folder = join(ROOT, "examples", "hello");
  const child = Bun.spawn([svc, folder, "--json"], { cwd, env, stdin: "ignore", stderr: "inherit" });
  const result = JSON.parse(await child.stdout.text()) as { ok: boolean; url: string };
  expectThat((await child.exited) === 0 && result.ok, "svc deploys a folder");
  const page = await fetch(result.url);
  expectThat(page.status === 200 && (await page.text()).includes("It is live."), `${result.url} shows the page`);
}

await main(async () => {
  const dist = resolve(process.argv[2] ?? join(ROOT, "dist"));
  const cwd = await mkdtemp(join(tmpdir(), "svc-smoke-"));
  const flags = ["--port", "0", "--data-dir", join(cwd, "data"), "--log", "off"];
  const server = Bun.spawn([join(dist, "svc-server"), ...flags], { cwd, stdin: "ignore", stderr: "inherit" });
  try {
    await deployAndFetch(join(dist, "svc"), await firstMatch(server.stdout, READY), cwd);
  } finally {
    server.kill("SIGTERM");
    const code = await server.exited;
    await rm(cwd, { recursive: true });
    expectThat(code === 0, "svc-server drains and exits 0");
  }
  return 0;
});
