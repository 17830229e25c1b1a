/** A line typed or pasted on a terminal. A secret is never shown, so it stays out of recordings and scroll-back. */
import { readKeys } from "./keys.ts";
import type { Terminal } from "./index.ts";
import { text } from "./text.ts";

export async function readTyped(terminal: Terminal, question: string, how: "hidden" | "shown"): Promise<string> {
  let typed = "";
  const show = () => terminal.draw([text`${question}${how === "shown" ? typed : ""}`]);
  const answer = await readKeys(show, (key) => {
    if (key.name === "return" || key.name === "enter" || (key.ctrl && key.name === "d")) return typed;
    if (key.name === "backspace") typed = typed.slice(0, -1);
    else if (key.ctrl && key.name === "u") typed = "";
    else if (!key.ctrl && /^[^\x00-\x1f\x7f]+$/.test(key.typed)) typed += key.typed;
    if (how === "shown") show();
    return undefined;
  });
  terminal.draw([]);
  return answer;
}
