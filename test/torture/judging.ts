/** Uploads that are made to be judged for as long as they can be: `bun test/torture/judging.ts [name…]` builds each and tells
 *  the processor time that it took and what became of it. Each is through or refused within 4 s: 2 s of judging, and what
 *  cannot be interrupted. Needs nothing; a minute. */
import { Refusal } from "../../src/base/errors.ts";
import { build } from "../../src/pipeline/index.ts";
import { NEW_SITE } from "../kit/abuse-site.ts";
import { LIMITS } from "../kit/ingesting.ts";
import { type Upload } from "../kit/patterns/files.ts";
import { zipOf } from "../kit/zip.ts";

const LIMIT_MS = 4000;
/** As long as made a deploy miss its deadline of ten seconds, where it took the square. */
const LONG = 200_000;

const nineMB = (piece: string): string => piece.repeat(Math.floor((9 << 20) / piece.length));
const many = (count: number, one: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => one(i)).join("");
const page = (html: string): Upload => ({ "index.html": `<!doctype html><title>x</title>${html}` });
const site = (count: number, named: (i: number) => [path: string, text: string]): Upload =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => named(i)));

/** Ten times ten times … the same frame, in a few hundred bytes. */
function entities(powers: number): string {
  const names = "abcdefgh".slice(0, powers + 1);
  const frame = `<!ENTITY a "<iframe xmlns='http://www.w3.org/1999/xhtml' srcdoc='&#38;lt;svg>&#38;lt;/x>'/>">`;
  const tens = many(powers, (i) => `<!ENTITY ${names[i + 1]} "${`&${names[i]};`.repeat(10)}">`);
  return `<!DOCTYPE x [${frame}${tens}]><x>&${names[powers]};</x>`;
}

/** Frames in frames, each of which may be mended in four ways. */
function nested(levels: number, inner: string): string {
  if (levels === 0) return inner;
  const page = nested(levels - 1, inner)
    .replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;");
  return `<svg></x></svg><iframe srcdoc="${page}"></iframe>`;
}

/** A script that asks for other scripts by name, and one that makes all of them worth a look. */
const manyScripts: Upload = {
  ...site(90, (i) => [
    `${i || "index"}.html`,
    `<input type=password>${many(100, (j) => `<script src=${j}.js></script>`)}`,
  ]),
  ...site(100, (i) => [`${i}.js`, `"x${i}.js" `.repeat(9000)]),
  "z.js": "api.telegram.org",
};

