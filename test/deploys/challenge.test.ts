/** CONTRACT 10: the proof of work of anonymous deploys, asked for and made. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { deploySite } from "../../lib.ts";
import { type Challenge, solve } from "../../src/client/challenge.ts";
import { Home, json } from "../kit/cli.ts";
import { DEPLOYED, fakeServer } from "../kit/fake-server.ts";
import { startProcess, temporaryFolder } from "../kit/process.ts";
import { startServer, type TestServer } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";

const SITE = { "index.html": "<title>Proved</title>" };
const sha256 = (text: string): Buffer => new Bun.CryptoHasher("sha256").update(text).digest();
const zeroBits = (text: string): number => sha256(text).toHex().match(/^0*/)![0].length * 4;

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

describe("with SVC_CHALLENGE=pow", () => {
  let proving: TestServer;
  beforeAll(async () => {
    proving = await startServer({ SVC_CHALLENGE: "pow", SVC_RATE_DEPLOY: "off" });
  });
  afterAll(() => proving[Symbol.asyncDispose]());

  const getChallenge = async () =>
    (await (await proving.api("/challenge", { method: "POST" })).json()) as Challenge & { expires_in: number };
  const deploy = (proof?: string, query = "") => {
    const headers: Record<string, string> = proof === undefined ? {} : { "svc-challenge": proof };
    return proving.post(zipOf(SITE), headers, query);
  };

  test("POST /challenge gives a challenge, its bits and 120 seconds", async () => {
    const challenge = await getChallenge();
    expect(Object.keys(challenge).sort()).toEqual(["bits", "challenge", "expires_in"]);
    expect(challenge.expires_in).toBe(120);
    expect(challenge.bits).toBeWithin(8, 25);
    expect(challenge.challenge).toMatch(/^[\w.-]{40,200}$/);
    expect((await getChallenge()).challenge).not.toBe(challenge.challenge);
  });

  test("a deploy without proof is 403 challenge_failed, with the way to get one", async () => {
    const response = await deploy();
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      code: "challenge_failed",
      next_actions: [
        { action: "get_challenge", method: "POST", url: `${proving.base_url}/challenge` },
        { action: "login" },
      ],
    });
  });

  test("a proof opens one deploy, and no second", async () => {
    const proof = await solve(await getChallenge());
    expect((await deploy(proof)).status).toBe(200);
    const again = await deploy(proof);
    expect(again.status).toBe(403);
    expect(await again.json()).toMatchObject({ code: "challenge_failed" });
  });

  test("a proof that is not asked for by a 403 works as well, whoever wrote the solver", async () => {
    const { challenge, bits } = await getChallenge();
    let nonce = 0;
    while (sha256(`${challenge}:n${nonce}`).readUInt32BE(0) >>> (32 - bits) !== 0) nonce++;
    expect((await deploy(`${challenge}:n${nonce}`)).status).toBe(200);
  });

  test("two at once with one proof: one of them deploys", async () => {
    const proof = await solve(await getChallenge());
    const statuses = await Promise.all(
      [deploy(proof), deploy(proof), deploy(proof)].map(async (one) => (await one).status),
    );
    expect(statuses.sort()).toEqual([200, 403, 403]);
  });

  test("what is unsolved, changed, foreign or late is refused", async () => {
    const challenge = await getChallenge();
    const proof = await solve(challenge);
    const other = await startServer();
    const foreign = (await (await other.api("/challenge", { method: "POST" })).json()) as Challenge;
    await other[Symbol.asyncDispose]();
    const later = challenge.challenge.replace(/^\d+/, (time) => String(Number(time) + 1000));
    const refused = [
      `${challenge.challenge}:0`,
      `${challenge.challenge}`,
      `:${challenge.challenge}`,
      "",
      ":",
      "x".repeat(5000),
      `${proof}0`,
      await solve({ ...challenge, challenge: later }),
      await solve(foreign),
    ];
    for (const value of refused) {
      const response = await deploy(value);
      expect([value.slice(0, 30), response.status]).toEqual([value.slice(0, 30), 403]);
      await response.body?.cancel();
    }
    proving.advance(120_000);
    expect((await deploy(proof)).status).toBe(403);
    expect((await deploy(await solve(await getChallenge()))).status).toBe(200);
  });

  test("a dry run asks for one too, for its refusals are the real ones", async () => {
    expect((await deploy(undefined, "?dry_run=1")).status).toBe(403);
    expect((await deploy(await solve(await getChallenge()), "?dry_run=1")).status).toBe(200);
  });

  test("updates of a site and deploys of an account need none", async () => {
    const proof = await solve(await getChallenge());
    const site = (await (await deploy(proof)).json()) as { site_id: string; manage_token: string };
    const updated = await proving.redeploy(site, { "index.html": "<title>Two</title>" });
    expect(updated.version_id).toMatch(/^[0-9a-f]{16}$/);
    const account = { email: "pow@example.org", password: "correct horse battery" };
    const signup = await proving.api("/auth/signup", {
      method: "POST",
      body: JSON.stringify(account),
      headers: { "content-type": "application/json" },
    });
    const { session_token } = (await signup.json()) as { session_token: string };
    const owned = await proving.post(zipOf(SITE), { authorization: `Bearer ${session_token}` });
    expect(owned.status).toBe(200);
  });

  test("the library proves by itself, by whatever handle it was given", async () => {
    const asked: string[] = [];
    const handle = (request: Request) => {
      asked.push(new URL(request.url).pathname);
      return fetch(request);
    };
    const files = { "index.html": new TextEncoder().encode("<title>Library</title>") };
    const baseUrl = `http://127.0.0.1:${proving.port}`;
    const { url } = await deploySite({ files, baseUrl, handle });
    expect(url).toContain(".localhost:");
    expect(asked).toEqual(["/sites", "/challenge", "/sites"]);
  });

  test("svc proves by itself, also for a large upload", async () => {
    await using home = await Home.make(`http://localhost:${proving.port}`);
    const noise = Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [`${i}.bin`, crypto.getRandomValues(new Uint8Array(65536))]),
    );
    await home.write("large", { "index.html": "<title>CLI</title>", ...noise });
    const ran = await home.run(["large", "--json"]);
    expect([ran.code, json(ran)["ok"]]).toEqual([0, true]);
  }, 60_000);
});

