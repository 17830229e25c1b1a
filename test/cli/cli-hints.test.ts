/** What is said beside the result: tokens, ways back, waits, package managers, Ctrl-C (CONTRACT 8). */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { ctrlCAt, deployed, Home, json } from "../kit/cli.ts";
import { DEPLOYED, fakeServer, LIMITS, throttled } from "../kit/fake-server.ts";
import { sharedPerson } from "../kit/shared.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const { server, person } = await sharedPerson();

async function newHome(at = server.base_url) {
  const home = await Home.make(at);
  await home.write("", { "dist/index.html": "<title>t</title>" });
  return home;
}

describe("CONTRACT 8: whoever reads a log must not be able to take the site", () => {
  test("the claim link is printed to a terminal alone, and not in CI", async () => {
    await using home = await newHome();
    const seen = await home.runOnTerminal([]);
    expect(seen.lines.join("\n")).toMatch(/To keep it, svc login, or open this in a browser:\s+http\S+#svc_claim_/);
    for (const said of [
      (await home.run([])).err,
      (await home.runOnTerminal([], { env: { CI: "true" } })).raw,
      (await home.run([], { env: { CI: "1" } })).err,
    ]) {
      expect(said).not.toContain("svc_claim_");
      expect(said).not.toContain("/claim/");
      expect(said).toContain("To keep it: svc login");
    }
    expect((await deployed(home))["claim_token"]).toMatch(/^svc_claim_/);
  });

  const claimed = async (home: Home, link: (site_id: string, token: string) => string, env: Record<string, string>) => {
    const { site_id, claim_token } = await deployed(home);
    await home.run(["forget"]);
    return home.run(["claim", link(String(site_id), String(claim_token)), "--json"], { env });
  };
  const session = () => ({ SVC_TOKEN: person.session_token });

  test("svc claim <claim_url> takes server and token from the link", async () => {
    await using home = await newHome();
    const ran = await claimed(home, (id, token) => `${server.base_url}/claim/${id}#${token}`, session());
    expect([ran.code, json(ran)["owner_account_id"]]).toEqual([0, person.account_id]);
  });

  test("of another server: exit 1, both named, and the session is shown to nobody", async () => {
    await using home = await newHome();
    const other = fakeServer(() => Response.json(DEPLOYED));
    const ran = await claimed(home, (id, token) => `${other.url}/claim/${id}#${token}`, session());
    await other.stop();
    expect([ran.code, other.asked]).toEqual([1, []]);
    expect(json(ran)["code"]).toBe("other_server");
    expect(json(ran)["error"]).toContain(other.url);
    expect(json(ran)["error"]).toContain(server.base_url);
  });

  test.each([
    ["a link that is no claim link", () => `${server.base_url}/dashboard`, 2, "is no claim link"],
    ["a link whose token was lost", (id: string) => `${server.base_url}/claim/${id}`, 1, "claim_token of site_"],
    ["a token of another site", (id: string) => `${server.base_url}/claim/${id}#svc_claim_x`, 1, "(the claim link)"],
  ])("%s: exit %#", async (_, link, exit, sentence) => {
    await using home = await newHome();
    const ran = await claimed(home, link, session());
    expect(ran.code).toBe(exit);
    expect(json(ran)["error"]).toContain(sentence);
  });
});

describe("CONTRACT 8: rollback says which way leads back", () => {
  test("Forward again after an older version, Back again after a newer one", async () => {
    await using home = await newHome();
    const first = await deployed(home);
    await home.write("", { "dist/index.html": "<title>2</title>" });
    server.advance(1000);
    const second = await deployed(home, ["update"]);
    const older = await home.run(["rollback"]);
    expect(older.err).toContain(`Forward again: svc rollback ${second["version_id"]}\n`);
    const newer = await home.run(["rollback", String(second["version_id"])]);
    expect(newer.err).toContain(`Back again: svc rollback ${first["version_id"]}\n`);
  });
});

describe("CONTRACT 8: a sentence of the API in the CLI's words", () => {
  const refused = (status: number, code: string, error: string, headers: Record<string, string> = {}) =>
    fakeServer(() => Response.json({ error, code }, { status, headers }));
  test.each([
    ["Too many tries: wait 7 seconds and try again.", "7", "Too many tries for now. Try again in 7 s."],
    ["Too many tries: wait 2712 seconds and try again.", "2712", "Too many tries for now. Try again in 45 minutes."],
    ["Slowly.", "7", "Slowly. Try again in 7 s."],
    ["Too often.", "", "Too often."],
  ])("a wait is told once: %s", async (error, later, sentence) => {
    await using home = await newHome();
    const fake = refused(429, "rate_limited", error, later === "" ? {} : { "retry-after": later });
    const { err } = await home.run([], { env: { DEPLOY_URL: fake.url } });
    await fake.stop();
    expect(err).toBe(`  ✗ ${sentence}\n`);
  });

  test("nothing of headers, of a real server too", async () => {
    await using home = await newHome();
    const { site_id } = await deployed(home);
    const wrong = ["--token", "svc_manage_wrong", "--site", String(site_id)];
    for (const args of [["versions", ...wrong], ["list"], ["whoami"], []]) {
      const { err, code } = await home.run(args, { env: { SVC_TOKEN: "svc_session_wrong" } });
      expect(code).toBe(1);
      expect(err).not.toMatch(/Authorization|Bearer|header|Retry-After|credential|POST|GET/);
      expect(err).toContain("The token came from ");
      expect(err).toContain(`The server is ${server.base_url}.`);
    }
  });
});

describe("hints name the project's own package manager", () => {
  const MANIFEST = JSON.stringify({ scripts: { build: "x" } });
  test.each<[string, Record<string, string>, string]>([
    ["nothing", {}, "npm run build && svc"],
    ["package-lock.json", { "package-lock.json": "{}" }, "npm run build && svc"],
    ["pnpm-lock.yaml", { "pnpm-lock.yaml": "" }, "pnpm run build && svc"],
    ["yarn.lock", { "yarn.lock": "" }, "yarn run build && svc"],
    ["bun.lock", { "bun.lock": "" }, "bun run build && svc"],
    ["bun.lockb", { "bun.lockb": "" }, "bun run build && svc"],
    [
      "packageManager, which beats a lock",
      { "package.json": '{"scripts":{"build":"x"},"packageManager":"pnpm@9"}', "yarn.lock": "" },
      "pnpm run build",
    ],
  ])("%s", async (_, files, command) => {
    await using home = await Home.make("http://127.0.0.1:1");
    await home.write("p", { ".git/HEAD": "", "package.json": MANIFEST, ...files });
    expect((await home.run([], { cwd: home.path("p") })).err).toContain(`Run: ${command}`);
  });

  test("of a workspace it is that of its top, and no further than its repository", async () => {
    await using home = await Home.make("http://127.0.0.1:1");
    await home.write("", { "bun.lock": "", "repo/.git/HEAD": "", "repo/yarn.lock": "", "alone/.git/HEAD": "" });
    await home.write("repo/packages/web", { "package.json": MANIFEST });
    await home.write("alone", { "package.json": MANIFEST });
    expect((await home.run([], { cwd: home.path("repo/packages/web") })).err).toContain("yarn run build");
    expect((await home.run([], { cwd: home.path("alone") })).err).toContain("npm run build");
  });
});

describe("CONTRACT 8: Ctrl-C says whether anything was published", () => {
  const stop = (child: Bun.Subprocess) => child.kill("SIGINT");

  test.each([[["dist"]], [["dist", "--json"]]])("%j while the server reads: it may have been", async (args) => {
    expect(await stoppedAt(args, () => null)).toBe("  It may have been published.\n");
  });

  test("before and while the upload goes: nothing was", async () => {
    const noise = new Uint8Array(48_000_000);
    for (let at = 0; at < noise.length; at += 65_536) crypto.getRandomValues(noise.subarray(at, at + 65_536));
    const fake = fakeServer(() => Response.json(DEPLOYED), { ...LIMITS, max_bytes: 1e9, max_zip_bytes: 1e9 });
    const slow = throttled(Number(new URL(fake.url).port));
    await using home = await newHome(slow.url);
    await home.write("dist", { "noise.bin": noise });
    const { code, lines } = await home.runOnTerminal([], {}, ctrlCAt(/Uploading \d+ %/));
    slow.stop();
    await fake.stop();
    expect(code).toBe(130);
    expect(lines.join("\n")).toContain("  Nothing was published.");
    expect(fake.asked.filter(({ bytes }) => bytes > 47_000_000)).toEqual([]);
  });

  /** What is said where it is stopped as it waits for an answer: `answer` has none for that path. */
  async function stoppedAt(args: string[], answer: (path: string) => Response | null): Promise<string> {
    const reached = Promise.withResolvers<void>();
    const fake = fakeServer(async (path) => {
      const now = answer(path);
      if (now !== null) return now;
      reached.resolve();
      await Bun.sleep(5_000);
      return Response.json(DEPLOYED);
    });
    await using home = await newHome(fake.url);
    const whileRunning = async (child: Bun.Subprocess) => {
      await reached.promise;
      stop(child);
    };
    const { code, out, err } = await home.run(args, { whileRunning });
    await fake.stop();
    expect([code, out]).toEqual([130, ""]);
    return err;
  }

  test("a dry run publishes nothing, however far it came", async () => {
    expect(await stoppedAt(["dist", "--dry-run"], () => null)).toBe("  Nothing was published.\n");
  });

  test("what was refused for want of a proof was not published", async () => {
    const refused = { error: "Prove that you are no robot.", code: "challenge_failed" };
    const answer = (path: string) => (path === "/challenge" ? null : Response.json(refused, { status: 403 }));
    expect(await stoppedAt(["dist"], answer)).toBe("  Nothing was published.\n");
  });

  test("once it is told, and of commands that publish nothing, Ctrl-C says nothing", async () => {
    const reached = Promise.withResolvers<void>();
    const fake = fakeServer(async (path) => {
      if (path !== "/sites") {
        reached.resolve();
        await Bun.sleep(5_000);
      }
      return Response.json(DEPLOYED);
    });
    await using home = await newHome(fake.url);
    const whileRunning = async (child: Bun.Subprocess) => {
      await reached.promise;
      stop(child);
    };
    for (const args of [["dist", "--wait"], ["list"]]) {
      const { code, err } = await home.run(args, { whileRunning, env: { SVC_TOKEN: "svc_session_x" } });
      expect(code).toBe(130);
      expect(err).not.toContain("published");
    }
    await fake.stop();
  });
});
