/** `svc-server account create|reset|invite` (CONTRACT 7): accounts by the operator's hand. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { type AuditLine, listed, operate, operator } from "../kit/operator.ts";
import { call, PASSWORD, signUp } from "../kit/people.ts";
import { SVC_SERVER } from "../kit/process.ts";
import { startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";

setDefaultTimeout(60_000);

const DAY_MS = 86_400_000;

const server = await sharedServer("--signup", "invite");

const account = (verb: string, email: string, input = "") =>
  operator(server.data_dir, ["account", verb, email], { input });
const signIn = (email: string, password: string) => call(server, "POST", "/auth/login", { email, password });

describe("create", () => {
  test("prints the account_id; the account signs in with that password at once", async () => {
    const made = await account("create", " New@Example.ORG ", "a long password\nnever read\n");
    expect(made).toEqual({ code: 0, stdout: expect.stringMatching(/^acct_[0-9a-z]{20}\n$/), stderr: "" });
    const signed = await signIn("new@example.org", "a long password");
    expect(signed.status).toBe(200);
    expect(signed.body.account_id).toBe(made.stdout.trim());
  });

  test.each([
    ["a password of 9 characters", "short@example.org", "123456789\n", "at least 10 characters"],
    ["no password at all", "none@example.org", "", "at least 10 characters"],
    ["an address that is none", "nobody", `${PASSWORD}\n`, "not an e-mail address"],
    ["an address that has an account", "new@example.org", `${PASSWORD}\n`, "There is an account of new@example.org"],
  ])("%s: exit code 1 and a sentence", async (_, email, input, sentence) => {
    const refused = await account("create", email, input);
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([1, "", expect.stringContaining(sentence)]);
  });

  test("a pipe that stays open is read up to the end of its line", async () => {
    const child = Bun.spawn([...SVC_SERVER, "account", "create", "pipe@example.org", "--data-dir", server.data_dir], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "ignore",
    });
    child.stdin.write("a password by pipe\n");
    await child.stdin.flush();
    expect(await child.exited).toBe(0);
    expect((await signIn("pipe@example.org", "a password by pipe")).status).toBe(200);
  });
});

/** Types the lines at a terminal, each when it is asked for, and resolves to what the terminal showed. */
async function atTerminal(email: string, ...lines: string[]): Promise<{ code: number; shown: string }> {
  let shown = "";
  const questions = ["New password: ", "Once more: "];
  const child = Bun.spawn([...SVC_SERVER, "account", "create", email, "--data-dir", server.data_dir], {
    terminal: { data: (_terminal, bytes) => void (shown += new TextDecoder().decode(bytes)) },
  });
  for (const [n, line] of lines.entries()) {
    await until(() => shown.includes(questions[n]!));
    child.terminal!.write(line);
  }
  return { code: await child.exited, shown };
}

describe.skipIf(process.platform === "win32")("at a terminal", () => {
  test("the password is asked for twice and never shown", async () => {
    const { code, shown } = await atTerminal("terminal@example.org", "typed by hand\r", "typed by hand\r");
    expect(code).toBe(0);
    expect(shown).not.toContain("typed");
    expect((await signIn("terminal@example.org", "typed by hand")).status).toBe(200);
  });

  test("two that differ: exit code 1, no account", async () => {
    const { code, shown } = await atTerminal("differs@example.org", "typed by hand\r", "typed by foot\r");
    expect([code, shown]).toEqual([1, expect.stringContaining("The two passwords differ")]);
    expect((await signIn("differs@example.org", "typed by hand")).status).toBe(401);
  });

  test("Ctrl-C: exit code 130", async () => {
    expect((await atTerminal("interrupted@example.org", "\u0003")).code).toBe(130);
  });
});

