/** `bun scripts/pictures.ts`: draws src/web/pictures in Chromium: the icons of home screens and tabs, and the picture that
 *  a link to the service is shown with. Run it when the mark or the tokens change, and commit what it drew. */
import { join } from "node:path";
import { MARK_FILE } from "../src/web/mark.ts";
import { STYLE } from "../src/web/style/index.ts";
import { openBrowser } from "../test/browser/chromium.ts";
import { main, ROOT, say } from "./run.ts";

const FOLDER = join(ROOT, "src", "web", "pictures");

/** Without the corners: systems round them as they like. */
const square = MARK_FILE.replace('rx="6"', "");
const icon = (svg: string): string => `<style>*{margin:0}svg{display:block;width:100vw;height:100vh}</style>${svg}`;

const preview = `<style>${STYLE}
body{display:grid;place-content:center;justify-items:center;gap:28px;height:630px;min-height:0;text-align:center}
.brand{font-size:2.25rem;gap:18px}.brand svg{width:64px;height:64px}h1{font-size:5rem}p{font-size:1.75rem;color:var(--dim)}
.zone{margin:12px 0 0;padding:32px 96px;font-size:1.75rem;font-weight:600;color:var(--strong)}</style>
<div class="brand">${MARK_FILE} svc</div><h1>Drop a folder,<br>get a live URL</h1>
<div class="zone">Drop a folder, files or a zip</div>`;

const PICTURES = [
  ["icon-192.png", icon(square), 192, 192],
  ["icon-512.png", icon(square), 512, 512],
  ["preview.png", preview, 1200, 630],
  ["favicon.png", icon(MARK_FILE), 32, 32],
] as const;

/** One PNG, as every browser since 2007 reads it. */
function ico(png: Buffer): Buffer {
  const head = Buffer.alloc(22);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(1, 4);
  head.set([32, 32], 6);
  head.writeUInt16LE(1, 10);
  head.writeUInt16LE(32, 12);
  head.writeUInt32LE(png.length, 14);
  head.writeUInt32LE(head.length, 18);
  return Buffer.concat([head, png]);
}

await main(async () => {
  const browser = await openBrowser();
  await browser.cdp("Emulation.setDefaultBackgroundColorOverride", { color: { r: 0, g: 0, b: 0, a: 0 } });
  for (const [name, body, width, height] of PICTURES) {
    await browser.cdp("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
    await browser.visit(`data:text/html;charset=utf-8,${encodeURIComponent(`<!doctype html>${body}`)}`);
    const { data } = await browser.cdp<{ data: string }>("Page.captureScreenshot", { format: "png" });
    const png = Buffer.from(data, "base64");
    const [file, bytes] = name === "favicon.png" ? ["favicon.ico", ico(png)] : [name, png];
    await Bun.write(join(FOLDER, file), bytes);
    say(`${file}: ${bytes.length} bytes`);
  }
  await browser.close();
  return 0;
});
