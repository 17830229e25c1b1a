/** strace on all threads of a running server and of its deploys, which makes one of their system calls fail or kill. */
import { deployProcesses, type ServerProcess } from "../../kit/process.ts";

export function needStrace(program: string): void {
  if (Bun.which("strace")) return;
  process.stderr.write(`${program}: strace is needed (Debian: apt-get install strace)\n`);
  process.exit(1);
}

/** Resolves once it is attached. With `path` only calls on that file count. */
export async function inject(server: ServerProcess, rule: string, path?: string): Promise<{ detach(): Promise<void> }> {
  const call = rule.split(":")[0]!;
  const processes = [server.pid, ...deployProcesses(server.pid)];
  const only = path === undefined ? [] : ["-P", path];
  const strace = Bun.spawn(
    [
      "strace",
      "-f",
      ...processes.flatMap((pid) => ["-p", String(pid)]),
      "-o",
      "/dev/null",
      ...only,
      "-e",
      `trace=${call}`,
      "-e",
      `inject=${rule}`,
    ],
    { stdin: "ignore", stdout: "ignore", stderr: "pipe" },
  );
  const reader = strace.stderr.getReader();
  for (let text = ""; text.split("attached").length <= processes.length;) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`strace ended: ${text}`);
    text += new TextDecoder().decode(value);
  }
  return {
    async detach() {
      strace.kill("SIGINT");
      await Promise.race([strace.exited, Bun.sleep(2000)]);
      strace.kill("SIGKILL");
    },
  };
}
