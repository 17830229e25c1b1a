/** How the CLI behaves towards a person: colors, motion, text of others, signals. */
import { beforeAll, describe, expect, test, setDefaultTimeout } from "bun:test";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { CLI, ctrlCAt, Home, json } from "../kit/cli.ts";
import { DEPLOYED, fakeServer, LIMITS, throttled } from "../kit/fake-server.ts";
import { shared } from "../kit/shared.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const home = shared(await Home.make("http://127.0.0.1:1"));
beforeAll(async () => {
  await home.write("", { "dist/index.html": "<title>t</title>" });
});

describe("on a terminal", () => {
  /** Time for what moves to be seen moving: a few of its frames. */
  const MOVING_MS = 400;
  const slowly = (answer: () => Response) =>
    fakeServer(async (path) => {
      await Bun.sleep(path === "/sites" ? MOVING_MS : 0);
      return answer();
    });
  const framesOf = (raw: string) => new Set(raw.match(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g) ?? []).size;

  test("the line that moves is wiped, the cursor comes back, the URL stands out", async () => {
    const moved = Promise.withResolvers<void>();
    const fake = fakeServer(async (path) => {
      if (path === "/sites") await moved.promise;
      return Response.json(DEPLOYED);
    });
    const watch = (raw: string) => framesOf(raw) > 2 && raw.includes("Publishing") && moved.resolve();
    const { code, raw } = await home.runOnTerminal([], { env: { DEPLOY_URL: fake.url } }, watch);
    await fake.stop();
    expect(code).toBe(0);
    expect(framesOf(raw)).toBeGreaterThan(2);
    expect(raw).toContain("Publishing");
    expect(raw.startsWith("\x1b[?25l")).toBe(true);
    expect(raw.lastIndexOf("\x1b[?25h")).toBeGreaterThan(raw.lastIndexOf("\x1b[?25l"));
    expect(raw).toContain("\x1b[2K\x1b[?25h\r\n  \x1b[32m✓\x1b[39m Live in");
    expect(raw).toContain(`  \x1b[1m\x1b[36m${DEPLOYED.url}\x1b[39m\x1b[22m\r\n`);
  });

  describe("CONTRACT 8: a folder without a page is published where a person says so", () => {
    const QUESTION = "Publish the list, for anyone with the link to open? y or n: ";
    const publish = async (typed: string | null, folder = "photos", more: string[] = []) => {
      await home.write("photos", { "one.jpg": "1", "two.jpg": "2" });
      await home.write("notes", { "a.txt": "1", "readme.md": "# Notes" });
      const fake = fakeServer(() => Response.json(DEPLOYED));
      let answered = false;
      const seen = await home.runOnTerminal([folder, ...more], { env: { DEPLOY_URL: fake.url } }, (raw, terminal) => {
        if (answered || typed === null || !raw.includes(QUESTION)) return;
        answered = true;
        terminal.write(`${typed}\r`);
      });
      await fake.stop();
      return { ...seen, sent: fake.asked.length, asked: seen.raw.includes(QUESTION) };
    };

    test.each([
      ["y", 0, 1],
      ["Yes", 0, 1],
      ["n", 1, 0],
      ["", 1, 0],
      ["yonder", 1, 0],
    ])("%p is exit %i with %i uploads", async (typed, code, sent) => {
      const ran = await publish(typed);
      expect([ran.code, ran.sent, ran.asked]).toEqual([code, sent, true]);
      expect(ran.raw).toContain("There is no web page in photos: it would be a list of 2 files.");
      if (code === 1) expect(ran.raw).toContain("Nothing was published.");
    });

    test.each([
      ["with --yes", "photos", ["--yes"]],
      ["in a dry run", "photos", ["--dry-run"]],
      ["with Markdown in it", "notes", []],
      ["a single file", "photos/one.jpg", []],
    ])("%s nobody is asked", async (_, folder, more) => {
      expect((await publish(null, folder, more)).asked).toBe(false);
    });

    test("neither is a program", async () => {
      const fake = fakeServer(() => Response.json(DEPLOYED));
      await home.write("photos", { "one.jpg": "1" });
      const { code } = await home.run(["photos", "--json"], { env: { DEPLOY_URL: fake.url } });
      await fake.stop();
      expect([code, fake.asked.length]).toEqual([0, 1]);
    });
  });

  test("an upload shows how far it is", async () => {
    // Far more than what the network stack of one machine swallows at once.
    const noise = new Uint8Array(48_000_000);
    for (let at = 0; at < noise.length; at += 65_536) crypto.getRandomValues(noise.subarray(at, at + 65_536));
    await home.write("big/dist", { "index.html": "i", "noise.bin": noise });
    const fake = fakeServer(() => Response.json(DEPLOYED), { ...LIMITS, max_bytes: 1e9, max_zip_bytes: 1e9 });
    const slow = throttled(Number(new URL(fake.url).port));
    const { code, raw } = await home.runOnTerminal([], { cwd: home.path("big"), env: { DEPLOY_URL: slow.url } });
    slow.stop();
    await fake.stop();
    expect(code).toBe(0);
    expect(raw).toMatch(/Uploading \d+ % of 46 MB/);
    expect(fake.asked[0]!.bytes).toBeGreaterThan(48_000_000);
  }, 60_000);

  test.each([
    ["NO_COLOR", { NO_COLOR: "1" }],
    ["FORCE_COLOR=0", { FORCE_COLOR: "0" }],
  ])("%s: no colors, the motion stays", async (_, env) => {
    const fake = fakeServer(() => Response.json(DEPLOYED));
    const { raw } = await home.runOnTerminal([], { env: { DEPLOY_URL: fake.url, ...env } });
    await fake.stop();
    expect(raw).not.toMatch(/\x1b\[\d+m/);
    expect(raw).toContain("\x1b[?25l");
  });

  test.each([
    ["a terminal that can do nothing", [], { TERM: "dumb" }],
    ["--json", ["--json"], {}],
    ["-q", ["-q"], {}],
  ])("%s: nothing moves and nothing is colored", async (_, args, env) => {
    const fake = slowly(() => Response.json(DEPLOYED));
    const { raw, code } = await home.runOnTerminal(args, { env: { DEPLOY_URL: fake.url, ...env } });
    await fake.stop();
    expect(code).toBe(0);
    expect(raw.replaceAll(`\x1b[1m\x1b[36m${DEPLOYED.url}`, "")).not.toContain("\x1b[?25l");
    expect(raw).not.toContain("⠋");
  });

  test("nothing moves where stdout goes elsewhere: the URL is being collected", async () => {
    const fake = slowly(() => Response.json(DEPLOYED));
    const program = ["sh", "-c", '"$@" | cat', "sh", ...CLI];
    const { raw } = await home.runOnTerminal([], { env: { DEPLOY_URL: fake.url }, program });
    await fake.stop();
    expect(raw).not.toContain("\x1b[?25l");
    expect(raw).toContain(`\r\n${DEPLOYED.url}\r\n`);
    expect(raw).toContain("\x1b[32m✓");
  });

  test("long sentences are wrapped and stay behind their mark", async () => {
    const message = `index.html loads ${"a-long-name ".repeat(14)}which is not here`;
    const warnings = [{ code: "missing_asset", message, fix_recipe: "Add the file." }];
    const fake = fakeServer(() => Response.json({ ...DEPLOYED, warnings }));
    const { lines } = await home.runOnTerminal([], { env: { DEPLOY_URL: fake.url } });
    await fake.stop();
    const start = lines.findIndex((line) => line.startsWith("  ! index.html"));
    expect(lines[start + 1]).toMatch(/^    a-long-name/);
    expect(Math.max(...lines.slice(start).map((line) => line.length))).toBeLessThanOrEqual(90);
    expect(lines.join("\n")).toContain("    → Add the file.");
  });

  test("many warnings do not push the URL away: the rest is counted", async () => {
    const warnings = Array.from({ length: 20 }, (_, n) => ({
      code: "broken_link",
      message: `link ${n}`,
      fix_recipe: `Fix ${n}.`,
    }));
    const fake = fakeServer(() => Response.json({ ...DEPLOYED, warnings }));
    const env = { DEPLOY_URL: fake.url };
    const { lines } = await home.runOnTerminal([], { env });
    const { err } = await home.run([], { env });
    await fake.stop();
    expect(lines.filter((line) => line.includes("→"))).toHaveLength(6);
    expect(lines.join("\n")).toContain("… and 14 more");
    expect(err.match(/→/g)).toHaveLength(20);
  });

  test("a failure ends the motion before it is told", async () => {
    const { code, raw, lines } = await home.runOnTerminal([]);
    expect(code).toBe(1);
    expect(raw).toContain("\x1b[2K\x1b[?25h  \x1b[31m✗\x1b[39m No server answers");
    expect(lines.at(-2)).toContain("Check DEPLOY_URL");
  });
});

describe("colors in a pipe", () => {
  test("only with FORCE_COLOR, and never on stdout", async () => {
    const fake = fakeServer(() => Response.json(DEPLOYED));
    const plain = await home.run([], { env: { DEPLOY_URL: fake.url } });
    const forced = await home.run([], { env: { DEPLOY_URL: fake.url, FORCE_COLOR: "1" } });
    await fake.stop();
    expect(plain.err).not.toContain("\x1b");
    expect(forced.err).toContain("\x1b[32m✓");
    expect(forced.err).not.toContain("\x1b[?25l");
    expect(forced.out).toBe(`${DEPLOYED.url}\n`);
  });
});

describe("A11: text of others cannot move the terminal", () => {
  const EVIL = "a\x1b[2Jb\x9b31mc\x07d\re\u202ef\x00g\u200bh";
  const evil = {
    ...DEPLOYED,
    url: `http://x.localhost/${EVIL}`,
    manage_token: `svc_manage_${EVIL}`,
    claim_url: `http://claim/${EVIL}`,
    healed: [{ code: "x", message: EVIL, path: EVIL }],
    warnings: [{ code: "x", message: EVIL, fix_recipe: EVIL }],
  };
  const ACTIVE = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u200b\u2066-\u2069]/;

  test.each([[[]], [["-q"]], [["--json"]]])("an answer, with flags %p", async (flags) => {
    const fake = fakeServer(() => Response.json(evil));
    const { out, err } = await home.run(flags, { env: { DEPLOY_URL: fake.url } });
    await fake.stop();
    expect(out + err).not.toMatch(ACTIVE);
    if (flags.length === 0) expect(err).toContain("a\\u{1b}[2Jb\\u{9b}31mc");
    if (flags[0] === "--json") expect(json({ out })["url"]).toBe(evil.url);
    else expect(out.trim().split("\n")).toHaveLength(1);
  });

  test.each([[[]], [["--json"]]])("a refusal, with flags %p", async (flags) => {
    const fake = fakeServer(() => Response.json({ error: EVIL, code: EVIL }, { status: 400 }));
    const { out, err } = await home.run(flags, { env: { DEPLOY_URL: fake.url } });
    await fake.stop();
    expect(out + err).not.toMatch(ACTIVE);
  });

  test("versions, and a file's name", async () => {
    const versions = [{ version_id: EVIL, created_at: EVIL }];
    const fake = fakeServer(() => Response.json({ ...DEPLOYED, live_version_id: EVIL, versions }));
    const ran = await home.run(["versions", "--site", "s", "--token", "t"], { env: { DEPLOY_URL: fake.url } });
    await fake.stop();
    expect(ran.out).not.toMatch(ACTIVE);
    expect((await home.run(["nothing\x1b[2J"])).err).toContain("nothing\\u{1b}[2J");
  });
});

