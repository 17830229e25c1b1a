/** BEYOND 6: what a delta is joined with is read from the store: damaged, swept, pruned or raced, the answer is 409 or the
 *  very version, never a wrong one. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdir, readFile, truncate, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deltaOf, DELTA, planned, planOf, refusal, sendDelta, sha256, updateByDelta } from "../../kit/delta.ts";
import { blobFile, blobsFolder, operate } from "../../kit/operator.ts";
import { ended, local, startProcess, temporaryFolder } from "../../kit/process.ts";
import { type DeployResult, JSON_TYPE, startServer, type TestServer, ZIP } from "../../kit/server.ts";
import { checkStored } from "../../kit/tracked-sites.ts";
import { zipOf } from "../../kit/zip.ts";

setDefaultTimeout(60_000);

let contents = 0;
/** Of no other site on the server. */
function twoVersions() {
  const own = ++contents;
  const [a, b] = [`bytes that rot ${own}`, `others that do ${own}`];
  const old = { "index.html": `<title>1 ${own}</title>`, "a.txt": a, "b.txt": b };
  return { a, b, old, fresh: { ...old, "index.html": `<title>2 ${own}</title>` } };
}

const flip = async (path: string) => {
  const bytes = await readFile(path);
  bytes[3]! ^= 1;
  await writeFile(path, bytes);
};

const HARM: [string, (path: string) => Promise<unknown>][] = [
  ["flipped", flip],
  ["cut", (path) => truncate(path, 4)],
  ["emptied", (path) => truncate(path, 0)],
  ["longer", (path) => truncate(path, 1_000_000)],
  ["deleted", unlink],
];

let server: TestServer;
let pruning: TestServer;
beforeAll(async () => {
  server = await startServer();
  pruning = await startServer({ SVC_KEEP_VERSIONS: "1" });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await pruning[Symbol.asyncDispose]();
});

describe("a stored file that is not what it was", () => {
  afterAll(() => operate(server.data_dir, "verify"));

  test.each(HARM)("%s: 409 with its hash, nothing stored; sent, it heals", async (_, harm) => {
    const { a, old, fresh } = twoVersions();
    const site = await server.deploy(old);
    await harm(blobFile(server.data_dir, a));
    const { need } = await planOf(server, site, fresh);
    expect(need).toEqual([sha256(fresh["index.html"])]);
    const rows = () => ["versions", "files", "blobs"].map((table) => server.rows(table));
    const before = rows();
    const response = await sendDelta(server, site, deltaOf(fresh, need));
    expect([response.status, await refusal(response)]).toEqual([
      409,
      expect.objectContaining({ code: "missing_blobs", need: [sha256(a)] }),
    ]);
    expect(rows()).toEqual(before);
    expect(await (await server.site(site.slug, "/")).text()).toContain("<title>1 ");
    const healed = await sendDelta(server, site, deltaOf(fresh, [...need, sha256(a)]));
    expect(healed.status).toBe(200);
    expect(await (await server.site(site.slug, "/a.txt")).text()).toBe(a);
  });

  test("all of them are told at once, in the order of the list; a dry run tells the same", async () => {
    const { a, b, old, fresh } = twoVersions();
    const site = await server.deploy(old);
    await unlink(blobFile(server.data_dir, b));
    await flip(blobFile(server.data_dir, a));
    for (const query of ["?dry_run=1", ""]) {
      const told = await refusal(await sendDelta(server, site, deltaOf(fresh, [sha256(fresh["index.html"])]), query));
      expect(told["need"]).toEqual([sha256(a), sha256(b)]);
    }
    await server.redeploy(site, old); // heals them
  });

  test("where the delta brings it, the stored one is not read", async () => {
    const { a, old, fresh } = twoVersions();
    const site = await server.deploy(old);
    await flip(blobFile(server.data_dir, a));
    expect((await sendDelta(server, site, deltaOf(fresh, Object.values(fresh).map(sha256)))).status).toBe(200);
    expect(await (await server.site(site.slug, "/a.txt")).text()).toBe(a);
  });

  test("one that two sites have: sent by one it heals, and the other may leave it out again", async () => {
    const { a, old, fresh } = twoVersions();
    const [site, other] = [
      await server.deploy(old),
      await server.deploy({ "index.html": "<title>o</title>", "x.txt": a }),
    ];
    await flip(blobFile(server.data_dir, a));
    expect((await updateByDelta(server, site, fresh)).status).toBe(409);
    await server.redeploy(site, fresh);
    expect((await updateByDelta(server, other, { "x.txt": a, "y.txt": "y" })).status).toBe(200);
  });
});

test("the operator reads in the log which file it was, and nothing of a file that the site never had", async () => {
  await using dir = await temporaryFolder();
  const logged = await startProcess(["--data-dir", dir.path]);
  const { a, old, fresh } = twoVersions();
  const post = (path: string, headers: Record<string, string>, body: Uint8Array<ArrayBuffer>) =>
    fetch(`${local(logged)}${path}`, { method: "POST", headers, body });
  const site = (await (await post("/sites", ZIP, zipOf(old))).json()) as DeployResult;
  await flip(blobFile(dir.path, a));
  const headers = { ...DELTA, authorization: `Bearer ${site.manage_token}` };
  const send = async (need: string[]) => {
    const response = await post(`/sites/${site.site_id}/deploys`, headers, deltaOf(fresh, need));
    return [response.status, response.headers.get("x-request-id")];
  };
  expect((await send([sha256(a)]))[0]).toBe(409);
  expect((await send([sha256(fresh["index.html"])]))[0]).toBe(409);
  await ended(logged, "SIGTERM");
  const said = logged
    .stderr()
    .split("\n")
    .filter((line) => line.includes(" error "));
  expect(said).toEqual([expect.stringContaining(`blob ${sha256(a)} does not match its hash`)]);
});

