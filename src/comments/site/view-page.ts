/** The page of `view`: threads and forms in plain HTML, for browsers without scripts and pages that allow none. */
import { document, html, type Html, trusted } from "../../html/template.ts";
import { decodePath } from "../../base/percent.ts";
import { visible } from "../../base/visible.ts";
import type { Comment, Thread, Viewer } from "../types.ts";

const STYLE = `main{max-width:44rem;margin:0 auto;padding:2rem 1.25rem;display:grid;gap:1.5rem}
article{display:grid;gap:.75rem;padding-block:1rem;border-top:1px solid var(--line,currentColor)}
blockquote{margin:0;padding-inline-start:1rem;border-inline-start:3px solid currentColor;opacity:.8}
.said{white-space:pre-wrap;overflow-wrap:anywhere;margin:.25rem 0 0}
form{display:grid;gap:.5rem;justify-items:start}summary{cursor:pointer;color:var(--accent);width:fit-content}
details>form{margin-top:.75rem}label{font-weight:600;color:var(--strong)}
textarea,input[type=password]{width:100%;font:inherit;color:inherit;background:var(--wash);border:1px solid var(--edge);border-radius:6px;padding:.5rem .75rem}
[role=alert]{color:var(--danger);background:var(--danger-wash);border-radius:6px;padding:.5rem .75rem;width:100%}
.trap{position:absolute;left:-100vw}`;

export interface ViewedPage {
  page: string;
  threads: readonly Thread[];
  viewer: Viewer;
  /** Proves when the form was given out. */
  stamp: string;
  /** What went wrong with the last try, and what was written then. */
  refused: { sentence: string; thread_id: string; text: string } | null;
  /** True: nothing is shown before the passcode. */
  locked: boolean;
}

const hidden = (name: string, value: string): Html => html`<input type="hidden" name="${name}" value="${value}" />`;

/** Left empty by people, who do not see it; filled by programs that fill everything. */
const trap = html`<p class="trap" aria-hidden="true">
  <label>Website <input name="website" tabindex="-1" autocomplete="off" /></label>
</p>`;

function form({ page, stamp, refused }: ViewedPage, thread_id: string): Html {
  const mine = refused?.thread_id === thread_id ? refused : null;
  const label = thread_id === "" ? "Comment" : "Reply";
  return html`<form method="post" action="/_svc/comments/view">
    ${mine && html`<p role="alert">${mine.sentence}</p>`} ${hidden("page", page)} ${hidden("thread", thread_id)}
    ${hidden("stamp", stamp)} ${trap}
    <label for="text${thread_id}">${label}</label>
    <textarea id="text${thread_id}" name="text" rows="4" required dir="auto">${mine?.text ?? ""}</textarea>
    <button class="button">${thread_id === "" ? "Post" : "Reply"}</button>
  </form>`;
}

/** Closed until somebody wants it: else a long page would be a page of boxes. */
const replyForm = (view: ViewedPage, id: string): Html =>
  html`<details ${view.refused?.thread_id === id && trusted("open")}>
    <summary>Reply</summary>
    ${form(view, id)}
  </details>`;

const said = ({ by, text, created_at, visibility }: Comment): Html =>
  text === null
    ? html`<p class="dim">This comment was deleted.</p>`
    : html`<div>
        <p class="small dim">
          <bdi>${by?.name ?? "Somebody"}</bdi>${by?.kind === "owner" && " (site owner)"} ·
          <time datetime="${created_at}">${created_at.slice(0, 10)}</time>
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

/** To the page on this host: of an app's route, whose path may be any, `//elsewhere.example` would be another one. */
const linkTo = (page: string): string => page.replace(/^\/(?=\/)/, "/./");

function body(view: ViewedPage): Html {
  const { threads, viewer, page, locked } = view;
  const shown = html`${threads.map((thread) => threadPart(view, thread))}
  ${threads.length === 0 && html`<p class="dim">Nobody has commented on this page yet.</p>`}
  ${viewer.can_post ? form(view, "") : html`<p>Comments are frozen.</p>`}`;
  return html`<h1>Comments</h1>
    <p>
      <a href="${linkTo(page)}">Back to <span dir="auto">${visible(decodePath(page) ?? page)}</span></a>
    </p>
    ${locked ? passcodeForm(view) : shown}`;
}

export const viewPage = (view: ViewedPage): string =>
  document({ title: `Comments on ${view.page}`, style: STYLE, body: body(view) });
