/** CONTRACT 9: what the render engine says of a version, and where it can be read. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startServer, type TestServer, NOBODYS_ID, ZIP } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";
import { heldServer } from "../openapi/held.ts";
import { authorized, look, page, PATIENCE_MS, recordOf, script, seen, startRenderer } from "./rendering.ts";
import { longTest } from "../kit/whole.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startRenderer();
});
afterAll(() => server[Symbol.asyncDispose]());

const screenshot = (site_id: string, version_id: string, init: RequestInit = {}, query = "") =>
  server.api(`/sites/${site_id}/screenshots/${version_id}${query}`, init);

/** Of a lossy WebP: width and height stand behind the start code of its one frame (RFC 6386, 9.1). */
function sizeOf(webp: Uint8Array): [width: number, height: number] {
  const bytes = Buffer.from(webp);
  expect([bytes.toString("latin1", 0, 4), bytes.toString("latin1", 8, 15)]).toEqual(["RIFF", "WEBPVP8"]);
  const at = bytes.indexOf(Buffer.from([0x9d, 0x01, 0x2a]));
  return [bytes.readUInt16LE(at + 3) & 0x3fff, bytes.readUInt16LE(at + 5) & 0x3fff];
}

test(
  "CONTRACT 9: a version is pending when its deploy is answered, and done once a browser saw it",
  async () => {
    const body = `<h1>Kites <em>rise</em></h1><h2>Against the wind</h2><a href="/b">B</a><img src="a.svg" alt="">`;
    const files = {
      "index.html": page(body),
      "b.html": page("B"),
      "a.svg": `<svg xmlns="http://www.w3.org/2000/svg"/>`,
    };
    const site = await server.deploy(files);
    const { render: answered } = site as unknown as { render: object };
    expect(answered).toMatchObject({ status: "pending", console: [], failed_requests: [], dom_summary: null });
    const { version_id, status, warnings, dom_summary, ...rest } = await seen(server, site);
    expect({ version_id, status, warnings }).toEqual({ version_id: site.version_id, status: "done", warnings: [] });
    expect(dom_summary).toEqual({
      title: "A page",
      headings: ["Kites rise", "Against the wind"],
      links: 1,
      images: 1,
      text_length: "Kites rise Against the wind B".length,
    });
    expect(rest).toEqual({ screenshot_key: version_id, console: [], failed_requests: [] });
  },
  PATIENCE_MS,
);

test(
  "CONTRACT 9: console and failed requests are listed, at most 50 each, with texts of at most 500 characters",
  async () => {
    const code = `for (let i = 0; i < 80; i++) console.log(i, "x".repeat(600)); console.error("the end");
    for (let i = 0; i < 80; i++) fetch("/gone-" + i + ".json");`;
    const { console, failed_requests } = await look(server, page("<p>Text</p>" + script(code)));
    expect(console).toHaveLength(50);
    expect(console[3]).toEqual({
      level: "log",
      text: expect.stringMatching(/^3 x{497}…$/),
      url: expect.stringMatching(/^http:\/\/[\w-]+\.localhost:\d+\/$/),
      line: 1,
    });
    expect(failed_requests).toHaveLength(50);
    expect(failed_requests[0]).toMatchObject({ method: "GET", status: 404 });
  },
  PATIENCE_MS,
);

