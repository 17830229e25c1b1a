/** A password from stdin: one line; on a terminal asked for twice and not shown. */
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

/** Shows what the program says, and nothing that is typed. */
async function hiddenLines(questions: readonly string[]): Promise<string[]> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  terminal.on("SIGINT", () => {
    terminal.close(); // gives the terminal its echo back
    process.stderr.write("\n");
    process.exit(130);
  });
  const answers: string[] = [];
  try {
    for (const question of questions) {
      process.stderr.write(question);
      answers.push(await terminal.question(""));
      process.stderr.write("\n");
    }
  } finally {
    terminal.close();
  }
  return answers;
}

/** What a program pipes in, up to the end of its first line: it may keep the pipe open. */
async function pipedLine(): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of Bun.stdin.stream()) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes("\n")) break;
  }
  return text.split(/\r?\n/, 1)[0]!;
}

/** Throws a sentence where the two differ. */
export async function readPassword(): Promise<string> {
  if (!process.stdin.isTTY) return pipedLine();
  const [first = "", second] = await hiddenLines(["New password: ", "Once more: "]);
  if (first !== second) throw new Error("The two passwords differ: nothing was changed.");
  return first;
}
