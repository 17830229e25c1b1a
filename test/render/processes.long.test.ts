/** CONTRACT 9: the engine as an operator meets it: with a browser, with none, with one that crashes; from source and in the
 *  binary, under https, with several workers, with its sandbox; and what is left when the server is killed. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chownSync, readdirSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromiumPath } from "../../scripts/chromium.ts";
import { build, suffix } from "../kit/built.ts";
import { ROOT } from "../kit/paths.ts";
import { local, removeFolder, run, type ServerProcess, SVC_SERVER, startProcess } from "../kit/process.ts";
import { type Contents, type DeployResult, ZIP } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";
import { ASKS, authorized, page, PATIENCE_MS, script, type SiteRecord } from "./rendering.ts";

setDefaultTimeout(2 * PATIENCE_MS);

let folder: string;
let chrome: string;
beforeAll(async () => {
  [folder, chrome] = [await mkdtemp(join(tmpdir(), "svc-render-")), await chromiumPath()];
});
afterAll(() => removeFolder(folder));

const TLS = { tls: { rejectUnauthorized: false } } as BunFetchRequestInit;
let named = 0;
/** Somewhere for the data of a server. */
const newFolder = (): string => join(folder, `data-${++named}`);

async function deploy(server: ServerProcess, files: Contents, origin = local(server)): Promise<DeployResult> {
  const answer = await fetch(`${origin}/sites`, { method: "POST", body: zipOf(files), headers: ZIP, ...TLS });
  expect(answer.status).toBe(200);
  return (await answer.json()) as DeployResult;
}

async function seenAt(server: ServerProcess, site: DeployResult, origin = local(server)) {
  let render: SiteRecord["render"];
  await until(async () => {
    const answer = await fetch(`${origin}/sites/${site.site_id}`, { ...authorized(site), ...TLS });
    ({ render } = (await answer.json()) as SiteRecord);
    return render !== undefined && render.status !== "pending";
  }, 100);
  return render!;
}

interface Started {
  env?: Record<string, string>;
  flags?: string[];
  command?: string[];
  cwd?: string;
  data_dir?: string;
}

async function withServer<T>(
  { env = {}, flags = [], data_dir = newFolder(), ...options }: Started,
  use: (server: ServerProcess, data_dir: string) => Promise<T>,
): Promise<T> {
  const settings = { SVC_RENDER: "chrome", SVC_CHROME: chrome, ...env };
  const server = await startProcess(["--data-dir", data_dir, ...flags], { env: settings, ...options });
  try {
    return await use(server, data_dir);
  } finally {
    await server.end();
  }
}

/** Processes whose command names the folder. */
function naming(text: string): number[] {
  const commandOf = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1");
    } catch {
      return "";
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && commandOf(name).includes(text))
    .map(Number);
}
const browsersOf = (data_dir: string): number[] => naming(`${data_dir}/tmp/render-`);

function flagsOf(data_dir: string): string[] {
  return browsersOf(data_dir).map((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1");
    } catch {
      return ""; // it has ended
    }
  });
}

const TEXT = { "index.html": page("<p>Text</p>") };
const ENDLESS = { "index.html": page(script("for (;;);")) };
/** Looked at for so long that the browser's flags can be read. */
const SLOW = { "index.html": page(`<p>Text</p>${script(`${ASKS}; setTimeout(() => clearInterval(asking), 3000)`)}`) };

describe("CONTRACT 9: without a browser the server goes on, says so at the start, and each version is told", () => {
  test.each<[why: string, env: () => Promise<Record<string, string>>, said: RegExp]>([
    [
      "SVC_CHROME names none",
      async () => ({ SVC_CHROME: "/nowhere/chromium" }),
      /there is no program \/nowhere\/chromium: SVC_CHROME must be/,
    ],
    [
      "none is on PATH",
      async () => ({ SVC_CHROME: "", PATH: folder }),
      /no browser was found: install chromium, or name one in SVC_CHROME/,
    ],
    ["it does not run", async () => ({ SVC_CHROME: "/bin/false" }), /\/bin\/false does not run/],
  ])("%s", async (_, env, said) => {
    await withServer({ env: await env() }, async (server) => {
      await until(() => said.test(server.stderr()));
      const site = await deploy(server, TEXT);
      expect(await seenAt(server, site)).toMatchObject({
        status: "failed",
        reason: "The server has no browser that runs: its log says why.",
        console: [],
        warnings: [],
      });
      expect(server.stderr().match(said)).toHaveLength(1);
    });
  });
});

test("CONTRACT 9: a browser that crashes on pages changes no answer", async () => {
  const crashing = join(folder, "crashing");
  // It runs as long as there is no way out, which is how it is tried at the start.
  await writeFile(crashing, `#!/bin/sh\ncase "$*" in *svc-gate.invalid:9*) exec "${chrome}" "$@";; esac\nexit 3\n`);
  await chmod(crashing, 0o755);
  await withServer({ env: { SVC_CHROME: crashing } }, async (server) => {
    const site = await deploy(server, TEXT);
    expect(await seenAt(server, site)).toMatchObject({ status: "failed", reason: "The browser ended on the page." });
    expect((await fetch(`${local(server)}/healthz`)).status).toBe(200);
  });
});

