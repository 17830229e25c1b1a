/** One drop on its way to a zip: what is in it, what must be asked, and what no upload would change. */
import { collect, type Collected, type Found, type GivenEntry, Unusable, within } from "./collect.ts";
import type { Target } from "./deliver.ts";
import { code, el } from "./dom.ts";
import type { Face, Question } from "./face.ts";
import { firstLines, pastedName } from "./pasted.ts";
import { builtFolder, everything, hasPage, isZip, nothingIn, tooMuch, zipTooLarge } from "./questions.ts";
import type { Trouble } from "./refusals.ts";
import type { Setup } from "./setup.ts";
import { count } from "../../../base/units.ts";
import { size } from "./words.ts";
import { asItIs, packed } from "./worker-calls.ts";

/** The source of a deploy: files and folders, or a text. */
export type Source = { given: readonly GivenEntry[] } | { text: string };

export interface Job {
  source: Source;
  target: Target;
  key: string;
  without_account: boolean;
  /** The version that was live before the first try; undefined before it was asked for. */
  live_before: string | null | undefined;
  left_out: readonly string[];
  zip: Blob | null;
  controller: AbortController;
  /** From the answer to the last question until the receipt. */
  busy: boolean;
  /** The last answer was that the session has ended. */
  signed_out: boolean;
  /** No answer came to one of its tries: the server may have taken it. */
  lost: boolean;
  /** Its last byte went out. */
  sent: boolean;
  /** The name of the folder or file; empty before it was looked at. */
  name: string;
  /** The title of its start page, for this browser's list. */
  title: string | null;
  /** The element that had the focus. */
  from: Element | null;
}

/** Keeps a drop from being sent; the alert shows the trouble. */
class Stopped extends Error {
  constructor(readonly trouble: Trouble) {
    super(trouble.sentence);
  }
}

const stopAt = (trouble: Trouble | null): void => {
  if (trouble) throw new Stopped({ ...trouble, offers: ["start_over"] });
};

/** The face, the setup and the steps that questions and progress use. */
interface Stage {
  face: Face;
  setup: Setup;
  /** Says the name of a stage, each once a try. */
  stage(words: string): void;
  /** Whether it goes on, or waits for an answer. */
  resume(job: Job): void;
  rest(job: Job): void;
}

/** The answer to a question: one of the choices. "Cancel" ends the job. */
function ask<T>(
  job: Job,
  { face, rest }: Stage,
  question: Omit<Question, "choices" | "cancel">,
  choices: [label: string, value: T, disabled?: boolean][],
): Promise<T> {
  rest(job);
  return new Promise<T>((resolve, reject) => {
    const { signal } = job.controller;
    signal.addEventListener("abort", () => reject(signal.reason as Error));
    face.ask({
      ...question,
      choices: choices.map(([label, value, disabled]) => ({ label, disabled, choose: () => resolve(value) })),
      cancel: () => job.controller.abort(),
    });
  });
}

async function pastedFile(job: Job, stage: Stage, text: string): Promise<Collected> {
  const name = pastedName(text);
  const file = new File([text], name);
  const details = [
    el("p", {}, code(name), `, ${size(file.size)}`),
    el("pre", { tabindex: "0", role: "group", "aria-label": "How it begins", dir: "auto" }, firstLines(text)),
  ];
  const files = [{ path: name, file, bytes: file.size }];
  const pasted = { files, secrets: [], rules: new Map<string, File>(), empty: false, more: false };
  stopAt(tooMuch(pasted, stage.setup));
  await ask(job, stage, { name: "Publish what you pasted?", details }, [["Publish", null]]);
  stage.resume(job);
  return pasted;
}

/** The build, or the whole project. */
async function chosenPart(job: Job, stage: Stage, all: Collected, folder: string): Promise<Collected> {
  const built = await within(all, folder);
  const details = [
    el(
      "p",
      {},
      "The site that it builds is in ",
      code(folder),
      ` (${everything(built.files)}). All of it is ${everything(all.files)}.`,
    ),
  ];
  const over = tooMuch(all, stage.setup) !== null;
  const chosen = await ask(job, stage, { name: "This looks like a project", details }, [
    [`Publish ${folder}`, built],
    ["Publish everything", all, over],
  ]);
  stage.resume(job);
  return chosen;
}

