/** `bun run demo`, as a person runs it. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "../kit/paths.ts";
import { temporaryFolder } from "../kit/process.ts";

const DEMO = join(ROOT, "scripts", "demo.ts");
const SHOWN = /^ *(http:\/\/\S+)$/m;

function start(folder: string, port: string) {
  const flags = ["--port", port, "--data-dir", join(folder, "data")];
  const elsewhere = { DEPLOY_URL: "http://127.0.0.1:1", SVC_TOKEN: "svc_session_x", SVC_API_KEY: "svc_session_y" };
  const env = { ...process.env, ...elsewhere, SVC_CONFIG_DIR: join(folder, "config") };
  return Bun.spawn([process.execPath, DEMO, ...flags], { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
}
type Demo = ReturnType<typeof start>;

/** The URL that it prints. */
async function shownUrl(demo: Demo): Promise<string> {
  let output = "";
  const decoder = new TextDecoder();
  for await (const chunk of demo.stdout) {
    output += decoder.decode(chunk, { stream: true });
    const url = SHOWN.exec(output)?.[1];
    if (url) return url;
  }
  throw new Error(`the demo ended: ${await demo.stderr.text()}`);
}

test("it serves examples/hello at the URL it prints until Ctrl-C, and shows the same URL the next time", async () => {
  await using folder = await temporaryFolder();
  const first = start(folder.path, "0");
  const url = await shownUrl(first);
  expect(await (await fetch(url)).text()).toContain("It is live.");

  const { port } = new URL(url);
  const other = start(join(folder.path, "other"), port);
  expect(await other.exited).toBe(1);
  const said = await other.stderr.text();
  expect(said).toContain(`port ${port} in use`);
  expect(said).toContain("--port");

  first.kill("SIGINT");
  expect(await first.exited).toBe(0);

  const second = start(folder.path, port);
  expect(await shownUrl(second)).toBe(url);
  second.kill("SIGTERM");
  expect(await second.exited).toBe(0);
}, 60_000);
