/** What anchoring costs in a browser: `bun bench/anchoring/browser.ts [rounds] [another checkout]`. A page of 360,000
 *  characters is walked, 500 passages are found on it and become highlighted ranges; 100 quotes are nowhere on a page of
 *  100,000. Milliseconds of the page's thread, the fastest and the middle of the rounds. With another checkout each round
 *  asks both, in turns, so that what disturbs one disturbs the other. */
import { join } from "node:path";
import { openBrowser } from "../../test/browser/chromium.ts";
import { ROOT } from "../../test/house/fence/source.ts";
import { realPages } from "../../test/comments/pages.ts";
import { blocksOf, laidOut } from "./edits.ts";

const [rounds = "15", other] = process.argv.slice(2);

async function bundled(checkout: string, name: string): Promise<string> {
  const at = (path: string): string => JSON.stringify(join(checkout, "src/comments", path));
  const source = `import { anchor } from ${at("anchor.ts")}; import { documentText } from ${at("widget/page-text.ts")};
    window.${name} = { anchor, documentText };`;
  const { outputs } = await Bun.build({
    entrypoints: ["/entry.ts"],
    files: { "/entry.ts": source },
    target: "browser",
    format: "iife",
    minify: true,
  });
  return `(() => {${await outputs[0]!.text()}})()`; // an expression
}

/** Paragraphs of the project's own manual with words in elements of their own, as prose has them. */
async function pageOf(characters: number): Promise<string> {
  const texts = (await realPages()).flatMap(([, html]) => blocksOf(html).map((block) => laidOut([block]).text));
  const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  let [html, length] = ["", 0];
  for (let at = 0; length < characters; at++) {
    const text = `${texts[at % texts.length]!} (${at})`;
    html += `<p>${escaped(text).replace(/(\w{6,}) (\w+)/g, "<code>$1</code> <a href='#'>$2</a>")}</p>\n`;
    length += text.length + 1;
  }
  return html;
}

const MEASURE = `(rounds, names) => {
  const took = {};
  const time = (name, work) => {
    const before = performance.now();
    const made = work();
    (took[name] ??= []).push(performance.now() - before);
    return made;
  };
  const body = document.body;
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 ? names.toReversed() : names) {
      const { anchor, documentText } = window[name];
      const page = time(name + ": walk of 360,000 characters", () => documentText(body));
      const { text } = page;
      const quotes = Array.from({ length: 500 }, (_, n) => {
        const start = text.indexOf(" ", Math.floor((n / 500) * (text.length - 400))) + 1;
        const end = text.indexOf(" ", start + 20 + ((n * 13) % 150));
        return [{ exact: text.slice(start, end), prefix: text.slice(Math.max(0, start - 64), start), suffix: text.slice(end, end + 64) }, start];
      });
      const anew = documentText(body);
      const found = time(name + ": 500 passages found", () => quotes.map(([quote, start]) => anchor(anew.text, quote, start)));
      const ranges = time(name + ": 500 ranges", () => found.map((at) => anew.range(at.start, at.end)));
      time(name + ": highlighted", () => CSS.highlights.set("svc-comment", new Highlight(...ranges)));
      const moved = documentText(body);
      const indexed = documentText(body).text + "!".repeat(round + 1) + (name === names[0] ? "!" : "?");
      time(name + ": a page of 360,000 characters is cut into words", () => anchor(indexed, { exact: "no such word", prefix: "", suffix: "" }));
      time(name + ": 500 passages found, 5,000 characters on, without that", () => quotes.map(([quote, start]) => anchor(indexed, quote, start + 5000)));
      time(name + ": 500 passages found, 5,000 characters on", () => quotes.map(([quote, start]) => anchor(moved.text, quote, start + 5000)));
      CSS.highlights.clear();
      const short = text.slice(0, 100000 - round) + (name === names[0] ? "." : ",");
      const words = short.split(" ");
      const miss = (n) => {
        const mixed = Array.from({ length: 80 }, (_, i) => words[(n * 7919 + i * 104729) % words.length]).join(" ");
        return { exact: mixed.slice(64, 264), prefix: mixed.slice(0, 64), suffix: mixed.slice(264, 328) };
      };
      time(name + ": first of 100 orphans on 100,000 characters", () => anchor(short, miss(0)));
      time(name + ": the others", () => Array.from({ length: 99 }, (_, n) => anchor(short, miss(n + 1))));
    }
  }
  return took;
}`;

const page = `<!doctype html><meta charset=utf-8><title>bench</title><body>${await pageOf(360_000)}`;
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: () => new Response(page, { headers: { "content-type": "text/html; charset=utf-8" } }),
});
const browser = await openBrowser();
try {
  await browser.visit(`http://localhost:${server.port}/`);
  const names = other ? ["now", "other"] : ["now"];
  await browser.evaluate(await bundled(ROOT, "now"));
  if (other) await browser.evaluate(await bundled(other, "other"));
  const took = await browser.evaluate<Record<string, number[]>>(
    `(${MEASURE})(${Number(rounds)}, ${JSON.stringify(names)})`,
  );
  console.log("| ms of the page's thread | fastest | middle |\n|---|---|---|");
  for (const [what, list] of Object.entries(took)) {
    const sorted = list.toSorted((a, b) => a - b);
    console.log(`| ${what} | ${sorted[0]!.toFixed(1)} | ${sorted[sorted.length >> 1]!.toFixed(1)} |`);
  }
} finally {
  await browser.close();
  await server.stop(true);
}
