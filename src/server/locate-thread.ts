/** The thread of locate-lane.ts: reads a stored page and looks for a quote in its text. */
import { workerData } from "node:worker_threads";
import { anchor } from "../comments/anchoring/anchor.ts";
import { pageText } from "../comments/anchoring/page-text.ts";
import { decodeHtml } from "../html/decode.ts";
import { readBlobs } from "../store/index.ts";
import type { FromLocator, LocateOrder, LocateReply } from "./locate-order.ts";

declare const self: Worker;

/** Visitors of one page comment on it one after the other. */
const KEPT_TEXTS = 4;
const texts = new Map<string, string>();
const blobs = readBlobs(workerData as string);

async function textOf(file: LocateOrder["file"]): Promise<string> {
  const known = texts.get(file.sha256);
  if (known !== undefined) return known;
  const text = pageText(decodeHtml(await blobs.read(file)));
  if (texts.size >= KEPT_TEXTS) texts.delete(texts.keys().next().value!);
  texts.set(file.sha256, text);
  return text;
}

async function locate({ file, quote }: LocateOrder): Promise<LocateReply["found"]> {
  return anchor(await textOf(file), quote);
}

self.onmessage = async ({ data }: MessageEvent<LocateOrder>) => {
  // A page that cannot be read says so to whoever asks for it.
  const found = await locate(data).catch(() => null);
  send({ found });
};
const send = (message: FromLocator): void => self.postMessage(message);
send("ready");
