/** What the lint costs in a deploy's thread: `bun bench/lint.ts`. Ordinary sites, and hostile ones of 9 MB. */
import { detectSpa } from "../src/pipeline/spa.ts";
import { lint } from "../src/pipeline/lint/index.ts";
import type { Bytes, Draft, Files } from "../src/base/types.ts";
import { HOSTILE } from "../test/receipts/hostile.ts";

const bytes = (text: string): Bytes => new TextEncoder().encode(text);
const filesOf = (texts: Record<string, string>): Files =>
  new Map(Object.entries(texts).map(([path, text]) => [path, bytes(text)]));

const WORDS = "the kite rises against the wind and not with it, as every child on the beach knows by heart";

/** 120 pages of 20 KB with 60 links and pictures each, 40 modules of 20 KB, 10 stylesheets, 30 pictures: 4 MB. */
function ordinary(): Record<string, string> {
  const site: Record<string, string> = {};
  const pages = Array.from({ length: 120 }, (_, i) => (i === 0 ? "index.html" : `guide/page-${i}.html`));
  for (const [i, path] of pages.entries()) {
    const links = pages.filter((_, j) => (i + j) % 4 === 0).map((to) => `<a href="/${to}">${to}</a>`);
    const pictures = Array.from(
      { length: 30 },
      (_, j) => `<p>${WORDS} ${WORDS} ${WORDS}</p><img src="/img/${j}.png" alt="">`,
    );
    site[path] =
      `<!doctype html><html><head><title>${i}</title><link rel="stylesheet" href="/css/site-${i % 10}.css"><script type="module" src="/js/m${i % 40}.js"></script></head><body>${links.join("")}${pictures.join("").repeat(2)}</body></html>`;
  }
  const code = `const a${WORDS.length}={get(e,t){return e?.["${WORDS}"]??t/2},run:()=>fetch("/data.json"),re:/["']/g};// ${WORDS}\n`;
  for (let i = 0; i < 40; i++)
    site[`js/m${i}.js`] = `import{x}from"./m${(i + 1) % 40}.js";${code.repeat(75)}export const x=1;`;
  for (let i = 0; i < 10; i++)
    site[`css/site-${i}.css`] = `.kite{background:url("../img/${i}.png") no-repeat;color:#123456}\n`.repeat(400);
  for (let i = 0; i < 29; i++) site[`img/${i}.png`] = WORDS.repeat(100);
  return { ...site, "img/29.png": "", "data.json": "[]" };
}

const SITES: [name: string, files: Files][] = [
  ["200 files, 4 MB", filesOf(ordinary())],
  ["one page of 20 KB", filesOf({ "index.html": ordinary()["index.html"]! })],
  ...HOSTILE.map(({ name, files }): [string, Files] => [name, filesOf(files())]),
];

const draftOf = (files: Files): Draft => ({ files, made: new Set(), stripped_folder: null, healed: [], warnings: [] });

for (const [name, files] of SITES) {
  const { spa } = detectSpa(files);
  const times: number[] = [];
  let warnings = 0;
  for (const end = performance.now() + 1000; performance.now() < end || times.length < 3;) {
    const start = process.cpuUsage().user;
    warnings = lint(draftOf(files), spa, () => {}).warnings.length;
    times.push((process.cpuUsage().user - start) / 1000);
  }
  const median = times.toSorted((a, b) => a - b)[times.length >> 1]!;
  console.log(`${name.padEnd(36)}${median.toFixed(1).padStart(8)} ms${String(warnings).padStart(6)} warnings`);
}