test("CONTRACT 9: a killed server leaves no browser behind, and the next one looks at what waited", async () => {
  const data_dir = newFolder();
  const env = { SVC_RENDER: "chrome", SVC_CHROME: chrome };
  const server = await startProcess(["--data-dir", data_dir], { env });
  const busy = `while (Date.now() < ${Date.now() + 6000});`; // not for ever: the next server looks at it, too
  const held = await deploy(server, { "index.html": page(script(busy)) });
  await until(() => browsersOf(data_dir).length > 0);
  const site = await deploy(server, TEXT);
  server.kill("SIGKILL");
  await server.exited;
  await until(() => browsersOf(data_dir).length === 0);
  await withServer({ data_dir }, async (next) => {
    expect((await seenAt(next, site)).status).toBe("done");
    expect((await seenAt(next, held)).status).toBe("done");
  });
});

test("CONTRACT 1: SIGTERM ends the browser too, and in time", async () => {
  const data_dir = newFolder();
  const server = await startProcess(["--data-dir", data_dir], { env: { SVC_RENDER: "chrome", SVC_CHROME: chrome } });
  await deploy(server, ENDLESS);
  await until(() => browsersOf(data_dir).length > 0);
  const began = performance.now();
  server.kill("SIGTERM");
  expect(await server.exited).toBe(0);
  expect(performance.now() - began).toBeLessThan(11_000);
  await until(() => browsersOf(data_dir).length === 0);
});

test("CONTRACT 9: under https the page is what it is for visitors", async () => {
  const at = (name: string) => join(ROOT, "test/fixtures/tls", name);
  const flags = ["--tls-cert", at("cert.pem"), "--tls-key", at("key.pem")];
  const code = `console.log(location.protocol, isSecureContext, typeof crypto.subtle);
    navigator.serviceWorker.register("/sw.js").then(() => console.log("registered"), (e) => console.log(String(e)));`;
  await withServer({ flags }, async (server) => {
    const origin = `https://127.0.0.1:${server.port}`;
    const site = await deploy(server, { "index.html": page(`<p>Text</p>${script(code)}`), "sw.js": "" }, origin);
    const { status, reason, warnings, console } = await seenAt(server, site, origin);
    expect<unknown>([status, reason ?? null, warnings]).toEqual(["done", null, []]);
    expect(console.map(({ text }) => text)).toEqual(["https: true object", "registered"]);
  });
});

test("CONTRACT 9: with several workers one of the processes looks", async () => {
  await withServer({ flags: ["--workers", "2"] }, async (server) => {
    const sites = await Promise.all([1, 2, 3].map((n) => deploy(server, { "index.html": page(`<p>Site ${n}</p>`) })));
    for (const site of sites) expect((await seenAt(server, site)).status).toBe("done");
    const metrics = await (await fetch(`${server.base_url}/metrics`)).text();
    expect(metrics).toContain("\nsvc_renders_done_total 3\n");
    expect(metrics).toContain("\nsvc_renders_waiting 0\n");
  });
});

test("CONTRACT 7: each look is a line of the log, without what the page said", async () => {
  const files = { "index.html": page(`<p>Text</p>${script("console.log('private words'); nope()")}`) };
  await withServer({ flags: ["--log", "json"] }, async (server) => {
    const site = await deploy(server, files);
    await seenAt(server, site);
    await until(() => server.stderr().includes('"event":"render"'));
    const line = server
      .stderr()
      .split("\n")
      .find((text) => text.includes('"event":"render"'))!;
    expect(JSON.parse(line)).toEqual({
      time: expect.any(String),
      level: "info",
      event: "render",
      site_id: site.site_id,
      slug: site.slug,
      version_id: site.version_id,
      status: "done",
      ms: expect.any(Number),
      warnings: ["script_error"],
      reason: null,
    });
    expect(server.stderr()).not.toContain("private words");
  });
});

test("CONTRACT 9: the binary looks too, from wherever it is started", async () => {
  const bin = join(folder, "bin");
  await build(bin, ["svc-server"]);
  await withServer({ command: [join(bin, `svc-server${suffix}`)], cwd: folder }, async (server) => {
    const site = await deploy(server, TEXT);
    expect(await seenAt(server, site)).toMatchObject({ status: "done", screenshot_key: site.version_id, warnings: [] });
  });
});

const NOBODY = 65_534;
/** What runs as somebody who may have a sandbox: Chromium gives root none. */
const asNobody = (): string[] => {
  if (process.getuid?.() !== 0) return [];
  return ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
};

test("CONTRACT 9: the browser's sandbox is on where the kernel allows one, and else that is said", async () => {
  const user = asNobody();
  const allowed = (await run([...user, "unshare", "-Ur", "true"])).code === 0;
  const home = newFolder();
  await mkdir(home, { mode: 0o700 });
  if (user.length > 0) {
    await chmod(folder, 0o755);
    chownSync(home, NOBODY, NOBODY);
  }
  const env = { HOME: home };
  await withServer(
    { command: [...user, ...SVC_SERVER], env, data_dir: join(home, "data") },
    async (server, data_dir) => {
      const site = await deploy(server, SLOW);
      // The first is tried with its sandbox in any case.
      let seen: ReturnType<typeof flagsOf> = [];
      await until(() => (seen = flagsOf(data_dir)).some((flags) => allowed || flags.includes("--no-sandbox")));
      expect(seen.some((flags) => flags.includes("--no-sandbox"))).toBe(!allowed);
      expect((await seenAt(server, site)).status).toBe("done");
      expect(server.stderr().includes("runs without its sandbox")).toBe(!allowed);
      expect(await seenAt(server, await deploy(server, TEXT))).toMatchObject({ status: "done" });
    },
  );
});