describe("reset", () => {
  test("the new password signs in, the old one and every session are over", async () => {
    await using own = await startServer();
    const person = await signUp(own);
    const other = await signUp(own);
    expect((await call(own, "GET", "/account", undefined, person.bearer)).status).toBe(200);
    const reset = await operator(own.data_dir, ["account", "reset", person.email], { input: "another password\n" });
    expect([reset.code, reset.stdout]).toEqual([0, ""]);
    expect((await call(own, "GET", "/account", undefined, person.bearer)).status).toBe(401);
    expect((await call(own, "GET", "/account", undefined, other.bearer)).status).toBe(200);
    const login = (password: string) => call(own, "POST", "/auth/login", { email: person.email, password });
    expect((await login(PASSWORD)).status).toBe(401);
    expect((await login("another password")).status).toBe(200);
  });

  test("an unknown address: exit code 1", async () => {
    const refused = await account("reset", "nobody@example.org", "another password\n");
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("There is no account of nobody@")]);
  });
});

describe("invite", () => {
  const invited = async (email: string) => {
    const { code, stdout } = await account("invite", email);
    expect(code).toBe(0);
    expect(stdout.startsWith(`${server.base_url}/signup?invite=svc_invite_`)).toBe(true);
    return new URL(stdout.trim()).searchParams.get("invite")!;
  };
  const signUpWith = (invite: string, email: string) =>
    call(server, "POST", "/auth/signup", { email, password: PASSWORD, invite });

  test("prints a link to the server's sign-up: it works once, for its address", async () => {
    const invite = await invited("guest@example.org");
    expect((await signUpWith(invite, "somebody-else@example.org")).status).toBe(403);
    expect((await signUpWith(invite, "guest@example.org")).status).toBe(200);
    expect((await signUpWith(invite, "guest@example.org")).status).not.toBe(200);
  });

  test("it lasts seven days", async () => {
    const [early, late] = [await invited("early@example.org"), await invited("late@example.org")];
    server.advance(7 * DAY_MS - 60_000);
    expect((await signUpWith(early, "early@example.org")).status).toBe(200);
    server.advance(60_000);
    expect((await signUpWith(late, "late@example.org")).status).toBe(403);
  });

  test("an address that has an account is not invited", async () => {
    const refused = await account("invite", "new@example.org");
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
  });

  test("--base-url says where the link leads", async () => {
    const { stdout } = await operate(
      server.data_dir,
      "account",
      "invite",
      "a@b.c",
      "--base-url",
      "https://svc.example",
    );
    expect(stdout).toStartWith("https://svc.example/signup?invite=");
  });
});

test("the audit log has each, and no secret", async () => {
  await using own = await startServer();
  await operator(own.data_dir, ["account", "create", "a@example.org"], { input: `${PASSWORD}\n` });
  await operator(own.data_dir, ["account", "reset", "a@example.org"], { input: "another password\n" });
  const { stdout } = await operator(own.data_dir, ["account", "invite", "b@example.org"]);
  const rows = await listed<AuditLine>(own.data_dir, "audit");
  expect(rows.map((row) => [row.actor, row.action, row.account_id !== null, row.reason])).toEqual([
    ["operator", "create-account", true, null],
    ["operator", "reset-account", true, null],
    ["operator", "invite", false, "b@example.org"],
  ]);
  const database = await Bun.file(`${own.data_dir}/db-wal`).text();
  expect(database).not.toContain(new URL(stdout.trim()).searchParams.get("invite")!);
});

test("deletions by their owners are in the audit log too", async () => {
  await using own = await startServer();
  const person = await signUp(own);
  const deploy = async () => {
    const response = await own.post(zipOf({ "index.html": "x" }), person.bearer);
    return ((await response.json()) as { site_id: string }).site_id;
  };
  const [first, second] = [await deploy(), await deploy()];
  await call(own, "DELETE", `/account/sites/${first}`, undefined, person.bearer);
  await call(own, "DELETE", "/account", undefined, person.bearer);
  const rows = await listed<AuditLine>(own.data_dir, "audit");
  expect(rows.map((row) => [row.actor, row.action, row.site_id])).toEqual([
    [person.account_id, "delete", first],
    [person.account_id, "delete", second],
    [person.account_id, "delete-account", null],
  ]);
});
