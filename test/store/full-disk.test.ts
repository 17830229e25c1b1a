/** P6: a full disk stops writes, with 507, and never serving; room for a delete is kept. On a tmpfs of its own, for which it
 *  takes Linux and root: `bun run torture full-disk` does the same on ext4, xfs and btrfs. */
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { read } from "../kit/database.ts";
import { canMount, mountMemory } from "../kit/memory-disk.ts";
import { expectOldFacts, unpackOldFolder } from "../kit/old-folders.ts";
import { run, startProcess, SVC_SERVER, temporaryFolder } from "../kit/process.ts";
import { TLS_CERT, TLS_KEY } from "../kit/paths.ts";
import { until } from "../kit/until.ts";
import { startReceiver } from "../webhooks/receiver.ts";
import { fill, onFullDisk } from "./full-disk.ts";

/** Leaves so many bytes free, to a block. */
function fillUpTo(folder: string, left: number): void {
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(join(folder, "filler"), new Uint8Array(bavail * bsize - left));
}

test.skipIf(!(await canMount()))(
  "on a full disk pages, deletes, a restart and gc work, deploys are refused, and work again once there is room",
  async () => {
    await using dir = await temporaryFolder();
    const folder = join(dir.path, "disk");
    mkdirSync(folder);
    const end = mountMemory(folder, "192m")!;
    try {
      expect(await onFullDisk(folder)).toHaveLength(8);
    } finally {
      end();
    }
  },
  60_000,
);

test.skipIf(!(await canMount()))("a start that finds no room says so, and what to do", async () => {
  await using dir = await temporaryFolder();
  const folder = join(dir.path, "disk");
  mkdirSync(folder);
  const end = mountMemory(folder, "64k")!;
  try {
    const { code, stderr } = await run([...SVC_SERVER, "--port", "0", "--data-dir", join(folder, "data")]);
    expect(stderr).toStartWith(`svc-server: The disk of ${join(folder, "data")} is full, and nothing is lost: free`);
    expect(code).toBe(1);
  } finally {
    end();
  }
});

test.skipIf(!(await canMount()))("CONTRACT 7.5: a full disk is told of, though not a page can be written", async () => {
  await using dir = await temporaryFolder();
  const folder = join(dir.path, "disk");
  mkdirSync(folder);
  const end = mountMemory(folder, "192m")!;
  const tls = { cert: readFileSync(TLS_CERT, "utf8"), key: readFileSync(TLS_KEY, "utf8") };
  const there = startReceiver(tls);
  try {
    const env = {
      SVC_NOTIFY: there.url,
      SVC_NOTIFY_SECRET: "sixteen-letters-or-more",
      SVC_WEBHOOKS_ALLOW: "127.0.0.0/8",
      SVC_DISK_HIGH: "90%",
      NODE_EXTRA_CA_CERTS: TLS_CERT,
    };
    const server = await startProcess(["--data-dir", join(folder, "data"), "--log", "off"], { env });
    fill(join(folder, "filler"));
    await until(() => there.received.some(({ told }) => told.type === "disk.high"), 50);
    await server.end();
  } finally {
    there.stop();
    end();
  }
});

test.skipIf(!(await canMount()))(
  "S2 an upgrade without room for twice the database ends with exit code 1 before its first step, and goes on once there is room",
  async () => {
    await using dir = await temporaryFolder();
    const folder = join(dir.path, "disk");
    mkdirSync(folder);
    const end = mountMemory(folder, "64m")!;
    try {
      const data_dir = join(folder, "data");
      const facts = await unpackOldFolder(4, data_dir);
      writeFileSync(join(data_dir, "ballast"), new Uint8Array(16 << 20)); // is not counted
      const before = readFileSync(join(data_dir, "db"));
      const { size } = statSync(join(data_dir, "db"));
      fillUpTo(folder, size);
      const refused = await run([...SVC_SERVER, "--port", "0", "--data-dir", data_dir]);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toStartWith("svc-server: The database is of schema 4 and is brought to ");
      expect(refused.stderr).toContain("nothing was changed. Free some room and start again");
      expect(refused.stderr).not.toContain("upgrade of the database");
      expect(readFileSync(join(data_dir, "db")).equals(before)).toBeTrue();
      expect(read(data_dir, "PRAGMA user_version")).toEqual([{ user_version: 4 }]);
      rmSync(join(folder, "filler"));
      const server = await startProcess(["--data-dir", data_dir, "--log", "off"]);
      await expectOldFacts(server, facts);
      await server.end();
    } finally {
      end();
    }
  },
);
