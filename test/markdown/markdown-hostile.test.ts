/** PIPELINE 1: malformed Markdown never fails a deploy, and one text that takes too long costs no other page. */
import { describe, expect, test } from "bun:test";
import type { TimeLimits } from "../../src/pipeline/markdown/limits.ts";
import { docs } from "../kit/markdown-site.ts";
import { docsApart } from "./docs-apart.ts";
import { longTest, partOf } from "../kit/whole.ts";

/** Of these tests alone: many times what an honest page takes on a slow machine, and a small part of what a hostile one
 *  would take on a quick one. */
const LIMITS: TimeLimits = { deploy: 1500, page: 600 };

/** Each takes `marked` seconds, most of them a time that grows with the square of its length, or makes it throw. */
const HOSTILE: Record<string, string> = {
  "emphasis without end": "_a*".repeat(25_000),
  "brackets without end": "[_a".repeat(40_000),
  "quotations in quotations": `${"> ".repeat(40_000)}x`,
  "underscores between letters": "_a".repeat(60_000),
};
const OTHERS = {
  "README.md": "# Readme\n\n[bad](bad.md)",
  "b.md": "# Bee",
  "z.md": `# Zed\n\n${`${"Long and honest. ".repeat(10)}\n\n`.repeat(800)}`,
};
const complex = (warnings: string[]): string[] => warnings.filter((one) => one.startsWith("markdown_too_complex"));

describe("a page that does not make it becomes its source, and costs no other page", () => {
  test.each(partOf(Object.entries(HOSTILE), 1))(
    "%s",
    async (_, text) => {
      const files = { ...OTHERS, "bad.md": `---\norder: 1\n---\n# Bad <one>\n\n${text}` };
      const site = await docsApart(files, LIMITS);
      expect(site.article("bad.html")).toStartWith('<pre class="plain" tabindex="0"># Bad &lt;one&gt;\n\n');
      expect(complex(site.warnings)).toEqual([
        "markdown_too_complex bad.md: bad.md could not be rendered in time, so its page shows its source.",
      ]);
      expect(site.article("b.html")).toBe('<h1 id="bee">Bee</h1>');
      expect(site.article("z.html")).toContain("<p>Long and honest.");
      expect(site.article()).toContain('<a href="bad.html">bad</a>');
      expect(site.page()).toContain("<bdi>Bad &lt;one&gt;</bdi></a>");
    },
    60_000,
  );
});

longTest(
  "all pages together have their time: what comes after it shows its source, short texts come first",
  async () => {
    const bad = Object.fromEntries(
      Array.from({ length: 12 }, (_, i) => [`bad-${i}.md`, HOSTILE["emphasis without end"]!]),
    );
    const files = { ...bad, "README.md": "# Fine", "z.md": OTHERS["z.md"] };
    const site = await docsApart(files, { deploy: 1200, page: 600 });
    expect(complex(site.warnings)).toHaveLength(13);
    expect(site.article("z.html")).toContain("# Zed\n\nLong and honest.");
    expect(site.article()).toBe('<h1 id="fine">Fine</h1>');
  },
  60_000,
);

describe("PIPELINE 1: long paragraphs are no hostile text", () => {
  const SENTENCE = "The quick brown fox jumps over the lazy dog and goes home. ";

  test.each([4720, 6785])(
    "120 pages of one paragraph of %i characters are all rendered",
    async (length) => {
      const paragraph = SENTENCE.repeat(length / SENTENCE.length);
      const pages = Array.from({ length: 120 }, (_, n) => [`p${n}.md`, `# Page ${n}\n\n${paragraph}\n`]);
      const site = await docsApart(Object.fromEntries(pages), { deploy: 600, page: 500 });
      expect(site.warnings).toEqual([]);
      expect(site.article("p119.html")).toBe(`<h1 id="page-119">Page 119</h1>\n<p>${paragraph}</p>`);
    },
    60_000,
  );

  test("a line below up to 3,000 characters makes a heading of them, and none of a longer paragraph", () => {
    const long = SENTENCE.repeat(60).trim();
    const short = SENTENCE.repeat(50).trim();
    const site = docs({
      "README.md": `Main\n===\n\n${short}\n---\n\nNo heading\n\n---\n\n${long}\n===`,
    });
    expect(/<h1 id="main">Main<\/h1>\n<h2 id="[^"]+">The quick[^<]+<a/.test(site.article())).toBeTrue();
    expect(site.article().endsWith(`</h2>\n<p>No heading</p>\n<hr>\n<p>${long}\n===</p>`)).toBeTrue();
  });
});

