/** CONTRACT 7, 7.1: who did what, and where the time went: lines of the log, and rows of the audit log. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type AuditLine, listed } from "../kit/operator.ts";
import { PASSWORD } from "../kit/people.ts";
import { local, type ServerProcess, startProcess, temporaryFolder } from "../kit/process.ts";
import { JSON_TYPE, ZIP } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";

setDefaultTimeout(60_000);

type Line = Record<string, unknown> & { event?: string; by?: string; stages: Record<string, number>; ms: number };
type Site = Record<"site_id" | "slug" | "version_id" | "manage_token" | "claim_token", string>;

let dir: Awaited<ReturnType<typeof temporaryFolder>>;
let server: ServerProcess;
beforeAll(async () => {
  dir = await temporaryFolder();
  server = await startProcess(["--data-dir", dir.path, "--log", "json"]);
});
afterAll(async () => {
  await server.end();
  await dir[Symbol.asyncDispose]();
});

const linesOf = (event: string, site: Pick<Site, "site_id">): Line[] =>
  server
    .stderr()
    .split("\n")
    .flatMap((line) => (line.endsWith("}") ? [JSON.parse(line) as Line] : []))
    .filter((line) => line.event === event && line["site_id"] === site.site_id);

/** The lines of an event about a site, as soon as there are so many. */
async function lines(event: string, site: Pick<Site, "site_id">, count = 1): Promise<Line[]> {
  await until(() => linesOf(event, site).length >= count);
  return linesOf(event, site);
}

async function send(method: string, path: string, body: unknown, token?: string): Promise<Response> {
  const headers = { ...JSON_TYPE, ...(token && { authorization: `Bearer ${token}` }) };
  return fetch(local(server) + path, { method, headers, body: JSON.stringify(body) });
}

async function upload(path: string, text: string, token?: string): Promise<Site> {
  const headers = { ...ZIP, ...(token && { authorization: `Bearer ${token}` }) };
  const body = zipOf({ "index.html": `<title>${text}</title>${text}` });
  const answer = await fetch(local(server) + path, { method: "POST", headers, body });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Site;
}

async function signUp(email: string): Promise<{ account_id: string; session_token: string }> {
  const answer = await send("POST", "/auth/signup", { email, password: PASSWORD });
  expect(answer.status).toBe(200);
  return (await answer.json()) as { account_id: string; session_token: string };
}

describe("the stages of a deploy", () => {
  test("the way of a slow upload is `receiving`, so that it does not look like a queue", async () => {
    const zip = zipOf({ "index.html": "<title>slow</title>slow" });
    const slowly = new ReadableStream({
      async start(controller) {
        controller.enqueue(zip.slice(0, 10));
        await Bun.sleep(2000); // a busy server may begin to read late
        controller.enqueue(zip.slice(10));
        controller.close();
      },
    });
    const site = (await (
      await fetch(`${local(server)}/sites`, { method: "POST", headers: ZIP, body: slowly })
    ).json()) as Site;
    const [line] = await lines("deploy", site);
    const { receiving, waiting, ...others } = line!.stages;
    expect(receiving!).toBeGreaterThan(300);
    expect(waiting!).toBeLessThan(receiving!);
    expect(Object.keys(line!.stages).slice(0, 2)).toEqual(["receiving", "waiting"]);
    expect(Object.keys(others).at(-1)).toBe("publishing");
    expect(Object.values(line!.stages).reduce((sum, ms) => sum + ms, 0)).toBeLessThan(line!.ms + 1);
  });

  test("the histogram of deploys adds up what their lines say", async () => {
    const own = await temporaryFolder();
    await using _ = own;
    const fresh = await startProcess(["--data-dir", own.path, "--log", "json"]);
    for (let n = 0; n < 3; n++) {
      const body = zipOf({ "index.html": `page ${n}` });
      expect((await fetch(`${local(fresh)}/sites`, { method: "POST", headers: ZIP, body })).status).toBe(200);
    }
    const text = await (await fetch(`${local(fresh)}/metrics`)).text();
    const sum_ms = Number(/^svc_deploy_duration_seconds_sum (\S+)$/m.exec(text)![1]) * 1000;
    expect(text).toMatch(/^svc_deploy_duration_seconds_count 3$/m);
    const all = () =>
      fresh
        .stderr()
        .split("\n")
        .flatMap((line) => (line.includes('"event":"deploy"') ? [(JSON.parse(line) as Line).ms] : []));
    await until(() => all().length === 3);
    expect(Math.abs(all().reduce((total, ms) => total + ms, 0) - sum_ms)).toBeLessThan(1);
    await fresh.end();
  });

  test("many at once: what waited for a slot says so under `waiting`", async () => {
    const sites = await Promise.all(Array.from({ length: 12 }, (_, n) => upload("/sites", `at once ${n}`)));
    const waits = (await Promise.all(sites.map((site) => lines("deploy", site)))).map(
      ([line]) => line!.stages.waiting!,
    );
    expect(Math.max(...waits)).toBeGreaterThan(5);
    expect(Math.min(...waits)).toBeLessThan(Math.max(...waits));
  });
});

