/** `bun bench/attacks.ts [seconds] [words of rows…]`: what a page of another site takes while a stranger attacks, beside what it
 *  takes quiet, in turn, on a server of its own for each row (2 seconds each unless said otherwise). At most twice is the aim.
 *  The same attack on another server of the machine tells what two cores for server, attackers and reader make of it.
 *  The attackers run in a thread of their own. Readers of comments have a program of their own: bench/comments.ts. */
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { CommentedSite, FREELY, PAGES } from "../test/comments/commented.ts";
import { anagrams, KINDS } from "../test/kit/anagrams.ts";
import { local, type ServerProcess, startProcess, temporaryFolder } from "../test/kit/process.ts";
import { callsOf, type Contents, type DeployResult, JSON_TYPE, slugOf, UNLIMITED, ZIP } from "../test/kit/server.ts";
import { zipOf } from "../test/kit/zip.ts";
import { startReceiver } from "../test/webhooks/receiver.ts";

type Calls = ReturnType<typeof callsOf>;

interface Attack {
  name: string;
  env?: Record<string, string>;
  /** Called in the thread: what is done once, and then what is done again and again by so many at a time. */
  begin(calls: Calls): Promise<(n: number) => Promise<unknown>>;
  at_once: number;
}

const LONGEST_PATH = 15_000;
const rulesAttack = ({ kind, end }: (typeof KINDS)[number]): Attack => ({
  name: `a path of 15 KB against 100 rules of anagrams: ${kind}, at the ${end}`,
  async begin(calls) {
    const row = KINDS.find((one) => one.kind === kind && one.end === end)!;
    const { slug } = await calls.deploy(anagrams(row));
    return async (n) => (await calls.site(slug, `/${"a".repeat(LONGEST_PATH)}${n}`)).arrayBuffer();
  },
  at_once: 2,
});

const place = async (calls: Calls): Promise<CommentedSite> => {
  const made = new CommentedSite(calls, await calls.deploy(PAGES));
  await made.turn("anonymous");
  return made;
};

const WORDS = "The quick brown fox jumps over the lazy dog and goes home. ".repeat(80);
const prose: Contents = Object.fromEntries(
  Array.from({ length: 120 }, (_, n) => [`p${n}.md`, `# Page ${n}\n\n${WORDS}`]),
);

/** As many files and bytes as a deploy may have: 10 MB plain, below 5 MB zipped. */
const LARGEST: Contents = Object.fromEntries(
  Array.from({ length: 200 }, (_, n) => [`part-${n}.txt`, `Line ${n} of the largest site.\n`.repeat(1_750)]),
);

/** No attack: what any two readers cost who ask as fast as they can. An attack that takes no more of a page than these do is
 *  none. */
const READERS: Attack = {
  name: "none: two readers of ordinary pages",
  async begin(calls) {
    const { slug } = await calls.deploy(PAGES);
    return async () => (await calls.site(slug, "/guide.html")).arrayBuffer();
  },
  at_once: 2,
};

