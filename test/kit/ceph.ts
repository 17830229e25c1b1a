/** Ceph's own gateway of Debian's packages, for tests of the store on a real bucket: a monitor, an OSD that keeps all in memory, and
 *  the gateway, each on free ports of loopback, as any user and with nothing installed. */
import type { BucketAddress } from "../../src/config/setting.ts";
import { existsSync } from "node:fs";
import { appendFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { debianPackage, librariesOf } from "./debian-package.ts";
import { freePort } from "./pebble.ts";
import { isRunning } from "./process.ts";
import { until } from "./until.ts";

const KEYS = { accessKeyId: "svckey", secretAccessKey: "svcsecret", region: "us-east-1" };
const DAEMONS = ["ceph-mon", "ceph-osd", "radosgw"] as const;
/** Among all that they need, those without which they run: what is no library (Python, lvm2, sudo) helps whoever has a cluster. */
const WITHOUT =
  /^(?!lib|ceph-(osd|base|common)$)|^lib(cephfs|rgw|rbd|radosstriper|py|lvm|parted|nvme|perl|glib2|sqlite|gprofng|binutils)/;

export interface CephGateway extends AsyncDisposable {
  /** `http://127.0.0.1:port`. */
  endpoint: string;
  /** The keys of its user and its region, as every S3 tool names them. */
  env: Record<string, string>;
  /** Makes a bucket of its own and gives its name. */
  bucket(): Promise<string>;
}

interface Programs {
  env: Record<string, string>;
  /** Settings that tell them where their plugins are. */
  plugins: readonly string[];
}

interface Daemon {
  name: (typeof DAEMONS)[number];
  pid: number;
  log: string;
}

interface Cluster extends Programs {
  folder: string;
  conf: string;
  fsid: string;
  /** Those that have begun. */
  daemons: Daemon[];
}

/** Debian's, fetched and unpacked, or those of the system where it has them all. One package brings the libraries and tools of all. */
async function programs(): Promise<Programs> {
  const path = `${process.env["PATH"] ?? ""}:/usr/bin:/usr/sbin`;
  const places: string[] = [];
  if (DAEMONS.some((name) => Bun.which(name, { PATH: path }) === null)) {
    places.push(await debianPackage("ceph-osd", { whole: true, without: WITHOUT }));
    for (const name of ["ceph-mon", "radosgw"]) places.push(await debianPackage(name));
  }
  const told = await Promise.all(places.map(librariesOf));
  const folders = told.flatMap(({ LD_LIBRARY_PATH }) => LD_LIBRARY_PATH!.split(":"));
  const libraries = folders.flatMap((folder) => [folder, join(folder, "ceph")]).filter((folder) => existsSync(folder));
  const setting = (name: string, part: string) =>
    folders
      .map((folder) => join(folder, part))
      .filter((folder) => existsSync(folder))
      .slice(0, 1)
      .map((folder) => `${name} = ${folder}`);
  return {
    env: {
      PATH: [...places.map((place) => join(place, "usr/bin")), path].join(":"),
      ...(libraries.length > 0 && { LD_LIBRARY_PATH: libraries.join(":") }),
    },
    plugins: [
      ...setting("osd class dir", "rados-classes"),
      ...setting("erasure code dir", "ceph/erasure-code"),
      ...setting("plugin dir", "ceph"),
    ],
  };
}

const settings = ({ folder, fsid, plugins }: Cluster, port: number): string => `[global]
fsid = ${fsid}
# The monitor's address comes from this file alone: with "mon host" a daemon meets a map of another fsid at random.
monmap = ${folder}/monmap
auth cluster required = none
auth service required = none
auth client required = none
ms bind msgr2 = false
run dir = ${folder}
admin socket =
pid file =
# To stderr, and no events of before where one crashes: the last lines say why.
log file =
log max recent = 1
debug rocksdb = 0
mon cluster log file = /dev/null
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd erasure code plugins =
mon allow pool size one = true
mon max pg per osd = 1000
# A disk that is almost full ends no monitor: there is next to nothing on it.
mon data avail warn = 0
mon data avail crit = 0
# A change of the maps waits 1 s for more of them; the gateway makes its pools one after the other.
paxos propose interval = 0.05
paxos min wait = 0.01
osd objectstore = memstore
memstore device bytes = 4294967296
# The map of OSDs that the monitor is made with knows this one: it need not tell its place.
osd class update on start = false
osd crush update on start = false
osd crush chooseleaf type = 0
${plugins.join("\n")}
[mon.a]
mon data = ${folder}/mon
[osd.0]
osd data = ${folder}/osd
public addr = 127.0.0.1
cluster addr = 127.0.0.1
[client.rgw]
# Without tcp_nodelay an answer takes 44 ms.
rgw frontends = beast endpoint=127.0.0.1:${port} tcp_nodelay=1
`;

/** Runs it to its end, and throws its last words where that is a bad one. */
async function ran({ env }: Programs, ...words: string[]): Promise<string> {
  const child = Bun.spawn(words, { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code === 0) return out;
  throw new Error(`${words.join(" ")} failed: ${lastLines(out + err)}`);
}

/** As many as there are of a crash: its signal, or what did not hold, comes before the calls. */
const lastLines = (text: string): string => text.trim().split(/\n+/).slice(-16).join("\n") || "it said nothing";

/** Gives its id. It is no child of this process: bun ends those with a test that is late, and a gateway serves many tests. */
const apart = async (with_: Programs, log: string, ...words: string[]): Promise<number> =>
  Number(await ran(with_, "sh", "-c", 'setsid "$@" </dev/null >"$0" 2>&1 & echo $!', log, ...words));

/** A run of tests that is killed leaves no daemon behind, nor their folder. */
async function endWithThisProcess(cluster: Cluster): Promise<void> {
  const script = `while kill -0 "$1" && [ -d "$2" ]; do sleep 1; done
    [ -d "$2" ] && kill -9 $(cat "$2/pids"); rm -rf "$2"`;
  await apart(cluster, "/dev/null", "sh", "-c", script, "sh", String(process.pid), cluster.folder);
}

/** In the foreground of a session of its own, with the settings of the file alone: others would come from the monitor. */
async function begin(cluster: Cluster, name: Daemon["name"], ...words: string[]): Promise<void> {
  const log = join(cluster.folder, `${name}.log`);
  const pid = await apart(cluster, log, name, ...words, "-c", cluster.conf, "--no-mon-config", "-f");
  await appendFile(join(cluster.folder, "pids"), `${pid}\n`);
  cluster.daemons.push({ name, pid, log });
}

/** Waits while all run; throws what the one that ended had to say, or where none did, the one that began last. */
async function untilAll(cluster: Cluster, condition: () => boolean | Promise<boolean>): Promise<void> {
  const ended = () => cluster.daemons.find(({ pid }) => !isRunning(pid));
  try {
    await until(async () => ended() !== undefined || (await condition()), 50);
  } catch (error) {
    const { name, log } = cluster.daemons.at(-1)!;
    throw new Error(`${name} did not get ready: ${lastLines(await Bun.file(log).text())}`, { cause: error });
  }
  const one = ended();
  if (one !== undefined) throw new Error(`${one.name} ended: ${lastLines(await Bun.file(one.log).text())}`);
}

/** Maps of a monitor and an OSD that is in its place: without them only Ceph's Python program could tell the monitor of it. */
async function makeCluster(cluster: Cluster): Promise<void> {
  const file = (name: string) => join(cluster.folder, name);
  const conf = ["-c", cluster.conf, "--no-mon-config"];
  const address = `[v1:127.0.0.1:${freePort()}]`;
  await Promise.all([mkdir(file("mon")), mkdir(file("osd"))]);
  await Promise.all([
    ran(cluster, "monmaptool", "--create", "--fsid", cluster.fsid, "--addv", "a", address, file("monmap")),
    ran(cluster, "osdmaptool", ...conf, "--createsimple", "1", file("osdmap")),
  ]);
  const maps = ["--monmap", file("monmap"), "--osdmap", file("osdmap")];
  await ran(cluster, "ceph-mon", ...conf, "-i", "a", "--mkfs", ...maps);
  await ran(cluster, "ceph-osd", ...conf, "-i", "0", "--mkfs");
}

/** The user whose keys these are. Where a daemon ends, the program would wait for it for minutes. */
async function makeUser(cluster: Cluster): Promise<void> {
  const { env, conf } = cluster;
  const user = ["--uid", "svc", "--display-name", "svc"];
  const keys = ["--access-key", KEYS.accessKeyId, "--secret-key", KEYS.secretAccessKey];
  const as = ["-c", conf, "--no-mon-config", "-n", "client.rgw"];
  const child = Bun.spawn(["radosgw-admin", ...as, "user", "create", ...user, ...keys], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const said = child.stderr.text();
  try {
    await untilAll(cluster, () => child.exitCode !== null || child.signalCode !== null);
  } finally {
    child.kill("SIGKILL");
  }
  if (child.exitCode !== 0) throw new Error(`radosgw-admin failed: ${lastLines(await said)}`);
}

async function end({ daemons, folder }: Cluster): Promise<void> {
  for (const { pid } of daemons) {
    try {
      process.kill(pid, "SIGKILL"); // what it had is not wanted
    } catch {
      // it ended before
    }
  }
  await until(() => !daemons.some(({ pid }) => isRunning(pid)));
  await rm(folder, { recursive: true, force: true });
}

export async function startCeph(): Promise<CephGateway> {
  const found = await programs();
  const folder = await mkdtemp(join(tmpdir(), "svc-ceph-"));
  const fsid = crypto.randomUUID();
  const cluster: Cluster = { ...found, folder, fsid, conf: join(folder, "ceph.conf"), daemons: [] };
  const port = freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  try {
    await endWithThisProcess(cluster);
    await writeFile(cluster.conf, settings(cluster, port));
    await makeCluster(cluster);
    await begin(cluster, "ceph-mon", "-i", "a");
    await begin(cluster, "ceph-osd", "-i", "0");
    await makeUser(cluster);
    await begin(cluster, "radosgw", "-n", "client.rgw");
    await untilAll(cluster, async () => (await fetch(endpoint).catch(() => null))?.ok === true);
  } catch (error) {
    await end(cluster);
    throw error;
  }
  // Its name stands where a key would: the host's first label is for a bucket, and here there is none.
  const maker = new Bun.S3Client({ endpoint, ...KEYS, virtualHostedStyle: true });
  let buckets = 0;
  return {
    endpoint,
    env: {
      AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
      AWS_REGION: KEYS.region,
    },
    async bucket() {
      const name = `bucket-${++buckets}`;
      const made = await fetch(maker.presign(name, { method: "PUT" }), { method: "PUT" });
      if (!made.ok) throw new Error(`The gateway made no bucket: ${made.status} ${await made.text()}`);
      return name;
    },
    [Symbol.asyncDispose]: () => end(cluster),
  };
}

/** A bucket of its own in the gateway, as a store takes it. */
export async function addressOfBucket({ endpoint, env, bucket }: CephGateway): Promise<BucketAddress> {
  return {
    url: `s3://${await bucket()}/svc`,
    access: {
      endpoint,
      region: env["AWS_REGION"] ?? "us-east-1",
      access_key_id: env["AWS_ACCESS_KEY_ID"]!,
      secret_access_key: env["AWS_SECRET_ACCESS_KEY"]!,
      session_token: null,
    },
    cache_bytes: 1 << 30,
  };
}