test("PIPELINE 1: a page whose time was spent by others says which took most", async () => {
  const files = { "bad.md": HOSTILE["emphasis without end"]!, "README.md": "# Fine", "z.md": OTHERS["z.md"] };
  const site = await docsApart(files, { deploy: 600, page: 600 });
  expect(complex(site.warnings)).toHaveLength(2);
  expect(site.recipes).toEqual([
    "Split bad.md into shorter files, or take out its long runs of brackets, asterisks, underscores or nested quotations.",
    "Other files took the time that a deploy has for Markdown, and bad.md took most: split that file into shorter files, or take out its long runs of brackets, asterisks, underscores or nested quotations.",
  ]);
}, 60_000);

test("where marked throws, the rest is rendered all the same", () => {
  const bad = {
    "bad-1.md": ">".repeat(30_000),
    "bad-2.md": ">".repeat(30_001),
    "z.md": `# Zed\n\n${"Long. ".repeat(10_000)}`,
  };
  const site = docs({ ...bad, "README.md": "# Fine" }, { limits: { deploy: 60_000, page: 30_000 } });
  expect(complex(site.warnings)).toHaveLength(2);
  expect(site.article("z.html")).toContain("<p>Long.");
}, 60_000);

describe("PIPELINE 1: rendering counts processor time, and slow pages come last", () => {
  const long = (title: string, lines: number) =>
    `# ${title}\n\n${Array.from({ length: lines }, (_, i) => `- **${i}** \`fix\`: [#${i}](https://x.example/${i}), *thanks*`).join("\n")}\n`;

  test("a page that needs more than its share gets all that is left, behind the others", () => {
    const order: string[] = [];
    const upload = docs(
      { "slow.md": long("Slow", 3000), "b.md": "# B", "zz.md": long("Zed", 4000) },
      {
        limits: { deploy: 30_000, page: 1 },
        progress: (stage, file) => void (stage === "rendering Markdown" && file && order.push(file)),
      },
    );
    expect(upload.warnings).toEqual([]);
    expect(upload.article("slow.html")).toContain("<strong>2999</strong>");
    expect(order).toEqual(["b.md", "slow.md", "zz.md", "slow.md", "zz.md"]);
  }, 60_000);

  longTest(
    "a machine that is busy with other things takes no time from a long changelog",
    async () => {
      const busy = Array.from({ length: 6 }, () => Bun.spawn([process.execPath, "-e", "for(;;);"]));
      try {
        const text = long("Changelog", 6000);
        expect(text.length).toBeGreaterThan(300_000);
        expect(docs({ "CHANGELOG.md": text, "b.md": "# B" }).warnings).toEqual([]);
      } finally {
        for (const one of busy) one.kill();
        await Promise.all(busy.map(({ exited }) => exited));
      }
    },
    60_000,
  );
});

describe("any bytes make a site", () => {
  test.each<[why: string, content: string | Uint8Array]>([
    ["nothing", ""],
    ["white space", " \n\t\r\n "],
    ["only front matter", "---\ntitle: x\n---"],
    ["every byte", Uint8Array.from({ length: 65536 }, (_, i) => (i * 2654435761) >>> 13)],
    ["lone surrogates, escaped", "\\ud800 &#xd800; &#0; &#x110000;"],
    [
      "markup in every place",
      '# <img src=x onerror=alert(1)>\n\n[x](javascript:alert(1)) ![]("onerror=1)\n\n|<td>|\n|-|\n|</table>|',
    ],
    ["a reference to itself", "[a]: [a]\n\n[a] [a][a] ![a][a]"],
    ["brackets without end", "[".repeat(120_000)],
    ["many headings", "# x\n".repeat(20_000)],
    ["many footnotes", Array.from({ length: 2000 }, (_, i) => `[^${i}]\n\n[^${i}]: ${i}\n`).join("\n")],
  ])(
    "%s",
    (_, content) => {
      const site = docs({ "a.md": content, "b.md": "# B" });
      expect(site.page("a.html")).toContain("</html>");
      expect(site.article("b.html")).toBe('<h1 id="b">B</h1>');
    },
    60_000,
  );
});
