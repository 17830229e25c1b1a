/** What each upload pays for in its process: `bun bench/pipeline.ts`. One ordinary and one hostile input a row. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Refusal } from "../src/base/errors.ts";
import { receiveZip, takeZip } from "../src/deploy/zip-files.ts";
import { build } from "../src/pipeline/index.ts";
import { scanAbuse } from "../src/pipeline/abuse/index.ts";
import { mediaType } from "../src/base/media-types.ts";
import { detectSpa } from "../src/pipeline/spa.ts";
import { keepPages } from "../src/html/page.ts";
import { titleOf } from "../src/html/page.ts";
import type { Bytes, Draft, Files } from "../src/base/types.ts";
import { NEW_SITE } from "../test/kit/abuse-site.ts";
import { DOCUMENTS } from "../test/kit/spa-documents.ts";
import { APPS, type Shape } from "../test/kit/spa-shapes.ts";
import { zipOf } from "../test/kit/zip.ts";

const LIMITS = { max_files: 200, max_bytes: 10 << 20, max_zip_bytes: 5 << 20 };
const bytes = (text: string): Bytes => new TextEncoder().encode(text);
const filesOf = (shape: Shape): Files => new Map(Object.entries(shape).map(([path, text]) => [path, bytes(text)]));
const nineMB = (piece: string): Bytes => bytes(piece.repeat(Math.floor((9 << 20) / piece.length)));

const react = filesOf(APPS["Vite React"]!.files);
const article = bytes(
  `<title>An article</title><h1>An article</h1>${"<p>Text &amp; <a href=/x>link</a>.</p>".repeat(1200)}`,
);
const elements = nineMB("<x-y>");
const drawings = nineMB("<svg><title>x</title>");

/** Half of it repeats, so that it compresses about as code and markup do. */
function upload(files: number, total: number): Bytes {
  const size = Math.floor(total / files);
  const content = () => {
    const random = crypto.getRandomValues(new Uint8Array(Math.min(65_536, Math.floor(size / 3))));
    return new Uint8Array(size).map((_, i) => random[i % random.length]! & 127);
  };
  const named = Array.from({ length: files - 1 }, (_, i) => [`assets/file-${i}.js`, content()] as const);
  return zipOf(new Map<string, Uint8Array>([["index.html", article], ...named]));
}
const small = upload(1, 50_000);
const middle = upload(50, 2.5e6);
const full = upload(200, 10e6);
const listed = zipOf(new Map(Array.from({ length: 200 }, (_, i) => [`photos/${i}.png`, "x"])));
const hostile = zipOf({ "index.html": elements });
const handed = await receiveZip(await mkdtemp(join(tmpdir(), "svc-bench-")), [zipOf({ "a.txt": "x" })]);
const { note } = takeZip(handed.path);
await handed.remove();

const scan = (files: Files) => {
  const draft: Draft = { files, made: new Set(), stripped_folder: null, healed: [], warnings: [] };
  return scanAbuse(draft, NEW_SITE, note);
};
const docs = new Map(Array.from({ length: 200 }, (_, i) => [`docs/${i}.html`, article.subarray(0, 10_000)]));
const signIn = bytes(`<title>Sign in</title><form action=/x><label>Password<input type=password></label></form>`);
/** A page that asks for a password makes all code worth a look. */
const bundle = new Map([
  ["index.html", signIn],
  ["app.js", bytes('const a=(e,t)=>{return e.map((n)=>n+"x"+t)};'.repeat(100_000))],
]);

const ROWS: [name: string, run: () => unknown][] = [
  ["spa: Vite React", () => detectSpa(react)],
  ["spa: Docusaurus, decided by its 404.html", () => detectSpa(filesOf(DOCUMENTS["Docusaurus"]!.files))],
  ["spa: a 45 KB article", () => detectSpa(new Map([["index.html", article]]))],
  ["spa: 9 MB of open elements", () => detectSpa(new Map([["index.html", elements]]))],
  ["title: a 45 KB article", () => titleOf(keepPages()(article))],
  ["title: 9 MB of drawings", () => titleOf(keepPages()(drawings))],
  ["media type: a page of 45 KB", () => mediaType("docs/article.html", article)],
  ["media type: 9 MB of HTML", () => mediaType("docs/article.html", elements)],
  ["abuse: 200 pages of 10 KB", () => scan(docs)],
  ["abuse: a sign-in page and 4.4 MB of code", () => scan(bundle)],
  ["abuse: 9 MB of open elements", () => scan(new Map([["index.html", elements]]))],
  ["abuse: 9 MB of drawings", () => scan(new Map([["index.html", drawings]]))],
  ["progress: one file", () => note("unpacking", "assets/file-1.js")],
  ["build: 1 file", () => build(small, LIMITS, note, NEW_SITE)],
  ["build: 50 files, 2.5 MB", () => build(middle, LIMITS, note, NEW_SITE)],
  ["build: 200 files, 10 MB", () => build(full, LIMITS, note, NEW_SITE)],
  ["build: 200 pictures in a list", () => build(listed, LIMITS, note, NEW_SITE)],
  ["build: 9 MB of open elements", () => build(hostile, LIMITS, note, NEW_SITE)],
];

/** A hostile page may be refused: that is an answer, too. */
function answer(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

/** Median of runs for half a second, and at least five of them. */
function median(run: () => unknown): number {
  const times: number[] = [];
  for (const end = performance.now() + 500; performance.now() < end || times.length < 5;) {
    const start = performance.now();
    answer(run);
    times.push(performance.now() - start);
  }
  return times.toSorted((a, b) => a - b)[times.length >> 1]!;
}

for (const [name, run] of ROWS) {
  const ms = median(run);
  console.log(`${name.padEnd(44)}${(ms < 1 ? `${(ms * 1000).toFixed(1)} us` : `${ms.toFixed(1)} ms`).padStart(10)}`);
}
