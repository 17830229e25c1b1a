/** `GET view?page=…` and the POST of its forms: comments without a script (COMMENTS 2 and ruling 13). */

import { Refusal } from "../../base/errors.ts";
import type { Bytes } from "../../base/types.ts";
import { decodePath } from "../../base/percent.ts";
import { visible } from "../../base/visible.ts";
import { document } from "../../html/document.ts";
import { html, type Html, trusted } from "../../html/template.ts";
import { answerRedirect } from "../../http/answers.ts";
import { readForm } from "../../http/body.ts";
import { feedSite, pageOf } from "../addresses.ts";
import { checkText, MOST_BYTES } from "../annotation.ts";
import { answer, PRIVATE } from "../answers.ts";
import type { Ctx } from "../context.ts";
import type { Comment, Thread, Viewer } from "../types.ts";
import { ago } from "../widget/words.ts";
import { seal, single, unseal } from "../keys.ts";
import { limitPost } from "../limits.ts";
import { isAdmitted, type SiteHandlers, viewerOf, type Who, whoAsks, writer } from "../visitor.ts";
import { threadJson } from "../wire.ts";
import { enterPasscode } from "./enter.ts";
import { store, writerOf } from "./post.ts";
import { audienceOf } from "./read.ts";

/** A person needs longer to read and write. */
const SHORTEST_MS = 2000;

const HEADERS = {
  ...PRIVATE,
  "content-type": "text/html; charset=utf-8",
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "referrer-policy": "same-origin",
  "x-robots-tag": "noindex",
};

/** The time when the form was given out, and its site. */
const stampOf = ({ parts: { keys, now }, site }: Ctx): string =>
  seal("svc_cmt_form", single(keys.cursor), { s: site.site_id, t: now() });

function isTooFast({ parts: { keys, now }, site }: Ctx, stamp: string): boolean {
  const said = unseal("svc_cmt_form", single(keys.cursor), stamp);
  return said?.s !== site.site_id || typeof said.t !== "number" || now() - said.t < SHORTEST_MS;
}

const noPage = (): Refusal => new Refusal("not_found", "The site has no such page.");

async function askedPage({ parts, site }: Ctx, path: string): Promise<string> {
  const found = pageOf(await parts.livePages(site), path);
  if (found === null) throw noPage();
  return found.page;
}

/** Threads on one part of the page, as many as the feeds have on one of theirs. */
const PART = 50;
/** More than a page has: the last part, where a new thread is. Any other such number is the same, for each is kept apart. */
const LAST = 100;

/** Nonsense is the first part. */
function partIn(asked: string | null | undefined): number {
  if (asked === "last") return LAST;
  return /^[1-9]\d{0,5}$/.test(asked ?? "") ? Math.min(LAST, Number(asked)) : 1;
}

/** Stands around what differs each time that a page is sent, which may be kept meanwhile: no text of a visitor has it. Between two
 *  of them is a time, of which the page says how long ago it was, or nothing: the stamp's place. */
const NUL = "\0";
const STAMP = NUL + NUL;

function filled(pieces: readonly Bytes[], stamp: string, now: number): Bytes {
  const fill = (time: Bytes) => Buffer.from(time.length === 0 ? stamp : ago(new TextDecoder().decode(time), now));
  return Buffer.concat(pieces.map((piece, n) => (n % 2 === 0 ? piece : fill(piece))));
}

