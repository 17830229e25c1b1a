/** PIPELINE 3: what is suspicious is warned of. */
import { describe, expect, test } from "bun:test";
import { judge, judgePage } from "../kit/abuse-site.ts";

const PASSWORD = `<input type="password" name="password">`;
const login = (action: string, field = PASSWORD) =>
  `<!doctype html><title>Sign in</title><form method="post" action="${action}"><input name="user">${field}<button>Sign in</button></form>`;

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
      "hidden_page hidden_code",
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
