/** One upload: XMLHttpRequest alone tells how far it is. Nothing here needs a secure context. */
import type { Answer } from "./refusals.ts";

interface Upload {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Blob;
  signal: AbortSignal;
  /** From 0 to 1, as the bytes go out. */
  progress(part: number): void;
  /** The last byte is out: nothing is left to cancel. */
  sent(): void;
}

function json(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}

function answerOf(xhr: XMLHttpRequest): Answer {
  const wait = Number(xhr.getResponseHeader("retry-after") ?? NaN);
  return {
    status: xhr.status,
    body: json(xhr.responseText),
    request_id: xhr.getResponseHeader("x-request-id"),
    retry_after: Number.isFinite(wait) && wait >= 0 ? wait : null,
  };
}

/** What the server answered; null where no answer came. Throws where `signal` ended it. */
export function upload({ url, headers, body, signal, progress, sent }: Upload): Promise<Answer | null> {
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest();
    const stop = () => xhr.abort();
    xhr.open("POST", url);
    for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value);
    xhr.upload.onprogress = ({ loaded, total }) => total > 0 && progress(loaded / total);
    xhr.upload.onload = sent;
    xhr.onload = () => resolve(answerOf(xhr));
    xhr.onerror = () => resolve(null);
    xhr.onabort = () => reject(signal.reason as Error);
    xhr.onloadend = () => signal.removeEventListener("abort", stop);
    signal.addEventListener("abort", stop);
    xhr.send(body);
  });
}

/** `until` an abort, or for so long. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