const ATTACKS: Record<string, () => Upload> = {
  "blanks in a refresh": () => page(`<meta http-equiv=refresh content="${" ".repeat(LONG)}">`),
  "a data address without a comma": () => page(`<iframe src="data:${"a".repeat(LONG)}">`),
  "a base of letters": () => page(`<base href="/${"a".repeat(LONG)}/"><script>fetch("x")</script>`),
  "blanks in a link": () => ({ "a.md": `<a href="x${" ".repeat(LONG)}x">` }),
  "a frame ten thousand times": () => ({ ...page(""), "a.xhtml": entities(4) }),
  "a frame a hundred thousand times": () => ({ ...page(""), "a.xhtml": entities(5) }),
  "frames in frames around 100 KB": () => page(nested(3, `<svg></x></svg>${"<b>".repeat(33_000)}`)),
  "frames in frames around 9 MB": () => page(nested(3, `<svg></x></svg>${nineMB("<b>")}`)),
  "300,000 noscripts": () => page(many(300_000, (i) => `<noscript><p>${i}</noscript>`)),
  "90 pages that load 100 scripts": () => manyScripts,
  "end tags in a thousand open elements": () => page(`<form>${"<div>".repeat(1000)}${nineMB("</x>")}`),
  "end tags in a drawing": () => page(`<svg>${"<g>".repeat(600)}${nineMB("</x>")}`),
  "20,000 fields with much to say": () => page(nineMB(`<input placeholder="${"aB1 ".repeat(125)}">`)),
  "400,000 icons beside a password": () => page(`<input type=password>${nineMB("<link rel=icon href=a>")}`),
  "500,000 moves of a script": () => page(`<script>${many(500_000, (i) => `location='${i}'`)}</script>`),
  "a script of open parentheses": () => page(`<script>${nineMB("f(")}`),
  "a script of blocks": () => page(`<script>${nineMB("x(){")}`),
  "a script of arrows": () => page(`<script>${nineMB("a=>")}`),
  "a script of arrows and lines": () => page(`<script>${nineMB("a=>0\n\n\n")}`),
  "a script of functions that call each other": () =>
    page(`<script>${many(300_000, (i) => `function f${i}(){f${i + 1}()}`)}f0()`),
  "a script of strings in pieces": () => page(`<input type=password><script>x=${nineMB(`"a"+`)}"b"`),
  "a script of constants": () => page(`<input type=password><script>${many(400_000, (i) => `a${i}="//b";`)}`),
  "a script of calls": () => page(`<input type=password><script>${many(400_000, (i) => `fetch("//h${i}.example");`)}`),
  "300,000 event attributes": () => page(many(200_000, (i) => `<b onload="location='//a${i}.example'">`)),
  "300 KB of Base64 in Base64": () =>
    page(`<script>document.write(atob("${btoa(btoa(btoa(btoa("<p>".repeat(100_000)))))}"))`),
  "100,000 hidden pages": () =>
    page(`<script>atob;${many(60_000, (i) => `"${btoa(`<p>${String(i).padStart(90)}`)}";`)}`),
  "400,000 pictures of brands": () => page(`<input type=password>${"<img alt=x src=//a.example/>".repeat(49_000)}`),
  "20 bases for 19,000 buttons": () =>
    page(
      `${many(20, (i) => `<base href="/${"a/".repeat(4000)}${i}/">`)}<form id=f action=x></form>` +
        `${many(19_000, (i) => `<button form=f formaction=${i}></button>`)}<input type=password form=f>`,
    ),
  "20 long bases for 350,000 frames": () =>
    page(`${many(20, (i) => `<base href="${`${i}`.repeat(4000)}">`)}${"<iframe srcdoc=x></iframe>".repeat(350_000)}`),
  "a long base for 300,000 scripts of an app": () => ({
    "index.html": "<div id=root></div><script src=/m.js></script>",
    "b.html": `<script src=/m.js></script><base href="/${"a/".repeat(4000)}">${"<script src=b></script>".repeat(300_000)}`,
    "m.js": "history.pushState()",
  }),
  "a long base for 600,000 pictures": () =>
    page(`<base href="/${"a".repeat(8000)}/">${many(600_000, (i) => `<img src=${i}>`)}`),
  "300,000 lost addresses in 60 folders": () => ({
    ...page(""),
    [`${"a/".repeat(60)}p.html`]: many(300_000, (i) => `<img src=/q/p.html?${i}>`),
  }),
  "190 scripts that import 2,000 each": () => ({
    ...page(many(190, (i) => `<script type=module src=${i}.js></script>`)),
    ...site(190, (i) => [`${i}.js`, many(2000, (j) => `import"./${(i + j) % 400}.js";`)]),
  }),
};

function cpu(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function outcome(zip: Uint8Array): string {
  try {
    const codes = build(zip, LIMITS, () => {}, NEW_SITE, cpu).warnings.map(({ code }) => code);
    return [...new Set(codes)].join(" ") || "no warning";
  } catch (error) {
    if (error instanceof Refusal) return `refused: ${error.code}`;
    throw error;
  }
}

const asked = process.argv.slice(2);
let failed = false;
for (const [name, files] of Object.entries(ATTACKS)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  const zip = zipOf(files());
  const begun = cpu();
  const became = outcome(zip);
  const ms = Math.round(cpu() - begun);
  failed ||= ms > LIMIT_MS;
  process.stdout.write(
    `${name.padEnd(40)}${String(zip.length).padStart(9)} bytes${String(ms).padStart(7)} ms  ${became}\n`,
  );
}
process.stdout.write(failed ? `more than ${LIMIT_MS} ms of processor time\n` : "no violation\n");
process.exit(failed ? 1 : 0);
