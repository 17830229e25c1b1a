/** HTML is cut where a browser cuts it: a table of pages by the states of the standard's tokenizer (HTML, 13.2.5). */
import { describe, expect, test } from "bun:test";
import { attributesOf } from "../../src/html/attributes.ts";
import { asBrowser, type Namespaces, xml } from "../../src/html/foreign.ts";
import { Page } from "../../src/html/page.ts";
import { Tokenizer } from "../../src/html/tokenizer.ts";
import { expectLinear } from "../kit/cpu.ts";

/** `<b>` opens, `</b>` closes, `'…'` is text, `<b:…>` holds text alone, `!` is a comment and `…!` one that never ends,
 *  `~` is a tag that never ends, `<g/drawing>` is no HTML. */
function tokens(html: string, namespaces: Namespaces = asBrowser()): string {
  const token = new Tokenizer(html, namespaces);
  const told: string[] = [];
  while (token.next()) {
    const { kind, name, from, to, raw_end, is, closer } = token;
    if (kind === "text") told.push(`'${html.slice(from, to)}'`);
    else if (kind === "close") told.push(`</${name}>`);
    else if (kind === "comment") told.push(closer === "" ? "!" : `${closer}!`);
    else if (kind === "cut") told.push("~");
    else if (raw_end >= 0) told.push(`<${name}:${html.slice(to, raw_end)}>`);
    else told.push(is === "html" ? `<${name}>` : `<${name}/${is}>`);
  }
  return told.join(" ");
}

describe("tags", () => {
  test.each([
    ["<b>x</b>", "<b> 'x' </b>"],
    ["<B></B>", "<b> </b>"],
    ["<lin\u212a>", "<lin\u212a>"],
    ["<b/>", "<b>"],
    ["<a/b>", "<a>"],
    ["<a<b>", "<a<b>"],
    ["<x-y:z.1>", "<x-y:z.1>"],
    ["<b\0>", "<b\0>"],
    ["<script\0>x</script>", "<script\0> 'x' </script>"],
    ["</b x=y>", "</b>"],
    ["</b/>", "</b>"],
    ["<\n b>", "'<\n b>'"],
    ["1 < 2 <3 <", "'1 < 2 <3 <'"],
    ["<b", "~"],
    ["<b ", "~"],
    ["<b/", "~"],
    ["<b x", "~"],
    ["<b x ", "~"],
    ["<b x=", "~"],
    ["<b x=y", "~"],
    ["<b x='>", "~"],
    ['<b x=">', "~"],
    ["<b x='y'", "~"],
    ["</b", "~"],
    ["x</b ", "'x' ~"],
    ["<b '>'>", "<b> ''>'"],
    ["<b x=a'>'>", "<b> ''>'"],
    ["<b x='>'y='>'>z", "<b> 'z'"],
    ["<b x = '>' >z", "<b> 'z'"],
    ["<b ='>'>", "<b> ''>'"],
    ["<b x=>y>", "<b> 'y>'"],
  ])("%j is %s", (html, told) => expect(tokens(html)).toBe(told));
});

describe("attributes", () => {
  test.each<[string, Record<string, string>]>([
    [" a=1 B='2' c=\"3\" d", { a: "1", b: "2", c: "3", d: "" }],
    [" a=1 a=2 A=3", { a: "1" }],
    [" a = 1 b\t=\n'2'", { a: "1", b: "2" }],
    ["/a/b=c/", { a: "", b: "c/" }],
    [' ="a"', { '="a"': "" }],
    [" =a=b", { "=a": "b" }],
    [" a==b", { a: "=b" }],
    [" a='b'c", { a: "b", c: "" }],
    [" a=b'c\"d`e", { a: "b'c\"d`e" }],
    [" a<b='c' d\"e=f", { "a<b": "c", 'd"e': "f" }],
    [" a=", { a: "" }],
    [" a= /", { a: "/" }],
    [" \0=\0", { "\0": "\0" }],
    [" \u212a=1", { "\u212a": "1" }],
    [" a='' b=\"\"", { a: "", b: "" }],
  ])("%j has %j", (text, attributes) => {
    expect(Object.fromEntries(attributesOf(text))).toEqual(attributes);
    const [part] = new Page(`<x${text}>`).parts();
    expect(part).toMatchObject({ name: "x", attributes: text });
  });
});

