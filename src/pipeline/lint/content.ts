/** Findings from single files: code that nothing runs here, secrets, a page without a name, a load too heavy. */

import type { Draft, Files, Finding, Progress } from "../../base/types.ts";
import { humanSize } from "../../base/units.ts";
import type { Pages } from "../../html/page.ts";
import { titleOf } from "../../html/page.ts";
import { show } from "../show.ts";
import type { PageFile, Walk } from "./walk.ts";

/** Pages, and what was meant as the site's first one. */
const PAGE = /\.x?html?$|^(?:index|default)\.(?:php|phtml|aspx?|jsp|cfm)$/i;
const HUGE = 4 << 20;
const SERVER_CODE = /\.(?:php\d?|phtml|aspx?|ashx|jspx?|cfm)$/i;
/** No token of ours is found in these, and many are large. */
const BINARY =
  /\.(?:png|jpe?g|gif|webp|avif|ico|bmp|woff2?|ttf|otf|eot|mp[34]|m4[av]|webm|og[gv]|wav|flac|mov|zip|gz|br|7z|pdf|wasm|glb)$/i;

function serverCode(uploaded: readonly string[], { actions }: Walk): Finding[] {
  const beside_pages = uploaded.some((path) => PAGE.test(path));
  const run = uploaded.filter(
    (path) => (beside_pages && SERVER_CODE.test(path)) || (/\.py$/i.test(path) && actions.has(path)),
  );
  return run.map((path) => ({
    code: "server_code",
    path,
    target: path,
    message: `${show(path)} is code for a server; here it is only a text to download, and its source is public.`,
    fix_recipe: `Remove ${show(path)}, and replace what it did by a static page or by a service of another host (for a form, one that takes forms).`,
  }));
}

const uploadedOf = ({ files, made }: Draft): string[] => [...files.keys()].filter((path) => !made.has(path));

/** The stage in which each file that may hold a text is read once. */
export const SEARCHING = "looking for secrets in";

export const lintSecrets = (draft: Draft, progress: Progress): Finding[] =>
  uploadedOf(draft)
    .filter((path) => !BINARY.test(path))
    .flatMap((path) => {
      progress(SEARCHING, path);
      return findSecrets(draft.files.get(path)!).map(({ kind, hint }): Finding => ({
        code: "possible_secret",
        path,
        target: hint,
        cause: `${path}: ${hint}`, // the same beginning in another file is another secret
        message: `${show(path)} holds what looks like ${kind} (${hint}…), and everybody can read it there.`,
        fix_recipe: `Take ${kind} (${hint}…) out of ${show(path)} and deploy again, revoke it where it was issued (a version that was live was public), and remove this version from the server: svc login, then svc versions delete <version>.`,
      }));
    });

const hugeAssets = (files: Files, { loaded }: Walk): Finding[] =>
  [...loaded]
    .filter(([path]) => files.get(path)!.length > HUGE)
    .map(([path, by]) => ({
      code: "huge_asset",
      path,
      target: path,
      message: `${show(path)} has ${humanSize(files.get(path)!.length)}, and ${show(by)} makes every visitor load it.`,
      fix_recipe: `Shrink ${show(path)} below 4 MB, or have ${show(by)} load it only when a visitor asks for it.`,
    }));

function missingTitle(files: Files, pages: readonly PageFile[], read: Pages, { sets_title }: Walk): Finding[] {
  const index = pages.find(({ path }) => path === "index.html");
  if (!index || sets_title || titleOf(read(files.get("index.html")!)) !== null) return [];
  return [
    {
      code: "missing_title",
      path: index.source,
      target: "title",
      message: `${show(index.source)} has no title, so tabs, search engines and link previews have no name for the site.`,
      fix_recipe: `Add a <title> element with the site's name to the head of ${show(index.source)}.`,
    },
  ];
}

export function lintContent(draft: Draft, pages: readonly PageFile[], read: Pages, walked: Walk): Finding[] {
  const { files } = draft;
  return [
    ...serverCode(uploadedOf(draft), walked),
    ...hugeAssets(files, walked),
    ...missingTitle(files, pages, read, walked),
  ];
}

// Private keys and tokens in files that everybody could read: formats that their issuers made recognisable, and nothing
// that merely looks random. Keys made for browsers (`AIza…`, `pk_live_…`) are no secrets.

interface Secret {
  /** "a GitHub token" */
  kind: string;
  /** Its beginning, to find it by. */
  hint: string;
}

interface TokenForm {
  kind: string;
  /** Plain text that every such token has: looked for first, as bytes. */
  mark: string;
  /** The whole run of token characters around the mark. */
  token: RegExp;
}

const form = (kind: string, mark: string, token: RegExp): TokenForm => ({ kind, mark, token });

