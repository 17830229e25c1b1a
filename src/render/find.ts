/** Which browser there is, and whether it runs. */
import type { Chromium, FromRender, ToRender } from "./job.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/** Throws a sentence for whoever starts the server. `named`: SVC_CHROME. */
function findChromium(named: string | null): string {
  const found = named === null ? NAMES.map((name) => Bun.which(name)).find((path) => path !== null) : Bun.which(named);
  if (found) return found;
  throw new Error(
    named === null
      ? `no browser was found: install chromium, or name one in SVC_CHROME (looked for ${NAMES.join(", ")} on PATH)`
      : `there is no program ${named}: SVC_CHROME must be a path to Chromium or Chrome`,
  );
}

/** Of what the browser complained of: the sandbox where it is that, else what came last. */
function complaintOf(text: string): string {
  const lines = text.trim().split("\n");
  const line = lines.find((one) => /sandbox/i.test(one)) ?? lines.at(-1)!;
  return line.replace(/^\[[^\]]*\] ?/, "").slice(0, 300);
}

interface Trying {
  /** SVC_CHROME. */
  chrome: string | null;
  run(make: (folder: string) => ToRender): Promise<FromRender>;
  /** Once. */
  say(sentence: string): void;
}

/** Looked for once a start: with its sandbox, else without. Rejects with a sentence where none runs. */
export function keepingBrowser({ chrome, run, say }: Trying): () => Promise<Chromium> {
  async function troubleWith(chromium: Chromium): Promise<string | null> {
    const answer = run((folder) => ({ try: { ...chromium, folder } }));
    const said = await answer.catch((error: Error) => ({ trouble: error.message }));
    return "trouble" in said ? said.trouble : "it gave no answer";
  }
  async function find(): Promise<Chromium> {
    const program = findChromium(chrome);
    const why = await troubleWith({ program, sandbox: true });
    if (why === null) return { program, sandbox: true };
    const trouble = await troubleWith({ program, sandbox: false });
    if (trouble !== null) throw new Error(`${program} does not run: ${complaintOf(trouble)}`);
    const at = 'see "Receipts of a browser" in docs/self-hosting.md';
    say(
      `${program} runs without its sandbox, which this user or kernel does not allow it (${complaintOf(why)}): ${at}`,
    );
    return { program, sandbox: false };
  }
  let found: Promise<Chromium> | undefined;
  return () =>
    (found ??= find().catch((error: Error) => {
      say(`no version is looked at: ${error.message}`);
      throw error;
    }));
}
