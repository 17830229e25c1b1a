/** `bun bench/comments.ts [requests]`: processor time of the server for what the widget asks, on a page as most are (20
 *  comments) and on one as full as a site may be (500 threads, 4,900 comments). Linux: the time is read in /proc. */
import { write } from "../test/kit/database.ts";
import { cpuSecondsOf, local, startProcess, temporaryFolder } from "../test/kit/process.ts";
import { type DeployResult, ZIP } from "../test/kit/server.ts";
import { zipOf } from "../test/kit/zip.ts";
import { CommentedSite, FREELY, PAGES } from "../test/comments/commented.ts";

const [requests = 300] = process.argv.slice(2).map(Number);
const FULL = { threads: 500, replies: 4_400 };

await using folder = await temporaryFolder();
const server = await startProcess(["--data-dir", folder.path, "--log", "off"], { env: FREELY });
const api = (path: string, init: RequestInit = {}) => fetch(local(server) + path, init);
const site = (slug: string, path = "/", init: RequestInit = {}) =>
  api(path, { ...init, headers: { ...(init.headers as object), host: `${slug}.localhost:${server.port}` } });
const deployed = await api("/sites", { method: "POST", headers: ZIP, body: zipOf(PAGES) });
const place = new CommentedSite({ api, site }, (await deployed.json()) as DeployResult);
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
