/** A page that asks for a secret and sends what is typed to somebody else: by a script that names the recipient's
 *  address, or through a service that collects for anybody; or to a bot or a webhook that it knows (reject 2). */
import { isBelow } from "./brands.ts";
import { basesOf, destination } from "./destinations.ts";
import { asksForPassword, type Form, isTyped, type PageFacts, RISK_NAMES, typeOf } from "./facts.ts";
import { ownScripts, type PageCode } from "./page-code.ts";
import type { Judged, Look } from "./signal.ts";
import { isWhole, plainLiterals, readScript, type Script, valuesAt, type Written } from "./script.ts";
import { decodeEntities } from "../../html/character-references.ts";
import { addressOf, isOfHost, ROOT } from "../../html/addresses.ts";

/** Bytes of an uploaded file from which on it is a program's, not a page's. */
const LARGE_FILE = 200_000;

/** The addresses that a script sends to, and what it does with them. */
interface SentAddresses {
  /** The addresses that it sends to. */
  sent: readonly string[];
  /** Every literal that may be one. */
  named: readonly string[];
}

const CALL =
  /(?:\bfetch|\bsendBeacon|\bWebSocket|\baxios(?:\s{0,9}\.\s{0,9}\w{1,20})?|(?:\$|\bjQuery)\s{0,9}\.\s{0,9}(?:post|ajax))\s{0,9}\(/g;
const OPTION = /\{[^;{}]{0,300}?\b(?:url|baseURL)\s{0,9}:/y;
const REQUEST = /\.\s{0,9}open\s{0,9}\(\s{0,9}[\w$."]{1,60}\s{0,9},/g;
const PICTURE = /\.\s{0,9}src\s{0,9}=(?!=)/g;
const ACTION = /\.\s{0,9}(?:action|formAction)\s{0,9}=(?!=)/g;
const SET = /\.\s{0,9}(?:setAttribute|attr|prop)\s{0,9}\(\s{0,9}"(\d+)"\s{0,9},/g;

/** The addresses after each match. */
const behind = (script: Script, pattern: RegExp): Written[] =>
  [...script.code.matchAll(pattern)].flatMap(({ 0: found, index }) => valuesAt(script, index + found.length));

/** `fetch(address`, `ajax({ url: address`. */
function called(script: Script): Written[] {
  return [...script.code.matchAll(CALL)].flatMap(({ 0: found, index }) => {
    const at = index + found.length;
    OPTION.lastIndex = at;
    return valuesAt(script, OPTION.test(script.code) ? OPTION.lastIndex : at);
  });
}

const setAsAction = (script: Script): Written[] =>
  [...script.code.matchAll(SET)].flatMap(({ 0: found, 1: number, index }) =>
    /^(?:form)?action$/i.test(script.literals[Number(number)]!) ? valuesAt(script, index + found.length) : [],
  );

const makesPictures = ({ code, literals }: Script): boolean =>
  /\bnew\s{1,9}Image\b/.test(code) || literals.includes("img");

const ADDRESS = /^[\s\0]*(?:[a-z][a-z+.-]{1,9}:)?[\\/]{2}[^\s\\/]/i;

function tell(script: Script): SentAddresses | null {
  const sent = [...called(script), ...behind(script, REQUEST), ...behind(script, ACTION), ...setAsAction(script)];
  if (makesPictures(script)) sent.push(...behind(script, PICTURE));
  const named = plainLiterals(script).filter((text) => ADDRESS.test(text));
  const texts = sent.filter(isWhole).map(({ text }) => text);
  return texts.length + named.length === 0 ? null : { sent: texts, named };
}

/** Reads the code of an uploaded file. Null if the file is too large. */
const ofFile = (code: string): SentAddresses | null => (code.length > LARGE_FILE ? null : tell(readScript(code)));

/** The result for the page's scripts, inline and uploaded. It is kept for each page because two looks ask for it. */
const told = new WeakMap<PageFacts, readonly SentAddresses[]>();
const toldBy = ({ page, path, code }: Judged): readonly SentAddresses[] =>
  told.getOrInsertComputed(page, () => [
    ...ownScripts(page).flatMap((script) => tell(script) ?? []),
    ...code.inFiles(page, path, ofFile),
  ]);

/** They give what everybody gets, and take nothing. */
const LIBRARIES =
  `cdnjs.cloudflare.com cdn.jsdelivr.net unpkg.com esm.sh esm.run cdn.skypack.dev ga.jspm.io jspm.dev ajax.googleapis.com
  fonts.googleapis.com fonts.gstatic.com www.gstatic.com code.jquery.com maxcdn.bootstrapcdn.com stackpath.bootstrapcdn.com
  netdna.bootstrapcdn.com cdn.tailwindcss.com use.fontawesome.com kit.fontawesome.com use.typekit.net ajax.aspnetcdn.com
  cdn.polyfill.io cdn.bootcdn.net cdn.bootcss.com lib.baomitu.com cdn.staticfile.org`.split(/\s+/);

function hostIn(address: string): string {
  const found = addressOf(address, ROOT);
  return isOfHost(found) ? found.url.hostname.replace(/\.$/, "") : "";
}

export const collectingScript: Look = (judged) => {
  const { page, path, own, budget } = judged;
  if (!asksForPassword(page)) return null;
  const bases = basesOf(page.bases, path);
  for (const address of toldBy(judged).flatMap(({ sent }) => sent)) {
    budget.step();
    const to = destination(address, bases, own);
    if (to.kind !== "other" || isBelow(hostIn(address), LIBRARIES)) continue;
    return {
      name: "collecting_script",
      why: `asks for a password and has a script that sends to ${to.where}`,
      fix: "Let the script ask an address of the site itself",
    };
  }
  return null;
};

/** Services where anybody gets an address that accepts what is sent to it. */
const SERVICES =
  `formspree.io formsubmit.co formsubmit.io getform.io getform.com formcarry.com formkeep.com formspark.io submit-form.com
  web3forms.com usebasin.com forminit.com formbold.com fabform.io staticforms.xyz un-static.com formbackend.com
  formdata.dev herotofu.com slapform.com mailthis.to formester.com kwes.io api.emailjs.com smtpjs.com api.elasticemail.com
  hooks.slack.com webhook.site pipedream.net requestbin.com requestbin.net requestcatcher.com beeceptor.com hookbin.com
  hookdeck.com webhookrelay.com webhook.cool postb.in ptsv3.com ngrok.io ngrok.app ngrok.dev ngrok-free.app ngrok-free.dev
  trycloudflare.com loca.lt localtunnel.me serveo.net localhost.run lhr.life lhr.rocks pinggy.io pinggy.link bore.pub
  tunnelmole.net devtunnels.ms telebit.io firebaseio.com firebasedatabase.app firestore.googleapis.com interactsh.com
  oast.fun oast.site oast.live oast.online oast.pro oast.me burpcollaborator.net oastify.com sheetdb.io sheet.best
  sheetmonkey.io nocodeapi.com hook.integromat.com hook.make.com maker.ifttt.com hooks.zapier.com api.jsonbin.io`.split(
    /\s+/,
  );
const GOOGLE = /^(?:script\.google\.com\/macros\/|docs\.google\.com\/forms\/.{0,300}formResponse)/i;
/** Scripts that send mail. */
const MAILERS = /@emailjs\/browser|emailjs-com|smtpjs/i;

/** The service that accepts what is sent to an address. Null if there is none. */
function serviceOf(address: string): string | null {
  const host = hostIn(address);
  if (isBelow(host, SERVICES)) return host;
  return GOOGLE.test(address.replace(/^[\s\0]*(?:https?:)?[\\/]*/i, "")) ? host : null;
}

/** Whether somebody writes into the form: a form of hidden fields alone is there for a script to fill. */
const isWritten = ({ controls }: PageFacts, form: Form): boolean =>
  controls.some((control) => isTyped(control) && control.forms.includes(form));

const QUOTED = /(?:https?:)?\/\/[^\s"'<>]{3,500}/gi;

/** Addresses in the markup that a script may send to: those of forms without fields to fill, and those that only
 *  scripts read. */
function* kept(page: PageFacts): Generator<string> {
  yield* page.scripts;
  for (const form of page.forms) {
    if (isWritten(page, form)) continue;
    for (const [address] of decodeEntities(form.written).matchAll(QUOTED)) yield address;
  }
  for (const control of page.controls) {
    if (typeOf(control) === "hidden") yield decodeEntities(control.attributes.get("value") ?? "");
  }
}

export const collectingService: Look = (judged) => {
  const { page, budget } = judged;
  if (!page.controls.some(({ risks }) => risks.length > 0)) return null;
  const mailer = page.scripts.some((address) => MAILERS.test(address)) ? "a script that sends e-mail" : null;
  for (const address of [...toldBy(judged).flatMap(({ named }) => named), ...kept(page)]) {
    budget.step();
    const service = mailer ?? serviceOf(address);
    if (service !== null) return signalOf(service);
  }
  return null;
};

const signalOf = (service: string) => ({
  name: "collecting_service",
  why: `asks for a secret and names ${service}, which takes what a page sends it`,
  fix: "Take out the address of the service, or the field",
});

// Reject 2: a bot or a webhook to hand it to.

/** The part of an address that Base64 always shows, for each of the three places where it can begin. */
const inBase64 = (address: string): string[] =>
  [0, 1, 2].map((lead) => {
    const coded = Buffer.from("\0".repeat(lead) + address).toString("base64");
    return coded.slice(Math.ceil((lead * 4) / 3), -4);
  });

/** A host may end in a dot and have a port. Telegram's host is only for bots: their path may be written elsewhere. */
const SINKS = (
  [
    ["a Telegram bot", /api\.telegram\.org/i, "api.telegram.org", "/bot"],
    [
      "a Discord webhook",
      /discord\.com\.?(?::443)?\/{1,9}api\/(?:v\d{1,3}\/)?webhooks/i,
      "discord.com",
      "/api/webhooks",
    ],
    [
      "a Discord webhook",
      /discordapp\.com\.?(?::443)?\/{1,9}api\/(?:v\d{1,3}\/)?webhooks/i,
      "discordapp.com",
      "/api/webhooks",
    ],
  ] as const
).map(([name, address, host, path]) => ({ name, address, coded: [host + path, `//${host}`].flatMap(inBase64) }));

/** Code as it runs: escapes read, strings that are put together joined. */
const plainCode = (code: string): string =>
  code
    .replace(/\\(?:x([\da-f]{2})|u([\da-f]{4})|u\{([\da-f]{1,6})\})/gi, (whole, a, b, c) => {
      const point = parseInt(a ?? b ?? c, 16);
      return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
    })
    .replace(/\\([0-3]?[0-7]{2})/g, (_, octal) => String.fromCharCode(parseInt(octal, 8)))
    .replace(/\\\r?\n/g, "")
    .replace(/\\([^\w\s"'`])/g, "$1")
    .replace(/["'`]\s{0,20}\+\s{0,20}["'`]/g, "");

/** The sink that code names. Null if there is none. */
function sinkIn(code: string): string | null {
  if (code === "") return null;
  const plain = plainCode(code);
  const found = SINKS.find(({ address, coded }) => address.test(plain) || coded.some((mark) => plain.includes(mark)));
  return found?.name ?? null;
}

/** The reason to refuse the page. Null if there is none. */
export function leak(page: PageFacts, path: string, code: PageCode): string | null {
  const risk = page.controls.flatMap(({ risks }) => risks).find((one) => one === "password" || one === "seed");
  const sink = risk && code.find(page, path, sinkIn);
  return risk && sink ? `it asks for ${RISK_NAMES[risk]} and has the address of ${sink}` : null;
}
