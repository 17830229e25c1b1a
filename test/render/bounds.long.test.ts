/** CONTRACT 9: whatever a page does, it costs 20 s and 512 MB at most, ends with all its processes, and neither the server
 *  nor the next page suffers. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import type { TestServer } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { WHOLE } from "../kit/whole.ts";
import { ASKS, look, page, PATIENCE_MS, recordOf, type Render, script, seen, startRenderer } from "./rendering.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startRenderer();
});
afterAll(() => server[Symbol.asyncDispose]());

/** Processes that hold on to a page's folder of this server: the browser's name their profile in it. */
function browsers(): number[] {
  const folder = `${server.data_dir}/tmp/render-`;
  const commandOf = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1");
    } catch {
      return ""; // it ended
    }
  };
  const running = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return running.filter((pid) => commandOf(pid).includes(folder)).map(Number);
}

interface Most {
  memory: number;
  /** What serving took at worst, in milliseconds. */
  slowest: number;
}

/** Looks at a page, and at the machine meanwhile. */
async function watched(body: string): Promise<Render & Most> {
  const most: Most = { memory: 0, slowest: 0 };
  let over = false;
  const watching = (async () => {
    for (; !over; await Bun.sleep(50)) {
      const began = performance.now();
      expect((await server.api("/healthz")).status).toBe(200);
      most.slowest = Math.max(most.slowest, performance.now() - began);
      most.memory = Math.max(
        most.memory,
        browsers().reduce((sum, pid) => sum + anonymous(pid), 0),
      );
    }
  })();
  const site = await server.deploy({ "index.html": page(`<p>Text</p>${body}`) });
  const render = await seen(server, site).finally(() => (over = true));
  await watching;
  return { ...render, ...most };
}

function anonymous(pid: number): number {
  try {
    return Number(/^RssAnon:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

const MB = 1024 * 1024;

type Page = [why: string, code: string, reason: RegExp | null];
const PAGES: Page[] = [
  ["that never ends", "for (;;);", /did not come to rest|kept the browser busy/],
  ["that never ends in a promise", "(function f() { Promise.resolve().then(f) })()", /come to rest|busy/],
  [
    "that allocates two gigabytes",
    "const all = []; for (let i = 0; i < 128; i++) { const b = new Uint8Array(1 << 24); b.fill(1); all.push(b) }",
    null,
  ],
  [
    "that allocates them as strings",
    "let s = 'x'.repeat(1e6); const all = []; for (let i = 0; i < 2e3; i++) all.push((s + i).split('').join('y'))",
    null,
  ],
  [
    "of three thousand frames",
    "for (let i = 0; i < 3000; i++) { const f = document.createElement('iframe'); f.src = '/?' + i; document.body.append(f) }",
    null,
  ],
  [
    "of frames in frames",
    "if (location.search.length < 40) for (let i = 0; i < 4; i++) { const f = document.createElement('iframe'); f.src = location.search ? location.search + i : '?' + i; document.body.append(f) }",
    null,
  ],
  [
    "of five hundred workers",
    "for (let i = 0; i < 500; i++) new Worker(URL.createObjectURL(new Blob(['for(;;);'])))",
    null,
  ],
  [
    "of three million elements",
    "for (let i = 0; i < 3e6; i++) document.body.append(document.createElement('b'))",
    null,
  ],
  ["that floods the console", "for (;;) console.log('x'.repeat(1000))", null],
  [
    "that floods it slowly",
    "setInterval(() => { for (let i = 0; i < 1000; i++) console.log('x'.repeat(10000)) }, 1)",
    null,
  ],
  ["that logs fifty megabytes", "console.log('x'.repeat(5e7))", null],
  [
    "that throws for ever",
    "setInterval(() => { for (let i = 0; i < 100; i++) setTimeout(() => { throw new Error('e' + i) }) }, 0)",
    null,
  ],
  [
    "that asks for ever",
    "(async () => { for (let i = 0; ; i++) await Promise.all(Array.from({ length: 50 }, (_, n) => fetch('/x' + i + n).catch(() => {}))) })()",
    null,
  ],
  ["that goes round and round", "location.reload()", null],
  [
    "that fills the storage",
    "(async () => { const c = await caches.open('c'); for (let i = 0; i < 500; i++) await c.put('/' + i, new Response(new Uint8Array(1 << 22))) })().catch(() => {})",
    null,
  ],
  ["of dialogs", "for (let i = 0; i < 200; i++) { alert(i); confirm(i); prompt(i) } print()", null],
  ["of windows", "for (let i = 0; i < 200; i++) open('/x' + i)", null],
  ["that will not be left", "onbeforeunload = () => { for (;;); }; location = '/?again'", null],
];
/** One of each kind: time, memory, processes, talk. Each takes up to 20 s. */
const PART = new Set([
  "that never ends",
  "that allocates two gigabytes",
  "of five hundred workers",
  "that floods the console",
  "of dialogs",
]);

describe("CONTRACT 9: a hostile page", () => {
  test.each(WHOLE ? PAGES : PAGES.filter(([why]) => PART.has(why)))(
    "%s",
    async (_, code, reason) => {
      const { status, memory, slowest, ...render } = await watched(script(code));
      expect(["done", "failed"]).toContain(status);
      if (reason !== null) expect(render.reason).toMatch(reason);
      // One that is seen to pass the bound goes a moment later.
      expect(memory).toBeLessThan(1024 * MB);
      expect(slowest).toBeLessThan(5000);
      await until(() => browsers().length === 0);
      expect(readdirSync(`${server.data_dir}/tmp`)).toEqual([]);
    },
    PATIENCE_MS,
  );

  test(
    "takes nothing from the next one",
    async () => {
      expect(await look(server, page("<p>Fine</p>"))).toMatchObject({ status: "done", warnings: [] });
    },
    PATIENCE_MS,
  );
});

test(
  "CONTRACT 9: of a site's versions that wait the newest is looked at, and the others are told why they are not",
  async () => {
    const hold = await server.deploy({ "index.html": page(script(ASKS)) }); // keeps the engine busy meanwhile
    await until(() => browsers().length > 0);
    const site = await server.deploy({ "index.html": page("<p>One</p>") });
    for (const words of ["Two", "Three"]) await server.redeploy(site, { "index.html": page(`<p>${words}</p>`) });
    const { status, dom_summary } = await seen(server, site);
    expect([status, dom_summary?.text_length]).toEqual(["done", "Three".length]);
    const { versions } = await recordOf(server, site);
    expect(versions.map(({ render }) => render!.status)).toEqual(["done", "failed", "failed"]);
    expect((await seen(server, hold)).status).toBe("done");
  },
  2 * PATIENCE_MS,
);
