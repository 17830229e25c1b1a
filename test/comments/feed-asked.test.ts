/** What a client asks of a feed by Accept and Prefer (COMMENTS, ruling 5; Annotation Protocol 4.1.1), however long. */
import { expect, test } from "bun:test";
import { preferred, wantsW3c } from "../../src/comments/site/feeds.ts";
import { expectLinear } from "../kit/cpu.ts";
import { ANNO } from "./w3c/rule.ts";

const asking = (name: string, value: string): Request =>
  new Request("http://x.example/", { headers: { [name]: value } });

test.each([
  ['application/ld+json;profile="', "a"],
  ["a;b=", '"'],
  ["", "a;"],
  ["", "a;b=c"],
  ["a", " "],
  ["a", " ;"],
  ["a;b", " ="],
  ["", 'a;b="c,'],
  ["", ";="],
  ["", "a;profile=,"],
])("%j and then many %j are read once", (start, again) => {
  const inputOf = (size: number) => asking("accept", start + again.repeat(Math.ceil(size / again.length)));
  expectLinear(60_000, inputOf, (request) => expect(wantsW3c(request)).toBe(false));
});

test("a profile is found behind many others", () => {
  const others = "text/html;q=0.5, ".repeat(2000);
  expect(wantsW3c(asking("accept", `${others}application/ld+json;profile="${ANNO}"`))).toBe(true);
});

test("a preference is found among others", () => {
  const include = "http://www.w3.org/ns/oa#PreferContainedIRIs";
  expect(preferred(asking("prefer", `wait=10, return=representation;include="${include} urn:x"`))).toBe("iris");
  expect(preferred(asking("prefer", "wait=10"))).toBeNull();
});
