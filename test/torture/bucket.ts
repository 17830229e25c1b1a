/**
 * `bun run torture bucket [kills]`: backups into Ceph's own gateway (Debian's radosgw, ceph-mon and ceph-osd, started here in
 * memory on loopback; some 60 s with 20 kills): kill -9 at a random moment of each, then the last good one is restored and
 * compared, file by file, with what it was. Then a wrong key, a bucket that is not there, and a gateway that is stopped.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { operator } from "../kit/operator.ts";
import { SVC_SERVER } from "../kit/process.ts";
import { startServer, TestServer } from "../kit/server.ts";

const KILLS = Number(process.argv[2] ?? 20);
const missing = ["radosgw", "ceph-mon", "ceph-osd"].filter((program) => Bun.which(program) === null);
if (missing.length > 0) {
  console.error(`This needs what is not here: apt-get install radosgw ceph-mon ceph-osd (${missing.join(", ")}).`);
  process.exit(1);
}
const folder = await mkdtemp(join(tmpdir(), "svc-ceph-"));
const script = join(import.meta.dir, "ceph.sh");
const port = 17_480 + (process.pid % 1_000) * 2;
const endpoint = `http://127.0.0.1:${port}`;
const keys = { accessKeyId: "svckey", secretAccessKey: "svcsecret", region: "us-east-1" };
const env = {
  SVC_S3_ENDPOINT: endpoint,
  AWS_REGION: keys.region,
  AWS_ACCESS_KEY_ID: keys.accessKeyId,
  AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
};
const PLACE = "s3://backups/one";

function expect(said: string, right: boolean): void {
  console.log(`${right ? "ok" : "VIOLATION"}: ${said}`);
  if (!right) process.exitCode = 1;
}

async function restored(expected: Map<string, string>): Promise<boolean> {
  const data_dir = join(folder, `restored-${crypto.randomUUID()}`);
  const { code, stderr } = await operator(data_dir, ["restore", PLACE], { env });
  if (code !== 0) console.log(stderr);
  const server = new TestServer(data_dir);
  await server.start([]);
  try {
    for (const [slug, text] of expected) {
      const now = await (await server.site(slug, "/a.txt")).text();
      if (now !== text) return false;
    }
    return code === 0;
  } finally {
    await server.stop();
    await rm(data_dir, { recursive: true, force: true });
  }
}

try {
  const started = Bun.spawnSync(["sh", script, join(folder, "ceph"), String(port)], { stderr: "inherit" });
  if (started.exitCode !== 0) throw new Error("Ceph did not start.");
  const maker = new Bun.S3Client({ endpoint, ...keys, virtualHostedStyle: true });
  await fetch(maker.presign("backups", { method: "PUT" }), { method: "PUT" });
  await using server = await startServer();
  const now = new Map<string, string>();
  let good = new Map<string, string>();
  const grow = async (): Promise<void> => {
    for (let n = 0; n < 3; n++) {
      const text = `${crypto.randomUUID()} `.repeat(1 + Math.floor(Math.random() * 5_000));
      now.set((await server.deploy({ "index.html": "x", "a.txt": text })).slug, text);
    }
  };
  await grow();
  const began = performance.now();
  expect("the first backup ends well", (await operator(server.data_dir, ["backup", PLACE], { env })).code === 0);
  const usual_ms = performance.now() - began;
  good = new Map(now);
  for (let kill = 0; kill < KILLS; kill++) {
    await grow();
    const child = Bun.spawn([...SVC_SERVER, "backup", PLACE, "--keep", "2", "--data-dir", server.data_dir], {
      env: { PATH: process.env["PATH"] ?? "", ...env },
      stdio: ["ignore", "ignore", "ignore"],
    });
    await Promise.race([child.exited, Bun.sleep(Math.random() * usual_ms)]);
    child.kill("SIGKILL");
    await child.exited;
    if (child.exitCode === 0) good = new Map(now);
    expect(`after kill ${kill + 1} the last good one comes back whole`, await restored(good));
  }
  expect(
    "the next one ends well",
    (await operator(server.data_dir, ["backup", PLACE, "--keep", "2"], { env })).code === 0,
  );
  expect("and comes back whole", await restored(now));
  const wrong = await operator(server.data_dir, ["backup", PLACE], { env: { ...env, AWS_SECRET_ACCESS_KEY: "wrong" } });
  expect(`a wrong key is told: ${wrong.stderr.trim()}`, wrong.code === 1 && /SignatureDoesNotMatch/.test(wrong.stderr));
  const nowhere = await operator(server.data_dir, ["backup", "s3://nowhere/x"], { env });
  expect(
    `a missing bucket is told: ${nowhere.stderr.trim()}`,
    nowhere.code === 1 && /NoSuchBucket/.test(nowhere.stderr),
  );
  Bun.spawnSync(["sh", script, join(folder, "ceph"), "stop"]);
  const stopped = await operator(server.data_dir, ["backup", PLACE], { env });
  expect(
    `a stopped gateway is told: ${stopped.stderr.trim()}`,
    stopped.code === 1 && /does not answer/.test(stopped.stderr),
  );
} finally {
  Bun.spawnSync(["sh", script, join(folder, "ceph"), "stop"]);
  await rm(folder, { recursive: true, force: true });
}
