/** COMMENTS 2, webhooks of the compiled server: told once however many processes serve, and over TLS to whoever can prove
 *  the name. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { build, suffix } from "../kit/built.ts";
import { TLS_CERT, TLS_KEY } from "../kit/paths.ts";
import { startProcess, temporaryFolder } from "../kit/process.ts";
import { callsOf } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { commentedSite } from "../comments/agents.ts";
import { startReceiver } from "./receiver.ts";

const EVENTS = ["thread.created", "reply.created"];
const SECRET = "sixteen letters or more";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let program: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  await build(folder.path, ["svc-server"]);
  program = join(folder.path, `svc-server${suffix}`);
}, 60_000);
afterAll(() => folder[Symbol.asyncDispose]());

const start = (data_dir: string, env: Record<string, string> = {}) =>
  startProcess(["--data-dir", data_dir, ...(process.platform === "linux" ? ["--workers", "2"] : [])], {
    command: [program],
    env: { SVC_WEBHOOKS: "on", SVC_WEBHOOKS_ALLOW: "127.0.0.0/8", SVC_RATE_COMMENT: "off", SVC_LOG: "json", ...env },
  });

/** The records of webhooks in a log. */
const recordsOf = (log: string): Record<string, unknown>[] =>
  log
    .split("\n")
    .filter((line) => line.includes('"event":"webhook"'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test("with several workers each event is told once, and what one start leaves the next one tells", async () => {
  await using dir = await temporaryFolder();
  const there = startReceiver();
  const first = await start(dir.path);
  try {
    const site = await commentedSite(callsOf(first));
    await site.configure({ webhook: { url: there.url, events: EVENTS, secret: SECRET } });
    const texts = Array.from({ length: 12 }, (_, n) => `No ${n}`);
    await Promise.all(texts.map((text) => site.comment(text)));
    await until(() => there.received.length >= 12, 50);
    await Bun.sleep(1500);
    expect(there.received.map(({ told }) => told.data.body.value).toSorted()).toEqual(texts.toSorted());

    there.answer = "silence";
    await site.comment("Nobody answers");
    await until(() => there.received.length === 13, 50);
  } finally {
    first.kill("SIGTERM");
    await first.exited;
  }
  there.answer = 200;
  const second = await start(dir.path);
  try {
    await until(() => there.received.length === 14, 50);
    const [a, b] = there.received.slice(-2);
    expect(b!.told.data.body.value).toBe("Nobody answers");
    expect(b!.headers["webhook-id"]).toBe(a!.headers["webhook-id"]!);
  } finally {
    second.kill("SIGTERM");
    await second.exited;
    there.stop();
  }
}, 60_000);

test("a receiver over TLS must prove the name that was set, by a certificate that is known", async () => {
  await using dir = await temporaryFolder();
  const [cert, key] = await Promise.all([TLS_CERT, TLS_KEY].map((path) => Bun.file(path).text()));
  const tls = { cert: cert!, key: key! };
  // The certificate is for 127.0.0.1 and not for the other one.
  const [there, other] = [startReceiver(tls), startReceiver(tls, "127.0.0.2")];
  /** What the log says of why the first try failed, or nothing where it was taken. */
  const tell = async (name: string, { url, received }: typeof there, env: Record<string, string>) => {
    const server = await start(join(dir.path, name), env);
    try {
      const site = await commentedSite(callsOf(server));
      await site.configure({ webhook: { url, events: EVENTS, secret: SECRET } });
      await site.comment("Hello");
      const records = () => recordsOf(server.stderr());
      await until(() => received.length > 0 || records().length > 0, 50);
      const [record] = records();
      if (record === undefined) return null;
      const { site_id } = site.site;
      expect(record).toMatchObject({ level: "info", site_id, type: "thread.created", outcome: "failed", tries: 1 });
      expect([record["id"], record["host"]]).toEqual([expect.stringMatching(/^msg_/), new URL(url).host]);
      return String(record["why"]);
    } finally {
      server.kill("SIGTERM");
      await server.exited;
    }
  };
  const known = { NODE_EXTRA_CA_CERTS: TLS_CERT };
  try {
    expect(await tell("unknown", there, {})).toContain("self signed certificate");
    expect(await tell("other", other, known)).toContain("does not match certificate");
    expect(await tell("known", there, known)).toBeNull();
    expect([there.received.length, other.received.length]).toEqual([1, 0]);
  } finally {
    there.stop();
    other.stop();
  }
}, 60_000);
