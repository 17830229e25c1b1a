/** `bun bench/comments.ts [requests]`: processor time of the server for what the widget asks, on a page as most are (20
 *  comments), on one as full as a site may be (500 threads, 4,900 comments), and on a hostile one (240 comments of 4,000
 *  quotation marks, as an earlier release took them); then how long another site's page takes beside 8 readers of that one
 *  (RELIABILITY A27). Linux: the time is read in /proc. */
import { write } from "../test/kit/database.ts";
import { cpuSecondsOf, local, startProcess, temporaryFolder } from "../test/kit/process.ts";
import { type Contents, type DeployResult, ZIP } from "../test/kit/server.ts";
import { zipOf } from "../test/kit/zip.ts";
import { CommentedSite, FREELY, PAGES } from "../test/comments/commented.ts";

const [requests = 300] = process.argv.slice(2).map(Number);
const FULL = { threads: 500, replies: 4_400 };

await using folder = await temporaryFolder();
const env = { ...FREELY, SVC_TRUST_PROXY: "127.0.0.1" };
const server = await startProcess(["--data-dir", folder.path, "--log", "off"], { env });
const api = (path: string, init: RequestInit = {}) => fetch(local(server) + path, init);
/** Each call comes from another network: one alone may read only so much of long lists. */
let networks = 0;
const nextAddress = (): string => `10.${(networks >> 12) & 255}.${(networks >> 4) & 255}.${networks++ & 15}`;
const site = (slug: string, path = "/", init: RequestInit = {}) => {
  const headers = { "x-forwarded-for": nextAddress(), ...(init.headers as object) };
  return api(path, { ...init, headers: { ...headers, host: `${slug}.localhost:${server.port}` } });
};
const MARKED = "/marks.html";
const BIG = "/big.html";
const deploy = async (files: Contents): Promise<DeployResult> =>
  (await api("/sites", { method: "POST", headers: ZIP, body: zipOf(files) })).json() as Promise<DeployResult>;
const place = new CommentedSite({ api, site }, await deploy(PAGES));
const big = `<p>${"0123456789".repeat(120_000)}`;
const marked = new CommentedSite({ api, site }, await deploy({ "marks.html": "<p>marks", "big.html": big }));
const other = await deploy({ "index.html": "<p>another site" });
await marked.turn("anonymous");
await place.turn("anonymous");
const ann = place.visitor();
for (let i = 0; i < 20; i++) await ann.say(`an ordinary comment, number ${i}`, "/docs/");
await ann.say("the first of many", "/guide.html");

const { site_id } = place.site;
const COUNTED = "with recursive n(n) as (select 1 union all select n + 1 from n where n < ?2)";
const COLUMNS =
  "comment_no, id, site_id, thread_no, person_id, text, state, was_public, created_at, modified_at, public_no, own_no";
const REST =
  "(select person_id from comment_people where site_id = ?1), 'said ' || n, 'public', 1, '2026', '2026', n, n";
write(
  folder.path,
  `${COUNTED} insert into comments (${COLUMNS}) select 1000000 + n, 'c_t' || n, ?1, 1000000 + n, ${REST} from n`,
  site_id,
  FULL.threads - 1,
);
write(
  folder.path,
  `insert into threads (thread_no, site_id, page, version_id, version_created_at, changed_no)
   select comment_no, site_id, '/guide.html', 'v', '2026', 1 from comments where site_id = ? and comment_no > 1000000`,
  site_id,
);
write(
  folder.path,
  `${COUNTED} insert into comments (${COLUMNS})
   select 2000000 + n, 'c_r' || n, ?1, 1000001 + n % ${FULL.threads - 1}, ${REST} from n`,
  site_id,
  FULL.replies,
);

const [author, reader] = [marked.visitor(), marked.visitor()];
const { cursor: old_cursor } = await reader.threads(MARKED);
await author.say("the first of the marked", MARKED);
write(
  folder.path,
  `${COUNTED} insert into comments (${COLUMNS}) select 3000000 + n, 'c_m' || n, ?1, 3000000 + n,
     (select person_id from comment_people where site_id = ?1), ?3, 'public', 1, '2026', '2026', n, n from n`,
  marked.site.site_id,
  240,
  '"'.repeat(4000),
);
write(
  folder.path,
  `insert into threads (thread_no, site_id, page, version_id, version_created_at, changed_no)
   select comment_no, site_id, '${MARKED}', 'v', '2026', 1 from comments where site_id = ? and comment_no > 3000000`,
  marked.site.site_id,
);