describe("a change without an upload is a line: what was live before and after, and by whom", () => {
  test("a rollback by manage_token", async () => {
    const site = await upload("/sites", "first");
    const second = await upload(`/sites/${site.site_id}/deploys`, "second", site.manage_token);
    const body = { version_id: site.version_id };
    const answer = await send("POST", `/sites/${site.site_id}/rollback`, body, site.manage_token);
    expect(answer.status).toBe(200);
    expect(await lines("rollback", site)).toEqual([
      {
        time: expect.any(String),
        level: "info",
        event: "rollback",
        request_id: answer.headers.get("x-request-id"),
        site_id: site.site_id,
        slug: site.slug,
        from: second.version_id,
        version_id: site.version_id,
        by: "manage_token",
      },
    ] as unknown as Line[]);
    expect(server.stderr()).not.toContain(site.manage_token);
  });

  test("a claim has no versions; claimed again by its owner nothing changed, and there is no line", async () => {
    const ann = await signUp("ann@claims.example");
    const site = await upload("/sites", "to be claimed");
    const claim = () =>
      send("POST", `/sites/${site.site_id}/claim`, { claim_token: site.claim_token }, ann.session_token);
    const answer = await claim();
    expect([answer.status, (await claim()).status]).toEqual([200, 200]);
    await upload(`/sites/${site.site_id}/deploys`, "a line behind both", ann.session_token);
    await lines("deploy", site, 2);
    expect(linesOf("claim", site)).toEqual([
      {
        time: expect.any(String),
        level: "info",
        event: "claim",
        request_id: answer.headers.get("x-request-id"),
        site_id: site.site_id,
        slug: site.slug,
        by: ann.account_id,
      },
    ] as unknown as Line[]);
  });

  test("a promote by an account and a rollback by a deploy token name the account_id and the token_id", async () => {
    const ben = await signUp("ben@tokens.example");
    const site = await upload("/sites", "one", ben.session_token);
    const preview = await upload(`/sites/${site.site_id}/previews?name=pr-1`, "two", ben.session_token);
    const given = await send("POST", "/account/tokens", { name: "CI", scopes: ["deploy"] }, ben.session_token);
    const { token, token_id } = (await given.json()) as { token: string; token_id: string };
    const promoted = await send("POST", `/sites/${site.site_id}/previews/pr-1/promote`, {}, ben.session_token);
    expect(promoted.status).toBe(200);
    const back = await send("POST", `/sites/${site.site_id}/rollback`, { version_id: site.version_id }, token);
    expect(back.status).toBe(200);
    const [promote] = await lines("promote", site);
    const [rollback] = await lines("rollback", site);
    expect([promote!.by, promote!["from"], promote!["version_id"]]).toEqual([
      ben.account_id,
      site.version_id,
      preview.version_id,
    ]);
    expect([rollback!.by, rollback!["from"], rollback!["version_id"]]).toEqual([
      token_id,
      preview.version_id,
      site.version_id,
    ]);
    const rows = (await listed<AuditLine>(dir.path, "audit")).filter(({ site_id }) => site_id === site.site_id);
    expect(rows.map(({ actor, action, account_id, reason }) => [actor, action, account_id, reason])).toEqual([
      [ben.account_id, "promote", ben.account_id, `from ${site.version_id} to ${preview.version_id}`],
      [token_id, "rollback", ben.account_id, `from ${preview.version_id} to ${site.version_id}`],
    ]);
  });

  test("one that is refused is none", async () => {
    const site = await upload("/sites", "stays");
    const refused = await send(
      "POST",
      `/sites/${site.site_id}/rollback`,
      { version_id: "0".repeat(16) },
      site.manage_token,
    );
    expect(refused.status).toBe(404);
    await upload(`/sites/${site.site_id}/deploys`, "a line behind it", site.manage_token);
    await lines("deploy", site, 2);
    expect(linesOf("rollback", site)).toEqual([]);
  });
});

