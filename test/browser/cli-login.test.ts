/** The compiled programs and a person with a browser: `svc login`, from the code to a site that stays. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { build, suffix } from "../kit/built.ts";
import { Home, json } from "../kit/cli.ts";
import { PASSWORD } from "../kit/people.ts";
import { type ServerProcess, startProcess } from "../kit/process.ts";
import { type Browser, openBrowser } from "./chromium.ts";

setDefaultTimeout(120_000);

let home: Home;
let server: ServerProcess;
let browser: Browser;
beforeAll(async () => {
  home = await Home.make("");
  await build(home.path("bin"), ["svc", "svc-server"]);
  server = await startProcess(["--data-dir", home.path("data"), "--log", "off"], {
    command: [home.path("bin", `svc-server${suffix}`)],
    env: { HOME: home.dir },
    cwd: home.dir,
  });
  home.server = server.base_url;
  browser = await openBrowser();
  await home.write("before/dist", { "index.html": "<!doctype html><title>Before</title><p>deployed before" });
  await home.write("after/dist", { "index.html": "<!doctype html><title>After</title><p>deployed after" });
});
afterAll(async () => {
  await browser?.close();
  server?.kill("SIGKILL");
  await server?.exited;
  await home[Symbol.asyncDispose]();
});

const program = () => [home.path("bin", `svc${suffix}`)];

/** Signs up on the way to the page of the code, and clicks there. */
async function approve(uri: string, code: string): Promise<void> {
  await browser.visit(uri, "Sign in");
  await browser.click("a[href^='/signup']");
  await browser.shows("Create an account");
  await browser.click("#email");
  await browser.type("person@example.org");
  await browser.click("#password");
  await browser.type(PASSWORD);
  await browser.press("Enter");
  const asked = await browser.shows(code);
  expect(asked.text).toContain("svc/0.3.0");
  await browser.click("button[value=approve]");
  const done = await browser.shows("The device is signed in");
  expect(done.text).toContain("The device is signed in");
  expect(done.failures).toEqual([]);
}

test("a person approves svc login in Chromium: the site of before is theirs, and so is the next one", async () => {
  const first = json(await home.run(["--json"], { cwd: home.path("before"), program: program() }));
  expect(first).toMatchObject({ ok: true, owner_account_id: null, expires_at: expect.any(String) });

  let approving: Promise<void> | null = null;
  const { code, raw } = await home.runOnTerminal(["login"], { program: program() }, (seen) => {
    const shown = /Approve it at \S*?(http:\/\/\S+?user_code=([B-Z]{4}-[B-Z]{4}))/.exec(seen);
    if (shown) approving ??= approve(shown[1]!, shown[2]!);
  });
  await approving;
  expect(code).toBe(0);
  expect(raw).toContain("1 site deployed here before: yours now, for good");

  const second = json(await home.run(["--json"], { cwd: home.path("after"), program: program() }));
  expect(second).toMatchObject({ ok: true, expires_at: null, claim_token: null });
  const listed = JSON.parse((await home.run(["list"], { program: program() })).out) as { site_id: string }[];
  expect(listed.map(({ site_id }) => site_id)).toEqual([String(second["site_id"]), String(first["site_id"])]);
  const page = await browser.visit(String(second["url"]), "deployed after");
  expect([page.title, page.failures]).toEqual(["After", []]);
});

test("the built svc carries the skill", async () => {
  const cwd = await home.write("project", {});
  const { code, out } = await home.run(["install", "skill", "--agents"], { cwd, program: program() });
  expect(code).toBe(0);
  expect(out).toContain("written");
  expect(await Bun.file(home.path("project", "AGENTS.md")).text()).toContain("## Publish static files with svc");
});
