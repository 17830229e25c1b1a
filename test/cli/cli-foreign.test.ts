/** Run from source by Bun in somebody else's folder (CONTRACT 8). */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, suffix } from "../kit/built.ts";
import { Home, json } from "../kit/cli.ts";
import { DEPLOYED, fakeServer, type FakeServer } from "../kit/fake-server.ts";
import { shared } from "../kit/shared.ts";

// A build takes a while on a machine that may be busy.
setDefaultTimeout(120_000);

let theirs: FakeServer;
const home = shared(await Home.make(""));
beforeAll(async () => {
  theirs = fakeServer(() => Response.json(DEPLOYED));
});
afterAll(async () => {
  await theirs.stop();
});

const LURES: [string, Record<string, string>][] = [
  [".env", {}],
  [".env.local", {}],
  [".env.development", {}],
  [".env.production", { NODE_ENV: "production" }],
];

/** A project that says where deploys go. */
const lured = (file: string) =>
  home.write(`project ${file}`, { "dist/index.html": "i", [file]: `DEPLOY_URL=${theirs.url}\n` });

describe("CONTRACT 8: the CLI from source in a folder whose settings Bun reads", () => {
  test.each(LURES)("%s: it sends nothing, exits 1 and names the file and what works", async (file, env) => {
    const cwd = await lured(file);
    const ran = await home.run(["--json"], { cwd, env: { SVC_TOKEN: "svc_session_secret", ...env } });
    expect([ran.code, theirs.asked]).toEqual([1, []]);
    expect(json(ran)).toMatchObject({ ok: false, code: "foreign_settings" });
    expect(json(ran)["error"]).toMatch(
      new RegExp(`${file.replaceAll(".", "\\.")} .*the svc binary or the svc of the npm package here`),
    );
  });

  test("bunfig.toml, whose code has run by then: the same", async () => {
    const cwd = await home.write("bunfig", { "dist/index.html": "i", "bunfig.toml": "" });
    const ran = await home.run(["whoami", "--json"], { cwd });
    expect(json(ran)).toMatchObject({ code: "foreign_settings", error: expect.stringContaining("bunfig.toml") });
  });

  test("one of a folder around, which Bun does not read, is no reason", async () => {
    await home.write("around", { ".env": `DEPLOY_URL=${theirs.url}`, "web/dist/index.html": "i" });
    const ran = await home.run(["--json"], { cwd: home.path("around/web"), env: { DEPLOY_URL: "http://127.0.0.1:1" } });
    expect(json(ran)["code"]).toBe("unreachable");
  });
});

test("CONTRACT 8: the binary reads neither", async () => {
  const outdir = await mkdtemp(join(tmpdir(), "svc-built-"));
  try {
    await build(outdir, ["svc"]);
    const cwd = await lured(".env");
    const env = { DEPLOY_URL: "" };
    const ran = await home.run(["whoami", "--json"], { cwd, env, program: [join(outdir, `svc${suffix}`)] });
    expect(json(ran)).toMatchObject({ code: "unauthorized", error: expect.stringContaining("http://localhost:8787") });
    expect(theirs.asked).toEqual([]);
  } finally {
    await rm(outdir, { recursive: true, force: true });
  }
});