/** The pieces of a part of the page, between which the stamp goes: kept, or written out. */
async function piecesOf(ctx: Ctx, page: string, part: number, refused: ViewedPage["refused"]) {
  const { parts, site, from } = ctx;
  const { views, store } = parts;
  const customer = from()[0]!;
  const who = await whoAsks(ctx);
  const viewer = viewerOf(ctx, who);
  const audience = await audienceOf(ctx, page, who);
  const waits = site.comments_mode === "approved" && !viewer.owner;
  const key = `view ${part} ${viewer.can_post} ${waits}\0${audience.key}`;
  const kept = refused === null ? views.find(key) : undefined;
  await views.refuseGreedy(customer);
  if (kept !== undefined) return kept;
  const seen = await store.notes.partView(site.site_id, page, audience.as, part, PART);
  const threads = seen.threads.map((thread) => threadJson(parts, site, thread, audience.mine));
  const { part: shown, parts: of } = seen;
  const text = viewPage({ page, threads, part: shown, of, viewer, waits, stamp: STAMP, refused, locked: false });
  const pieces = text.split(NUL).map((piece) => Buffer.from(piece));
  // The rest of what it took: the whole of it is counted where it is sent.
  views.countRead(customer, text.length, true);
  if (refused === null && seen.no === audience.no) views.keep(key, pieces);
  return pieces;
}

async function show(
  ctx: Ctx,
  page: string,
  refused: ViewedPage["refused"],
  { part, status = 200 }: { part: number; status?: number },
): Promise<Response> {
  if (!(await isAdmitted(ctx))) {
    const viewer = viewerOf(ctx, await whoAsks(ctx));
    const seen = { threads: [], part: 1, of: 1, waits: false, stamp: stampOf(ctx) };
    const text = viewPage({ page, viewer, refused, locked: true, ...seen });
    return answer(ctx, text, HEADERS, status);
  }
  const body = filled(await piecesOf(ctx, page, part, refused), stampOf(ctx), ctx.parts.now());
  ctx.parts.views.countRead(ctx.from()[0]!, body.byteLength, false);
  return answer(ctx, body, HEADERS, status);
}

async function view(ctx: Ctx): Promise<Response> {
  const page = await askedPage(ctx, ctx.query.get("page") ?? "/");
  return show(ctx, page, null, { part: partIn(ctx.query.get("part")) });
}

/** Shows the page again with the reason of the refusal and its headers, such as when to come back. */
function showRefusal(ctx: Ctx, page: string, error: unknown, fields: Fields): Promise<Response> {
  if (!(error instanceof Refusal)) throw error;
  Object.assign(ctx.headers, error.headers);
  const { thread = "", text = "", part } = fields;
  const refused = { sentence: error.message, thread_id: thread, text: text.replaceAll(NUL, "") };
  return show(ctx, page, refused, { part: partIn(part), status: error.status });
}

type Fields = Readonly<Record<string, string>>;

/** The address of a part of the page; the first one needs no number. */
const addressOf = (page: string, part: number): string =>
  `/_svc/comments/view?page=${encodeURIComponent(page)}${part === 1 ? "" : `&part=${part === LAST ? "last" : part}`}`;

const back = ({ exchange }: Ctx, page: string, part = 1): Response => answerRedirect(addressOf(page, part), exchange);

async function enter(ctx: Ctx, page: string, passcode: string): Promise<Response> {
  try {
    await enterPasscode(ctx, async () => passcode);
    return back(ctx, page);
  } catch (error) {
    return showRefusal(ctx, page, error, {});
  }
}

async function write(ctx: Ctx, who: Who, page: string, { text = "", thread = "" }: Fields): Promise<void> {
  const { author, cookies } = writerOf(ctx, who);
  const counted = await limitPost(ctx, author);
  const { origin } = feedSite(ctx.parts, ctx.site);
  const target = thread === "" ? page : `${origin}/_svc/comments/${thread}`;
  const motivation = thread === "" ? "commenting" : "replying";
  await counted.unless(async () => {
    const sent = { text: checkText(text), target, motivation, canonical: null, quote: null, element: null } as const;
    await store(ctx, sent, who, author);
  });
  for (const cookie of cookies) ctx.exchange.setCookie(cookie);
}

