/** `/docs`, `/docs/<chapter>`: the manual in the frame of every page. Its search needs no script. */
import { Refusal } from "../base/errors.ts";
import { html, type Html, trusted } from "../html/template.ts";
import { answerRedirect } from "../http/answers.ts";
import { pathOf } from "../http/exchange.ts";
import type { Ctx, Route } from "../routes/context.ts";
import { scriptPath } from "./assets.ts";
import { answerPage } from "./frame.ts";
import { asked, type Chapter, type Hit, search } from "./manual-search.ts";
import { button, rows } from "./parts.ts";
import { count } from "../base/units.ts";

/** The chapters in the order in which somebody needs them, each with a sentence for the front page. */
const PARTS: readonly (readonly [title: string, chapters: Readonly<Record<string, string>>])[] = [
  [
    "Publish",
    {
      dashboard: "Drop a folder on a page; manage versions, settings and your account.",
      cli: "Install svc; publish, update, go back and preview from a terminal.",
      "coming-from": "What your commands, rules and domains are called here, and what is missing.",
      markdown: "A folder of Markdown files becomes a docs site, without a generator.",
      domains: "Serve a site at a domain of your own: its records, its certificate.",
      rules: "Send old addresses to new ones and set headers, in two text files.",
      receipts: "What is checked at each deploy, and what to do about each warning.",
      comments: "Visitors pin threads to passages; you answer, approve and settle them.",
      troubleshooting: "404 on reload, missing styles, limits, proxies, certificates: what to do.",
    },
  ],
  [
    "From programs",
    {
      "http-api": "Every call, field and error code, with examples for curl.",
      library: "Deploy from JavaScript, on Node or Bun.",
      ci: "Recipes for GitHub, GitLab and Forgejo, with a preview of each pull request.",
      agents: "Agents that answer comments over MCP, and webhooks that tell your server of them.",
    },
  ],
  [
    "Run a server",
    {
      "server-in-ten-minutes": "DNS, certificate, service, first account and backup: lines to paste.",
      "self-hosting": "The reference: settings, proxies, accounts, limits, backups, upgrades.",
      scaling: "Several servers that are one service: on PostgreSQL and a bucket.",
      watching: "What the server says: its log, notices to you, figures, alerts and a dashboard.",
      privacy: "What a server keeps of people, where and for how long.",
      abuse: "Which deploys are refused as phishing, which are only held, and why.",
    },
  ],
];
const ORDER = PARTS.flatMap(([, lines]) => Object.keys(lines));
const LINES: Readonly<Record<string, string>> = Object.assign({}, ...PARTS.map(([, lines]) => lines));

/** 180 KB, loaded by the first who reads the manual: a server without readers does without. */
async function chaptersInOrder(): Promise<readonly Chapter[]> {
  const chapters = await import("./manual-chapters.ts").then(({ CHAPTERS }) => CHAPTERS);
  return chapters.toSorted((a, b) => ORDER.indexOf(a.name) - ORDER.indexOf(b.name));
}

/** The form of the search. Next to a chapter it has no button, and Enter sends it. */
const searchForm = (q = "", send?: Html): Html =>
  html`<search>
    <form class="finder" action="/docs">
      <input
        class="field"
        type="search"
        name="q"
        value="${q}"
        maxlength="100"
        aria-label="Search the manual"
        placeholder="Search the manual"
      />
      ${send}
    </form>
  </search>`;

const href = ({ name }: Chapter, id = ""): string => `/docs/${name}${id && `#${id}`}`;

function navigation(chapters: readonly Chapter[], current: Chapter): Html {
  const link = (chapter: Chapter): Html =>
    html`<li>
      <a href="${href(chapter)}" ${chapter === current && html`aria-current="page"`}>${chapter.title}</a>
    </li>`;
  return html`<nav id="page-chapters" class="chapters" aria-label="Manual" popover>
    ${PARTS.map(
      ([title, lines]) =>
        html`<p>${title}</p>
          <ul>
            ${chapters.filter(({ name }) => name in lines).map(link)}
          </ul>`,
    )}
  </nav>`;
}

/** The headings of a chapter. On a narrow screen they open over the page, without a script. */
function contents(chapter: Chapter): Html {
  const listed = chapter.sections.filter(({ depth }) => depth === 2 || depth === 3);
  return html`<nav id="page-contents" class="contents" aria-label="On this page" popover>
    <p>On this page</p>
    <ul>
      ${listed.map(({ id, title, depth }) => html`<li class="h${depth}"><a href="#${id}">${title}</a></li>`)}
    </ul>
  </nav>`;
}