async function row(name: string, times: number, ask: (i: number) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < 5; i++) await ask(-1 - i);
  const begun = cpuSecondsOf(server.pid);
  for (let i = 0; i < times; i++) await ask(i);
  const each = ((cpuSecondsOf(server.pid) - begun) * 1000) / times;
  console.log(`${name.padEnd(44)}${each.toFixed(2).padStart(8)} ms`);
}

for (const [name, page] of [
  ["20 comments", "/docs/"],
  ["4,900 comments", "/guide.html"],
] as const) {
  const path = `threads?page=${page}`;
  const seen = await ann.send(path);
  const etag = seen.headers.get("etag")!;
  await row(`${name}: threads`, requests / 5, () => ann.send(path));
  await row(`${name}: threads, 304`, requests, () => ann.send(path, { headers: { "if-none-match": etag } }));
  await row(`${name}: threads since, nothing new`, requests, () => ann.send(`${path}&since=${seen.body.cursor}`));
}
await author.say("one more", MARKED);
const reads: [name: string, ask: () => Promise<unknown>][] = [
  ["threads", () => reader.send(`threads?page=${MARKED}`)],
  ["threads, an author", () => author.send(`threads?page=${MARKED}`)],
  ["threads since long ago", () => reader.send(`threads?page=${MARKED}&since=${old_cursor}`)],
  ["view, part 1", () => reader.send(`view?page=${MARKED}`)],
  ["view, the last part", () => reader.send(`view?page=${MARKED}&part=last`)],
];
for (const [name, ask] of reads) await row(`240 of 4,000 marks: ${name}`, requests / 3, ask);
await row("a file of 1.2 MB", requests / 3, () => reader.send(BIG));

const WATCHED_MS = 3_000;

/** Milliseconds that another site's page takes: in the middle of all calls, and at the slow end of them. */
async function pageOfOther(): Promise<string> {
  const took: number[] = [];
  for (const ends = performance.now() + WATCHED_MS; performance.now() < ends;) {
    const begun = performance.now();
    await (await site(other.slug)).text();
    took.push(performance.now() - begun);
  }
  const sorted = took.toSorted((one, two) => one - two);
  return [0.5, 0.95].map((part) => sorted[Math.floor(sorted.length * part)]!.toFixed(2).padStart(8)).join("");
}

/** The same while eight others read as fast as they can. */
async function besideReaders(read: () => Promise<Response>): Promise<string> {
  let over = false;
  const readers = Array.from({ length: 8 }, async () => {
    while (!over) await (await read()).arrayBuffer();
  });
  const seen = await pageOfOther();
  over = true;
  await Promise.all(readers);
  return seen;
}

await pageOfOther();
console.log(`${"another site's page, quiet (median, 95 %)".padEnd(62)}${await pageOfOther()} ms`);
const { slug } = marked.site;
const LISTS = [`/_svc/comments/view?page=${MARKED}`, `/_svc/comments/threads?page=${MARKED}`];
for (const path of [MARKED, BIG, ...LISTS]) {
  for (const from of [1, 8]) {
    let n = 0;
    const read = () => site(slug, path, { headers: { "x-forwarded-for": `192.0.2.${n++ % from}` } });
    const name = `beside 8 readers of ${path.slice(0, 24)}, ${from === 1 ? "one network" : `${from} networks`}`;
    console.log(`${name.padEnd(62)}${await besideReaders(read)} ms`);
  }
}
await row("a post with a quote", requests / 3, (i) =>
  ann.send("", {
    method: "POST",
    body: ann.annotation(`words ${i}`, {
      source: "/",
      selector: [{ type: "TextQuoteSelector", exact: "two seconds", prefix: "finish in ", suffix: " and return" }],
    }),
  }),
);
await row("a page with the script", requests * 3, () => ann.send("/guide.html"));
await server.end();
