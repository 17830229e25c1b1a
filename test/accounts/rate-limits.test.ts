/** CONTRACT 4.4: rate limits, counted alike by every worker (RELIABILITY A5). */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { SETTINGS } from "../../src/config/settings.ts";
import { bearer, call, PASSWORD, signUp } from "../kit/people.ts";
import { type DeployResult, NOBODYS_ID, type Setting, startServer, type TestServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

const MINUTE = 60_000;
const DAY = 86_400_000;

/** A server for the tests of one group. Each begins after all that the one before it counted. */
async function sharedByRates(...settings: Setting[]): Promise<() => TestServer> {
  const server = await sharedServer(...settings);
  return () => {
    server.advance(DAY);
    return server;
  };
}

const statuses = async (count: number, once: () => Promise<{ status: number }>): Promise<number[]> => {
  const seen: number[] = [];
  for (let i = 0; i < count; i++) seen.push((await once()).status);
  return seen;
};
const times = (count: number, status: number): number[] => Array.from({ length: count }, () => status);
const from = (address: string): Record<string, string> => ({ "x-forwarded-for": address });

const NO_ZIP = new Uint8Array([1, 2, 3]);
const LIMITS: Record<string, number> = {
  SVC_RATE_CLAIM: 10,
  SVC_RATE_BULK_ATTACH: 10,
  SVC_RATE_SIGN_IN: 10,
  SVC_RATE_SIGN_IN_ACCOUNT: 5,
  SVC_RATE_DEPLOY: 10,
  SVC_RATE_REDEPLOY: 30,
  SVC_RATE_OWNED: 60,
};
const FALLBACKS = Object.fromEntries(
  Object.values(SETTINGS)
    .map(({ variables, fallback }) => [variables[0] as string, String(fallback)] as const)
    .filter(([name]) => name in LIMITS),
);
const byDefaults = await sharedByRates(FALLBACKS);
const oncePerHour = await sharedByRates({ SVC_RATE_DEPLOY: "1/1h" });
const onceBehindProxies = await sharedByRates("--trust-proxy", "127.0.0.1,10.0.0.0/8", {
  SVC_RATE_DEPLOY: "1/1h",
  SVC_RATE_REDEPLOY: "3/1h",
});
const twicePerHour = await sharedByRates({
  SVC_RATE_DEPLOY: "2/1h",
  SVC_RATE_REDEPLOY: "2/1h",
  SVC_RATE_CLAIM: "1/1h",
  SVC_RATE_SIGN_IN: "4/1m",
  SVC_RATE_SIGN_IN_ACCOUNT: "2/1m",
});

describe("the defaults", () => {
  test("A5 the eleventh claim of a minute is 429, with Retry-After and both kinds of RateLimit headers", async () => {
    const server = byDefaults();
    const person = await signUp(server);
    const claim = () => call(server, "POST", `/sites/${NOBODYS_ID}/claim`, { claim_token: "x" }, person.bearer);
    expect(await statuses(10, claim)).toEqual(times(10, 401));
    const { status, body, headers } = await claim();
    expect([status, body.code]).toEqual([429, "rate_limited"]);
    const wait = headers.get("retry-after")!;
    expect(Number(wait)).toBeWithin(30, 61);
    expect(headers.get("ratelimit-policy")).toBe('"claim";q=10;w=60');
    expect(headers.get("ratelimit")).toBe(`"claim";r=0;t=${wait}`);
    expect(headers.get("ratelimit-limit")).toBe("10");
    expect(headers.get("ratelimit-remaining")).toBe("0");
    expect(headers.get("ratelimit-reset")).toBe(wait);
    server.advance(MINUTE);
    expect((await claim()).status).toBe(401);
  });

  test.each(Object.entries(LIMITS))("%s is %i a minute", async (name, count) => {
    expect(FALLBACKS[name]).toStartWith(`${count}/1m`);
    const seen = await statuses(count + 1, await caller(byDefaults(), name));
    expect(seen.slice(0, count)).not.toContain(429);
    expect(seen[count]).toBe(429);
  });
});

/** Asks for what this limit counts. An upload is no archive: it counts like any other. */
async function caller(server: TestServer, name: string): Promise<() => Promise<{ status: number }>> {
  if (name === "SVC_RATE_DEPLOY") return () => server.post(NO_ZIP);
  if (name === "SVC_RATE_REDEPLOY") {
    const site = await server.deploy({ "index.html": "x" });
    return () => redeploy(server, site, { "content-type": "text/plain" });
  }
  const signIn = (email: string) => call(server, "POST", "/auth/login", { email, password: PASSWORD });
  if (name === "SVC_RATE_SIGN_IN_ACCOUNT") return () => signIn("Same@example.org ");
  let n = 0;
  if (name === "SVC_RATE_SIGN_IN") return () => signIn(`n${n++}@example.org`);
  const { bearer } = await signUp(server);
  if (name === "SVC_RATE_OWNED") return () => server.post(NO_ZIP, bearer);
  return name === "SVC_RATE_CLAIM"
    ? () => call(server, "POST", `/sites/${NOBODYS_ID}/claim`, { claim_token: "x" }, bearer)
    : () => call(server, "POST", "/account/bulk-attach", { sites: [{}] }, bearer);
}

/** No body that anybody reads: what is counted is counted before. */
const redeploy = (
  server: TestServer,
  { site_id, manage_token }: Pick<DeployResult, "site_id" | "manage_token">,
  headers: Record<string, string> = {},
  query = "",
): Promise<Response> => {
  const sent = { "content-type": "application/zip", ...bearer(manage_token), ...headers };
  const body = zipOf({ "index.html": "x" });
  return server.api(`/sites/${site_id}/deploys${query}`, { method: "POST", headers: sent, body });
};

describe("a window", () => {
  test("slides: a call fits again when the oldest leaves it, and a refused call does not count", async () => {
    await using server = await startServer({ SVC_RATE_DEPLOY: "2/10m" });
    const deploy = () => server.post(zipOf({ "index.html": "x" }));
    const at = async (minutes: number) => {
      server.advance(minutes * MINUTE);
      return (await deploy()).status;
    };
    expect(await at(0)).toBe(200);
    expect(await at(5)).toBe(200);
    expect(await at(1)).toBe(429);
    expect(await at(2)).toBe(429);
    expect(await at(2)).toBe(200); // the first left; the two refused ones never counted
    expect(await at(3)).toBe(429);
    expect(await at(2)).toBe(200);
  });

  test("of several the tightest is told, and each has its policy", async () => {
    await using server = await startServer({ SVC_RATE_DEPLOY: "10/1m,3/1h" });
    const deploy = () => server.post(zipOf({ "index.html": "x" }));
    expect((await deploy()).headers.get("ratelimit")).toMatch(/^"deploy-2";r=2;t=\d+$/);
    await deploy();
    server.advance(MINUTE);
    await deploy();
    const refused = await deploy();
    expect(refused.status).toBe(429);
    expect(refused.headers.get("ratelimit-policy")).toBe('"deploy";q=10;w=60, "deploy-2";q=3;w=3600');
    expect(Number(refused.headers.get("retry-after"))).toBeWithin(3500, 3541);
  });

  test("off: no limit and no headers", async () => {
    await using server = await startServer({ SVC_RATE_DEPLOY: "off" });
    const answers = [];
    for (let i = 0; i < 12; i++) answers.push(await server.post(zipOf({ "index.html": "x" })));
    expect(answers.map(({ status }) => status)).toEqual(times(12, 200));
    expect(answers[0]!.headers.has("ratelimit")).toBe(false);
  });

  test("set in the future by a clock that stepped back counts nobody out", async () => {
    await using server = await startServer({ SVC_RATE_DEPLOY: "1/1m" });
    server.advance(365 * 86_400_000);
    const deploy = async () => (await server.post(zipOf({ "index.html": "x" }))).status;
    expect([await deploy(), await deploy()]).toEqual([200, 429]);
    server.advance(-365 * 86_400_000);
    expect([await deploy(), await deploy()]).toEqual([200, 429]);
  });
});

describe("what is asked when", () => {
  test("after the credential, before type and length; a session counts for its account", async () => {
    const server = oncePerHour();
    const { bearer: session } = await signUp(server);
    expect((await server.api("/sites", { method: "POST", body: "x" })).status).toBe(415); // counts
    expect((await server.api("/sites", { method: "POST", body: "x" })).status).toBe(429);
    const unknown = { authorization: "Bearer nonsense" };
    expect((await server.post(zipOf({ "index.html": "x" }), unknown)).status).toBe(401);
    expect(await statuses(3, () => server.post(zipOf({ "index.html": "x" }), session))).toEqual(times(3, 200));
  });

  test("SVC_RATE_REDEPLOY counts redeploys and dry runs of sites without an owner, by network", async () => {
    const server = onceBehindProxies();
    const one = await server.deploy({ "index.html": "1" });
    server.advance(DAY);
    const two = await server.deploy({ "index.html": "2" });
    server.advance(DAY);
    const status = async (...asked: Parameters<typeof redeploy>) => (await redeploy(...asked)).status;
    expect(await status(server, { ...one, manage_token: "svc_manage_x" })).toBe(401); // no credential: nothing counts
    expect(await status(server, one)).toBe(200);
    expect(await status(server, two, {}, "?dry_run=1")).toBe(200);
    expect(await status(server, two, { "content-type": "text/plain" })).toBe(415);
    const refused = await redeploy(server, one);
    expect([refused.status, refused.headers.get("ratelimit-policy")]).toEqual([429, '"redeploy";q=3;w=3600']);
    expect(await status(server, two, {}, "?dry_run=1")).toBe(429);
    expect(await status(server, one, { "content-type": "text/plain" })).toBe(429);
    expect(await status(server, one, from("2.2.2.2"))).toBe(200);
    expect((await server.post(zipOf({ "index.html": "new" }))).status).toBe(200); // a rate of its own
  });

  test("SVC_RATE_OWNED counts whatever runs the pipeline for an account's sites, by whoever has a token", async () => {
    await using server = await startServer("--trust-proxy", "127.0.0.1", {
      SVC_RATE_OWNED: "4/1h",
      SVC_RATE_REDEPLOY: "1/1h",
    });
    const [owner, other] = [await signUp(server), await signUp(server)];
    const made = await server.post(zipOf({ "index.html": "x" }), owner.bearer);
    expect(made.headers.get("ratelimit")).toMatch(/^"owned";r=3;t=\d+$/);
    const site = (await made.json()) as DeployResult;
    const status = async (...asked: Parameters<typeof redeploy>) => (await redeploy(...asked)).status;
    expect(await status(server, site)).toBe(200);
    expect(await status(server, site, { ...owner.bearer, ...from("2.2.2.2") }, "?dry_run=1")).toBe(200);
    expect((await server.post(zipOf({ "index.html": "x" }), owner.bearer, "?dry_run=1")).status).toBe(200);
    expect(await status(server, site, from("3.3.3.3"))).toBe(429);
    expect((await server.post(zipOf({ "index.html": "x" }), owner.bearer)).status).toBe(429);
    expect((await server.post(zipOf({ "index.html": "x" }), other.bearer)).status).toBe(200);
    const rollback = await server.rollback(site, site.version_id); // runs no pipeline
    expect(rollback.status).toBe(200);
  });

  test("a redeploy that is refused for its site's state counts too", async () => {
    const server = twicePerHour();
    const site = await server.deploy({ "index.html": "1" });
    server.freeze(site);
    expect(await statuses(3, () => redeploy(server, site))).toEqual([403, 403, 429]);
  });

  test("a dry run and a refused upload count like any other", async () => {
    const server = twicePerHour();
    const bad = async () => (await server.post(NO_ZIP)).status;
    expect(await statuses(3, async () => ({ status: await bad() }))).toEqual([400, 400, 429]);
  });

  test("a sign-in that the account's limit refuses does not count for the address", async () => {
    const server = twicePerHour();
    const signIn = (email: string) => call(server, "POST", "/auth/login", { email, password: PASSWORD });
    expect(await statuses(6, () => signIn("same@example.org"))).toEqual([401, 401, 429, 429, 429, 429]);
    expect(await statuses(3, () => signIn("other@example.org"))).toEqual([401, 401, 429]);
    expect((await signIn("third@example.org")).headers.get("ratelimit-policy")).toBe('"sign-in";q=4;w=60');
  });

  test("known and unknown account names are limited alike", async () => {
    const server = twicePerHour();
    const { email } = await signUp(server);
    const seen = (name: string) =>
      statuses(3, () => call(server, "POST", "/auth/login", { email: name, password: "wrong password" }));
    const known = await seen(email);
    server.advance(DAY);
    expect(await seen("nobody@example.org")).toEqual(known);
    expect(known).toEqual([401, 401, 429]);
  });
});

describe("A5 who counts as one", () => {
  const deployFrom = async (server: TestServer, headers: Record<string, string>) =>
    (await server.post(zipOf({ "index.html": "x" }), headers)).status;

  test("X-Forwarded-For of a peer that is not trusted is ignored", async () => {
    const server = oncePerHour();
    expect(await deployFrom(server, from("1.1.1.1"))).toBe(200);
    expect(await deployFrom(server, from("2.2.2.2"))).toBe(429);
  });

  test.each([
    ["another IPv4 address is another client", "1.1.1.1", "1.1.1.2", 200],
    ["the rightmost untrusted address counts, whatever stands left of it", "9.9.9.9, 1.1.1.1", "8.8.8.8, 1.1.1.1", 429],
    ["trusted proxies are skipped", "1.1.1.1, 10.0.0.7", "1.1.1.1", 429],
    ["an IPv6 /64 is one client", "2001:db8:1:2::1", "2001:db8:1:2:ffff::2", 429],
    ["another /64 is another", "2001:db8:1:2::1", "2001:db8:1:3::1", 200],
    ["IPv4-mapped equals IPv4", "::ffff:1.1.1.1", "1.1.1.1", 429],
    ["garbage is the proxy itself", "garbage", "more garbage", 429],
    ["a list of 1,000", `${"7.7.7.7, ".repeat(999)}1.1.1.1`, "1.1.1.1", 429],
  ])("%s", async (_, first, second, status) => {
    const server = onceBehindProxies();
    expect(await deployFrom(server, from(first))).toBe(200);
    expect(await deployFrom(server, from(second))).toBe(status);
  });
});

test("a bearer that ends in the middle of it all is 401 before it is 429", async () => {
  const server = twicePerHour();
  const person = await signUp(server);
  const claim = () =>
    call(server, "POST", `/sites/${NOBODYS_ID}/claim`, { claim_token: "x" }, bearer(person.session_token));
  expect(await statuses(2, claim)).toEqual([401, 429]);
  await call(server, "POST", "/auth/logout", {}, person.bearer);
  expect((await claim()).status).toBe(401);
});