async function send(ctx: Ctx, who: Who, fields: Fields): Promise<Response> {
  const page = await askedPage(ctx, fields.page ?? "/");
  if ((fields.website ?? "") !== "" || isTooFast(ctx, fields.stamp ?? "")) {
    const sentence = "Look over what you wrote, then send it once more.";
    const refused = { sentence, thread_id: fields.thread ?? "", text: (fields.text ?? "").replaceAll(NUL, "") };
    return show(ctx, page, refused, { part: partIn(fields.part) });
  }
  try {
    await write(ctx, who, page, fields);
    return back(ctx, page, partIn(fields.part));
  } catch (error) {
    return showRefusal(ctx, page, error, fields);
  }
}

/** Only the body says that a visitor gives a passcode; in other modes nothing of it counts before it is known who they are. */
async function postView(ctx: Ctx): Promise<Response> {
  const who = ctx.site.comments_mode === "passcode" ? null : await writer(ctx);
  const fields = await readForm(ctx.request, MOST_BYTES);
  if (fields.passcode !== undefined) return enter(ctx, await askedPage(ctx, fields.page ?? "/"), fields.passcode);
  return send(ctx, who ?? (await writer(ctx)), fields);
}

/** The page of `view`: threads and forms in plain HTML, for browsers without scripts and pages that allow none. */

const STYLE = `main{max-width:44rem;margin:0 auto;padding:2rem 1.25rem;display:grid;gap:1.5rem}
article{display:grid;gap:.75rem;padding-block:1rem;border-top:1px solid var(--line,currentColor)}
blockquote{margin:0;padding-inline-start:1rem;border-inline-start:3px solid currentColor;opacity:.8}
.said{white-space:pre-wrap;overflow-wrap:anywhere;margin:.25rem 0 0}
form{display:grid;gap:.5rem;justify-items:start}summary{cursor:pointer;color:var(--accent);width:fit-content}
details>form{margin-top:.75rem}label{font-weight:600;color:var(--strong)}
textarea,input[type=password]{width:100%;font:inherit;color:inherit;background:var(--wash);border:1px solid var(--edge);border-radius:6px;padding:.5rem .75rem}
[role=alert]{color:var(--danger);background:var(--danger-wash);border-radius:6px;padding:.5rem .75rem;width:100%}
.badge{border:1px solid currentColor;border-radius:4px;padding:0 .35em}
.trap{position:absolute;left:-100vw}`;

interface ViewedPage {
  page: string;
  threads: readonly Thread[];
  /** The number of the part that these threads are, of so many. */
  part: number;
  of: number;
  viewer: Viewer;
  /** True if what is written waits for the owner. */
  waits: boolean;
  /** Proves when the form was given out. */
  stamp: string;
  /** The error of the last try, and the text that was written then. */
  refused: { sentence: string; thread_id: string; text: string } | null;
  /** True if nothing is shown before the passcode. */
  locked: boolean;
}

const hidden = (name: string, value: string): Html => html`<input type="hidden" name="${name}" value="${value}" />`;

/** The name of a field that people do not see and leave empty; programs that fill everything fill it. */
const trap = html`<p class="trap" aria-hidden="true">
  <label>Website <input name="website" tabindex="-1" autocomplete="off" /></label>
</p>`;

/** The part that the form leads back to: a new thread is the last one of all. */
const partAfter = ({ part, of, threads }: ViewedPage, thread_id: string): string => {
  if (thread_id !== "") return String(part);
  return of === 1 && threads.length < PART ? "1" : "last";
};

function form(view: ViewedPage, thread_id: string): Html {
  const { page, stamp, refused } = view;
  const mine = refused?.thread_id === thread_id ? refused : null;
  const label = thread_id === "" ? "Comment" : "Reply";
  return html`<form method="post" action="/_svc/comments/view">
    ${mine && html`<p role="alert">${mine.sentence}</p>`} ${hidden("page", page)} ${hidden("thread", thread_id)}
    ${hidden("part", partAfter(view, thread_id))} ${hidden("stamp", stamp)} ${trap}
    <label for="text${thread_id}">${label}</label>
    <textarea id="text${thread_id}" name="text" rows="4" required dir="auto">${mine?.text ?? ""}</textarea>
    ${view.waits && html`<p class="small dim">The owner reads it before others do.</p>`}
    <button class="button">${thread_id === "" ? "Post" : "Reply"}</button>
  </form>`;
}

