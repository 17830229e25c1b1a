/** WEB 4.8: publishing without script. The same pipeline, limits, rates and refusals as programs have, in a page. */
import { describe, expect, test } from "bun:test";
import { signInByForm, signUp } from "../kit/people.ts";
import { startServer, type TestServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { decoded, seen, type Seen } from "../kit/visitor.ts";
import { zipOf } from "../kit/zip.ts";

const server = await sharedServer("--max-zip-bytes", "20000");
const session = await signInByForm(server, await signUp(server));

const site = (text: string) => zipOf({ "page.html": `<!doctype html><title>${text}</title>`, ".env": "x" });
let keys = 0;
const newKey = (): string => `key-${String(++keys).padStart(28, "0")}`;

interface Sent {
  fields?: Record<string, string>;
  /** Null: no file. */
  zip?: Uint8Array<ArrayBuffer> | null;
  headers?: Record<string, string>;
  to?: TestServer;
}
/** The form as a browser sends it. */
async function send({ fields = { key: newKey() }, zip = site("x"), headers = {}, to = server }: Sent): Promise<Seen> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  if (zip) body.append("zip", new File([zip], "site.zip", { type: "application/zip" }));
  const { host } = new URL(to.base_url);
  const own = { host, origin: to.base_url, "sec-fetch-site": "same-origin", accept: "text/html" };
  return seen(await to.api("/", { method: "POST", headers: { ...own, ...headers }, body }));
}
const signedIn = () => ({ cookie: session.cookie });
const idIn = (html: string): string => /site_[0-9a-z]{20}/.exec(html)![0];

