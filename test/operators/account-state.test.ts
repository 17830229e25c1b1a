/** CONTRACT 7: `svc-server account list|disable|enable|delete`, and owners by their address. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { type AuditLine, listed, operate, operator } from "../kit/operator.ts";
import { bearer, call, decideLogin, PASSWORD, type Person, signUp, submit } from "../kit/people.ts";
import { type DeployResult } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";

setDefaultTimeout(60_000);

const CONTACT = "abuse@host.example";
const server = await sharedServer("--contact", CONTACT, { SVC_RATE_SIGN_IN: "off", SVC_RATE_SIGN_IN_ACCOUNT: "off" });

let names = 0;
const somebody = (): Promise<Person> => signUp(server, `person${names++}@example.org`);
const act = (...argv: string[]) => operate(server.data_dir, ...argv);
const accounts = async () =>
  JSON.parse((await act("account", "list", "--json")).stdout) as {
    account_id: string;
    email: string;
    state: string;
    sites: number;
    created_at: string;
    last_used_at: string | null;
  }[];
const signIn = (email: string, password = PASSWORD) => call(server, "POST", "/auth/login", { email, password });
const siteOf = async (person: Person): Promise<DeployResult> =>
  (await (await server.post(zipOf({ "index.html": crypto.randomUUID() }), person.bearer)).json()) as DeployResult;
const statusOf = async ({ slug }: DeployResult) => (await server.site(slug)).status;
const redeploy = async (site: DeployResult) => {
  const answer = await server.api(`/sites/${site.site_id}/deploys`, {
    method: "POST",
    body: zipOf({ "index.html": crypto.randomUUID() }),
    headers: { ...bearer(site.manage_token), "content-type": "application/zip" },
  });
  return { status: answer.status, code: ((await answer.json()) as { code?: string }).code };
};
const acts = async (account_id: string) =>
  (await listed<AuditLine>(server.data_dir, "audit"))
    .filter((row) => row.account_id === account_id && row.action.endsWith("-account"))
    .map(({ actor, action, reason }) => [actor, action, reason]);

describe("account list", () => {
  test("a row each, newest last: id, address, state, sites, when it was made and last used", async () => {
    const [one, two] = [await somebody(), await somebody()];
    await siteOf(one);
    await siteOf(one);
    const rows = (await accounts()).slice(-2);
    expect(rows).toEqual([
      {
        account_id: one.account_id,
        email: one.email,
        state: "active",
        sites: 2,
        created_at: expect.stringMatching(/^\d{4}-.+Z$/),
        last_used_at: expect.stringMatching(/^\d{4}-.+Z$/),
      },
      expect.objectContaining({ account_id: two.account_id, email: two.email, sites: 0 }),
    ]);
    const { stdout } = await act("account", "list");
    expect(stdout.split("\n")[0]).toMatch(/^ACCOUNT +EMAIL +STATE +SITES +CREATED +LAST USED$/);
    expect(stdout).toMatch(new RegExp(`^${one.account_id} +${one.email} +active +2 `, "m"));
  });

  test("one that never signed in was never used", async () => {
    await operator(server.data_dir, ["account", "create", "made@example.org"], { input: `${PASSWORD}\n` });
    expect((await accounts()).at(-1)).toMatchObject({ email: "made@example.org", last_used_at: null });
  });
});

test("sites shows the owner's address, and null for a site of nobody", async () => {
  const person = await somebody();
  const [own, nobodys] = [await siteOf(person), await server.deploy({ "index.html": "x" })];
  const rows = await listed<{ site_id: string; owner_email: string | null }>(server.data_dir, "sites");
  const row = (site: DeployResult) => rows.find(({ site_id }) => site_id === site.site_id);
  expect(row(own)).toMatchObject({ owner_account_id: person.account_id, owner_email: person.email });
  expect(row(nobodys)).toMatchObject({ owner_account_id: null, owner_email: null });
  expect((await act("sites")).stdout).toMatch(new RegExp(`^${own.site_id} .+ live +${person.email} `, "m"));
});

describe("account disable", () => {
  test("P7 its sessions end, its sites answer 451 with the reason and refuse deploys", async () => {
    const person = await somebody();
    const [site, foreign] = [await siteOf(person), await siteOf(await somebody())];
    const { stderr } = await act("account", "disable", person.email.toUpperCase(), "--reason", "It <b>sends</b> spam");
    expect(stderr).toBe(`${person.email} is disabled, and 1 site with it.\n`);
    expect((await call(server, "GET", "/account", undefined, person.bearer)).status).toBe(401);
    const page = await server.site(site.slug);
    expect([page.status, await page.json()]).toEqual([
      451,
      expect.objectContaining({ code: "site_disabled", reason: "It <b>sends</b> spam", appeal: CONTACT }),
    ]);
    expect(await redeploy(site)).toEqual({ status: 451, code: "site_disabled" });
    expect(await statusOf(foreign)).toBe(200);
    expect((await accounts()).find(({ email }) => email === person.email)).toMatchObject({
      state: "disabled",
      sites: 1,
    });
    expect(await acts(person.account_id)).toEqual([["operator", "disable-account", "It <b>sends</b> spam"]]);
  });

  test("sign-in: 403 forbidden with the right password, naming SVC_CONTACT; 401 with a wrong one, as ever", async () => {
    const person = await somebody();
    const wrong = await signIn(person.email, "another password");
    await act("account", "disable", person.email, "--reason", "spam");
    const refused = await signIn(person.email);
    expect(refused).toMatchObject({ status: 403, body: { code: "forbidden", appeal: CONTACT } });
    expect(refused.body.error).toBe(
      `This account was disabled by the operator: spam. Questions or an appeal: ${CONTACT}`,
    );
    const still = await signIn(person.email, "another password");
    expect([still.status, still.body.code, still.body.error]).toEqual([
      wrong.status,
      wrong.body.code,
      wrong.body.error,
    ]);
  });

  test("a browser's sign-in shows it on the form", async () => {
    const person = await somebody();
    await act("account", "disable", person.email);
    const answer = await submit(server, "/signin", { email: person.email, password: PASSWORD });
    expect(answer.status).toBe(403);
    expect(answer.headers.get("set-cookie")).toBeNull();
    expect(await answer.text()).toContain("This account was disabled by the operator");
  });

  test("a device login that waits to be fetched is over with it", async () => {
    const person = await somebody();
    const { device_code, user_code } = (await call(server, "POST", "/auth/device/code")).body;
    await decideLogin(server, user_code, "approve", person);
    await act("account", "disable", person.email);
    expect((await call(server, "POST", "/auth/device/token", { device_code })).body.code).toBe("expired_token");
  });

  test("without --reason visitors are told that the account was disabled; a second one changes the reason", async () => {
    const person = await somebody();
    const site = await siteOf(person);
    await act("account", "disable", person.email);
    const reason = async () => ((await (await server.site(site.slug)).json()) as { reason: string }).reason;
    expect(await reason()).toBe("The account of this site was disabled.");
    await act("account", "disable", person.email, "--reason", "phishing");
    expect(await reason()).toBe("phishing");
    const { stderr } = await act("account", "disable", person.email, "--reason", "phishing");
    expect(stderr).toBe(`${person.email} was disabled for this reason already.\n`);
  });
});

describe("account enable", () => {
  test("brings back the state before, not the sessions", async () => {
    const person = await somebody();
    const [live, frozen, disabled] = [await siteOf(person), await siteOf(person), await siteOf(person)];
    await act("freeze", frozen.slug);
    await act("disable", disabled.slug, "--reason", "its own");
    await act("account", "disable", person.email, "--reason", "spam");
    for (const site of [live, frozen, disabled]) expect(await statusOf(site)).toBe(451);
    expect(await (await server.site(disabled.slug)).json()).toMatchObject({ reason: "its own" });
    await act("account", "enable", person.email);
    expect([await statusOf(live), await statusOf(frozen), await statusOf(disabled)]).toEqual([200, 200, 451]);
    expect([await redeploy(live), await redeploy(frozen)]).toEqual([
      { status: 200, code: undefined },
      { status: 403, code: "site_frozen" },
    ]);
    expect((await call(server, "GET", "/account", undefined, person.bearer)).status).toBe(401);
    expect((await signIn(person.email)).status).toBe(200);
    expect((await acts(person.account_id)).map(([, action]) => action)).toEqual(["disable-account", "enable-account"]);
    expect((await act("account", "enable", person.email)).stderr).toBe(`${person.email} was not disabled.\n`);
  });

  test("a site that was disabled by itself meanwhile stays so; one that was enabled is not, until its account is", async () => {
    const person = await somebody();
    const [kept, freed] = [await siteOf(person), await siteOf(person)];
    await act("disable", freed.slug, "--reason", "its own");
    await act("account", "disable", person.email, "--reason", "spam");
    await act("disable", kept.slug, "--reason", "worse");
    const { stderr } = await act("enable", freed.slug);
    expect(stderr).toContain("stays disabled with its account: svc-server account enable");
    expect(await (await server.site(freed.slug)).json()).toMatchObject({ reason: "spam" });
    await act("account", "enable", person.email);
    expect([await statusOf(kept), await statusOf(freed)]).toEqual([451, 200]);
    expect(await (await server.site(kept.slug)).json()).toMatchObject({ reason: "worse" });
  });
});

describe("account delete", () => {
  test("prints the site_ids, a line each; account, sessions and sites are gone", async () => {
    const person = await somebody();
    const sites = [await siteOf(person), await siteOf(person)];
    const { stdout } = await act("account", "delete", person.email);
    expect(stdout.trimEnd().split("\n").toSorted()).toEqual(sites.map(({ site_id }) => site_id).toSorted());
    for (const site of sites) expect(await statusOf(site)).toBe(404);
    expect((await call(server, "GET", "/account", undefined, person.bearer)).status).toBe(401);
    expect((await signIn(person.email)).status).toBe(401);
    expect((await accounts()).map(({ email }) => email)).not.toContain(person.email);
    expect(await acts(person.account_id)).toEqual([["operator", "delete-account", null]]);
    const rows = await listed<AuditLine>(server.data_dir, "audit");
    const deletions = rows.filter(({ action, account_id }) => action === "delete" && account_id === person.account_id);
    expect(deletions.map(({ actor }) => actor)).toEqual(["operator", "operator"]);
  });

  test("one without sites prints nothing", async () => {
    const person = await somebody();
    expect((await act("account", "delete", person.email)).stdout).toBe("");
  });
});

test.each(["disable", "enable", "delete", "reset"])(
  "account %s of an address without one: exit code 1",
  async (verb) => {
    const { code, stderr } = await operator(server.data_dir, ["account", verb, "nobody@example.org"], {
      input: `${PASSWORD}\n`,
    });
    expect([code, stderr]).toEqual([1, expect.stringContaining("There is no account of nobody@example.org")]);
  },
);