describe("CONTRACT 9: warnings are what the lint could not see, each with what to do", () => {
  test.each<[why: string, body: string, codes: string[], said: RegExp]>([
    ["an uncaught error", script("neverDefined()"), ["script_error"], /neverDefined is not defined \(index\.html:1\)/],
    ["a rejection", script("Promise.reject(new Error('not caught'))"), ["script_error"], /not caught/],
    ["an error of two lines", script("throw new Error(`one\ntwo`)"), ["script_error"], /one two/],
    ["an error of a moment later", script("setTimeout(() => nope.x, 100)"), ["script_error"], /nope is not defined/],
    [
      "a computed address",
      script("fetch(['da', 'ta.json'].join('')).catch(() => {})"),
      ["failed_request"],
      / data\.json .*404/,
    ],
    ["a computed picture", script("new Image().src = '/p' + 1 + '.png'"), ["failed_request"], / p1\.png/],
  ])(
    "%s",
    async (_, body, codes, said) => {
      const { status, warnings } = await look(server, page(`<p>Text</p>${body}`));
      expect([status, warnings.map(({ code }) => code)]).toEqual(["done", codes]);
      expect(warnings[0]!.message).toMatch(said);
      expect(warnings[0]!.fix_recipe).toMatch(/^[A-Z].*\.$/);
    },
    PATIENCE_MS,
  );

  longTest(
    "a page that shows nothing is blank",
    async () => {
      const { warnings } = await look(server, page("<div id=app></div>"));
      expect(warnings.map(({ code, path }) => [code, path])).toEqual([["blank_page", "index.html"]]);
    },
    PATIENCE_MS,
  );

  longTest.each([
    ["a picture alone", `<div style="width:50px;height:50px;background:#147"></div>`],
    ["text in a shadow tree", script("document.body.attachShadow({mode: 'open'}).innerHTML = 'Shadow'")],
    ["text that comes a second late", script("setTimeout(() => document.body.append('Late'), 1500)")],
    ["a canvas", `<canvas id=c></canvas>${script("c.getContext('2d').fillRect(0,0,99,99)")}`],
    ["an error that is caught", `Text${script("try { nope() } catch {}; fetch('/').catch(() => {})")}`],
    [
      "more requests than the engine passes on",
      `Text${script("(async () => { for (let i = 0; i < 60; i++) await Promise.all(Array.from({ length: 50 }, (_, n) => fetch('/?' + i + '.' + n))) })()")}`,
    ],
    ["a service worker that is not there", `Text${script("navigator.serviceWorker.register('/s' + 'w.js')")}`],
  ])(
    "and there is none for %s",
    async (_, body) => {
      expect((await look(server, page(body))).warnings).toEqual([]);
    },
    PATIENCE_MS,
  );

  longTest.each([
    ["by its name", `<img src="gone.png" alt="">`],
    ["by how it begins", script("fetch('/gone/' + location.search.length + '.json').catch(() => {})")],
  ])(
    "what the deploy's receipt says already, %s, is not said again",
    async (_, body) => {
      const { site, warnings, failed_requests } = await look(server, page(`<p>Text</p>${body}`));
      expect(site.warnings.map(({ code }) => code)).toEqual(["missing_asset"]);
      expect(failed_requests.map(({ status }) => status)).toEqual([404]);
      expect(warnings).toEqual([]);
    },
    PATIENCE_MS,
  );

  longTest(
    "a page whose library comes from another host is not blamed for what it lacks here",
    async () => {
      const cdn = `<script src="https://cdn.example/lib.js"></script><div id=app></div>${script("Lib.mount('#app')")}`;
      const { warnings, failed_requests } = await look(server, page(cdn));
      expect(failed_requests).toEqual([
        { url: "https://cdn.example/lib.js", method: "GET", status: null, reason: expect.stringContaining("Refused") },
      ]);
      expect(warnings).toEqual([]);
    },
    PATIENCE_MS,
  );
});

longTest(
  "RELIABILITY A2: a token on the console is not kept",
  async () => {
    const token = `svc_manage_${"a".repeat(43)}`;
    const files = {
      "index.html": page(
        "<p>Text</p>" + script("console.log(T.join('_')); fetch('/?' + T.join('_')); throw T.join('_')"),
      ),
      "again.js": `console.log(["svc", "other", "${"b".repeat(43)}"].join("_"))`,
    };
    files["index.html"] += '<script src="/again.js"></script>';
    files["index.html"] = files["index.html"].replaceAll("T.join", `["svc", "manage", "${"a".repeat(43)}"].join`);
    const render = await look(server, files);
    expect(render.console[0]!.text).toBe("svc_manage_…");
    expect(render.console.map(({ text }) => text)).toContain("svc_other_…"); // a kind that is yet to come
    expect(JSON.stringify({ ...render, site: null })).not.toContain(token);
  },
  PATIENCE_MS,
);

longTest(
  "CONTRACT 9: the warnings stand beside each version, and the live one's whole",
  async () => {
    const first = await look(server, page("<p>One</p>" + script("one.gone")));
    await server.redeploy(first.site, { "index.html": page("<p>Two</p>") });
    await seen(server, first.site);
    const record = await recordOf(server, first.site);
    expect(record.render!.version_id).toBe(record.live_version_id);
    expect(record.versions.map(({ render }) => [render!.status, render!.warnings.map(({ code }) => code)])).toEqual([
      ["done", []],
      ["done", ["script_error"]],
    ]);
  },
  PATIENCE_MS,
);

