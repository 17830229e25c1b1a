/** The compiled programs, for a test that changes them or starts them elsewhere. */
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "./paths.ts";

export const suffix = process.platform === "win32" ? ".exe" : "";

/** Compiles the programs in `only` into `outdir`. A server that `verify` has compiled already is copied. */
export async function build(outdir: string, only: string[], env: Record<string, string> = {}): Promise<void> {
  const server = process.env["SVC_TEST_SERVER"];
  const copied = server && Object.keys(env).length === 0 && only.includes("svc-server");
  if (copied) {
    await mkdir(outdir, { recursive: true });
    await copyFile(server, join(outdir, `svc-server${suffix}`));
  }
  await compile(outdir, copied ? only.filter((name) => name !== "svc-server") : only, env);
}

async function compile(outdir: string, only: string[], env: Record<string, string>): Promise<void> {
  if (only.length === 0) return;
  const flags = only.flatMap((name) => ["--only", name]);
  const child = Bun.spawn([process.execPath, "scripts/build.ts", "--outdir", outdir, ...flags], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdout: "ignore",
    stderr: "pipe",
  });
  const err = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`the build failed: ${err}`);
}
