/** Reads an answer's body, up to a limit that no honest answer reaches. */

/** A list of a thousand sites is a tenth of this. */
const MOST_ANSWER_BYTES = 8 << 20;

/** The body is longer than the limit; the rest of it was not read. */
export class TooLongAnswer extends Error {
  override readonly name = "TooLongAnswer";
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Reads at most `most` bytes, or throws `TooLongAnswer`. They are counted as they are decoded: a small body can unfold to
 *  any size. */
export async function readAtMost(response: Response, most = MOST_ANSWER_BYTES): Promise<Uint8Array> {
  const reader = response.body?.getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let next = await reader?.read(); next?.value !== undefined; next = await reader!.read()) {
    length += next.value.length;
    if (length > most) {
      // Not awaited: the other side may never end.
      reader!.cancel().catch(() => {});
      throw new TooLongAnswer(`more than ${most / (1 << 20)} MB`);
    }
    parts.push(next.value);
  }
  return joined(parts, length);
}
