/** Pages that put a command on their visitors' clipboard and have them run it. */
import { probeFor } from "./page-code.ts";
import type { Judged, Look } from "./signal.ts";

const HUMAN =
  /verify (?:that )?you(?:'|’| a)re (?:a )?human|verify you are not a robot|prove (?:that )?you(?:'|’| a)re (?:a )?human|human verification|i(?:'|’| a)m not a robot/i;
const writesClipboard = probeFor(/clipboard\s*(?:\?\.|\.)\s*write|execCommand\s*\(\s*["'`]copy/);
const asksForHuman = probeFor(HUMAN);

export const fakeCheck: Look = ({ page, path, code }) => {
  const asks = HUMAN.test(page.text) || HUMAN.test(page.title) || code.find(page, path, asksForHuman) !== null;
  if (!asks || code.find(page, path, writesClipboard) === null) return null;
  return {
    name: "fake_human_check",
    why: "asks visitors to prove that they are human and writes to their clipboard",
    fix: "Take out the check or the code that writes to the clipboard",
  };
};

const RUN_KEYS =
  /(?:\bwin(?:dows)?(?:\s{1,9}(?:logo\s{1,9})?(?:key|button))?|⊞)\s{0,9}(?:\+|plus|and|-)\s{0,9}["'“‘]?r\b/i;
const PASTE_KEYS = /\b(?:ctrl|control)\s{0,9}(?:\+|plus|and|-)\s{0,9}["'“‘]?v\b/i;
const saysRun = probeFor(RUN_KEYS);
const saysPaste = probeFor(PASTE_KEYS);

/** Whether a page says it, or a script of its has it to say. */
const says = ({ page, path, code }: Judged, words: RegExp, inCode: (code: string) => true | null): boolean =>
  words.test(page.text) || code.find(page, path, inCode) !== null;

export const pastedCommand: Look = (judged) => {
  const { page, path, code } = judged;
  if (!says(judged, RUN_KEYS, saysRun) || !says(judged, PASTE_KEYS, saysPaste)) return null;
  if (code.find(page, path, writesClipboard) === null) return null;
  return {
    name: "pasted_command",
    why: "writes to the clipboard and has visitors paste it where Windows runs it",
    fix: "Take out the code that writes to the clipboard, and show the command as text",
  };
};
