/** `bun scripts/screenshots.ts [name…]`: the pictures of the web side that README.md shows, docs/screenshots/, light and
 *  dark, of a server that runs with an account that somebody could have; and those of the manual in docs/images. */
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, openBrowser } from "../test/browser/chromium.ts";
import { readConfig } from "../src/config/index.ts";
import { startService } from "../src/server/service.ts";
import type { DeployResult } from "../lib.ts";
import { CHROMIUM_FONTS, chromiumPath } from "./chromium.ts";
import { install, main, ROOT, say, StepFailed, TOOLS } from "./run.ts";
import { simpleWebp } from "./simple-webp.ts";
import { EMAIL, makeSampleAccount, PASSWORD } from "./sample-account.ts";
import { type Ask, COMMENTED, makeSampleComments } from "./sample-comments.ts";

const [HOST, SITES] = ["svc.example", "sites.example"];
const BASE = `https://${HOST}`;
const TLS = join(ROOT, "test", "fixtures", "tls");
const DAY = 86_400_000;
const OUT = join(ROOT, "docs", "screenshots");
const IMAGES = join(ROOT, "docs", "images");
const MOST_BYTES = 60_000;

/** Text stays sharp above, and a page with little on it fits with the first. */
const QUALITIES = [86, 78, 70, 60, 50];

/** The same letters on every machine: the font that comes with the tests' browser, and one of a machine's for code. */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${CHROMIUM_FONTS}</dir>
${[
  ["sans", "Open Sans"],
  ["sans-serif", "Open Sans"],
  ["system-ui", "Open Sans"],
  ["monospace", "DejaVu Sans Mono"],
]
  .map(
    ([asked, font]) =>
      `  <match><test name="family"><string>${asked}</string></test><edit name="family" mode="prepend" binding="strong"><string>${font}</string></edit></match>`,
  )
  .join("\n")}
</fontconfig>
`;

/** A program that starts the browser with these fonts: what this process sets for its children does not reach it. */
async function withFonts(chromium: string, at: string): Promise<string> {
  const [fonts, launcher] = [join(at, "fonts.conf"), join(at, "chromium")];
  await Bun.write(fonts, FONTS);
  await Bun.write(launcher, `#!/bin/sh\nFONTCONFIG_FILE='${fonts}' exec '${chromium}' "$@"\n`);
  await chmod(launcher, 0o755);
  return launcher;
}

/** Of Chromium on Linux; pages leave room for one, so that they stand still, and pictures are taken without it. */
const SCROLLBAR = 15;

const sized = (browser: Browser, width: number, height: number): Promise<unknown> =>
  browser.cdp("Emulation.setDeviceMetricsOverride", {
    width: width + SCROLLBAR,
    height,
    deviceScaleFactor: 1,
    mobile: false,
  });

const inScheme = (browser: Browser, scheme: "light" | "dark"): Promise<unknown> =>
  browser.cdp("Emulation.setEmulatedMedia", {
    features: [
      { name: "prefers-color-scheme", value: scheme },
      { name: "prefers-reduced-motion", value: "reduce" },
    ],
  });

async function capture(browser: Browser, path: string, most_bytes = MOST_BYTES): Promise<void> {
  const [width, height] = await browser.evaluate<[number, number]>(`[innerWidth - ${SCROLLBAR}, innerHeight]`);
  const clip = { x: 0, y: 0, width, height, scale: 1 };
  for (const quality of QUALITIES) {
    const { data } = await browser.cdp<{ data: string }>("Page.captureScreenshot", { format: "webp", quality, clip });
    const picture = simpleWebp(Buffer.from(data, "base64"));
    if (picture.length > most_bytes) continue;
    await Bun.write(path, picture);
    return say(`${path.slice(ROOT.length + 1)}: ${(picture.length / 1024).toFixed(1)} KB`);
  }
  throw new StepFailed(`${path} would be over ${most_bytes} bytes at any quality: show less of the page.`);
}

/** Both pictures of what the browser shows. */
async function both(browser: Browser, name: string): Promise<void> {
  for (const scheme of ["light", "dark"] as const) {
    await inScheme(browser, scheme);
    await capture(browser, join(OUT, `${name}-${scheme}.webp`));
  }
  await inScheme(browser, "light");
}

/** Loads a page that has to be whole. */
async function open(browser: Browser, url: string, shown: string): Promise<void> {
  const { failures, text } = await browser.visit(url, shown);
  if (failures.length > 0) throw new StepFailed(`${url}: ${failures.join("; ")}`);
  if (!text.includes(shown)) throw new StepFailed(`${url} does not show “${shown}”.`);
}

/** What comes of a click, a key or a drop. */
async function shows(browser: Browser, text: string): Promise<void> {
  const seen = await browser.shows(text);
  if (!seen.text.includes(text))
    throw new StepFailed(`${seen.url} does not show “${text}”: ${seen.failures.join("; ")}`);
}