test("svc shows on a terminal how far the proof is", async () => {
  // A challenge whose answer takes 381,158 tries.
  const slow = { challenge: "fixed-3", bits: 18, expires_in: 120 };
  const server = fakeServer((path, _, { headers }) => {
    if (path === "/challenge") return Response.json(slow);
    if (headers.has("svc-challenge")) return Response.json(DEPLOYED);
    return Response.json({ error: "Prove it.", code: "challenge_failed" }, { status: 403 });
  });
  await using home = await Home.make(server.url);
  await home.write("site", { "index.html": "<title>CLI</title>" });
  const screen = await home.runOnTerminal(["site"]);
  await server.stop();
  expect(screen.code).toBe(0);
  expect(screen.raw).toMatch(/no robot: \d+ %/);
  expect(server.asked.map(({ path }) => path)).toEqual(["/sites", "/challenge", "/sites"]);
  expect(server.asked[2]!.headers.get("svc-challenge")).toBe(await solve(slow));
}, 60_000);

test("svc gives up on a server that takes no proof", async () => {
  const server = fakeServer((path) =>
    path === "/challenge"
      ? Response.json({ challenge: "x", bits: 4, expires_in: 120 })
      : Response.json({ error: "Never.", code: "challenge_failed" }, { status: 403 }),
  );
  await using home = await Home.make(server.url);
  await home.write("site", { "index.html": "<title>CLI</title>" });
  const ran = await home.run(["site", "--json"]);
  await server.stop();
  expect([ran.code, json(ran)["code"]]).toEqual([1, "challenge_failed"]);
  expect(server.asked.length).toBeLessThan(10);
});

test("without the setting nobody is asked", async () => {
  expect((await server.post(zipOf(SITE))).status).toBe(200);
  expect((await server.post(zipOf(SITE), { "svc-challenge": "nonsense" })).status).toBe(200);
});

test("a proof is spent for all workers alike", async () => {
  if (process.platform !== "linux") return;
  await using dir = await temporaryFolder();
  const workers = await startProcess(["--workers", "2", "--data-dir", dir.path, "--log", "off"], {
    env: { SVC_CHALLENGE: "pow", SVC_RATE_DEPLOY: "off" },
  });
  try {
    const base = `http://127.0.0.1:${workers.port}`;
    const proof = await solve((await (await fetch(`${base}/challenge`, { method: "POST" })).json()) as Challenge);
    const headers = { "content-type": "application/zip", "svc-challenge": proof, connection: "close" };
    const send = async () => (await fetch(`${base}/sites`, { method: "POST", body: zipOf(SITE), headers })).status;
    const statuses = await Promise.all(Array.from({ length: 8 }, send));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  } finally {
    await workers.end();
  }
}, 60_000);

describe("the solver", () => {
  // Lengths around the 64 bytes that SHA-256 takes at once.
  test.each([1, 45, 46, 47, 54, 55, 56, 62, 63, 64, 118, 119, 120, 128])(
    "finds a nonce for a challenge of %i bytes",
    async (length) => {
      expect(zeroBits(await solve({ challenge: "x".repeat(length), bits: 8 }))).toBeGreaterThanOrEqual(8);
    },
  );
  test("tells how far it is, and lets others run meanwhile", async () => {
    const told: number[] = [];
    let turns = 0;
    const timer = setInterval(() => turns++, 5);
    await solve({ challenge: "progress", bits: 18 }, (tries, expected) => told.push(tries / expected));
    clearInterval(timer);
    expect(told.length).toBeGreaterThan(0);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
    expect(turns).toBeGreaterThan(0);
  });
  test.each([0, -1, 1.5, 60, NaN])("refuses %d bits, whatever a server asks for", async (bits) => {
    await expect(solve({ challenge: "x", bits })).rejects.toThrow("too much work");
  });
});