describe("comments and what is read as one", () => {
  test.each([
    ["<!-- <b> -->x", "! 'x'"],
    ["<!-->x", "! 'x'"],
    ["<!--->x", "! 'x'"],
    ["<!---->x", "! 'x'"],
    ["<!-- --!>x", "! 'x'"],
    ["<!--!>x-->", "!"],
    ["<!-- -- > -->x", "! 'x'"],
    ["<!-- ---->x", "! 'x'"],
    ["<!-- <!-- -->x-->", "! 'x-->'"],
    ["<!--", "-->!"],
    ["<!-- --!", "-->!"],
    ["<!-x>y", "! 'y'"],
    ["<!doctype html 'a>b'>", "! 'b'>'"],
    ["<!doctype", ">!"],
    ["<!>x", "! 'x'"],
    ["<?xml version='>'?>", "! ''?>'"],
    ["</ b>x", "! 'x'"],
    ["</>x", "! 'x'"],
    ["</", ">!"],
    ["<![CDATA[<b>]]>", "! ']]>'"],
  ])("%j is %s", (html, told) => expect(tokens(html)).toBe(told));
});

describe("elements that hold text", () => {
  test.each([
    ...["title", "textarea", "style", "xmp", "iframe", "noembed", "noframes", "noscript"].flatMap((name) => [
      [`<${name}><b></${name}>x`, `<${name}:<b>> </${name}> 'x'`],
      [`<${name}><!--</${name}>-->`, `<${name}:<!--> </${name}> '-->'`],
      [`<${name}></${name}x></${name.toUpperCase()}\n>`, `<${name}:</${name}x>> </${name}>`],
      [`<${name}></ ${name}></${name}/>`, `<${name}:</ ${name}>> </${name}>`],
      [`<${name}></${name}`, `<${name}:</${name}>`],
      [`<${name}>x</${name} `, `<${name}:x> ~`],
      [`<${name}/>x`, `<${name}:x>`],
    ]),
    ["<plaintext></plaintext><b>", "<plaintext:</plaintext><b>>"],
    ["<title>x", "<title:x>"],
  ])("%j is %s", (html, told) => expect(tokens(html!)).toBe(told!));
});

describe("scripts", () => {
  test.each([
    ["<script>a<b></script>x", "<script:a<b>> </script> 'x'"],
    ["<script></scriptx></SCRIPT >", "<script:</scriptx>> </script>"],
    ["<script><!--</script>x", "<script:<!--> </script> 'x'"],
    ["<script><!--<script></script>x</script>y", "<script:<!--<script></script>x> </script> 'y'"],
    ["<script><!--<script></script>--></script>y", "<script:<!--<script></script>-->> </script> 'y'"],
    ["<script><!--<script>--></script>y", "<script:<!--<script>-->> </script> 'y'"],
    ["<script><!--<scriptx></script>y", "<script:<!--<scriptx>> </script> 'y'"],
    ["<script><!--<script/</script/</script>y", "<script:<!--<script/</script/> </script> 'y'"],
    ["<script><script></script>y", "<script:<script>> </script> 'y'"],
    ["<script><!--><script></script>y", "<script:<!--><script>> </script> 'y'"],
    ["<script><!---><script></script>y", "<script:<!---><script>> </script> 'y'"],
    ["<script><!--x--><script></script>y", "<script:<!--x--><script>> </script> 'y'"],
    ["<script><!--<!--><script></script>y", "<script:<!--<!--><script>> </script> 'y'"],
    ["<script><!-- --!><script></script></script>y", "<script:<!-- --!><script></script>> </script> 'y'"],
    ["<script><!-<script></script>y", "<script:<!-<script>> </script> 'y'"],
    [
      "<script><!--<script></script><script></script></script>",
      "<script:<!--<script></script><script></script>> </script>",
    ],
    ["<script><!--<script></script", "<script:<!--<script></script>"],
    ["<script><!--", "<script:<!-->"],
  ])("%j is %s", (html, told) => expect(tokens(html)).toBe(told));
});

