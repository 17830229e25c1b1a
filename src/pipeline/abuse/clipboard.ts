/** Pages that put a command on their visitors' clipboard and have them run it. */
import { probeFor } from "./page-code.ts";
import type { PageFacts } from "./facts.ts";
import type { Look } from "./signal.ts";

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

/** Whether a page says it, or a script in it has it to say. */
const says = ({ text, code }: PageFacts, keys: RegExp): boolean =>
  keys.test(text) || code.some((script) => keys.test(script));

export const pastedCommand: Look = ({ page, path, code }) => {
  if (!says(page, RUN_KEYS) || !says(page, PASTE_KEYS) || code.find(page, path, writesClipboard) === null) return null;
  return {
    name: "pasted_command",
    why: "writes to the clipboard and has visitors paste it where Windows runs it",
    fix: "Take out the code that writes to the clipboard, and show the command as text",
  };
};
