/** What the browser tests stand on: a browser that ended takes none of those after it along. */
import { expect, test } from "bun:test";
import { browserProcesses } from "../kit/process.ts";
import { until } from "../kit/until.ts";
import { openBrowser } from "./chromium.ts";

test("a browser that is opened as soon as the last one was closed is a new one", async () => {
  const seen = new Set<number>();
  for (let count = 0; count < 4; count++) {
    const browser = await openBrowser();
    const running = browserProcesses(process.pid);
    expect(running).toHaveLength(1);
    seen.add(running[0]!);
    await browser.visit("about:blank");
    await browser.close();
  }
  expect(seen.size).toBe(4);
}, 60_000);

/** A page whose request is answered by a body without an end, which goes on to the next page or stays. */
const asking = (then: string) =>
  new Response(
    `<title>asks</title><link rel="icon" href="data:,"><p>asks<script>fetch("/endless").then(() => ${then})</script>`,
    { headers: { "content-type": "text/html" } },
  );

test("what a page asked for that was left is not missed, and what a page waits for is told by its address", async () => {
  using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    development: false,
    idleTimeout: 60,
    fetch({ url }) {
      const { pathname } = new URL(url);
      if (pathname === "/leaves") return asking('location.assign("/next")');
      if (pathname === "/stays") return asking("0");
      if (pathname !== "/endless") {
        const text = '<title>next</title><link rel="icon" href="data:,"><p>next';
        return new Response(text, { headers: { "content-type": "text/html" } });
      }
      return new Response(new ReadableStream({ start: (body) => body.enqueue(new Uint8Array(10)) }));
    },
  });
  const browser = await openBrowser({ patience_ms: 2_000 });
  try {
    expect((await browser.visit(`${server.url}leaves`, "next")).failures).toEqual([]);
    const { failures } = await browser.visit(`${server.url}stays`, "asks");
    expect(failures).toEqual([`never answered: ${server.url}endless`]);
  } finally {
    await browser.close();
    await server.stop(true);
  }
}, 60_000);

test("a page is looked at once it is read to its end, where its beginning already shows what was waited for", async () => {
  const [beginning, end] = ['<title>slow</title><link rel="icon" href="data:,"><p>beginning', "<p>end"];
  using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    development: false,
    fetch({ url }) {
      const html = { headers: { "content-type": "text/html" } };
      if (new URL(url).pathname !== "/slow") return new Response(`${beginning}<a href="/slow">on</a>`, html);
      const pieces = async function* () {
        yield beginning.padEnd(4096);
        await Bun.sleep(600);
        yield end;
      };
      return new Response(pieces(), html);
    },
  });
  const browser = await openBrowser();
  try {
    await browser.visit(`${server.url}`, "on");
    await browser.click("a");
    await until(async () => (await browser.evaluate("document.readyState")) === "loading");
    expect((await browser.shows("beginning")).text).toContain("end");
  } finally {
    await browser.close();
    await server.stop(true);
  }
}, 60_000);