describe("between the plan and the delta", () => {
  test("the version that had a file is pruned: 409, then with it 200", async () => {
    const { a, b, old, fresh } = twoVersions();
    const site = await pruning.deploy(old);
    const { need } = await planOf(pruning, site, fresh);
    await pruning.redeploy(site, { "index.html": "<title>between</title>", "b.txt": b });
    const told = await refusal(await sendDelta(pruning, site, deltaOf(fresh, need)));
    expect(told).toMatchObject({ code: "missing_blobs", need: [sha256(a)] });
    const again = deltaOf(fresh, [...need, ...(told["need"] as string[])]);
    expect((await sendDelta(pruning, site, again)).status).toBe(200);
    expect(await (await pruning.site(site.slug, "/a.txt")).text()).toBe(a);
  });

  test("the site is frozen or expires: refused as any deploy", async () => {
    const { old, fresh } = twoVersions();
    const site = await server.deploy(old);
    const delta = deltaOf(fresh, (await planOf(server, site, fresh)).need);
    server.freeze(site);
    expect(await refusal(await sendDelta(server, site, delta))).toMatchObject({ code: "site_frozen" });
    server.expire(site);
    expect(await refusal(await sendDelta(server, site, delta))).toMatchObject({ code: "unknown_site" });
  });

  test("the same delta eight times at once is one version", async () => {
    const { old, fresh } = twoVersions();
    const site = await server.deploy(old);
    const before = server.rows("versions");
    const delta = deltaOf(fresh, (await planOf(server, site, fresh)).need);
    const answers = await Promise.all(Array.from({ length: 8 }, () => sendDelta(server, site, delta)));
    const ids = await Promise.all(
      answers.map(async (answer) => [answer.status, ((await answer.json()) as DeployResult).version_id]),
    );
    expect(new Set(ids.map(String)).size).toBe(1);
    expect(ids[0]![0]).toBe(200);
    expect(server.rows("versions")).toBe(before + 1);
  });
});

/** As if all had been stored two hours ago: a sweep takes what nobody names. */
async function age(data_dir: string): Promise<void> {
  const then = new Date(Date.now() - 2 * 60 * 60_000);
  const blobs = blobsFolder(data_dir);
  for (const name of await readdir(blobs, { recursive: true })) {
    if (name.length > 64) await utimes(join(blobs, name), then, then).catch(() => {}); // swept meanwhile
  }
}

describe("two workers, one version kept, and a sweep all the while", () => {
  const LANES = 3;
  const ROUNDS = 15;
  const contentOf = (lane: number, n: number) => ({
    "index.html": `<title>${lane}-${n}</title>`,
    "kept.txt": `kept ${lane} ${n % 3} `.repeat(50),
    "turn.txt": `turn ${n % 5} `.repeat(50),
  });

  test("a delta is answered 200 with every file right, or 409 and nothing", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, "--workers", "2", "--log", "off"], {
      env: { SVC_KEEP_VERSIONS: "1" },
    });
    const post = (path: string, headers: Record<string, string>, body: string | Uint8Array<ArrayBuffer>) =>
      fetch(`${local(server)}${path}`, { method: "POST", headers: { ...headers, connection: "close" }, body });
    const first = (await (await post("/sites", ZIP, zipOf(contentOf(0, 0)))).json()) as DeployResult;
    const own = { authorization: `Bearer ${first.manage_token}` };
    const route = (name: string) => `/sites/${first.site_id}/${name}`;
    const counts = { taken: 0, missing: 0 };

    async function update(lane: number, n: number): Promise<void> {
      const files = contentOf(lane, n);
      const plan = await post(route("plan"), { ...JSON_TYPE, ...own }, JSON.stringify(planned(files)));
      const { need } = (await plan.json()) as { need: string[] };
      const answer = await post(route("deploys"), { ...DELTA, ...own }, deltaOf(files, need));
      const body = (await answer.json()) as DeployResult & { code?: string };
      if (answer.status === 409) {
        expect(body.code).toBe("missing_blobs");
        counts.missing++;
        return;
      }
      expect([answer.status, body.code]).toEqual([200, undefined]);
      counts.taken++;
    }
    let going = true;
    const sweeping = (async () => {
      while (going) {
        await age(dir.path);
        await operate(dir.path, "gc");
      }
    })();
    const lanes = Array.from({ length: LANES }, async (_, lane) => {
      for (let n = 0; n < ROUNDS; n++) await update(lane, n);
    });
    await Promise.all(lanes).finally(() => (going = false));
    await sweeping;
    expect(counts.taken).toBeGreaterThan(ROUNDS);
    expect(counts.taken + counts.missing).toBe(LANES * ROUNDS);

    const read = async (path: string) =>
      (
        await fetch(`${local(server)}${path}`, { headers: { host: `${first.slug}.localhost`, connection: "close" } })
      ).text();
    const [, lane, n] = /<title>(\d+)-(\d+)</.exec(await read("/"))!.map(Number);
    const live = contentOf(lane!, n!);
    expect([await read("/kept.txt"), await read("/turn.txt")]).toEqual([live["kept.txt"], live["turn.txt"]]);
    await server.end();
    await checkStored(dir.path);
    await operate(dir.path, "verify");
  });
});
