/** A name server that answers nobody (RELIABILITY A30): `bun test/torture/silent-resolver.ts [seconds]`, 60 unless said
 *  otherwise; needs Linux and root, for an `/etc/resolv.conf` of the server's own. Forty sites of ten customers have webhooks to
 *  names that are never found, and comments without end. Meanwhile pages, files, sign-ins and deploys of others take what they
 *  take without it, a webhook to an address gets each of its letters within seconds, no customer has more than four names under
 *  question, and the server's descriptors and memory stay bounded. */
import { createSocket } from "node:dgram";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommentedSite, FREELY, PAGES } from "../comments/commented.ts";
import { startProcess, SVC_SERVER, temporaryFolder } from "../kit/process.ts";
import { callsOf, JSON_TYPE, UNLIMITED, ZIP } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";
import { startReceiver } from "../webhooks/receiver.ts";
import { descriptors, MB, percentile, progress, residentBytes } from "./parts/figures.ts";

const [seconds = 60] = process.argv.slice(2).map(Number);
const CUSTOMERS = 10;
const SITES = 4;
const SECRET = "sixteen letters or more";
const MOST_NAMES = 4;
/** Connections of this program among them. */
const MOST_FDS = 400;
/** A look-up ends after so long, and the name is asked for again. */
const LOOKUP_MS = 20_000;

const faults: string[] = [];
await using dir = await temporaryFolder();
/** When each name was last asked for. */
const asked = new Map<string, number>();
const silent = createSocket("udp4");
await new Promise<void>((bound, failed) => silent.once("error", failed).bind(53, "127.0.0.153", bound));
silent.on("message", (question) => asked.set(question.subarray(13, 13 + question[12]!).toString(), performance.now()));
const resolver = join(dir.path, "resolv.conf");
writeFileSync(resolver, "nameserver 127.0.0.153\n");
const server = await startProcess(["--data-dir", join(dir.path, "data"), "--log", "off"], {
  command: [process.execPath, join(import.meta.dir, "../kit/own-mounts.ts"), resolver, ...SVC_SERVER],
  env: { ...UNLIMITED, ...FREELY, SVC_WEBHOOKS: "on", SVC_WEBHOOKS_ALLOW: "127.0.0.0/8", SVC_TRUST_PROXY: "127.0.0.1" },
});
const calls = callsOf(server);

/** A site with comments, set up from an address. */
async function siteOf(address: string, url: string): Promise<CommentedSite> {
  const headers = { ...ZIP, "x-forwarded-for": address };
  const answer = await calls.api("/sites", { method: "POST", headers, body: zipOf(PAGES) });
  const place = new CommentedSite(calls, (await answer.json()) as Awaited<ReturnType<typeof calls.deploy>>);
  await place.turn("anonymous");
  const webhook = { url, events: ["thread.created"], secret: SECRET };
  await calls.api(`/sites/${place.site.site_id}/comments/settings`, {
    method: "PATCH",
    headers: { ...JSON_TYPE, authorization: `Bearer ${place.site.manage_token}`, "x-forwarded-for": address },
    body: JSON.stringify({ webhook }),
  });
  return place;
}

const there = startReceiver();
const honest = await siteOf("192.0.2.1", there.url);
const large = await calls.deploy({
  "index.html": "<title>Large</title>",
  "large.bin": new Uint8Array(200_000).fill(7),
});
const person = { email: "ann@example.org", password: "a long password of Ann" };
const post = (path: string, body: object) =>
  calls.api(path, { method: "POST", headers: JSON_TYPE, body: JSON.stringify(body) });
await post("/auth/signup", person);

async function took(what: string, ask: () => Promise<Response>): Promise<number> {
  const begun = performance.now();
  const answer = await ask();
  await answer.arrayBuffer();
  if (answer.status !== 200) faults.push(`${what} was answered ${answer.status}`);
  return performance.now() - begun;
}
const OTHERS: Record<string, () => Promise<Response>> = {
  page: () => calls.site(large.slug, "/"),
  file: () => calls.site(large.slug, "/large.bin"),
  sign_in: () => post("/auth/login", person),
  deploy: () => calls.post(zipOf({ "index.html": "<title>Another</title>" })),
};

/** The longest of each, and the median page, over this time. */
async function look(for_ms: number): Promise<Record<string, number>> {
  const times: Record<string, number[]> = {};
  for (const end = performance.now() + for_ms; performance.now() < end;) {
    for (const [what, ask] of Object.entries(OTHERS)) (times[what] ??= []).push(await took(what, ask));
    await Bun.sleep(200);
  }
  return Object.fromEntries(Object.entries(times).map(([what, all]) => [what, Math.round(percentile(all, 1))]));
}

try {
  const quiet = await look(5000);
  const attacked = await Promise.all(
    Array.from({ length: CUSTOMERS * SITES }, (_, n) =>
      siteOf(`198.51.${Math.floor(n / SITES)}.1`, `http://name-${n}.example.com/hook`),
    ),
  );
  let going = true;
  let most_names = 0;
  let letters = 0;
  async function attack(): Promise<void> {
    for (let n = 0; going; n++) {
      await attacked[n % attacked.length]!.visitor().post(`Letter ${n}`);
      const now = performance.now();
      const under_way = [...asked].filter(([, at]) => now - at < LOOKUP_MS).map(([name]) => Number(name.split("-")[1]));
      const by_customer = Map.groupBy(under_way, (site) => Math.floor(site / SITES));
      most_names = Math.max(most_names, ...[...by_customer.values()].map((all) => all.length));
    }
  }
  async function deliver(): Promise<number> {
    let slowest = 0;
    for (; going; letters++) {
      await honest.visitor().post(`An honest letter ${letters}`);
      const begun = performance.now();
      await until(() => there.received.length > letters, 20);
      slowest = Math.max(slowest, performance.now() - begun);
      progress(`${letters + 1} honest letters, ${asked.size} names asked for`);
    }
    return slowest;
  }
  const attacking = attack();
  const delivering = deliver();
  const beside = await look(seconds * 1000);
  going = false;
  await attacking;
  const letter = Math.round(await delivering);
  for (const [what, ms] of Object.entries(beside)) {
    if (ms > 2 * quiet[what]! + 2000) faults.push(`${what}: ${ms} ms beside it, ${quiet[what]} without`);
  }
  if (letter > 8000) faults.push(`an honest letter took ${letter} ms`);
  if (most_names > MOST_NAMES) faults.push(`a customer had ${most_names} names under question`);
  const [fds, memory] = [descriptors(server.pid), Math.round(residentBytes(server.pid) / MB)];
  if (fds > MOST_FDS || memory > 256) faults.push(`${fds} descriptors, ${memory} MB`);
  const report = { quiet, beside, letter, letters, names: asked.size, most_names, fds, memory };
  process.stdout.write(`${faults.join("\n") || "no violation"}: ${JSON.stringify(report)}\n`);
} finally {
  await server.end();
  silent.close();
  there.stop();
}
process.exit(faults.length === 0 ? 0 : 1);