const FORMS: readonly TokenForm[] = [
  form("an AWS access key", "AKIA", /^AKIA[A-Z0-9]{16}$/),
  form("a GitHub token", "ghp_", /^ghp_[A-Za-z0-9]{36}$/),
  form("a GitHub token", "gho_", /^gho_[A-Za-z0-9]{36}$/),
  form("a GitHub token", "ghs_", /^ghs_[A-Za-z0-9]{36}$/),
  form("a GitHub token", "github_pat_", /^github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}$/),
  form("a GitLab token", "glpat-", /^glpat-[\w-]{20}$/),
  form("a Slack token", "xoxb-", /^xoxb-\d{9,14}-\d{9,14}-[A-Za-z0-9]{20,32}$/),
  form("a Slack token", "xoxp-", /^xoxp-\d{9,14}-\d{9,14}-[\w-]{20,80}$/),
  form("a Stripe secret key", "sk_live_", /^sk_live_[A-Za-z0-9]{20,247}$/),
  form("a Stripe secret key", "rk_live_", /^rk_live_[A-Za-z0-9]{20,247}$/),
  form("an OpenAI key", "T3BlbkFJ", /^sk-(?:proj-|svcacct-|admin-)?[\w-]{16,100}T3BlbkFJ[\w-]{16,100}$/),
  form("an Anthropic key", "sk-ant-", /^sk-ant-[a-z]{3,5}\d\d-[\w-]{80,110}$/),
  form("a SendGrid key", "SG.", /^SG\.[\w-]{22}\.[\w-]{43}$/),
  form("an npm token", "npm_", /^npm_[A-Za-z0-9]{36}$/),
  form("a Google client secret", "GOCSPX-", /^GOCSPX-[\w-]{28}$/),
  form("a DigitalOcean token", "dop_v1_", /^dop_v1_[\da-f]{64}$/),
  form("a Shopify token", "shpat_", /^shpat_[\da-fA-F]{32}$/),
  form("a Hugging Face token", "hf_", /^hf_[A-Za-z0-9]{34}$/),
  form("a Telegram bot's token", ":AA", /^\d{8,10}:AA[\w-]{33}$/),
];

const LONGEST_TOKEN = 300;
const TOKEN_CHARACTER = /[\w.:-]/;
const BARE = /[^.:-](?:[^]*[^.:-])?/;
/** Samples in manuals repeat themselves or say what they are. */
const SAMPLE = /example|sample|dummy|placeholder|x{6}|(.)\1{5}|012345|123456|abcdef/i;
const isRandom = (token: string): boolean => !SAMPLE.test(token) && new Set(token).size >= 12;

/** The run of token characters around `at`, as far as a token goes. */
function runAround(bytes: Buffer, at: number): { token: string; end: number } {
  let from = at;
  let end = at;
  while (from > 0 && at - from < LONGEST_TOKEN && TOKEN_CHARACTER.test(String.fromCharCode(bytes[from - 1]!))) from--;
  while (end < bytes.length && end - at < LONGEST_TOKEN && TOKEN_CHARACTER.test(String.fromCharCode(bytes[end]!)))
    end++;
  return { token: bytes.toString("latin1", from, end), end };
}

/** The first token of this form. Goes on behind each run, so that hostile input costs no more than its length. */
function findToken(bytes: Buffer, { mark, token: whole }: TokenForm): string | null {
  for (let at = bytes.indexOf(mark); at >= 0;) {
    const { token, end } = runAround(bytes, at);
    // Code has its own dots and colons around a token without quotes.
    const bare = whole.test(token) ? token : (BARE.exec(token)?.[0] ?? "");
    if (whole.test(bare) && isRandom(bare)) return bare;
    at = bytes.indexOf(mark, Math.max(end, at + mark.length));
  }
  return null;
}

const KEY = "PRIVATE KEY";
/** The body of a key after its head, with line breaks as they are or as JSON writes them. A short key (Ed25519,
 *  X25519) counts only whole: the beginning of one, as manuals show it, is no key. */
const KEY_BODY =
  /^(?: BLOCK)?-----(?:\\[nr]|\s){1,4}(?:(?:[A-Za-z0-9+/=]|\\[nr]|\s){120}|(?:[A-Za-z0-9+/=]|\\[nr]|\s){60,119}-----END )/;

function holdsPrivateKey(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(KEY); at >= 0; at = bytes.indexOf(KEY, at + KEY.length)) {
    const head = bytes.toString("latin1", Math.max(0, at - 24), at);
    const body = bytes.toString("latin1", at + KEY.length, at + KEY.length + 150);
    if (/-----BEGIN [A-Z ]*$/.test(head) && KEY_BODY.test(body) && new Set(body).size > 20) return true;
  }
  return false;
}

const JWT = /^eyJ[\w-]{10,400}\.(eyJ[\w-]{10,2000})\.[\w-]{20,200}/;
const SERVICE_ROLES = ["c2VydmljZV9yb2xl", "NlcnZpY2Vfcm9sZ", "zZXJ2aWNlX3JvbG"]; // `service_role` in base64, at each offset

const inToken = (byte: number | undefined): boolean => byte !== undefined && /[\w.-]/.test(String.fromCharCode(byte));
const LONGEST_JWT = 2600;

/** Supabase's key that may do everything: a signed token that names its role. */
function holdsServiceKey(bytes: Buffer): boolean {
  return SERVICE_ROLES.some((role) => {
    for (let at = bytes.indexOf(role); at >= 0;) {
      let from = at;
      let end = at;
      while (at - from < LONGEST_JWT && inToken(bytes[from - 1])) from--;
      while (end - at < LONGEST_JWT && inToken(bytes[end])) end++;
      const token = JWT.exec(bytes.toString("latin1", from, end));
      if (token && /"role"\s*:\s*"service_role"/.test(Buffer.from(token[1]!, "base64url").toString("latin1")))
        return true;
      at = bytes.indexOf(role, end);
    }
    return false;
  });
}

function findSecrets(content: Uint8Array): Secret[] {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
  const secrets: Secret[] = [];
  if (holdsPrivateKey(bytes)) secrets.push({ kind: "a private key", hint: "-----BEGIN …PRIVATE KEY" });
  if (holdsServiceKey(bytes)) secrets.push({ kind: "a Supabase service key", hint: "eyJ" });
  for (const one of FORMS) {
    const token = findToken(bytes, one);
    if (token !== null) secrets.push({ kind: one.kind, hint: `${token.slice(0, 8)}` });
  }
  return secrets;
}
