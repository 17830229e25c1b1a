/** PIPELINE 3: what a site in quarantine cannot do, in a real Chromium: no password leaves it by anything that a page loads,
 *  sends or runs, and in a browser that knows `Connection-Allowlist` (Chromium from 152 on) by a step to another page
 *  neither. The same site without quarantine shows that each way leads out. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startServer, type TestServer } from "../../kit/server.ts";
import { until } from "../../kit/until.ts";
import { type Browser, openBrowser } from "../chromium.ts";
import { openSink, type Sink } from "./sink.ts";
import { BESIDE, type Way, WAYS } from "./ways-out.ts";

let server: TestServer;
let sink: Sink;
let browser: Browser;
const left = {
  free: new Set<string>(),
  held: new Set<string>(),
  /** Held, in a browser that does not know the list of hosts. */
  unlisted: new Set<string>(),
};
/** Whether the browser closes what no CSP closes. */
let closes = false;

const pathOf = (way: Way): string => `way-${WAYS.indexOf(way)}`;
/** As long as the slowest way needs where nothing holds it, twice: so long is what is held waited for. */
const patience_ms = { framed: 3000, alone: 800 };

/** Not until it rests: it may be on its way elsewhere, or wait for what never ends. */
async function visited(url: string): Promise<void> {
  await browser.cdp("Page.navigate", { url: "about:blank" });
  await browser.cdp("Page.navigate", { url });
}

/** The ways that lead out of a new site. */
async function waysOut(held: boolean): Promise<Set<string>> {
  const pages = WAYS.map((way) => [`${pathOf(way)}.html`, way.page(sink.at(way.name))]);
  const lines = WAYS.filter(({ header }) => header).map(
    (way) => `/${pathOf(way)}\n  ${way.header!(sink.at(way.name))}\n`,
  );
  const files = { ...BESIDE, _headers: lines.join(""), ...Object.fromEntries(pages) };
  const site = await server.deploy({ "index.html": `<title>${held}</title>`, ...files });
  if (held) server.quarantine(site);
  else server.clear(site);
  const framed = WAYS.filter(({ alone }) => !alone).map((way) => `<iframe src="${site.url}/${pathOf(way)}"></iframe>`);
  const around = await server.deploy({ "index.html": `<!doctype html><title>${held}</title>${framed.join("")}` });
  sink.taken();
  const out = new Set<string>();
  const led = async (url: string, kind: keyof typeof patience_ms, ways: Way[]): Promise<void> => {
    await visited(url);
    const since = performance.now();
    const all = () => {
      for (const name of sink.taken()) out.add(name);
      return !held && ways.every(({ name }) => out.has(name));
    };
    await until(() => all() || (held && performance.now() - since > patience_ms[kind])).catch(() => {}); // told by the tests
    if (!held) patience_ms[kind] = Math.max(patience_ms[kind], 2 * (performance.now() - since));
  };
  await led(around.url, "framed", WAYS.filter(({ alone }) => !alone)); // prettier-ignore
  for (const way of WAYS.filter(({ alone }) => alone)) await led(`${site.url}/${pathOf(way)}`, "alone", [way]);
  return out;
}

beforeAll(async () => {
  const unlisted = openBrowser({ cold: true, switches: ["--disable-features=ConnectionAllowlists"] });
  [server, sink, browser] = await Promise.all([startServer(), openSink(), unlisted]);
  const { product } = await browser.cdp<{ product: string }>("Browser.getVersion");
  closes = Number(/\/(\d+)/.exec(product)![1]) >= 152;
  left.free = await waysOut(false);
  left.held = left.unlisted = await waysOut(true);
  if (closes) {
    await browser.close();
    browser = await openBrowser({ cold: true });
    left.held = await waysOut(true);
  }
}, 240_000);
afterAll(async () => {
  await browser.close();
  await sink[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

describe("PIPELINE 3, RELIABILITY A28: from a site in quarantine nothing leaves, reports included", () => {
  const stopped = WAYS.filter(({ open }) => !open);
  test.each(stopped)("by $name", ({ name }) => {
    expect([left.free.has(name), left.held.has(name), left.unlisted.has(name)]).toEqual([true, false, false]);
  });
});

describe("what no CSP stops, the list of hosts does where the browser knows it", () => {
  test.each(WAYS.filter(({ open }) => open))("$name", ({ name }) => {
    expect([left.free.has(name), left.held.has(name)]).toEqual([true, !closes]);
  });

  test("WebRTC, whose server may be any", async () => {
    const code = `p=new RTCPeerConnection({iceServers:[{urls:"stun:${sink.udp.address}"}]});p.createDataChannel("x");p.createOffer().then(o=>p.setLocalDescription(o))`;
    const site = await server.deploy({ "index.html": `<!doctype html><title>x</title><script>${code}</script>` });
    server.quarantine(site);
    const before = sink.udp.packets();
    await visited(site.url);
    if (closes) await Bun.sleep(patience_ms.framed);
    else await until(() => sink.udp.packets() > before);
    expect(sink.udp.packets() > before).toBe(!closes);
  });
});

test("PIPELINE 3: a service worker, whose pages would have no policy, is not had there", async () => {
  const worker = `onfetch = (e) => e.respondWith(new Response("made", { headers: { "content-type": "text/html" } }))`;
  const page = `<!doctype html><title>x</title><script>navigator.serviceWorker.register("/sw.js").then(() => { document.title = "there" }, () => { document.title = "none" })</script>`;
  const titles = [];
  for (const held of [false, true]) {
    const site = await server.deploy({ "index.html": `${page}${held}`, "sw.js": worker });
    if (held) server.quarantine(site);
    await visited(site.url);
    await until(() => browser.evaluate<boolean>("['there', 'none'].includes(document.title)"));
    titles.push(await browser.evaluate<string>("document.title"));
  }
  expect(titles).toEqual(["there", "none"]);
});

test("PIPELINE 3: what a page has of its own site works in quarantine", async () => {
  const site = await server.deploy({
    "index.html": `<!doctype html><title>x</title><link rel=stylesheet href=a.css><p id=p>…</p><script src=a.js></script><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">`,
    "a.css": "p { color: rgb(1, 2, 3) }",
    "a.js": `fetch("a.json").then((r) => r.json()).then(({ word }) => { p.textContent = eval("word") })`,
    "a.json": `{"word":"works"}`,
  });
  server.quarantine(site);
  const { text } = await browser.visit(site.url, "works");
  expect(text).toContain("works");
  expect(await browser.evaluate<string>("getComputedStyle(p).color")).toBe("rgb(1, 2, 3)");
});
