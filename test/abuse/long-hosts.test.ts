/** PIPELINE 3: what the scan says stays short, whatever an upload calls its hosts: the sentence goes out with the answer, and
 *  a suspicion into the site's row, which each visit of the site reads. */
import { expect, test } from "bun:test";
import { Refusal } from "../../src/base/errors.ts";
import { scanAbuse } from "../../src/pipeline/abuse/index.ts";
import { NEW_SITE } from "../kit/abuse-site.ts";
import { draftOf } from "../kit/patterns/judged.ts";

const LONG = "a".repeat(1_000_000);
const SENTENCES = 2000;

function said(html: string): string {
  try {
    return JSON.stringify(scanAbuse(draftOf({ "index.html": html }), NEW_SITE, () => {}).warnings);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.message + JSON.stringify(error.details);
  }
}

test.each([
  ["a redirect", `<meta http-equiv=refresh content="0;url=https://${LONG}.com/">`, "sends its visitors on to aaa"],
  [
    "a script's move",
    `<script>location="https://${LONG.slice(0, 1900)}.com/"</script>`,
    "sends its visitors on to aaa",
  ],
  ["a program", `<a href="https://${LONG}.com/x.exe">x</a>`, "offers a program of aaa"],
  ["a form", `<form action="https://${LONG}.com/"><input type=password></form>`, "sends it to aaa"],
  ["a form that leads home", `<form action="http://${LONG}.localhost/"><input type=password></form>`, "aaa"],
])("the host of %s is told by its beginning", (_, html, sentence) => {
  const words = said(html);
  expect(words).toContain(sentence);
  expect(words.length).toBeLessThan(SENTENCES);
});
