/** The compiled programs, built for a test. */
import { ROOT } from "./paths.ts";

export const suffix = process.platform === "win32" ? ".exe" : "";

export async function build(outdir: string, only: string[], env: Record<string, string> = {}): Promise<void> {
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
