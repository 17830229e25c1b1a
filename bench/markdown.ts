/** What a Markdown site costs its deploy: `taskset -c 0 bun bench/markdown.ts`. `marked` alone on the same texts is the
 *  floor; hostile texts may cost what PIPELINE 1 gives them (0.5 s a page, 2 s a deploy) and no more. */
import { Marked } from "marked";
import { renderMarkdownSite } from "../src/pipeline/docs/index.ts";
import type { Bytes, Draft } from "../src/base/types.ts";

type Texts = Record<string, string>;

const SECTION = (n: number, other: number): string => `
## Section ${n}: what to do when it rains

Paragraphs of *ordinary* prose with **stress**, \`code\`, a [link](page-${other}.md#section-1) and an
[address](https://example.com/a?b=c). Sentences go on for a while, as they do in a manual, and say
little that has not been said on another page already; nobody minds, least of all the parser.

- first point, with some words behind it
- second point, with [another link](folder-${other % 7}/page-${other}.md)
  - and one below it

| Option | Default | Meaning |
| ------ | ------: | ------- |
| \`--port\` | 8787 | where it listens |
| \`--host\` | none | for whom |

\`\`\`ts
export const answer = (question: string): number => question.length * ${n};
\`\`\`

> A quotation that ends the section.
`;

/** 10 KB of manual. */
function page(i: number): string {
  let text = `# Page ${i}\n`;
  for (let n = 1; text.length < 10_000; n++) text += SECTION(n, (i + n) % 200);
  return text.slice(0, 10_000);
}

const numbered = (count: number, text: (i: number) => string): Texts =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [i % 3 ? `page-${i}.md` : `folder-${i % 7}/page-${i}.md`, text(i)]),
  );

const manual = numbered(200, page);
const hostile = "_a*".repeat(60_000);
const ROWS: [name: string, texts: Texts][] = [
  ["one README of 2 KB", { "README.md": page(0).slice(0, 2000) }],
  ["20 pages of 10 KB", numbered(20, page)],
  ["200 pages of 10 KB", manual],
  ["10 pages of 200 KB", numbered(10, (i) => page(i).repeat(20))],
  ["hostile: one of three pages", { "a.md": page(1), "b.md": page(2), "bad.md": hostile }],
  ["hostile: 200 of 200 pages", numbered(200, () => hostile)],
  ["hostile: 2 MB of open elements", { "a.md": page(1), "b.md": "<div>\n".repeat(350_000) }],
  [
    "hostile: 200 folders in each other",
    Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`${"d/".repeat(i)}x.md`, page(i)])),
  ],
];

const draftOf = (texts: Texts): Draft => ({
  files: new Map(Object.entries(texts).map(([path, text]) => [path, new TextEncoder().encode(text) as Bytes])),
  made: new Set(),
  stripped_folder: null,
  healed: [],
  warnings: [],
});

function floor(texts: Texts): number {
  const marked = new Marked();
  const started = performance.now();
  for (const text of Object.values(texts)) marked.parse(text);
  return performance.now() - started;
}

/** Clock and processor, all threads. */
function site(draft: Draft): { ms: number; cpu_ms: number; too_complex: number } {
  const [started, cpu] = [performance.now(), process.cpuUsage()];
  const { warnings } = renderMarkdownSite(draft, () => {});
  const { user, system } = process.cpuUsage(cpu);
  const too_complex = warnings.filter(({ code }) => code === "markdown_too_complex").length;
  return { ms: performance.now() - started, cpu_ms: (user + system) / 1000, too_complex };
}

const middle = (times: number[]): string => times.toSorted((a, b) => a - b)[times.length >> 1]!.toFixed(0);

for (const [name, texts] of ROWS) {
  const [draft, bad] = [draftOf(texts), name.startsWith("hostile")];
  const runs = Array.from({ length: bad ? 1 : 5 }, () => site(draft));
  const floors = bad ? "-" : middle(Array.from({ length: 5 }, () => floor(texts)));
  const cells = [middle(runs.map(({ ms }) => ms)), middle(runs.map(({ cpu_ms }) => cpu_ms)), floors];
  console.log(
    `${name.padEnd(36)}${cells.map((cell) => `${cell} ms`.padStart(10)).join("")}  ${runs[0]!.too_complex} as source`,
  );
}