describe("Ctrl-C", () => {
  const leftovers = async () => [
    ...(await readdir(home.config).catch(() => [])).filter((name) => name !== "projects.json"),
    ...(await readdir(tmpdir())).filter((name) => name.startsWith("svc-") && name.endsWith(".zip")),
  ];

  test("on a terminal: exit 130, the cursor is back, nothing is left", async () => {
    const fake = fakeServer(() => new Promise<Response>(() => {}));
    const env = { DEPLOY_URL: fake.url };
    const { code, raw } = await home.runOnTerminal([], { env }, ctrlCAt(/Publishing/));
    await fake.stop();
    expect(code).toBe(130);
    expect(raw.endsWith("\x1b[?25h")).toBe(true);
    expect(await leftovers()).toEqual([]);
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s: exit %i, nothing on stdout, no link, no file left", async (signal, code) => {
    await using own = await Home.make("");
    await own.write("", { "dist/index.html": "i" });
    const arrived = Promise.withResolvers<void>();
    const fake = fakeServer(() => {
      arrived.resolve();
      return new Promise<Response>(() => {});
    });
    const ran = await own.run(["--json"], {
      env: { DEPLOY_URL: fake.url },
      whileRunning: async (child) => {
        await arrived.promise;
        child.kill(signal);
      },
    });
    await fake.stop();
    expect(ran).toEqual({ code, out: "", err: "  It may have been published.\n" });
    // Bun keeps a cache of its own in the home folder.
    expect((await readdir(own.dir)).filter((name) => name !== ".bun")).toEqual(["dist"]);
  });
});
