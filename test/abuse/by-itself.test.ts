/** PIPELINE 3: of what leads to another domain only what runs by itself is suspicious; what waits for a click, a choice or a
 *  submit is not. */
import { describe, expect, test } from "bun:test";
import { judge, judgePage } from "../kit/abuse-site.ts";

const AWAY = "https://other.example/";
const MOVE = `location.href="${AWAY}"`;
const script = (code: string): string => `<title>x</title><script>${code}</script>`;

describe("what runs by itself is suspicious", () => {
  test.each([
    ["a statement", script(`location="${AWAY}"`)],
    ["a statement in a block", script(`if (1) { ${MOVE} }`)],
    ["a block behind a call", script(`go()\n{ ${MOVE} }`)],
    ["a statement behind an arrow that its line ends", script(`const f = () => 0\n${MOVE}`)],
    ["a function called at once", script(`(function () { ${MOVE} })()`)],
    ["the same behind a sign", script(`!function () { ${MOVE} }()`)],
    ["an arrow called at once", script(`(() => { ${MOVE} })()`)],
    ["an arrow without braces", script(`(() => ${MOVE})()`)],
    ["an async one", script(`(async () => { await 1; ${MOVE} })()`)],
    ["a function called by its name", script(`function go() { ${MOVE} }\ngo()`)],
    ["a method called by its name", script(`const app = { start() { ${MOVE} } }\napp.start()`)],
    ["a function of another script", `${script(`function go() { ${MOVE} }`)}<script>go()</script>`],
    ["a script behind a broken one", `${script("function x() {")}<script>${MOVE}</script>`],
    ["a timer", script(`setTimeout(() => ${MOVE}, 3000)`)],
    ["a timer of a name", script(`function go() { ${MOVE} }\nsetTimeout(go, 1000)`)],
    ["a timer of a string", script(`setTimeout("location='${AWAY}'", 10)`)],
    ["load", script(`addEventListener("load", function () { ${MOVE} })`)],
    ["DOMContentLoaded", script(`document.addEventListener("DOMContentLoaded", () => { ${MOVE} })`)],
    ["onload that is set", script(`window.onload = function () { ${MOVE} }`)],
    ["onload that is set to a name", script(`function go() { ${MOVE} }\nwindow.onload = go`)],
    ["jQuery's ready", script(`$(function () { ${MOVE} })`)],
    ["jQuery's ready in full", script(`$(document).ready(() => { ${MOVE} })`)],
    ["each of a list", script(`[1].forEach(() => { ${MOVE} })`)],
    ["onload of the body", `<title>x</title><body onload="location='${AWAY}'">`],
    ["onload by a name", `${script(`function go() { ${MOVE} }`)}<body onload="go()">`],
    ["onpageshow", `<title>x</title><body onpageshow="location='${AWAY}'">`],
    ["onerror", `<title>x</title><img src=x onerror="location='${AWAY}'">`],
    ["a drawing's onload", `<title>x</title><svg onload="location='${AWAY}'"></svg>`],
    ["a drawing's script", `<title>x</title><svg><script>${MOVE}</script></svg>`],
    ["a window that takes the page's place", script(`open("${AWAY}", "_self")`)],
    ["a constant", script(`const to = "${AWAY}"; location.assign(to)`)],
    ["Base64", script(`location.href = atob("${btoa(AWAY)}")`)],
    ["Base64 by a name", script(`var to = "${btoa(AWAY)}"; top.location = atob(to)`)],
    ["a host and what is joined to it", script(`location = "https://other.example" + location.pathname`)],
    ["an address under a foreign base", `<base href="${AWAY}">${script(`location = "in"`)}`],
  ])("%s", (_, html) => expect(judgePage(html)).toBe("fast_redirect"));

  test("in an SVG, as text and as CDATA", () => {
    const svg = (code: string) => `<svg xmlns="http://www.w3.org/2000/svg"><script>${code}</script></svg>`;
    expect(judge({ "a.svg": svg(MOVE) })).toBe("fast_redirect");
    expect(judge({ "a.svg": svg(`<![CDATA[${MOVE}]]>`) })).toBe("fast_redirect");
    expect(judge({ "a.svg": svg("draw()") })).toBe("pass");
  });
});

describe("what waits for somebody is not", () => {
  test.each([
    ["a button", `<title>x</title><button onclick="${`location.href='${AWAY}'`}">Buy</button>`],
    ["a listener for clicks", script(`b.addEventListener("click", () => { ${MOVE} })`)],
    ["the same without braces", script(`b.addEventListener("click", () => ${MOVE})`)],
    ["a click that is set", script(`b.onclick = function () { ${MOVE} }`)],
    ["jQuery's click in its ready", script(`$(function () { $("#b").click(function () { ${MOVE} }) })`)],
    ["jQuery's delegated click", script(`$(document).on("click", ".b", function () { ${MOVE} })`)],
    ["clicks on each of a list", script(`all.forEach((b) => b.addEventListener("click", () => { ${MOVE} }))`)],
    ["a function that a click calls", `${script(`function buy() { ${MOVE} }`)}<button onclick="buy()">Buy</button>`],
    ["a method that a click calls", script(`const auth = { login() { ${MOVE} } }; b.onclick = () => auth.login()`)],
    ["a select", `<title>x</title><select onchange="if (this.value) location.href='${AWAY}'+this.value"></select>`],
    ["a jump after a form", script(`f.onsubmit = () => { fetch("/in").then(() => { ${MOVE} }) }`)],
    ["a class that nobody uses", script(`class Session { end() { ${MOVE} } }`)],
    ["a timer of a minute", script(`setTimeout(() => { ${MOVE} }, 60 * 1000)`)],
    ["https instead of http", script(`if (location.protocol !== "https:") location.href = "https://" + location.host`)],
    ["the same by a replacement", script(`location.replace("https:" + location.href.slice(5))`)],
    ["the same in a template", script("location.replace(`https://${location.host}${location.pathname}`)")],
    ["a page of its own", script(`location = "/docs/"`)],
    ["another window", script(`open("${AWAY}", "_blank")`)],
    ["a comment", script(`// ${MOVE}\n/* ${MOVE} */`)],
    ["a string", script(`const example = '${MOVE}'`)],
    ["data", `<title>x</title><script type="application/json">${MOVE}</script>`],
    ["no scripts", `<title>x</title><noscript><meta http-equiv="refresh" content="0;url=${AWAY}"></noscript>`],
  ])("%s", (_, html) => expect(judgePage(html)).toBe("pass"));

  test("little text is under 400 characters", () => {
    const page = (length: number) => `<meta http-equiv="refresh" content="0;url=${AWAY}"><p>${"x".repeat(length)}`;
    expect([judgePage(page(399)), judgePage(page(400))]).toEqual(["fast_redirect", "pass"]);
  });
});