describe("without a session", () => {
  test("the answer is the receipt; its reload repeats the key and makes no second site", async () => {
    const fields = { key: newKey() };
    const zip = site("Harbour");
    const before = server.rows("sites");
    const first = await send({ fields, zip });
    expect([first.status, first.title, first.headers.get("cache-control")]).toEqual([
      200,
      "Your site is live · svc",
      "no-store",
    ]);
    expect(first.text).toContain("Your site is live");
    expect(first.text).toContain("14 days from now.");
    expect(first.text).toContain("page.html answers /");
    expect(first.text).toContain("It is live, but 1 thing is broken or risky");
    expect(first.text).toMatch(/\d+ files?, \d+ B · live in \d+\.\d s/);
    expect(first.text).toMatch(/Checked \d page/);
    expect(decoded(first.html)).toMatch(/href="[^"]+\/claim\/site_[0-9a-z]{20}#svc_claim_/);
    expect(first.html).toMatch(/value="svc_manage_/);
    const again = await send({ fields, zip });
    expect([again.status, idIn(again.html)]).toEqual([200, idIn(first.html)]);
    expect(server.rows("sites")).toBe(before + 1);
  });

  test("the form has a key of its own each time, the file last, and no csrf", async () => {
    const pages = await Promise.all([1, 2].map(async () => (await server.api("/")).text()));
    const found = pages.map((page) => /name="key" value="(\w{32})"/.exec(page)?.[1]);
    expect(new Set(found).size).toBe(2);
    expect(pages[0]).not.toContain('name="csrf"');
    expect(pages[0]).toMatch(/name="zip"[\s\S]*accept="\.zip,application\/zip"/);
  });
});

describe("with a session", () => {
  test("it leads to the site's page, and its reload to the same", async () => {
    const fields = { csrf: session.csrf, key: newKey() };
    const first = await send({ fields, headers: signedIn() });
    expect(first.status).toBe(303);
    expect(first.location).toMatch(/^\/dashboard\/sites\/site_[0-9a-z]{20}\?done=deployed$/);
    const again = await send({ fields, headers: signedIn() });
    expect(again.location).toBe(first.location);
    const page = await (await server.api("/", { headers: signedIn() })).text();
    expect(page.indexOf('name="csrf"')).toBeLessThan(page.indexOf('name="zip"'));
  });

  test.each<[string, () => Sent]>([
    ["its cookie is gone", () => ({ fields: { csrf: session.csrf, key: newKey() } })],
    ["its cookie opens nothing", () => ({ headers: { cookie: `svc_session=svc_session_${"x".repeat(43)}` } })],
  ])("that ended publishes nothing: %s", async (_, sent) => {
    const before = server.rows("sites");
    const answer = await send(sent());
    expect([answer.status, answer.title.startsWith("Error: ")]).toEqual([401, true]);
    expect(answer.text).toContain("You were signed out, and nothing was published.");
    expect(server.rows("sites")).toBe(before);
  });

  test("a program's write with the proof of a session that is gone is refused, too", async () => {
    const before = server.rows("sites");
    const response = await server.post(site("x"), { "svc-csrf": session.csrf });
    expect([response.status, server.rows("sites")]).toEqual([401, before]);
    expect(await response.json()).toMatchObject({ code: "unauthorized" });
  });
});

describe("what is refused", () => {
  test.each<[string, () => Sent, number, string]>([
    ["no file", () => ({ zip: null }), 400, "Choose a zip file first."],
    ["no zip", () => ({ zip: new Uint8Array(Buffer.from("no zip")) }), 400, ""],
    ["an empty zip", () => ({ zip: zipOf({ ".env": "x" }) }), 400, ""],
    ["a zip over its limit", () => ({ zip: new Uint8Array(30_000) }), 413, ""],
    ["a key that could be guessed", () => ({ fields: { key: "short" } }), 400, "22 to 255"],
    ["another type", () => ({ headers: { "content-type": "application/x-www-form-urlencoded" } }), 415, ""],
  ])("%s is the page again, with why", async (_, sent, status, sentence) => {
    const before = server.rows("sites");
    const answer = await send(sent());
    expect([answer.status, answer.title.startsWith("Error: ")]).toEqual([status, true]);
    expect(answer.html).toContain('role="alert"');
    expect(answer.text).toContain(sentence);
    expect(answer.html).toContain('name="zip"');
    expect(server.rows("sites")).toBe(before);
  });

  test.each<[string, () => Sent]>([
    ["another site's", () => ({ headers: { "sec-fetch-site": "same-site" } })],
    ["another origin's", () => ({ headers: { origin: "http://evil.localhost" } })],
    ["a session's without csrf", () => ({ headers: signedIn() })],
    ["a session's with another's csrf", () => ({ headers: signedIn(), fields: { csrf: "x".repeat(86) } })],
  ])("a form that is %s is 403, and a page", async (_, sent) => {
    const before = server.rows("sites");
    const answer = await send(sent());
    expect([answer.status, server.rows("sites")]).toEqual([403, before]);
    expect(answer.text).toContain("This page was open for too long, or the change did not come from it.");
  });

  test("the rate is that of programs, with its seconds", async () => {
    await using slow = await startServer({ SVC_RATE_DEPLOY: "1/1m" });
    expect((await send({ to: slow })).status).toBe(200);
    const answer = await send({ to: slow });
    expect([answer.status, Number(answer.headers.get("retry-after")) > 0]).toEqual([429, true]);
    expect(answer.text).toMatch(/\d+ second/);
  });

  test("where a proof of work is asked for, there is no form without a session", async () => {
    await using proving = await startServer({ SVC_CHALLENGE: "pow" });
    const page = await (await proving.api("/")).text();
    expect(page).not.toContain('name="zip"');
    expect(page).toContain(" to publish without JavaScript.");
    const answer = await send({ to: proving });
    expect(answer.status).toBe(403);
    expect(answer.text).toContain("Sign in to publish without JavaScript.");
    const person = await signInByForm(proving, await signUp(proving));
    const sent = { to: proving, headers: { cookie: person.cookie }, fields: { csrf: person.csrf, key: newKey() } };
    expect((await send(sent)).status).toBe(303);
  }, 30_000);
});
