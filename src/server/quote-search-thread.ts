/** The thread of quote-search.ts: reads a stored page and looks for a quote in its text. */
import { workerData } from "node:worker_threads";
import { anchor } from "../comments/anchoring/anchor.ts";
import { pageText } from "../comments/anchoring/page-text.ts";
import { decodeHtml } from "../html/decode.ts";
import { answerCalls } from "../run/thread.ts";
import { openBlobs, type StoreAddress } from "../store/index.ts";
import type { Quote } from "../store/notes.ts";
import type { Stored } from "../store/versions.ts";

export interface QuoteSearchOrder {
  /** The page as it is stored. */
  file: Stored;
  quote: Quote;
}

/** UTF-16 units of the page's normalised text; null when the quote is not found. */
export type FoundQuote = { start: number; end: number; state: "anchored" | "changed" } | null;

/** Visitors of one page comment on it one after the other. */
const KEPT_TEXTS = 4;
const texts = new Map<string, string>();
const blobs = openBlobs(workerData as StoreAddress);

async function textOf(file: Stored): Promise<string> {
  const known = texts.get(file.sha256);
  if (known !== undefined) return known;
  const text = pageText(decodeHtml(await blobs.read(file)));
  if (texts.size >= KEPT_TEXTS) texts.delete(texts.keys().next().value!);
  texts.set(file.sha256, text);
  return text;
}

answerCalls(async ({ file, quote }: QuoteSearchOrder): Promise<FoundQuote> => anchor(await textOf(file), quote));
