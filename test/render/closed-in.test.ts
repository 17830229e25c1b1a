/** CONTRACT 9, RELIABILITY A20: the page that is looked at reaches the site's own hosts and nothing else, whatever it tries. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromiumPath } from "../../scripts/chromium.ts";
import { startPageProcess } from "../../src/render/engine.ts";
import { removeFolder } from "../kit/process.ts";
import { ALL, longTest, WHOLE } from "../kit/whole.ts";
import type { TestServer } from "../kit/server.ts";
import { look, page, PATIENCE_MS, script, seen, startRenderer } from "./rendering.ts";

let server: TestServer;
/** Something else on this machine: whoever connects or sends a packet is counted. */
let heard: string[] = [];
let tcp: Server;
const tcpPort = (): number => (tcp.address() as AddressInfo).port;
let udp: Bun.udp.Socket<"buffer">;
beforeAll(async () => {
  server = await startRenderer();
  const answer = "HTTP/1.1 200 OK\r\naccess-control-allow-origin: *\r\ncontent-length: 2\r\n\r\nhi";
  tcp = createServer((socket) => {
    heard.push("tcp");
    socket.on("data", () => socket.end(answer)).on("error", () => {});
  });
  await new Promise<void>((ready) => tcp.listen(0, "0.0.0.0", ready));
  udp = await Bun.udpSocket({ hostname: "0.0.0.0", port: 0, socket: { data: () => void heard.push("udp") } });
});
afterAll(async () => {
  tcp.close();
  udp.close();
  await server[Symbol.asyncDispose]();
});

/** Keeps the engine looking for a while: nothing that a page tries later goes unseen. */
const BUSY = script(
  "const busy = setInterval(() => fetch('/busy.txt'), 100); setTimeout(() => clearInterval(busy), 2500)",
);
const tries = (body: string, more: Record<string, string> = {}) =>
  look(server, { "index.html": page(`<p>Text</p>${body}${BUSY}`), "busy.txt": "busy", ...more });

/** Addresses of the listener and of the API's host, in the ways in which they can be written. */
const addresses = (): string[] => {
  const port = tcpPort();
  const names = ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "2130706433", "0x7f.1", "127.1", "[::ffff:127.0.0.1]"];
  const elsewhere = ["anything.localhost", "svc-gate.invalid", "rebind.test", "169.254.169.254", "10.0.0.1"];
  return [
    ...[...names, ...elsewhere].map((name) => `http://${name}:${port}/`),
    `http://localhost:${server.port}/healthz`,
    `http://127.0.0.1:${server.port}/healthz`,
    `https://localhost:${server.port}/`,
  ];
};

test(
  "CONTRACT 9: no address of this machine or its network answers, however it is written",
  async () => {
    heard = [];
    const code = `for (const url of ${JSON.stringify(addresses())})
    fetch(url, { mode: "no-cors" }).then(() => console.log("reached " + url), () => console.log("refused " + url));`;
    const { console, failed_requests, status } = await tries(script(code));
    expect(status).toBe("done");
    const said = console.map(({ text }) => text);
    expect(said.filter((text) => text.startsWith("reached"))).toEqual([]);
    expect(said.filter((text) => text.startsWith("refused")).length).toBe(addresses().length);
    const refused = failed_requests.filter(({ reason }) => reason.startsWith("Refused")).map(({ url }) => url);
    expect(refused).toContain(`http://127.0.0.1:${tcpPort()}/`);
    expect(refused).toContain(`http://localhost:${server.port}/healthz`);
    expect(heard).toEqual([]);
  },
  PATIENCE_MS,
);