/** Folded until it is opened: else a long page would be a page of boxes. */
const replyForm = (view: ViewedPage, id: string): Html =>
  html`<details ${view.refused?.thread_id === id && trusted("open")}>
    <summary>Reply</summary>
    ${form(view, id)}
  </details>`;

/** The words that the widget shows of an author. A badge is framed: a visitor may choose these words as a name. */
function author(by: Comment["by"]): Html {
  if (by?.kind === "owner") return html`<span class="badge">Owner</span>`;
  return html`<bdi>${by?.name ?? "Somebody"}</bdi>${by?.kind === "agent" && html` <span class="badge">Agent</span>`}`;
}

const said = ({ by, text, created_at, visibility }: Comment): Html =>
  text === null
    ? html`<p class="dim">This comment was deleted.</p>`
    : html`<div>
        <p class="small dim">
          ${author(by)} ·
          <time datetime="${created_at}" title="${created_at}">${NUL}${created_at}${NUL}</time>
          ${visibility === "pending" && " · awaiting approval"}
        </p>
        <p class="said" dir="auto">${text}</p>
      </div>`;

const threadPart = (view: ViewedPage, { id, anchor, comments, status }: Thread): Html =>
  html`<article id="${id}">
    ${anchor.selector && html`<blockquote dir="auto">${anchor.selector[0].exact}</blockquote>`}
    ${status === "resolved" && html`<p class="small dim">Resolved</p>`} ${comments.map(said)}
    ${view.viewer.can_post && replyForm(view, id)}
  </article>`;

const passcodeForm = ({ page, refused }: ViewedPage): Html =>
  html`<form method="post" action="/_svc/comments/view">
    ${refused && html`<p role="alert">${refused.sentence}</p>`} ${hidden("page", page)}
    <p class="dim">A passcode guards these comments, not the page.</p>
    <label for="passcode">Passcode</label>
    <input id="passcode" name="passcode" type="password" required autocomplete="current-password" />
    <button class="button">Enter</button>
  </form>`;

/** An address of the page on this host. A route of an app may have any path; `//elsewhere.example` would lead to another host. */
const linkTo = (page: string): string => page.replace(/^\/(?=\/)/, "/./");

const partsNav = ({ page, part, of }: ViewedPage): Html | false =>
  of > 1 &&
  html`<nav aria-label="Parts">
    ${part > 1 && html`<a href="${addressOf(page, part - 1)}" rel="prev">Earlier threads</a>`}
    <span class="dim">Part ${part} of ${of}</span>
    ${part < of && html`<a href="${addressOf(page, part + 1)}" rel="next">Later threads</a>`}
  </nav>`;

function body(view: ViewedPage): Html {
  const { threads, viewer, page, locked } = view;
  const shown = html`${threads.map((thread) => threadPart(view, thread))}
  ${threads.length === 0 && html`<p class="dim">Nobody has commented on this page yet.</p>`} ${partsNav(view)}
  ${viewer.can_post ? form(view, "") : html`<p>Comments are frozen.</p>`}`;
  return html`<h1>Comments</h1>
    <p>
      <a href="${linkTo(page)}">Back to <span dir="auto">${visible(decodePath(page) ?? page)}</span></a>
    </p>
    ${locked ? passcodeForm(view) : shown}`;
}

const viewPage = (view: ViewedPage): string =>
  document({ title: `Comments on ${view.page}`, style: STYLE, body: body(view) });

/** The rows of a site's own host that this file answers. */
export const VIEWING_HANDLERS = {
  "GET /_svc/comments/view": view,
  "POST /_svc/comments/view": postView,
} satisfies Partial<SiteHandlers>;
