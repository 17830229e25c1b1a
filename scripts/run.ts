/** The parts that all scripts share: the checkout's folder, children that are this same Bun, a line to the person. */
import { join } from "node:path";

export const ROOT = join(import.meta.dir, "..");
export const TOOLS = join(ROOT, "test", "tools");

export const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** A step failed and its own output said why: the script ends without a stack. */
export class StepFailed extends Error {}

/** The CLI's environment against a server of the script: the credentials of this shell belong to another one. */
export function cliEnvironment(base_url: string): Record<string, string | undefined> {
  const { SVC_TOKEN: _token, SVC_API_KEY: _key, ...rest } = process.env;
  return { ...rest, DEPLOY_URL: base_url };
}

interface Run {
  cwd?: string;
  env?: Record<string, string>;
  /** Show the output only where the step fails. */
  quiet?: boolean;
}

/** Runs this Bun with `args`; its exit code. */
export async function bun(args: string[], { cwd = ROOT, env = {}, quiet = false }: Run = {}): Promise<number> {
  const stdio = quiet ? "pipe" : "inherit";
  const child = Bun.spawn([process.execPath, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdin: "ignore",
    stdout: stdio,
    stderr: stdio,
  });
  const output = quiet ? await Promise.all([text(child.stdout), text(child.stderr)]) : [];
  const code = await child.exited;
  if (code !== 0) process.stderr.write(output.join(""));
  return code;
}

const text = (stream: unknown): Promise<string> => new Response(stream as ReadableStream<Uint8Array>).text();

/** Runs this Bun with `args`; throws `StepFailed` where it does not end well. */
export async function step(name: string, args: string[], options: Run = {}): Promise<void> {
  const started = performance.now();
  const code = await bun(args, { quiet: true, ...options });
  if (code !== 0) throw new StepFailed(`${name} failed (exit code ${code}): see above.`);
  say(`${name}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

/** Packages as the lock names them. Only a browser and build tools need install scripts, and none of ours do. */
export const install = (name: string, cwd: string): Promise<void> =>
  step(name, ["install", "--frozen-lockfile", "--ignore-scripts"], { cwd });

/** The body of a script: a `StepFailed` is one line and exit code 1. */
export async function main(body: () => Promise<number>): Promise<never> {
  try {
    process.exit(await body());
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    say(error.message);
    process.exit(1);
  }
}