/** The chapters before and after. */
function turn(chapters: readonly Chapter[], current: Chapter): Html {
  const at = chapters.indexOf(current);
  const one = (chapter: Chapter | undefined, rel: string, label: string): Html | undefined =>
    chapter && html`<a rel="${rel}" href="${href(chapter)}"><span>${label}</span> ${chapter.title}</a>`;
  return html`<nav class="turn" aria-label="Previous and next chapter">
    ${one(chapters[at - 1], "prev", "Previous")} ${one(chapters[at + 1], "next", "Next")}
  </nav>`;
}

/** The server in the examples of chapters for people who publish. */
const EXAMPLE = /https:\/\/svc\.example(?![\w.-])/g;
/** Their own server may have any name. */
const FOR_OPERATORS = PARTS[2]![1];

/** The examples name this server, so that a line can be pasted as it stands. */
const withOwnAddress = ({ name, html }: Chapter, { parts }: Ctx): Html =>
  trusted(name in FOR_OPERATORS ? html : html.replace(EXAMPLE, () => parts.config.base_url));

/** The settings that all pages of the manual share. The script comes before the page, for it knows the colours that a reader
 *  chose; what it does to the page it does when that is there. */
const shared = () =>
  ({ current: "docs", said: null, head: html`<script src="${scriptPath("manual")}"></script>` }) as const;

/** Shown where there is a script, which answers it. */
const THEME = html`<button class="theme" type="button" aria-label="Dark colours" aria-pressed="false">
  <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" focusable="false">
    <path
      d="M10 2v2M10 16v2M2 10h2M16 10h2M4.3 4.3l1.5 1.5M14.2 14.2l1.5 1.5M4.3 15.7l1.5-1.5M14.2 5.8l1.5-1.5M13 10a3 3 0 1 1-6 0 3 3 0 0 1 6 0z"
    />
  </svg>
</button>`;

async function showChapter(ctx: Ctx): Promise<Response> {
  const chapters = await chaptersInOrder();
  const chapter = chapters.find(({ name }) => name === ctx.params["chapter"]);
  if (!chapter) throw new Refusal("not_found", "The manual has no such chapter. /docs lists all of them.");
  const body = html`<div class="manual">
    <div class="side">
      <button class="button open" type="button" popovertarget="page-chapters">Chapters</button>
      <button class="button open here" type="button" popovertarget="page-contents">On this page</button>
      <div class="find">${searchForm()} ${THEME}</div>
      ${navigation(chapters, chapter)}
    </div>
    <div class="read">
      <article class="chapter">${withOwnAddress(chapter, ctx)}</article>
      ${turn(chapters, chapter)}
    </div>
    ${contents(chapter)}
  </div>`;
  return answerPage(ctx, { ...shared(), title: chapter.title, body, width: "list", index: true });
}

const chapterRow = (chapter: Chapter): Html =>
  html`<a class="name" href="${href(chapter)}">${chapter.title}</a>
    <p>${LINES[chapter.name]}</p>`;

const hitRow = ({ chapter, title, id, pieces }: Hit): Html =>
  html`<a class="name" href="${href(chapter, id)}">${id ? `${chapter.title} › ${title}` : title}</a>
    <p>${pieces.map((piece, at) => (at % 2 === 0 ? piece : html`<mark>${piece}</mark>`))}</p>`;

function found(chapters: readonly Chapter[], q: string): Html {
  const hits = search(chapters, q);
  const words = hits.length === 0 ? "Nothing in the manual" : count(hits.length, "place");
  return html`<p role="status">${words} for “<bdi>${q}</bdi>”</p>
    ${hits.length > 0 && rows("Places", hits.map(hitRow))}
    <p><a href="/docs">Show all chapters</a></p>`;
}

async function showManual(ctx: Ctx): Promise<Response> {
  const chapters = await chaptersInOrder();
  const q = asked(ctx.query.get("q"));
  const parts = PARTS.map(
    ([title, lines]) =>
      html`<section>
        <h2>${title}</h2>
        ${rows(title, chapters.filter(({ name }) => name in lines).map(chapterRow))}
      </section>`,
  );
  const body = html`<div class="overview">
    <div>
      <h1>Manual</h1>
      <p class="lead">How to publish, from a browser, a terminal or a program, and how to run a server of your own.</p>
    </div>
    <div class="find">${searchForm(q, button("Search"))} ${THEME}</div>
    ${q ? found(chapters, q) : parts}
  </div>`;
  return answerPage(ctx, { ...shared(), title: q ? "Search the manual" : "Manual", body, index: !q });
}

/** Leads an address with a slash at its end to the one without. */
const withoutSlash = async ({ request, exchange }: Ctx): Promise<Response> =>
  answerRedirect(pathOf(request.url).slice(0, -1), exchange);

export const MANUAL: readonly Route[] = [
  ["GET", "/docs", showManual],
  ["GET", "/docs/", withoutSlash],
  ["GET", "/docs/:chapter", showChapter],
  ["GET", "/docs/:chapter/", withoutSlash],
];