const ATTACKS: readonly Attack[] = [
  READERS,
  ...KINDS.map(rulesAttack),
  {
    name: "explanations of such a path",
    async begin(calls) {
      const site = await calls.deploy(anagrams(KINDS[0]!));
      const headers = { authorization: `Bearer ${site.manage_token}` };
      return async (n) => {
        const url = new URL(`/${"a".repeat(LONGEST_PATH)}${n}`, site.url);
        const path = `/sites/${site.site_id}/explain?url=${encodeURIComponent(url.href)}`;
        return (await calls.api(path, { headers })).arrayBuffer();
      };
    },
    at_once: 2,
  },
  {
    name: "comments as fast as four visitors can write",
    async begin(calls) {
      const there = await place(calls);
      return (n) => there.visitor().post(`A comment of a visitor, number ${n}`);
    },
    at_once: 4,
  },
  {
    name: "40 sites with webhooks whose receivers never answer",
    async begin(calls) {
      const silent = startReceiver();
      silent.answer = "silence";
      const sites: CommentedSite[] = [];
      while (sites.length < 40) sites.push(await place(calls));
      for (const { site } of sites) {
        await calls.api(`/sites/${site.site_id}/comments/settings`, {
          method: "PATCH",
          headers: { ...JSON_TYPE, authorization: `Bearer ${site.manage_token}` },
          body: JSON.stringify({
            webhook: { url: silent.url, events: ["thread.created"], secret: "sixteen letters or more" },
          }),
        });
      }
      return (n) => sites[n % sites.length]!.visitor().post(`A letter to nobody, ${n}`);
    },
    at_once: 1,
  },
  {
    name: "versions deployed and deleted, with sweeps each second",
    env: { SVC_GC_INTERVAL: "1s" },
    async begin(calls) {
      const site = await calls.deploy({ "index.html": "<title>Many</title>" });
      const headers = { authorization: `Bearer ${site.manage_token}` };
      let last = "";
      return async (n) => {
        const path = `/sites/${site.site_id}`;
        const body = zipOf({ "index.html": `<title>${n}</title>`, "a.txt": `${n}`.repeat(2000) });
        const answer = await calls.api(`${path}/deploys`, { method: "POST", headers: { ...headers, ...ZIP }, body });
        const { version_id } = (await answer.json()) as DeployResult;
        if (n % 2 === 0) return;
        const before = last;
        last = version_id;
        if (before !== "") await calls.api(`${path}/versions/${before}`, { method: "DELETE", headers });
      };
    },
    at_once: 2,
  },
  {
    name: "a host that nobody has, another one each time",
    begin: async (calls) => async (n) =>
      (await calls.reach("/", { headers: { host: `a${n}.b${n % 997}.example.net:${calls.port}` } })).arrayBuffer(),
    at_once: 2,
  },
  {
    name: "visits of pages, referrers and missing paths, each another one",
    async begin(calls) {
      const { slug } = await calls.deploy(PAGES);
      const accept = { accept: "text/html", "sec-fetch-dest": "document" };
      return async (n) => {
        const who = { "user-agent": `Mozilla/5.0 (${n})`, referer: `https://r${n}.example.net/` };
        const path = n % 2 === 0 ? `/none-${n}` : `/guide.html?${n}`;
        return (await calls.site(slug, path, { headers: { ...accept, ...who } })).arrayBuffer();
      };
    },
    at_once: 2,
  },
  {
    name: "passwords of a site, guessed from a thousand addresses",
    env: { SVC_TRUST_PROXY: "127.0.0.1" },
    async begin(calls) {
      const site = await calls.deploy(PAGES);
      await calls.api(`/sites/${site.site_id}/access`, {
        method: "PUT",
        headers: { ...JSON_TYPE, authorization: `Bearer ${site.manage_token}` },
        body: JSON.stringify({ password: "open sesame 1" }),
      });
      return async (n) => {
        const from = { "x-forwarded-for": `10.${n % 250}.${(n >> 3) % 250}.${n % 199}` };
        const authorization = `Basic ${btoa(`:guess ${n}`)}`;
        return (await calls.site(site.slug, "/guide.html", { headers: { ...from, authorization } })).arrayBuffer();
      };
    },
    at_once: 4,
  },
  {
    name: "a version of 10 MB taken away as a zip",
    async begin(calls) {
      const site = await calls.deploy(LARGEST);
      const headers = { authorization: `Bearer ${site.manage_token}` };
      const path = `/sites/${site.site_id}/versions/${site.version_id}/zip`;
      return async () => {
        const answer = await calls.api(path, { headers });
        if (answer.status !== 200) throw new Error(`the zip was answered ${answer.status}`);
        await answer.arrayBuffer();
      };
    },
    at_once: 2,
  },
  {
    name: "120 pages of plain prose deployed again and again",
    begin: async (calls) => async (n) => calls.post(zipOf({ ...prose, "n.txt": String(n) })),
    at_once: 1,
  },
];

interface ThreadData {
  attack: number;
  port: number;
}

