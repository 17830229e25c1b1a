/** PIPELINE 3: what looks like phishing and is not must pass. */
import { describe, expect, test } from "bun:test";
import { judgePage } from "../kit/abuse-site.ts";

const PASSWORD = `<input type="password" name="password">`;
const login = (action: string, field = PASSWORD) =>
  `<!doctype html><title>Sign in</title><form method="post" action="${action}"><input name="user">${field}<button>Sign in</button></form>`;
const EVIL = "https://collect.example/in.php";

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
    ["a form in an open form, which is none", `<form action="/ok"><form action="${EVIL}">${PASSWORD}</form></form>`],
    ["the second of two bases, which counts for nothing", `<base href="/"><base href="${EVIL}">${login("in.php")}`],
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
