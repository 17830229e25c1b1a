/** BEYOND 8 on the command line: `svc access`. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { CLI, Home, json } from "../kit/cli.ts";
import { slugOf } from "../kit/server.ts";
import { shared, sharedServer } from "../kit/shared.ts";

setDefaultTimeout(60_000);

const server = await sharedServer();
const home = shared(await Home.make(server.base_url));
let sites = 0;

/** A site that was deployed from `cwd`. */
async function deployed(): Promise<{ cwd: string; slug: string; site_id: string }> {
  const cwd = await home.write(`site-${++sites}`, { "index.html": `<title>${sites}</title>` });
  const made = json(await home.run(["--json", "."], { cwd }));
  return { cwd, slug: slugOf(made["url"]), site_id: String(made["site_id"]) };
}
const piped = async (cwd: string, line: string, ...more: string[]) => {
  const words = [...CLI, "access", "set-password", "--password-stdin", ...more];
  const env = { ...process.env, HOME: home.dir, SVC_CONFIG_DIR: home.config, DEPLOY_URL: server.base_url };
  const child = Bun.spawn(words, { cwd, env, stdin: new Blob([line]), stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, out, err };
};
const statusOf = async (slug: string, password?: string): Promise<number> => {
  const headers = password && { authorization: `Basic ${Buffer.from(`:${password}`).toString("base64")}` };
  return (await server.site(slug, "/", { headers: headers || {} })).status;
};

test("a line on stdin sets it, off ends it, and status says which it is", async () => {
  const { cwd, slug, site_id } = await deployed();
  const status = async () => (await home.run(["access", "status"], { cwd })).out;
  expect(await status()).toBe("public\n");
  const ran = await piped(cwd, "open sesame 1\n");
  expect([ran.code, ran.out]).toEqual([0, "password\n"]);
  expect(ran.err).toContain("need the password");
  expect(ran.err).not.toContain("open sesame");
  expect([await status(), await statusOf(slug), await statusOf(slug, "open sesame 1")]).toEqual([
    "password\n",
    401,
    200,
  ]);
  const told = json(await home.run(["access", "status", "--json"], { cwd }));
  expect(told).toEqual({ ok: true, site_id, mode: "password", set_at: expect.stringMatching(/^20/) });
  const off = await home.run(["access", "off"], { cwd });
  expect([off.code, off.out, await statusOf(slug)]).toEqual([0, "public\n", 200]);
});

test("on a terminal it is asked for twice, and never shown", async () => {
  const { cwd, slug } = await deployed();
  let step = 0;
  const screen = await home.runOnTerminal(["access", "set-password"], { cwd }, (raw, terminal) => {
    const asked = [/at least 8 characters \(not shown\): $/, /Once more: $/][step];
    if (!asked?.test(raw)) return;
    step++;
    terminal.write("typed by hand\r");
  });
  expect([screen.code, screen.raw.includes("typed by hand")]).toEqual([0, false]);
  expect([await statusOf(slug), await statusOf(slug, "typed by hand")]).toEqual([401, 200]);
});

test.each([
  ["too short", "1234567\n", /must have 8 to 256 characters, and has 7: nothing was changed/],
  ["too long", `${"x".repeat(257)}\n`, /and has 257: nothing was changed/],
  ["empty", "\n", /nothing was changed/],
])("%s is refused before anything is asked of the server", async (_, line, said) => {
  const { cwd, slug } = await deployed();
  const { code, out, err } = await piped(cwd, line);
  expect([code, out, await statusOf(slug)]).toEqual([1, "", 200]);
  expect(err).toMatch(said);
});

test("without a terminal and without a line it says how to give one; it is no flag", async () => {
  const { cwd } = await deployed();
  const none = await home.run(["access", "set-password"], { cwd });
  expect([none.code, none.out]).toEqual([1, ""]);
  expect(none.err).toContain("--password-stdin");
  expect((await home.run(["access", "set-password", "--password", "open sesame"], { cwd })).code).toBe(2);
  expect((await home.run(["access", "set-password", "open sesame"], { cwd })).code).toBe(2);
});
