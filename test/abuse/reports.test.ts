/** `POST /_svc/report` (CONTRACT 6): anybody may tell the operator about a site; the operator reads it safely. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { count, write } from "../kit/database.ts";
import { type AuditLine, listed, operate, operator } from "../kit/operator.ts";
import { startServer, type TestServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";

setDefaultTimeout(60_000);

const JSON_TYPE = { "content-type": "application/json" };
const FORM = { "content-type": "application/x-www-form-urlencoded" };

const server = await sharedServer();
const site = await server.deploy({ "index.html": "x", "_svc/report": "the site's own" });

const post = (body: string, headers: Record<string, string> = JSON_TYPE, slug = site.slug) =>
  server.site(slug, "/_svc/report", { method: "POST", body, headers });

interface ReportRow {
  kind: string;
  report_id: string;
  site_id: string;
  slug: string;
  reason: string;
  text: string | null;
  email: string | null;
  created_at: string;
  state: string;
}
const reports = () => listed<ReportRow>(server.data_dir, "reports");

test("JSON: 202 with the id under which the operator finds the report", async () => {
  const sent = { reason: "phishing", text: "It copies my bank.\nLook at /login", email: "me@example.com" };
  const answer = await post(JSON.stringify(sent));
  expect(answer.status).toBe(202);
  expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
  const { report_id } = (await answer.json()) as { report_id: string };
  expect(report_id).toMatch(/^rep_[0-9a-z]{20}$/);
  const found = (await reports()).find((row) => row.report_id === report_id);
  expect(found).toEqual({
    kind: "report",
    report_id,
    site_id: site.site_id,
    slug: site.slug,
    ...sent,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.+Z$/),
    state: "live",
  });
});

test("a form does as well; text and email may be left out or empty", async () => {
  expect((await post("reason=spam&email=", FORM)).status).toBe(202);
  expect((await reports()).at(-1)).toMatchObject({ reason: "spam", text: null, email: null });
});

test("newest last, and --json is one array", async () => {
  for (const reason of ["first", "second", "third"]) await post(JSON.stringify({ reason }));
  expect((await reports()).slice(-3).map((row) => row.reason)).toEqual(["first", "second", "third"]);
});

test.each<[string, number, string, string, Record<string, string>]>([
  ["no reason", 400, "invalid_input", "{}", JSON_TYPE],
  ["an empty reason", 400, "invalid_input", '{"reason":""}', JSON_TYPE],
  ["a reason that is no string", 400, "invalid_input", '{"reason":["x"]}', JSON_TYPE],
  ["a reason of 201 characters", 400, "invalid_input", JSON.stringify({ reason: "x".repeat(201) }), JSON_TYPE],
  ["a text of 5001", 400, "invalid_input", JSON.stringify({ reason: "x", text: "x".repeat(5001) }), JSON_TYPE],
  ["half a JSON", 400, "invalid_json", '{"reason":', JSON_TYPE],
  ["64 KiB and more", 413, "body_too_large", JSON.stringify({ reason: "x".repeat(70_000) }), JSON_TYPE],
  ["another type", 415, "unsupported_media_type", "reason=x", { "content-type": "text/plain" }],
])("%s is %i %s, and nothing is recorded", async (_, status, code, body, headers) => {
  const before = (await reports()).length;
  const answer = await post(body, headers);
  expect(answer.status).toBe(status);
  expect(await answer.json()).toMatchObject({ code });
  expect(await reports()).toHaveLength(before);
});

test.each(["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])("%s is 405 with Allow: POST", async (method) => {
  const answer = await server.site(site.slug, "/_svc/report", { method });
  expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
});

test("only on the hosts of sites: an unknown slug is 404, the API has no such address", async () => {
  expect((await post('{"reason":"x"}', JSON_TYPE, "nobody-here-0000")).status).toBe(404);
  expect((await server.api("/_svc/report", { method: "POST", body: "{}", headers: JSON_TYPE })).status).toBe(404);
});

test("the host of a version takes reports of its site", async () => {
  expect((await post('{"reason":"old"}', JSON_TYPE, `${site.version_id}--${site.slug}`)).status).toBe(202);
  expect((await reports()).at(-1)).toMatchObject({ reason: "old", site_id: site.site_id });
});

test("the host of a version that the site does not have is 404 unknown_version, to reports as to readers", async () => {
  const host = `0123456789abcdef--${site.slug}`;
  const before = (await reports()).length;
  for (const answer of [await post('{"reason":"x"}', JSON_TYPE, host), await server.site(host)]) {
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([404, "unknown_version"]);
  }
  expect(await reports()).toHaveLength(before);
});

test("a frozen site takes reports; a disabled one is 451, an expired one 410, a deleted one 404", async () => {
  await using own = await startServer();
  const one = await own.deploy({ "index.html": "x" });
  const status = async () =>
    (await own.site(one.slug, "/_svc/report", { method: "POST", body: '{"reason":"x"}', headers: JSON_TYPE })).status;
  await operate(own.data_dir, "freeze", one.slug);
  expect(await status()).toBe(202);
  await operate(own.data_dir, "disable", one.slug, "--reason", "seen");
  expect(await status()).toBe(451);
  own.advance(14 * 86_400_000);
  expect(await status()).toBe(410);
  expect(await listed<ReportRow>(own.data_dir, "reports")).toMatchObject([{ slug: one.slug }]);
  await operate(own.data_dir, "delete", one.slug);
  expect(await status()).toBe(404);
  expect(await listed<ReportRow>(own.data_dir, "reports")).toEqual([]);
});

describe("CONTRACT 7: reports close", () => {
  const listedBy = async (data_dir: string, ...flags: string[]) =>
    JSON.parse((await operate(data_dir, "reports", ...flags, "--json")).stdout) as (ReportRow & {
      closed_at?: string | null;
    })[];
  const reportOn = async (own: TestServer, slug: string, reason: string): Promise<string> => {
    const init = { method: "POST", body: JSON.stringify({ reason }), headers: JSON_TYPE };
    return ((await (await own.site(slug, "/_svc/report", init)).json()) as { report_id: string }).report_id;
  };

  test("takes a report off the list; --all lists it, with when; the audit log says so", async () => {
    await using own = await startServer();
    const { slug, site_id } = await own.deploy({ "index.html": "x" });
    const [first, second] = [await reportOn(own, slug, "one"), await reportOn(own, slug, "two")];
    const closed = await operate(own.data_dir, "reports", "close", first);
    expect(closed).toEqual({ code: 0, stdout: "", stderr: `${first} is closed.\n` });
    expect((await listedBy(own.data_dir)).map((row) => row.report_id)).toEqual([second]);
    expect((await operate(own.data_dir, "reports")).stdout).not.toContain(first);
    const all = await listedBy(own.data_dir, "--all");
    expect(all.map((row) => [row.report_id, row.closed_at])).toEqual([
      [first, expect.stringMatching(/^\d{4}-\d\d-\d\dT.+Z$/)],
      [second, null],
    ]);
    expect((await operate(own.data_dir, "reports", "--all")).stdout).toContain(`closed: ${all[0]!.closed_at}`);
    const again = await operate(own.data_dir, "reports", "close", first);
    expect(again.stderr).toBe(`${first} was closed already.\n`);
    const acts = (await listed<AuditLine>(own.data_dir, "audit")).filter(({ action }) => action === "close-report");
    expect(acts).toMatchObject([{ actor: "operator", site_id, reason: first }]);
  });

  test("an id that is none: exit code 1 and a sentence", async () => {
    const { code, stderr } = await operator(server.data_dir, ["reports", "close", "rep_none"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("There is no report rep_none: svc-server reports")]);
  });

  test.each([[], ["--all"]])("what was reported of a site that is deleted or swept drops out %p", async (...flags) => {
    await using own = await startServer("--gc-interval", "1d");
    const sites = await Promise.all(["a", "b", "c"].map((text) => own.deploy({ "index.html": text })));
    const [deleted, swept, stays] = sites.map(({ slug }) => slug) as [string, string, string];
    for (const slug of [deleted, swept, stays]) await reportOn(own, slug, slug);
    await operate(own.data_dir, "delete", deleted);
    expect((await listedBy(own.data_dir, ...flags)).map((row) => row.slug)).toEqual([swept, stays]);
    write(own.data_dir, "update sites set expires_at = 1 where slug = ?", swept);
    expect((await listedBy(own.data_dir, ...flags)).map((row) => row.slug)).toEqual([swept, stays]);
    await operate(own.data_dir, "gc");
    expect((await listedBy(own.data_dir, ...flags)).map((row) => row.slug)).toEqual([stays]);
    expect(count(own.data_dir, "reports")).toBe(1);
  });
});

test.each<[string, Record<string, string>, number]>([
  ["a program, which says nothing of an origin", {}, 202],
  ["the site's own page", { origin: "OWN" }, 202],
  ["the site's own page, by what the browser adds", { origin: "OWN", "sec-fetch-site": "same-origin" }, 202],
  ["a sibling's page", { origin: "http://other.localhost" }, 403],
  ["a sibling's page that the browser tells apart", { origin: "OWN", "sec-fetch-site": "same-site" }, 403],
  ["a page from elsewhere", { origin: "https://evil.example", "sec-fetch-site": "cross-site" }, 403],
  ["a page without Origin that the browser tells apart", { "sec-fetch-site": "cross-site" }, 403],
  ["a sandboxed frame", { origin: "null" }, 403],
  ["the API's page", { origin: "API" }, 403],
  ["the same name under https", { origin: "SECURE" }, 403],
])("the Origin of a report is the site itself: %s", async (_, headers, status) => {
  const host = `${site.slug}.localhost:${server.port}`;
  const origins: Record<string, string> = { OWN: `http://${host}`, SECURE: `https://${host}`, API: server.base_url };
  const origin = headers.origin && (origins[headers.origin] ?? headers.origin);
  const before = (await reports()).length;
  const answer = await post('{"reason":"x"}', { ...JSON_TYPE, ...headers, ...(origin && { origin }) });
  expect(answer.status).toBe(status);
  if (status === 403) expect(await answer.json()).toMatchObject({ code: "cross_origin" });
  expect(await reports()).toHaveLength(before + (status === 202 ? 1 : 0));
});

test("a foreign page uses up nobody's reports; behind a proxy that speaks TLS the own origin is https", async () => {
  await using own = await startServer("--trust-proxy", "127.0.0.1", { SVC_RATE_REPORT: "1/1h" });
  const { slug } = await own.deploy({ "index.html": "x" });
  const origin = `https://${slug}.localhost:${own.port}`;
  const send = async (headers: Record<string, string>) =>
    (
      await own.site(slug, "/_svc/report", {
        method: "POST",
        body: '{"reason":"x"}',
        headers: { ...JSON_TYPE, ...headers },
      })
    ).status;
  for (let n = 0; n < 3; n++) expect(await send({ origin: "https://evil.example" })).toBe(403);
  expect(await send({ origin, "x-forwarded-proto": "https" })).toBe(202);
  expect(await send({ origin, "x-forwarded-proto": "https" })).toBe(429);
});

test("SVC_RATE_REPORT: the fourth in an hour from one address is 429, whatever the site", async () => {
  await using own = await startServer({ SVC_RATE_REPORT: "3/1h" });
  const sites = [await own.deploy({ "index.html": "x" }), await own.deploy({ "index.html": "y" })];
  const send = (n: number) =>
    own.site(sites[n % 2]!.slug, "/_svc/report", { method: "POST", body: '{"reason":"x"}', headers: JSON_TYPE });
  const answers = [await send(0), await send(1), await send(2), await send(3)];
  expect(answers.map((answer) => answer.status)).toEqual([202, 202, 202, 429]);
  expect(answers[0]!.headers.get("ratelimit-remaining")).toBe("2");
  expect(Number(answers[3]!.headers.get("retry-after"))).toBeGreaterThan(0);
  own.advance(3_600_001);
  expect((await send(0)).status).toBe(202);
});

test("A11 what a visitor wrote cannot move the operator's cursor, forge a line or turn the writing round", async () => {
  const reason = "x\u001b[2J\u001b]0;t\u0007";
  await post(
    JSON.stringify({ reason, text: "one\nrep_forged  2026  other (site_x, live)\r\u202eleft", email: "a\n@b" }),
  );
  const { stdout } = await operate(server.data_dir, "reports");
  const block = stdout.trimEnd().split("\n\n").at(-1)!.split("\n");
  expect(block.slice(1)).toEqual([
    "  reason: x\\u{1b}[2J\\u{1b}]0;t\\u{7}",
    "  email:  a\\u{a}@b",
    "  | one",
    "  | rep_forged  2026  other (site_x, live)\\u{d}\\u{202e}left",
  ]);
});