async function askForList(job: Job, stage: Stage, { files }: Collected): Promise<void> {
  const words = `It would become a list of ${count(files.length, "file")} that anyone with the link can open.`;
  await ask(job, stage, { name: "There is no web page in this", details: [el("p", {}, words)] }, [
    ["Publish the list", null],
  ]);
  stage.resume(job);
}

const onlyZip = ({ files }: Collected): Found | null =>
  files.length === 1 && !files[0]!.path.includes("/") && isZip(files[0]!) ? files[0]! : null;

async function whatToSend(job: Job, stage: Stage): Promise<{ collected: Collected; zip: Found | null }> {
  const { source, controller } = job;
  if ("text" in source) {
    job.name = pastedName(source.text);
    return { collected: await pastedFile(job, stage, source.text), zip: null };
  }
  const all = await collect(source.given, controller.signal);
  job.name = (source.given.length === 1 && source.given[0]!.name) || count(all.files.length, "file");
  stopAt(nothingIn(all));
  // A folder that holds a zip is a site that offers it.
  const given_file = source.given.length === 1 && "file" in source.given[0]!;
  const zip = given_file ? onlyZip(all) : null;
  if (zip) return { collected: all, zip };
  const folder = builtFolder(all);
  const collected = folder === null ? all : await chosenPart(job, stage, all, folder);
  stopAt(tooMuch(collected, stage.setup, job.name));
  if (!hasPage(collected.files)) await askForList(job, stage, collected);
  return { collected, zip: null };
}

/** The zip of a job, made once: "Try again" sends the same. */
export async function zipOf(job: Job, stage: Stage): Promise<Blob> {
  if (job.zip) return job.zip;
  const { signal } = job.controller;
  const { collected, zip } = await whatToSend(job, stage);
  const { files, secrets } = collected;
  if (zip) stopAt(zipTooLarge(zip.bytes, stage.setup, files));
  stage.stage(`Reading ${count(files.length, "file")}`);
  const { worker } = stage.setup;
  const bytes = zip ? await asItIs(worker, zip.file, signal) : await zipped(job, stage, files);
  stopAt(zipTooLarge(bytes.size, stage.setup, files));
  job.left_out = secrets;
  job.title = await titleIn(files);
  job.zip = bytes;
  return bytes;
}

const LONGEST_TITLE = 200;
const HEAD_BYTES = 64 * 1024;

/** The title of the page that `/` shows, as far as that can be told here; the server knows better, but this list is only for
 *  the person's own eyes. */
async function titleIn(files: readonly Found[]): Promise<string | null> {
  const page =
    files.find(({ path }) => /^index\.(?:html?|md)$/i.test(path)) ?? (files.length === 1 ? files[0] : undefined);
  if (page === undefined || !/\.(?:html?|md)$/i.test(page.path)) return null;
  const text = await page.file
    .slice(0, HEAD_BYTES)
    .text()
    .catch(() => "");
  const title = /\.md$/i.test(page.path)
    ? /^#\s+(.+)$/m.exec(text)?.[1]
    : new DOMParser().parseFromString(text, "text/html").title;
  return [...(title ?? "").trim()].slice(0, LONGEST_TITLE).join("") || null;
}

async function zipped(job: Job, { stage, setup }: Stage, files: readonly Found[]): Promise<Blob> {
  return packed(setup.worker, files, job.controller.signal, () => stage("Zipping"));
}

/** The trouble with the files themselves; null for any other error. */
export const troubleWithFiles = (error: unknown): Trouble | null => {
  if (error instanceof Stopped) return error.trouble;
  return error instanceof Unusable ? { sentence: error.message, offers: ["start_over"] } : null;
};