describe("CONTRACT 9: GET /sites/:id/screenshots/<version_id>", () => {
  longTest(
    "is a WebP of 1280 by 800, of 390 by 844 with ?size=phone, of 200 KB at most, and nothing else",
    async () => {
      const noise = `const c = document.querySelector("canvas"), x = c.getContext("2d"), d = x.createImageData(1280, 900);
      for (let i = 0; i < d.data.length; i++) d.data[i] = i % 4 === 3 ? 255 : Math.random() * 256; x.putImageData(d, 0, 0)`;
      const body = `<style>body{margin:0}</style><canvas width=1280 height=900></canvas>${script(noise)}`;
      for (const html of [page("<h1>Kites</h1>"), page(body)]) {
        const { site } = await look(server, html);
        for (const [query, size] of [
          ["", [1280, 800]],
          ["?size=phone", [390, 844]],
        ] as const) {
          const answer = await screenshot(site.site_id, site.version_id, authorized(site), query);
          const bytes = await answer.bytes();
          expect([answer.status, answer.headers.get("content-type"), sizeOf(bytes)]).toEqual([
            200,
            "image/webp",
            [...size],
          ]);
          expect(bytes.length).toBeLessThanOrEqual(200 * 1024);
          expect(answer.headers.get("cache-control")).toStartWith("private");
          expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
          expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
        }
      }
    },
    PATIENCE_MS,
  );

  longTest(
    "is for whoever may read the site alone",
    async () => {
      const { site } = await look(server, page("<h1>Mine</h1>"));
      const other = await server.deploy({ "index.html": page("<h1>Other</h1>") });
      const asked = (init: RequestInit) => screenshot(site.site_id, site.version_id, init).then(({ status }) => status);
      expect(await asked({})).toBe(401);
      expect(await asked(authorized(other))).toBe(401);
      expect(await asked(authorized(site))).toBe(200);
      const status = async (site_id: string, version_id: string, query = "") =>
        (await screenshot(site_id, version_id, authorized(site), query)).status;
      expect(await status(site.site_id, other.version_id)).toBe(404);
      expect(await status(site.site_id, "..%2f")).toBe(404);
      expect(await status(NOBODYS_ID, site.version_id)).toBe(401);
      expect(await status(site.site_id, site.version_id, "?size=huge")).toBe(400);
    },
    PATIENCE_MS,
  );

  test("is 404 while nobody has looked", async () => {
    await using off = await startServer();
    const site = await off.deploy({ "index.html": page("<p>Text</p>") });
    const answer = await off.api(`/sites/${site.site_id}/screenshots/${site.version_id}`, authorized(site));
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([404, "not_found"]);
  });
});

longTest(
  "BEYOND 13: the record, the answer to a deploy that was seen before, and the picture are as they are described",
  async () => {
    const held = await heldServer(server);
    const html = page(`<h1>Told</h1>${script("console.log(1); missing()")}<img src="http://127.0.0.1:1/x.png" alt="">`);
    const { site } = await look(server, html);
    const { headers } = authorized(site);
    const { body } = await held.ask("GET", `/sites/${site.site_id}`, 200, { headers });
    expect([body.render.console.length > 0, body.versions[0].render.status]).toEqual([true, "done"]);
    const again = { body: zipOf({ "index.html": html }), headers: { ...headers, ...ZIP } };
    const { render } = (await held.ask("POST", `/sites/${site.site_id}/deploys`, 200, again)).body;
    expect(render.screenshot_key).toBe(site.version_id);
    const picture = `/sites/${site.site_id}/screenshots/${site.version_id}`;
    expect((await held.ask("GET", picture, 200, { headers })).headers.get("x-request-id")).toStartWith("req_");
  },
  PATIENCE_MS,
);

test("CONTRACT 4.4: without the engine the record has no render", async () => {
  await using off = await startServer();
  const site = await off.deploy({ "index.html": page("<p>Text</p>") });
  const record = await recordOf(off, site);
  expect([record.render, record.versions[0]!.render]).toEqual([undefined, undefined]);
});
