/** `bun scripts/emoji.ts`: writes src/pipeline/markdown/emoji.txt, the names that GitHub has for emoji, from the npm package
 *  that lists them (pinned in test/tools). Run it when a newer version of that is pinned, and commit what it wrote. */
import { join } from "node:path";
import { install, main, ROOT, say, TOOLS } from "./run.ts";

const FILE = join(ROOT, "src", "pipeline", "markdown", "emoji.txt");
const LONGEST_LINE = 400;

/** Facts alone: `🚀 rocket, 👍 +1 thumbsup, …`, in the package's order, names by alphabet, in lines that a diff can show. */
export async function emojiList(): Promise<string> {
  const { nameToEmoji } = (await import(join(TOOLS, "node_modules", "gemoji", "index.js"))) as {
    nameToEmoji: Record<string, string>;
  };
  const names = Map.groupBy(Object.keys(nameToEmoji), (name) => nameToEmoji[name]!);
  const lines = [""];
  for (const [emoji, of_it] of names) {
    const entry = [emoji, ...of_it.toSorted()].join(" ");
    const line = lines.at(-1)!;
    if (line.length + entry.length > LONGEST_LINE) lines.push(entry);
    else lines[lines.length - 1] = line === "" ? entry : `${line}, ${entry}`;
  }
  return `${lines.join("\n")}\n`;
}

if (import.meta.main) {
  await main(async () => {
    await install("test tools", TOOLS);
    await Bun.write(FILE, await emojiList());
    say(FILE);
    return 0;
  });
}