async function attackIn({ attack, port }: ThreadData): Promise<void> {
  const { begin, at_once } = ATTACKS[attack]!;
  const act = await begin(callsOf({ port, base_url: `http://localhost:${port}` }));
  let going = true;
  let done = 0;
  parentPort!.on("message", () => (going = false));
  parentPort!.postMessage("ready");
  await Promise.all(
    Array.from({ length: at_once }, async () => {
      while (going) await act(done++);
    }),
  );
  parentPort!.postMessage(done);
}

/** Milliseconds of each page. */
async function pages(server: ServerProcess, slug: string, ms: number): Promise<number[]> {
  const took: number[] = [];
  const headers = { host: `${slug}.localhost:${server.port}` };
  for (const ends = performance.now() + ms; performance.now() < ends;) {
    const begun = performance.now();
    await (await fetch(`${local(server)}/`, { headers })).arrayBuffer();
    took.push(performance.now() - begun);
    await Bun.sleep(1);
  }
  return took.toSorted((a, b) => a - b);
}
const at = (sorted: readonly number[], part: number): number => sorted[Math.floor(sorted.length * part)]!;

/** A server of its own for each row and each role. */
async function serverFor(attack: number) {
  const folder = await temporaryFolder();
  const env = {
    ...UNLIMITED,
    ...FREELY,
    SVC_WEBHOOKS: "on",
    SVC_WEBHOOKS_ALLOW: "127.0.0.0/8",
    ...ATTACKS[attack]!.env,
  };
  return { folder, server: await startProcess(["--data-dir", folder.path, "--log", "off"], { env }) };
}

/** What `read` gives while somebody attacks the server of a port, and how often that was done. */
async function attacked<T>(attack: number, port: number, read: () => Promise<T>): Promise<{ took: T; acts: unknown }> {
  const thread = new Worker(import.meta.path, { workerData: { attack, port } } as WorkerOptions);
  const heard = () =>
    new Promise<unknown>((hear, fail) => {
      thread.onmessage = ({ data }) => hear(data);
      thread.onerror = ({ message }) => fail(new Error(message));
    });
  await heard();
  await Bun.sleep(500);
  const took = await read();
  const done = heard();
  thread.postMessage("stop");
  const acts = await Promise.race([done, Bun.sleep(10_000)]);
  thread.terminate();
  return { took, acts };
}

async function measure(attack: number, ms: number): Promise<string> {
  const [own, other] = [await serverFor(attack), await serverFor(attack)];
  const slug = slugOf((await callsOf(own.server).deploy({ "index.html": "<title>Other</title>" })).url);
  const read = () => pages(own.server, slug, ms);
  await read();
  const quiet = await read();
  const { took: elsewhere } = await attacked(attack, other.server.port, read);
  const { took: beside, acts } = await attacked(attack, own.server.port, read);
  for (const { server, folder } of [own, other]) {
    await server.end();
    await folder[Symbol.asyncDispose]();
  }
  const cells = (part: number): string => {
    const [alone, machine, both] = [at(quiet, part), at(elsewhere, part), at(beside, part)];
    const times = (of: number) => `${(both / of).toFixed(2)}`;
    return `${[alone, machine, both].map((took) => took.toFixed(2)).join(" / ")} | ${times(alone)} | ${times(machine)}`;
  };
  return `| ${ATTACKS[attack]!.name} | ${acts ?? "–"} | ${cells(0.5)} | ${cells(0.95)} |`;
}

if (!isMainThread) await attackIn(workerData as ThreadData);
else {
  const [seconds = "2", ...words] = process.argv.slice(2);
  console.log(
    "| attack | acts | median, ms: quiet / attack elsewhere / here | of quiet | of elsewhere | 95 % | of quiet | of elsewhere |",
  );
  console.log("|---|---|---|---|---|---|---|---|");
  for (const [n, { name }] of ATTACKS.entries()) {
    if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
    console.log(await measure(n, Number(seconds) * 1000));
  }
  process.exit();
}
