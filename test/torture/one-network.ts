/** One network against one site's comments for an hour (RELIABILITY A26, A27): `bun test/torture/one-network.ts [minutes]`, 60
 *  unless said otherwise, by a clock that is moved: some seconds. From all addresses of one /24 and of one IPv6 /48 forty
 *  comments a minute arrive, as new visitors, with the default limits; half of them have links and wait for the owner. Each
 *  minute somebody of another network comments, and the owner answers: neither may ever be refused. In the end the owner
 *  rejects all of the network, and its place is free. */
import { UNIT_MS } from "../../src/base/units.ts";
import { Caller, commentedSite } from "../comments/commented.ts";
import { startServer } from "../kit/server.ts";
import { progress } from "./parts/figures.ts";

const [minutes = 60] = process.argv.slice(2).map(Number);
const EACH_MINUTE = 40;
/** A quarter of the site's 300 an hour for each of the two networks, in the window and in the one that began before. */
const MOST_TAKEN = 2 * 2 * 75;
const MOST_WAITING = 20;

const faults: string[] = [];
const answers: Record<string, number> = {};
await using server = await startServer({ SVC_TRUST_PROXY: "127.0.0.1" });
const place = await commentedSite(server);
const owner = await place.owner();
const addresses = [(n: number) => `203.0.113.${n % 250}`, (n: number) => `2001:db8:5:${(n + 1).toString(16)}::1`];
const wordsOf = (n: number) =>
  n % 2 === 0 ? `noise ${n}` : `see https://a.example/${n} https://b.example/${n} https://c.example/${n}`;

let sent = 0;
for (let minute = 0; minute < minutes; minute++) {
  const posts = Array.from({ length: EACH_MINUTE }, (_, n) => {
    const number = minute * EACH_MINUTE + n;
    return new Caller(place, addresses[n % 2]!(number)).post(wordsOf(number));
  });
  const honest = new Caller(place, `198.51.${minute}.7`).post(`an honest comment of minute ${minute}`);
  const own = owner.post(`The owner, minute ${minute}.`);
  for (const { status } of await Promise.all(posts)) answers[status] = (answers[status] ?? 0) + 1;
  sent += posts.length;
  for (const [who, answer] of [
    ["a visitor of another network", await honest],
    ["the owner", await own],
  ] as const)
    if (answer.status !== 201) faults.push(`minute ${minute}: ${who} was answered ${answer.status} ${answer.text}`);
  const begun = performance.now();
  const seen = await new Caller(place, `198.51.${minute}.8`).threads();
  if (seen.threads.length === 0) faults.push(`minute ${minute}: the list is empty`);
  if (performance.now() - begun > 2000) faults.push(`minute ${minute}: the list took over 2 s`);
  server.advance(UNIT_MS.m);
  progress(`${minute + 1} of ${minutes} minutes`);
}
const taken = answers["201"] ?? 0;
if (taken > MOST_TAKEN) faults.push(`${taken} of ${sent} were taken, and ${MOST_TAKEN} may be`);

const { items } = (await place.api("queue")).body;
if (items.length > 2 * MOST_WAITING) faults.push(`${items.length} wait for the owner`);
for (const { id } of items) await place.api(`${id}/reject-all`, { method: "POST", body: { of: "network" } });
const left = (await place.api("queue")).body.items.length;
if (left > 0) faults.push(`${left} still wait after all of the network was rejected`);
process.stdout.write(`${faults.join("\n") || "no violation"}: ${JSON.stringify({ sent, answers })}\n`);
process.exit(faults.length === 0 ? 0 : 1);
