/** RELIABILITY A30: letters are posted, and their names looked up, by a process of their own. Name servers that never answer
 *  keep nobody else waiting. */
import { afterAll, describe, expect, test } from "bun:test";
import { createSocket, type Socket } from "node:dgram";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { commentedSite, startCommented } from "../comments/agents.ts";
import { isRunning, postingProcesses, startProcess, SVC_SERVER, temporaryFolder } from "../kit/process.ts";
import { callsOf, JSON_TYPE } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";
import { startReceiver } from "./receiver.ts";

const EVENTS = ["thread.created"];
const SECRET = "sixteen letters or more";
const ON = { SVC_WEBHOOKS: "on", SVC_WEBHOOKS_ALLOW: "127.0.0.0/8", SVC_RATE_COMMENT: "off" };

const withOwn = (resolver: string, ...command: readonly string[]): string[] => [
  process.execPath,
  join(import.meta.dir, "../kit/own-mounts.ts"),
  resolver,
  ...command,
];

/** A name server that takes every question and answers none. */
async function silentServer(): Promise<Socket> {
  const socket = createSocket("udp4");
  await new Promise<void>((bound, failed) => socket.once("error", failed).bind(53, "127.0.0.153", bound));
  return socket;
}

const mayOwnResolver = (): boolean =>
  process.platform === "linux" &&
  process.getuid!() === 0 &&
  Bun.spawnSync(withOwn("/etc/resolv.conf", process.execPath, "-e", "0")).success;

const seconds = async (work: () => Promise<Response>): Promise<number> => {
  const begun = performance.now();
  const answer = await work();
  await answer.bytes();
  expect(answer.status).toBe(200);
  return (performance.now() - begun) / 1000;
};

describe.skipIf(!mayOwnResolver())("RELIABILITY A30: a name server that never answers", () => {
  test("does not delay a file, a sign-in or a deploy of others, and is asked for four names of one customer at a time", async () => {
    await using dir = await temporaryFolder();
    const silent = await silentServer();
    const asked = new Set<string>();
    // The first label of the name that a question is about.
    silent.on("message", (question) => asked.add(question.subarray(13, 13 + question[12]!).toString()));
    const resolver = join(dir.path, "resolv.conf");
    writeFileSync(resolver, "nameserver 127.0.0.153\n");
    const server = await startProcess(["--data-dir", join(dir.path, "data")], {
      command: withOwn(resolver, ...SVC_SERVER),
      env: { ...ON, SVC_RATE_LOGIN: "off", SVC_RATE_SIGNUP: "off" },
    });
    try {
      const calls = callsOf(server);
      const large_file = new Uint8Array(200_000).map((_, n) => (n * 2_654_435_761) >>> 13);
      const large = await calls.deploy({
        "index.html": "<!doctype html><title>Large</title>",
        "large.bin": large_file,
      });
      const person = { email: "ann@example.org", password: "a long password of Ann" };
      const post = (path: string, body: object) =>
        calls.api(path, { method: "POST", headers: JSON_TYPE, body: JSON.stringify(body) });
      expect((await post("/auth/signup", person)).status).toBeLessThan(300);
      for (let n = 0; n < 8; n++) {
        const site = await commentedSite(calls);
        const url = `http://silent-${n}.example.com/hook`;
        await site.configure({ webhook: { url, events: EVENTS, secret: SECRET } });
        await site.comment("Nobody looks this up");
      }
      await until(() => asked.size >= 4);
      const [file, login, deploy] = await Promise.all([
        seconds(() => calls.site(large.slug, "/large.bin")),
        seconds(() => post("/auth/login", person)),
        seconds(() => calls.post(zipOf({ "index.html": "<!doctype html><title>Another</title>" }))),
      ]);
      // An answer of the runtime's pool would come after 10 s, when the first look-ups are given up.
      expect(Math.max(file, login, deploy)).toBeLessThan(8);
      // All eight were set from one address.
      await Bun.sleep(1500);
      expect(asked.size).toBe(4);
    } finally {
      await server.end();
      silent.close();
    }
  }, 60_000);
});

describe("RELIABILITY A30: the process that posts", () => {
  const ends: (() => unknown)[] = [];
  afterAll(async () => {
    for (const end of ends) await end();
  });

  test("is one beside the server, started again when it dies, and gone with it", async () => {
    const there = startReceiver();
    const site = await startCommented(ON);
    ends.push(() => site.server[Symbol.asyncDispose](), there.stop);
    const posting = () => postingProcesses(process.pid);
    expect(posting()).toEqual([]);
    await site.configure({ webhook: { url: there.url, events: EVENTS, secret: SECRET } });
    const isSettled = () => site.server.rows("webhook_outbox") === 0;
    await site.comment("The first");
    await until(() => there.received.length === 1 && isSettled());
    const [first] = posting();
    expect(posting()).toEqual([first!]);
    process.kill(first!, "SIGKILL");
    await until(() => !isRunning(first!));
    await site.comment("The second");
    await until(() => there.received.length === 2 && isSettled());
    expect(posting()).toHaveLength(1);
    expect(posting()).not.toEqual([first!]);
    await site.server.stop();
    expect(posting()).toEqual([]);
  });

  test("is ended where it hangs, and what it sent is sent again", async () => {
    const there = startReceiver();
    const site = await startCommented(ON);
    ends.push(() => site.server[Symbol.asyncDispose](), there.stop);
    const before = postingProcesses(process.pid);
    await site.configure({ webhook: { url: there.url, events: EVENTS, secret: SECRET } });
    await site.comment("The first");
    await until(() => site.server.rows("webhook_outbox") === 0 && there.received.length === 1);
    const hanging = postingProcesses(process.pid).find((pid) => !before.includes(pid))!;
    process.kill(hanging, "SIGSTOP");
    await site.comment("The second");
    await until(() => !isRunning(hanging));
    await until(() => site.server.rows("webhook_deliveries") === 2);
    site.server.advance(10_000);
    await until(() => there.received.length === 2);
  }, 60_000);

  test("ends with a server that is killed", async () => {
    await using dir = await temporaryFolder();
    const there = startReceiver();
    ends.push(there.stop);
    const server = await startProcess(["--data-dir", dir.path], { env: ON });
    const site = await commentedSite(callsOf(server));
    await site.configure({ webhook: { url: there.url, events: EVENTS, secret: SECRET } });
    await site.comment("Hello");
    await until(() => there.received.length === 1);
    const [posting] = postingProcesses(server.pid);
    server.kill("SIGKILL");
    await until(() => !isRunning(posting!));
  });
});
