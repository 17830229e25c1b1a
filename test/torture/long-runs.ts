/** Long runs of every class of characters at the size of a whole upload: `bun test/torture/long-runs.ts [part…]`, with the
 *  parts `patterns` (each regular expression on 24 KB), `places` (each place of an upload on 256 KB) and `whole` (each
 *  place on 10 MB). What takes more than its share against a quarter of the length is told. Needs nothing; an hour. */
import { addresses, PLACES, textsAt, valuesOf, wordsOfReaders } from "../kit/patterns/files.ts";
import { judgedInParts } from "../kit/patterns/judged.ts";
import { type Growing, slowest, slowestText } from "../kit/patterns/slowest.ts";
import { literals, madePatterns } from "../kit/patterns/source.ts";
import { longTexts } from "../kit/patterns/texts.ts";

/** A page for every place and run: `HTML in a drawing` takes the longest, 150 ns for each character. */
const ENOUGH_MS_A_MB = 300;
const KB = 1024;
const WHOLE = 10 * KB * KB - 64 * KB;

/** Twice as much is looked at where it must be measured: code of more than 50,000 characters is never coloured, and on
 *  more of it the engine's stack is full, so that it goes on five times as slowly. */
const TEXT = 24 * KB;

async function patterns(): Promise<(string | null)[]> {
  const found = [];
  for (const one of [...(await literals()), ...(await madePatterns())]) {
    const slow = slowestText(one, () => longTexts(one), TEXT);
    if (slow !== null) found.push(`/${one.source}/ of ${one.file}: ${slow}`);
  }
  return found;
}

const tried = (inputs: Iterable<Growing<Record<string, string>>>, size: number): string | null =>
  slowest(judgedInParts, inputs, size, (ENOUGH_MS_A_MB * size) / KB / KB);

async function places(): Promise<(string | null)[]> {
  const found = Object.keys(PLACES).map((place) => tried(textsAt(place, true), 256 * KB));
  for (const word of await wordsOfReaders()) found.push(tried(valuesOf(word), 64 * KB));
  return [...found, tried(addresses(), 64 * KB)];
}

/** `expectLinear` doubles it where it looks again: so half of it is asked for here. */
const whole = (): (string | null)[] =>
  Object.keys(PLACES).map((place) => {
    process.stderr.write(`${place}\n`);
    return tried(
      textsAt(place).filter(({ name }) => name.startsWith(JSON.stringify([place, ""]).slice(0, -1))),
      WHOLE / 2,
    );
  });

const PARTS = { patterns, places, whole };
const asked = process.argv.slice(2);
let failed = false;
for (const [name, part] of Object.entries(PARTS)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  const slow = (await part()).filter((one) => one !== null);
  process.stdout.write(`${name}: ${slow.length === 0 ? "no violation" : slow.join("\n")}\n`);
  failed ||= slow.length > 0;
}
process.exit(failed ? 1 : 0);