describe("the audit log", () => {
  const acts = async (site: Site) =>
    (await listed<AuditLine>(dir.path, "audit"))
      .filter(({ site_id }) => site_id === site.site_id)
      .map(({ actor, action, reason }) => [actor, action, reason]);
  const settings = (site: Site, body: object) =>
    send("PATCH", `/sites/${site.site_id}/comments/settings`, body, site.manage_token);

  test("has claims, and changes of comments' settings: of a webhook its host alone", async () => {
    const ann = await signUp("ann@audit.example");
    const site = await upload("/sites", "with comments");
    const hook = { events: ["thread.created"], secret: "a-secret-of-the-owner" };
    expect((await settings(site, { mode: "anonymous" })).status).toBe(200);
    expect((await settings(site, { mode: "anonymous" })).status).toBe(200);
    const webhook = { ...hook, url: "https://hooks.example.com/path-that-opens-doors" };
    expect((await settings(site, { webhook })).status).toBe(200);
    expect((await settings(site, { mode: "passcode", passcode: "a passcode" })).status).toBe(200);
    expect((await settings(site, { webhook: { ...webhook, url: "https://elsewhere.example.org/" } })).status).toBe(200);
    expect((await settings(site, { webhook: null })).status).toBe(200);
    await send("POST", `/sites/${site.site_id}/claim`, { claim_token: site.claim_token }, ann.session_token);
    expect(await acts(site)).toEqual([
      ["manage_token", "set-comments", "mode anonymous"],
      ["manage_token", "set-comments", "webhook hooks.example.com"],
      ["manage_token", "set-comments", "mode passcode, passcode"],
      ["manage_token", "set-comments", "webhook elsewhere.example.org"],
      ["manage_token", "set-comments", "webhook none"],
      [ann.account_id, "claim", null],
    ]);
  });

  test("has sites that were attached by their manage_tokens", async () => {
    const cy = await signUp("cy@audit.example");
    const site = await upload("/sites", "to be attached");
    const { site_id, manage_token } = site;
    const answer = await send("POST", "/account/bulk-attach", { sites: [{ site_id, manage_token }] }, cy.session_token);
    expect(await answer.json()).toMatchObject({ attached: [site_id] });
    expect(await acts(site)).toEqual([[cy.account_id, "attach", null]]);
  });

  test("keeps the last twenty of a site's rollbacks, so that a loop of them fills no disk", async () => {
    const site = await upload("/sites", "a");
    const other = await upload(`/sites/${site.site_id}/deploys`, "b", site.manage_token);
    const untouched = await upload("/sites", "of somebody else");
    expect((await settings(site, { mode: "approved" })).status).toBe(200);
    expect((await settings(untouched, { mode: "anonymous" })).status).toBe(200);
    for (let n = 0; n < 25; n++) {
      const { version_id } = n % 2 === 0 ? site : other;
      expect((await send("POST", `/sites/${site.site_id}/rollback`, { version_id }, site.manage_token)).status).toBe(
        200,
      );
    }
    const [first, ...rows] = await acts(site);
    expect(rows.length).toBe(20);
    expect(first).toEqual(["manage_token", "set-comments", "mode approved"]); // no loop pushes another's trace out
    expect(rows.at(-1)).toEqual(["manage_token", "rollback", `from ${other.version_id} to ${site.version_id}`]);
    expect(await acts(untouched)).toEqual([["manage_token", "set-comments", "mode anonymous"]]);
  });
});
