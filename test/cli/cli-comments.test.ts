/** `svc comments`: modes, passcodes, moderation, the owner's link (SPEC, "Comment modes"; CONTRACT 8; COMMENTS 2). */
import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Commenter } from "../comments/commenter.ts";
import { deployed, type Home, homeWithSite, json } from "../kit/cli.ts";
import { signUp } from "../kit/people.ts";
import { type DeployResult, startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

let home: Home;
let site: DeployResult;
const server = await sharedServer({ SVC_RATE_COMMENT: "off" });
const person = await signUp(server);
beforeEach(async () => {
  await home?.[Symbol.asyncDispose]();
  home = await homeWithSite(server.base_url);
  const made = (await deployed(home)) as unknown as DeployResult;
  site = { ...made, slug: new URL(made.url).hostname.split(".")[0]! };
});
afterAll(() => home?.[Symbol.asyncDispose]());

const comments = (...args: string[]) => home.run(["comments", ...args]);
const said = async (...args: string[]) => json(await comments(...args, "--json"));
const firstWord = async () => (await comments("status")).out.split(" ", 1)[0];
/** With these bytes on stdin. */
async function piped(input: string, ...args: string[]) {
  const shell = `printf '%s' '${input}' | "$@"`;
  const program = ["sh", "-c", shell, "sh", process.execPath, `${import.meta.dir}/../../cli.ts`];
  return home.run(["comments", ...args], { program });
}

describe("SPEC, CLI: comments enable, mode, off", () => {
  test("are off at first; enable turns them on in the mode they last had, else anonymous", async () => {
    expect(await firstWord()).toBe("off");
    const { code, out, err } = await comments("enable");
    expect([code, out]).toEqual([0, `anonymous ${site.url}\n`]);
    expect(err).toContain("✓ Comments are on");
    await comments("mode", "approved");
    expect((await comments("off")).out).toBe(`off ${site.url}\n`);
    expect(await said("enable")).toMatchObject({ ok: true, mode: "approved" });
    expect(await firstWord()).toBe("approved");
  });

  test("CONTRACT 4.3: a deploy names the command that turns them on, until they are", async () => {
    const { next_actions, ...made } = await server.deploy({ "index.html": "x" });
    const { command } = next_actions.find(({ action }) => action === "enable_comments") as unknown as {
      command: string;
    };
    expect((await home.run([...command.split(" ").slice(1), "--token", made.manage_token])).code).toBe(0);
    const again = await server.redeploy(made, { "index.html": "y" });
    expect(again.next_actions.map(({ action }) => action)).toEqual(["update", "rollback"]);
  });

  test("--site and --mode name site and mode, as SPEC writes them, with the token of another machine", async () => {
    const other = await server.deploy({ "index.html": "other" });
    const args = ["--site", other.site_id, "--token", other.manage_token];
    expect((await comments("enable", ...args, "--mode", "approved")).out).toBe(`approved ${other.url}\n`);
    expect((await comments("mode", "passcode", ...args, "--passcode", "open sesame")).out).toBe(
      `passcode ${other.url}\n`,
    );
    expect(await firstWord()).toBe("off");
  });

  test("--json prints ok and the body of the route, and never the passcode", async () => {
    const { out } = await comments("mode", "passcode", "--passcode", "open sesame", "--json");
    expect(JSON.parse(out)).toEqual({
      ok: true,
      mode: "passcode",
      last_mode: "passcode",
      passcode_set: true,
      webhook: null,
    });
  });

  test("a passcode that is too short, or missing, changes nothing and says what to do", async () => {
    const short = await comments("mode", "passcode", "--passcode", "short");
    expect([short.code, short.err]).toEqual([1, expect.stringContaining("8 characters")]);
    const none = await comments("mode", "passcode");
    expect([none.code, none.err]).toEqual([1, expect.stringContaining("--passcode-stdin")]);
    expect(json(await comments("mode", "passcode", "--json"))).toMatchObject({ ok: false, code: "no_passcode" });
    expect(await firstWord()).toBe("off");
  });

  test("a passcode is a line of stdin, which no list of processes shows; it is then kept for the mode", async () => {
    const set = await piped("open sesame\nnot this\n", "mode", "passcode", "--passcode-stdin");
    expect([set.code, set.out]).toEqual([0, `passcode ${site.url}\n`]);
    const visitor = new Commenter(server, site);
    expect((await visitor.send("POST", "passcode", { passcode: "open sesame" })).status).toBe(204);
    await comments("off");
    expect((await comments("mode", "passcode")).code).toBe(0);
    expect((await piped("", "mode", "passcode", "--passcode-stdin")).err).toContain("stdin had no passcode");
  });

  test("on a terminal it is asked for twice and not shown", async () => {
    let typed = 0;
    const screen = await home.runOnTerminal(["comments", "mode", "passcode"], {}, (raw, terminal) => {
      const asked = ["Passcode for comments", "Once more"];
      if (typed < 2 && raw.includes(asked[typed]!)) {
        typed++;
        terminal.write("open sesame\r");
      }
    });
    expect([screen.code, screen.raw.includes("sesame")]).toEqual([0, false]);
    expect(await firstWord()).toBe("passcode");
  });

  test("where the two differ nothing is changed", async () => {
    let typed = 0;
    const screen = await home.runOnTerminal(["comments", "enable", "--mode", "passcode"], {}, (raw, terminal) => {
      const asked = ["Passcode for comments", "Once more"];
      if (typed < 2 && raw.includes(asked[typed]!)) terminal.write(`open sesame ${typed++}\r`);
    });
    expect([screen.code, screen.lines.join(" ")]).toEqual([1, expect.stringContaining("The two passcodes differ")]);
    expect(await firstWord()).toBe("off");
  });

  test("COMMENTS, ruling 9: on an http host that is not localhost it succeeds, with a warning", async () => {
    await using plain = await startServer("--sites-domain", "sites.test");
    const made = await plain.deploy({ "index.html": "x" });
    const env = { DEPLOY_URL: plain.base_url };
    const args = ["comments", "enable", "--site", made.site_id, "--token", made.manage_token];
    const { code, out, err } = await home.run(args, { env });
    expect([code, out]).toEqual([0, `anonymous ${made.url}\n`]);
    expect(err).toContain("visitors cannot post");
    expect(json(await home.run([...args, "--json"], { env }))["warnings"]).toBeArrayOfSize(1);
    expect((await comments("enable")).err).not.toContain("cannot post");
  });

  test.each([
    [["mode", "private"], "private is no mode of comments"],
    [["mode", "aproved"], "Did you mean approved?"],
    [["mode"], "svc comments mode <anonymous|passcode|approved>"],
    [["enable", "--mode", "off"], "svc comments off turns comments off."],
    [["enable", "--mode", "anonymous", "--passcode", "a", "--passcode-stdin"], "both give a passcode"],
    [["enabel"], "There is no svc comments enabel. Did you mean svc comments enable?"],
    [["token", "crate"], "Did you mean svc comments token create?"],
    [[], "svc comments wants to know what to do: status, enable"],
    [["token"], "svc comments token wants to know what to do: create, list, revoke."],
    [["enable", "--mod", "approved"], "Did you mean --mode?"],
    [["approve"], "svc comments approve wants the comment"],
    [["approve", "../settings"], "wants an id such as c_…"],
    [["list", "--queue", "spam"], "spam is no queue"],
    [["list", "--queue", "pending", "--page", "/"], "goes with neither --page nor --status"],
    [["token", "create", "--scopes", "read"], "--name is missing"],
    [["token", "create", "--name", "bot"], "--scopes is missing"],
    [["token", "create", "--name", "bot", "--scopes", "raed"], "Did you mean read?"],
    [["token", "create", "--name", "bot", "--scopes", "read", "--expires-in-days", "soon"], "a whole number of days"],
    [["webhook", "example.org"], "wants an address such as https://"],
    [["webhook", "https://example.org", "--events", "thread.create"], "Did you mean thread.created?"],
    [["delete", "c_x", "--token", "t"], "Unknown flag --token."],
  ])("comments %p exits 2: %s", async (args, sentence) => {
    const { code, out, err } = await comments(...args);
    expect([code, out, err]).toEqual([2, "", expect.stringContaining(sentence)]);
  });

  test("--help lists the commands, and each has its own", async () => {
    const { code, out } = await comments("--help");
    expect(code).toBe(0);
    for (const name of ["status", "enable", "mode <mode>", "off", "list", "approve", "owner", "token", "webhook"]) {
      expect(out).toContain(`svc comments ${name}`);
    }
    expect((await comments("enable", "--help")).out).toContain("--passcode-stdin");
    expect((await comments("token", "--help")).out).toContain("svc comments token revoke <token_id>");
    expect((await comments("token", "create", "-h")).out).toContain("--scopes <scopes>");
  });
});

describe("CONTRACT 8: svc comments list, approve, reject, resolve, reopen, delete", () => {
  test("list prints id, status, page, name, text; what strangers wrote stays on its line", async () => {
    await comments("enable");
    const visitor = new Commenter(server, site);
    const first = await visitor.comment("two\nlines \u001b[31m red", { exact: "t" });
    const reply = await new Commenter(server, site).reply(first, "an answer");
    await comments("mode", "approved");
    const waits = await visitor.comment("wait for me");
    const { code, out } = await comments("list");
    const rows = out.trimEnd().split("\n");
    expect([code, rows.length, out.includes("\u001b")]).toEqual([0, 3, false]);
    expect(rows[0]).toMatch(new RegExp(`^${waits}  pending  /index\\.html  \\S+ \\S+  wait for me$`));
    expect(rows[1]).toMatch(new RegExp(`^${first}  open  /index\\.html  .+  two lines`));
    expect(rows[2]).toMatch(new RegExp(`^${reply}  open  .+  an answer$`));
    const { threads } = await said("list", "--status", "open", "--page", "/");
    expect((threads as { id: string }[]).map(({ id }) => id)).toEqual([waits, first]);
    expect((await comments("list", "--queue", "pending")).out).toMatch(new RegExp(`^${waits}  pending  /index.html  `));
  });

  test("lists that come in pages are printed whole", async () => {
    await comments("enable");
    const visitor = new Commenter(server, site);
    const rate_of_identity = 30;
    for (let i = 0; i < rate_of_identity; i++) await visitor.comment(`number ${i}`);
    const another = new Commenter(server, site);
    for (let i = 0; i < rate_of_identity; i++) await another.comment(`more ${i}`);
    expect((await comments("list")).out.trimEnd().split("\n")).toBeArrayOfSize(60);
    expect((await said("list"))["threads"]).toBeArrayOfSize(60);
  });

  test("approve, reject, resolve and reopen say so on stderr, and print the thread with --json", async () => {
    await comments("enable", "--mode", "approved");
    const visitor = new Commenter(server, site);
    const [good, bad] = [await visitor.comment("good"), await visitor.comment("bad")];
    const approved = await comments("approve", good);
    expect([approved.code, approved.out, approved.err]).toEqual([0, "", expect.stringContaining("✓ Approved")]);
    expect((await comments("reject", bad)).err).toContain("✓ Hidden");
    const resolved = await said("resolve", good, "--note", "done in the last deploy");
    expect(resolved).toMatchObject({ ok: true, id: good, status: "resolved" });
    expect((await comments("list", "--status", "resolved")).out).toStartWith(`${good}  resolved`);
    expect((await comments("reopen", good)).err).toContain("✓ Open again");
    expect((await comments("list")).out).not.toContain(bad);
    expect((await comments("list", "--queue", "rejected")).out).toStartWith(bad);
  });

  test("A26 reject --all-of visitor or network hides all of theirs, and says how many", async () => {
    await comments("enable");
    const [heron, other] = [new Commenter(server, site), new Commenter(server, site)];
    const first = await heron.comment("first");
    await heron.comment("second");
    await other.comment("another's");
    const rejected = await comments("reject", first, "--all-of", "visitor", "--note", "spam");
    expect([rejected.code, rejected.out, rejected.err]).toEqual([
      0,
      "",
      expect.stringContaining("✓ Hidden: 2 comments of this visitor"),
    ]);
    expect((await comments("list")).out.trimEnd().split("\n")).toEqual([expect.stringContaining("another's")]);
    expect(await said("reject", first, "--all-of", "network")).toEqual({ ok: true, rejected: 1 });
    expect((await comments("list")).out).toBe("");
    const wrong = await comments("reject", first, "--all-of", "visitors");
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("Did you mean visitor?")]);
  });

  test("a comment that is none: exit 1 with the server's sentence", async () => {
    await comments("enable");
    expect(await said("approve", "c_none")).toMatchObject({ ok: false, code: "not_found" });
  });

  test("delete goes by the session alone: a manage_token never deletes", async () => {
    await comments("enable");
    const id = await new Commenter(server, site).comment("gone soon");
    const refused = await comments("delete", id);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("svc login")]);
    await home.run(["login", "--token", person.session_token]);
    const done = await comments("delete", id);
    expect([done.code, done.out]).toEqual([0, ""]);
    expect((await comments("list")).out).toBe("");
  });
});