describe("drawings", () => {
  test.each([
    ["<svg><style><b></style>", "<svg/drawing> <style/drawing> <b> </style>"],
    [
      "<svg><title><g></title></svg><title><g></title>",
      "<svg/drawing> <title/drawing> <g> </title> </svg> <title:<g>> </title>",
    ],
    ["<svg><![CDATA[<b>]]>x", "<svg/drawing> ! 'x'"],
    ["<svg><![CDATA[<b>", "<svg/drawing> ]]>!"],
    ["<svg/><title><g>", "<svg/drawing> <title:<g>>"],
    ["<svg /><title><g>", "<svg/drawing> <title:<g>>"],
    ["<svg x='y'/><title><g>", "<svg/drawing> <title:<g>>"],
    ["<svg x=y/><style><g>", "<svg/drawing> <style/drawing> <g/drawing>"],
    ["<svg x= /><style><g>", "<svg/drawing> <style/drawing> <g/drawing>"],
    ["<svg / ><style><g>", "<svg/drawing> <style/drawing> <g/drawing>"],
    ["<svg><g/><g/></svg><style><g>", "<svg/drawing> <g/drawing> <g/drawing> </svg> <style:<g>>"],
    [
      "<svg><foreignObject><textarea><g></textarea>",
      "<svg/drawing> <foreignobject/drawing> <textarea:<g>> </textarea>",
    ],
    ["<svg><p><style><g></style>", "<svg/drawing> <p> <style:<g>> </style>"],
    ["<math><mi><style><g></style>", "<math/drawing> <mi/drawing> <style:<g>> </style>"],
  ])("%j is %s", (html, told) => expect(tokens(html)).toBe(told));
  test("XML has CDATA and instructions, and no element that holds text alone", () => {
    expect(tokens("<?a >?><b><![CDATA[<i>]]><title><i/>", xml())).toBe("! <b/plain> ! <title/plain> <i/plain>");
  });
});

test("a text is one part, whatever signs are in it: a part for each would fill the memory", () => {
  const text = "a < b << c <1 <<< ".repeat(1000);
  expect([...new Page(`<p>${text}</p>`).parts()]).toHaveLength(3);
  expect([...new Page(`${text}<`).parts()]).toEqual([{ kind: "text", text: `${text}<` }]);
});

test("the parts of a page are told again and again, and the same", () => {
  const page = new Page("<p class=a>x<script>y</script></p><!-- z --><b");
  const parts = [...page.parts()];
  expect(parts).toEqual([
    { kind: "open", name: "p", attributes: " class=a", raw: null, is: "html" },
    { kind: "text", text: "x" },
    { kind: "open", name: "script", attributes: "", raw: "y", is: "html" },
    { kind: "close", name: "script", is: "html" },
    { kind: "close", name: "p", is: "html" },
  ]);
  expect([...page.parts()]).toEqual(parts);
});

describe("the time of a page grows with its length alone", () => {
  const PIECES = `<a |<a x=|<a x='|<a x="y" |<a/|<b>|</b>|<|</|x<|<!--|<!-- --!|<!|<?|<script>|<script><!--|<script><!--<script>|
    <!--><script>|</script|<title>|</title|<xmp>|<svg>|<svg/>|<svg><![CDATA[|<svg><p>|<svg><desc>|<math><mi>|</svg>|<svg x=y/>|
    <plaintext>`;
  test.each(PIECES.split(/\|\s*/).map((piece) => [piece]))("of %j", (piece) => {
    const pageOf = (length: number): string => piece.repeat(Math.ceil(length / piece.length));
    expectLinear(1_000_000, pageOf, (html) => {
      for (const _ of new Page(html).parts());
    });
  });
});