describe("CONTRACT 9: every other way out is closed too", () => {
  const there = (): string => `http://127.0.0.1:${tcpPort()}`;
  const ways: [way: string, body: () => string, files?: () => Record<string, string>][] = [
    [
      "a frame",
      () => `<iframe src="${there()}/"></iframe><object data="${there()}/"></object><embed src="${there()}/">`,
    ],
    [
      "what a page loads",
      () =>
        `<img src="${there()}/a.png"><link rel="stylesheet" href="${there()}/a.css"><script src="${there()}/a.js"></script><video src="${there()}/v.mp4"></video>`,
    ],
    [
      "hints",
      () =>
        `<link rel="prefetch" href="${there()}/a"><link rel="preconnect" href="${there()}"><link rel="dns-prefetch" href="//127.0.0.1"><link rel="preload" as="fetch" href="${there()}/b"><link rel="modulepreload" href="${there()}/c.js">`,
    ],
    [
      "speculation",
      () =>
        `<script type="speculationrules">{"prerender":[{"urls":["${there()}/"]}],"prefetch":[{"urls":["${there()}/x"]}]}</script>`,
    ],
    [
      "stylesheets",
      () =>
        `<style>@import "${there()}/a.css"; body{background:url(${there()}/b.png)} @font-face{font-family:f;src:url(${there()}/f.woff2)} p{font-family:f}</style>`,
    ],
    ["a refresh", () => `<meta http-equiv="refresh" content="0;url=${there()}/">`],
    [
      "a form",
      () =>
        `<form method="post" action="${there()}/"><input name="a" value="b"></form>${script("document.forms[0].submit()")}`,
    ],
    ["a step elsewhere", () => script(`setTimeout(() => { location = "${there()}/" }, 200)`)],
    ["a window", () => script(`open("${there()}/"); open("${there()}/", "_blank", "noopener")`)],
    [
      "beacons and event sources",
      () => script(`navigator.sendBeacon("${there()}/", "x"); new EventSource("${there()}/")`),
    ],
    [
      "a WebSocket",
      () => script(`new WebSocket("ws://127.0.0.1:${tcpPort()}/"); new WebSocket("ws://localhost:${server.port}/")`),
    ],
    ["WebTransport", () => script(`new WebTransport("https://127.0.0.1:${udp.port}/").ready.catch(() => {})`)],
    [
      "a worker",
      () => script(`new Worker("/w.js"); new SharedWorker("/w.js")`),
      () => ({ "w.js": `fetch("${there()}/").catch(() => {}); try { importScripts("${there()}/a.js") } catch {}` }),
    ],
    [
      "a service worker",
      () =>
        script(
          `navigator.serviceWorker.register("/sw.js").then(() => navigator.serviceWorker.ready).then(() => fetch("/through"))`,
        ),
      () => ({
        "sw.js": `fetch("${there()}/").catch(() => {}); onfetch = (e) => e.respondWith(fetch("${there()}" + new URL(e.request.url).pathname))`,
      }),
    ],
    [
      "a file",
      () =>
        `<iframe src="file:///etc/hostname"></iframe><img src="file:///etc/hostname">${script("fetch('file:///etc/hostname').then(() => console.log('reached'), () => {}); setTimeout(() => { location = 'file:///etc/' }, 100)")}`,
    ],
    [
      "a page of the browser",
      () =>
        `<iframe src="chrome://version"></iframe><iframe src="view-source:file:///etc/passwd"></iframe>${script("setTimeout(() => { location = 'chrome://settings' }, 100)")}`,
    ],
    [
      "a download",
      () => `<a id="d" href="/busy.txt" download>d</a>${script("for (let i = 0; i < 50; i++) d.click()")}`,
    ],
  ];
  /** They take the page elsewhere, or try to: nothing else could be tried beside them. */
  const LEAVING = [
    "a refresh",
    "a form",
    "a step elsewhere",
    "a window",
    "a file",
    "a page of the browser",
    "a download",
  ];
  const [leaving, staying] = [true, false].map((leaves) => ways.filter(([way]) => LEAVING.includes(way) === leaves));
  const together: (typeof ways)[number] = [
    staying!.map(([way]) => way).join(", "),
    () => staying!.map(([, body]) => body()).join(""),
    () => Object.assign({}, ...staying!.map(([, , files]) => files?.())),
  ];
  // Each takes seconds of a browser: here those that stay go together, and `verify --all` takes one in three of those that leave; in
  // `bun run torture render` each goes alone.
  test.each(WHOLE ? ways : [together, ...leaving!.filter((_, i) => ALL && i % 3 === 0)])(
    "%s",
    async (_, body, files) => {
      heard = [];
      const { console, dom_summary, status } = await tries(body(), files?.());
      expect(heard).toEqual([]);
      expect(console.filter(({ text }) => text.includes("reached"))).toEqual([]);
      // And the page itself is what was looked at.
      expect([status, dom_summary?.title]).toEqual(["done", "A page"]);
    },
    PATIENCE_MS,
  );

  longTest(
    "WebRTC: neither STUN nor TURN sends anything",
    async () => {
      heard = [];
      const servers = [
        { urls: `stun:127.0.0.1:${udp.port}` },
        { urls: `stun:localhost:${udp.port}` },
        { urls: `turn:127.0.0.1:${udp.port}?transport=udp`, username: "a", credential: "b" },
        { urls: `turn:127.0.0.1:${tcpPort()}?transport=tcp`, username: "a", credential: "b" },
      ];
      const code = `const pc = new RTCPeerConnection({ iceServers: ${JSON.stringify(servers)} });
      pc.onicecandidate = ({ candidate }) => candidate && console.log("candidate " + candidate.candidate);
      pc.createDataChannel("x"); pc.createOffer().then((offer) => pc.setLocalDescription(offer));
      pc.addIceCandidate({ candidate: "candidate:1 1 udp 2113937151 127.0.0.1 ${udp.port} typ host", sdpMid: "0" }).catch(() => {});`;
      const { console, status } = await tries(script(code));
      expect(status).toBe("done");
      expect(console.filter(({ text }) => /candidate.*(udp|127\.0\.0\.1)/i.test(text))).toEqual([]);
      expect(heard).toEqual([]);
    },
    PATIENCE_MS,
  );
});

