/** CONTRACT 4.4: the counts of the rate limits, shared by workers and kept over a restart (RELIABILITY A5). */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { openRates, prepareRates } from "../../src/store/sqlite/rates.ts";
import { cpuOfAsync } from "../kit/cpu.ts";
import { openFile } from "../kit/database.ts";
import { call } from "../kit/people.ts";
import { startProcess, temporaryFolder } from "../kit/process.ts";
import { startServer } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

const MINUTE = 60_000;
const times = (count: number, status: number): number[] => Array.from({ length: count }, () => status);
const from = (address: string): Record<string, string> => ({ "x-forwarded-for": address });

describe("shared and kept", () => {
  test("A5 two workers count alike", async () => {
    await using folder = await temporaryFolder();
    const server = await startProcess(["--data-dir", folder.path, "--workers", "2", "--log", "json"], {
      env: { SVC_RATE_DEPLOY: "6/1h" },
    });
    try {
      const deploy = () =>
        fetch(`${server.base_url}/sites`, {
          method: "POST",
          headers: { "content-type": "application/zip", connection: "close" },
          body: zipOf({ "index.html": "x" }),
          keepalive: false,
        });
      const seen = (await Promise.all(Array.from({ length: 24 }, deploy))).map(({ status }) => status);
      expect(seen.toSorted()).toEqual([...times(6, 200), ...times(18, 429)]);
    } finally {
      await server.end();
    }
  }, 60_000);

  test("A5 counts survive a restart", async () => {
    await using server = await startServer({ SVC_RATE_DEPLOY: "1/1h" });
    await server.deploy({ "index.html": "x" });
    await server.stop();
    await server.start([{ SVC_RATE_DEPLOY: "1/1h" }]);
    expect((await server.post(zipOf({ "index.html": "x" }))).status).toBe(429);
  });

  test("A5 a refused call writes nothing and takes little time; names and addresses are not stored", async () => {
    const data_dir = await mkdtemp(join(tmpdir(), "svc-rates-"));
    try {
      prepareRates(data_dir);
      const rates = openRates(data_dir, () => 1e12);
      const take = () => rates.take("sign_in_account", "ann@example.org", [{ count: 5, window_ms: MINUTE }]);
      for (let i = 0; i < 5; i++) expect((await take()).allowed).toBe(true);
      using db = openFile(data_dir, "rates.db");
      const version = db.query<{ data_version: number }, []>("PRAGMA data_version");
      const before = version.get();
      const cpu_ms = await cpuOfAsync(async () => {
        for (let i = 0; i < 200; i++) expect((await take()).allowed).toBe(false);
      });
      expect(cpu_ms / 200).toBeLessThan(10); // under 1 on a quick machine
      expect(version.get()).toEqual(before);
      expect(db.query("select * from hits").values().join(" ")).not.toContain("ann");
      rates.close();
    } finally {
      await rm(data_dir, { recursive: true, force: true });
    }
  });

  test("a file that a power cut tore is made anew at the next start", async () => {
    await using server = await startServer({ SVC_RATE_DEPLOY: "1/1h" });
    await server.deploy({ "index.html": "x" });
    await server.stop();
    await Bun.write(join(server.data_dir, "rates.db"), "torn".repeat(5000));
    await server.start([{ SVC_RATE_DEPLOY: "1/1h" }]);
    expect((await server.post(zipOf({ "index.html": "x" }))).status).toBe(200);
    expect((await server.post(zipOf({ "index.html": "x" }))).status).toBe(429);
  });

  test("calls of long ago are forgotten", async () => {
    await using server = await startServer("--trust-proxy", "127.0.0.1", { SVC_RATE_DEPLOY: "5/1m" });
    for (const address of ["1.1.1.1", "1.1.1.2"]) await server.post(zipOf({ "index.html": "x" }), from(address));
    server.advance(2 * MINUTE);
    await server.post(zipOf({ "index.html": "x" }), from("1.1.1.3"));
    using db = openFile(server.data_dir, "rates.db");
    expect(db.query("select count(*) as n from hits").get()).toEqual({ n: 1 });
  });
});