/** A folder as somebody would drop it: it works, and not all of it. */
async function folderToDrop(at: string): Promise<string> {
  const folder = join(at, "autumn-regatta");
  await mkdir(join(folder, "img"), { recursive: true });
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Autumn regatta</title>
<h1>Autumn regatta</h1><img src="img/logo.svg" alt="The club's burgee"><p><a href="results.pdf">Results</a></p></html>`;
  await Bun.write(join(folder, "Index.html"), html);
  await Bun.write(join(folder, "img", "Logo.svg"), '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"/>');
  return folder;
}

/** As a hand does it: over the page, and let go. */
async function drop(browser: Browser, path: string): Promise<void> {
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"]) {
    await browser.cdp("Input.dispatchDragEvent", { type, x: 640, y: 400, data });
  }
}

async function signIn(browser: Browser): Promise<void> {
  const { url } = await browser.visit(`${BASE}/dashboard`);
  if (!url.includes("/signin")) return; // for an earlier picture
  await browser.click("#email");
  await browser.type(EMAIL);
  await browser.press("Tab");
  await browser.type(PASSWORD);
  await browser.press("Enter");
  await shows(browser, "Harbour guide");
}

interface World {
  browser: Browser;
  folder: string;
  /** What the pictures of one site show. */
  site: DeployResult;
  comment(): Promise<void>;
}

/** In this order: the first three are a visitor's, and the last changes what the others show. */
const PICTURES: Readonly<Record<string, (world: World) => Promise<void>>> = {
  async docs({ browser, site }) {
    await open(browser, `${site.url}/sailing/tides`, "Tides");
    await sized(browser, 1240, 660);
    await capture(browser, join(IMAGES, "markdown.webp"), 24_000);
  },
  async home({ browser }) {
    await open(browser, `${BASE}/`, "Drop a folder");
    await both(browser, "home");
  },
  async receipt({ browser, folder }) {
    await open(browser, `${BASE}/`, "Drop a folder");
    await browser.click("h1"); // whoever drops has a mouse in the hand, and sees no outline of the focus
    await drop(browser, await folderToDrop(folder));
    await shows(browser, "Your site is live");
    await browser.evaluate("scrollTo(0, 0)"); // the page has brought it into sight, past half of its head
    await both(browser, "receipt");
  },
  async sites({ browser }) {
    await signIn(browser);
    await open(browser, `${BASE}/dashboard`, "Harbour guide");
    await both(browser, "sites");
  },
  async site({ browser, site }) {
    await signIn(browser);
    await sized(browser, 1280, 1040);
    await open(browser, `${BASE}/dashboard/sites/${site.site_id}`, "Harbour guide");
    await both(browser, "site");
  },
  async changes({ browser, site }) {
    await signIn(browser);
    await open(browser, `${BASE}/dashboard/sites/${site.site_id}/changes`, "the same");
    await both(browser, "changes");
  },
  async comments({ browser, site, comment }) {
    await comment();
    await sized(browser, 1320, 620);
    await open(browser, site.url + COMMENTED, "Tides");
    await browser.evaluate(`new Promise((done) => {
      const press = () => {
        const pin = document.querySelector("svc-comments")?.shadowRoot.querySelector(".pin");
        if (!pin) return setTimeout(press, 50);
        pin.click();
        setTimeout(done, 500);
      };
      press();
    })`);
    await both(browser, "comments");
    await sized(browser, 1280, 400); // a page of the manual has 40 KB with it
    await capture(browser, join(IMAGES, "comments.webp"), 25_000);
  },
};

/** Once for each name, in a browser and a server that know nothing of the others. */
async function take(names: readonly string[], at: string): Promise<void> {
  const clock = { behind: 0 };
  const flags = ["--port", "0", "--data-dir", join(at, "data"), "--log", "off", "--base-url", BASE];
  const tls = ["--tls-cert", join(TLS, "cert.pem"), "--tls-key", join(TLS, "key.pem"), "--sites-domain", SITES];
  const config = readConfig([...flags, ...tls], { SVC_CONTACT: "abuse@svc.example" });
  const service = await startService(config, { now: () => Date.now() - clock.behind, goodbye_ms: 0 });
  const address = `127.0.0.1:${service.config.port}`;
  const ask: Ask = (host, path, { headers, ...init } = {}) =>
    fetch(`https://${address}${path}`, {
      ...init,
      headers: { ...(headers as Record<string, string>), host },
      tls: { rejectUnauthorized: false },
    } as RequestInit);
  const at_days = (days_ago: number): void => void (clock.behind = days_ago * DAY);
  const domains = { [HOST]: address, [`*.${SITES}`]: address };
  const browser = await openBrowser({
    domains,
    switches: ["--ignore-certificate-errors", "--lang=en"],
  });
  try {
    const site = await makeSampleAccount((path, init) => ask(HOST, path, init), at_days);
    const comment = () => makeSampleComments(ask, HOST, site, at_days);
    for (const name of names) {
      await sized(browser, 1280, 832);
      await PICTURES[name]!({ browser, folder: join(at, name), site, comment });
    }
  } finally {
    await browser.close();
    await service.stop();
  }
}

await main(async () => {
  const named = process.argv.slice(2);
  const unknown = named.find((name) => !(name in PICTURES));
  if (unknown) throw new StepFailed(`There is no picture ${unknown}: ${Object.keys(PICTURES).join(", ")}.`);
  await install("packages", ROOT);
  await install("test tools", TOOLS);
  const at = await mkdtemp(join(tmpdir(), "svc-screenshots-"));
  try {
    process.env["BUN_CHROME_PATH"] = await withFonts(await chromiumPath(), at);
    await take(named.length > 0 ? named : Object.keys(PICTURES), at);
  } finally {
    await rm(at, { recursive: true });
  }
  return 0;
});