describe("CONTRACT 9: what a server of the site's own host could answer", () => {
  /** The browser at an address whose server is the test's own. */
  async function lookAt(answer: (request: Request) => Response) {
    const asked: string[] = [];
    const fake = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch(request) {
        asked.push(`${request.method} ${request.headers.get("host")} ${new URL(request.url).pathname}`);
        return answer(request);
      },
    });
    const folder = await mkdtemp(join(tmpdir(), "svc-render-"));
    const chromium = { program: await chromiumPath(), sandbox: process.getuid?.() !== 0 };
    const target = { url: "http://kites.localhost:81/", version_host: "0123456789abcdef--kites.localhost:81" };
    try {
      const server = `http://127.0.0.1:${fake.port}`;
      const job = { ...chromium, ...target, folder, server, most_ms: 20_000 };
      const said = await startPageProcess({ look: job }).done;
      if (!("seen" in said)) throw new Error("nothing was seen");
      return { ...said.seen, asked };
    } finally {
      await fake.stop(true);
      await removeFolder(folder);
    }
  }

  test(
    "a redirect elsewhere is refused, and nothing is asked there",
    async () => {
      heard = [];
      const { failed_requests, asked } = await lookAt((request) =>
        new URL(request.url).pathname === "/"
          ? new Response(
              page(`<p>Text</p><img src="/r"><iframe src="/f"></iframe>${script("fetch('/g').catch(() => {})")}`),
              { headers: { "content-type": "text/html" } },
            )
          : Response.redirect(`http://127.0.0.1:${tcpPort()}/secret`, 302),
      );
      expect(heard).toEqual([]);
      expect(asked).toContain("GET 0123456789abcdef--kites.localhost:81 /r");
      expect(failed_requests.filter(({ elsewhere }) => elsewhere).map(({ url }) => url)).toContain(
        `http://127.0.0.1:${tcpPort()}/secret`,
      );
    },
    PATIENCE_MS,
  );

  longTest(
    "a page only reads, and does not choose the address that it comes from",
    async () => {
      const headers: Record<string, string | null>[] = [];
      const code = `fetch("/p", { method: "POST", body: "x" }); fetch("/d", { method: "DELETE" });
      fetch("/g", { headers: { "X-Forwarded-For": "9.9.9.9", "Forwarded": "for=9.9.9.9", "Authorization": "Bearer x", "Svc-Csrf": "x" } })`;
      const { asked } = await lookAt((request) => {
        headers.push(
          Object.fromEntries(
            ["x-forwarded-for", "forwarded", "authorization", "svc-csrf", "cookie"].map((name) => [
              name,
              request.headers.get(name),
            ]),
          ),
        );
        return new Response(page(`<p>Text</p>${script(code)}`), {
          headers: { "content-type": "text/html", "set-cookie": "a=b" },
        });
      });
      expect(asked.filter((line) => !line.startsWith("GET"))).toEqual([]);
      expect(asked.some((line) => line.endsWith("/g"))).toBeTrue();
      expect(headers.flatMap((one) => Object.values(one)).filter((value) => value !== null)).toEqual([]);
    },
    PATIENCE_MS,
  );
});

longTest(
  "CONTRACT 9: each page has a fresh profile, and leaves nothing on the disk",
  async () => {
    const code = `console.log("kept " + (localStorage.a ?? "nothing") + document.cookie);
    localStorage.a = "something"; document.cookie = "b=c";
    const open = indexedDB.open("x"); open.onupgradeneeded = () => open.result.createObjectStore("s");
    caches.open("c").then((c) => c.put("/", new Response("x")));`;
    const first = await tries(script(code));
    expect(first.console[0]!.text).toBe("kept nothing");
    await server.redeploy(first.site, { "index.html": page(`<p>Two</p>${script(code)}`), "busy.txt": "busy" });
    expect((await seen(server, first.site)).console[0]!.text).toBe("kept nothing");
    await writeFile(join(server.data_dir, "tmp", "last"), ""); // the folder is there, and holds nothing else
    const left = [...new Bun.Glob("*").scanSync({ cwd: join(server.data_dir, "tmp"), onlyFiles: false })];
    expect(left).toEqual(["last"]);
  },
  PATIENCE_MS,
);