describe("svc comments owner", () => {
  test("prints the address alone on stdout; it makes a browser the owner once", async () => {
    await comments("enable");
    const { code, out, err } = await comments("owner");
    expect([code, out]).toEqual([0, expect.stringMatching(/#svc-owner=svc_owner_[\w-]{43}\n$/)]);
    expect(out).toStartWith(site.url);
    expect(err).toContain("once");
    const visitor = new Commenter(server, site);
    const spend = async () => (await visitor.send("POST", "owner", { code: out.trim().split("=")[1] })).status;
    expect([await spend(), await spend()]).toEqual([204, 401]);
    expect(await said("owner")).toMatchObject({ ok: true, url: expect.any(String), expires_at: expect.any(String) });
  });

  test("A25 the browser deletes where the machine is signed in to the site's account, and not by a manage_token", async () => {
    await comments("enable");
    const id = await new Commenter(server, site).comment("goes");
    const deletes = async (...args: string[]) => {
      const { out } = await comments("owner", ...args);
      const code = out.trim().split("=")[1];
      const { origin } = new URL(site.url);
      const send = (method: string, path: string, headers: Record<string, string>, body?: string) =>
        server.site(site.slug, `/_svc/comments/${path}`, {
          method,
          headers: { origin, ...headers },
          ...(body && { body }),
        });
      const entered = await send("POST", "owner", { "content-type": "application/json" }, JSON.stringify({ code }));
      const cookie = entered.headers.get("set-cookie")!.split(";", 1)[0]!;
      return (await send("DELETE", id, { cookie })).status;
    };
    expect(await deletes()).toBe(403);
    const other = await signUp(server);
    await home.run(["login", "--token", other.session_token]);
    const { manage_token } = site;
    expect(await deletes("--token", manage_token)).toBe(403);
    expect(await deletes()).toBe(204); // the login attached the site
  });
});
