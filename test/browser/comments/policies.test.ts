/** COMMENTS 4 in a real Chromium: pages with policies of their own, pages that frame others, words that would be scripts,
 *  and pages whose styles mean harm. */
import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { shared } from "../../kit/shared.ts";
import { until } from "../../kit/until.ts";
import { byRole, fill, hrefOf, named } from "../by-role.ts";
import { XSS } from "../../comments/xss.ts";
import type { Browser } from "../chromium.ts";
import { boxOf, click, panelShows, panelText, select } from "./hands.ts";
import { article, type CommentedSite, PASSAGE, World } from "./world.ts";

const world = shared(await World.open());
const { browser } = world;
beforeEach(() => browser.cdp("Network.clearBrowserCookies"));

const PIN = `Thread on '${PASSAGE}', 0 replies`;
const meta = (policy: string): string => `<meta http-equiv="Content-Security-Policy" content="${policy}">`;

/** Each with whether scripts and calls of the page's own host go through. */
const POLICIES: [policy: string, works: boolean][] = [
  ["default-src 'self'", true],
  ["default-src 'none'; script-src 'self'; connect-src 'self'", true],
  ["style-src 'none'; img-src 'none'; font-src 'none'", true],
  ["require-trusted-types-for 'script'; trusted-types 'none'", true],
  ["script-src 'self'; require-trusted-types-for 'script'; style-src 'none'; base-uri 'none'", true],
  ["connect-src 'none'", false],
  ["script-src 'none'", false],
  ["default-src 'none'", false],
];

describe("abuse 15: a page with a policy of its own", () => {
  let site: CommentedSite;
  beforeAll(async () => {
    const pages = POLICIES.map(([policy], i) => [`p${i}.html`, article(meta(policy))]);
    site = await world.site(Object.fromEntries(pages));
    for (const i of POLICIES.keys()) await site.writeOn({ exact: PASSAGE }, `On p${i}`, { page: `/p${i}.html` });
  });

  const rows = POLICIES.map(([policy, works], i) => ({ policy, works, path: `/p${i}.html` }));

  test.each(rows.filter(({ works }) => works))("$policy: the widget works, in its own dress", async ({ path }) => {
    await browser.visit(site.origin + path);
    const pin = await byRole(browser, "button", PIN);
    expect((await boxOf(browser, pin)).width).toBeWithin(24, 32);
    await click(browser, "button", PIN);
    await fill(browser, "textbox", "Reply", "Through the policy");
    await click(browser, "button", "Reply");
    await until(async () => (await site.texts(path)).includes("Through the policy"));
  });

  test.each(rows.filter(({ works }) => !works))("$policy: the launcher is a link to the threads", async ({ path }) => {
    await browser.visit(site.origin + path);
    await byRole(browser, "link", "Comments");
    expect(await hrefOf(browser, "Comments")).toBe(
      `${site.origin}/_svc/comments/view?page=${encodeURIComponent(path)}`,
    );
    await click(browser, "link", "Comments");
    await browser.shows(`On ${path.slice(1, 3)}`);
  });
});

test("abuse 15: where the widget's script is forbidden, the launcher leads to the threads when it is pressed", async () => {
  const site = await world.site({ "index.html": article(meta("script-src 'none'")) });
  await browser.visit(`${site.origin}/`);
  await click(browser, "button", "Comments");
  const arrived = () => browser.evaluate<boolean>("location.pathname === '/_svc/comments/view'");
  await until(() => arrived().catch(() => false)); // on its way it answers nothing
});

describe("abuse 16: a framed page", () => {
  test("in a frame of another site it is read, and nothing can be written or pressed by mistake", async () => {
    const site = await world.site({ "index.html": article() });
    await site.writeOn({ exact: PASSAGE }, "Seen through a frame");
    const frame = `<iframe id="f" src="${site.origin}/" width="1000" height="700"></iframe>`;
    const evil = await world.site({ "index.html": `<!doctype html><title>x</title>${frame}` }, "off");
    await browser.visit(`${evil.origin}/`);
    const inside = <T>(expression: string) => evaluateInFrame<T>(browser, site.origin, expression);
    const root = "document.querySelector('svc-comments').shadowRoot";
    await until(() => inside<boolean>(`!!${root}?.querySelector('.pin')`).catch(() => false));
    await inside(`${root}.querySelector('.pin').click()`);
    await until(() => inside<boolean>(`${root}.querySelector('.panel').innerText.includes('Seen through a frame')`));
    expect(await inside<number>(`${root}.querySelectorAll('textarea, input, .launcher').length`)).toBe(0);
    const names = await inside<string[]>(
      `[...${root}.querySelectorAll('.panel button')].map((one) => one.ariaLabel ?? one.innerText)`,
    );
    expect(names.filter((name) => !/^(Close|Show in page|Copy link)$/.test(name))).toEqual([]);
    await inside("getSelection().selectAllChildren(document.querySelector('#second'))");
    await Bun.sleep(500);
    expect(await inside<boolean>(`${root}.querySelector('.beside').hidden`)).toBe(true);
  });

  test("a code for the owner is not spent in a frame", async () => {
    const site = await world.site({ "index.html": article() });
    const url = await site.ownerUrl();
    const evil = await world.site(
      { "index.html": `<!doctype html><title>x</title><iframe src="${url}"></iframe>` },
      "off",
    );
    await browser.visit(`${evil.origin}/`);
    await Bun.sleep(500);
    await browser.visit(url);
    await panelShows(browser, "You moderate as Owner");
  });
});

/** In the frame of that origin: a process of its own, where the browser keeps sites apart. */
async function evaluateInFrame<T>(browser: Browser, origin: string, expression: string): Promise<T> {
  const { frameTree } = await browser.cdp<{ frameTree: { childFrames?: { frame: { id: string; url: string } }[] } }>(
    "Page.getFrameTree",
  );
  const frame = frameTree.childFrames?.find((one) => one.frame.url.startsWith(origin))?.frame;
  if (!frame) throw new Error("there is no such frame");
  const { executionContextId } = await browser.cdp<{ executionContextId: number }>("Page.createIsolatedWorld", {
    frameId: frame.id,
  });
  const { result, exceptionDetails } = await browser.cdp<{ result: { value: T }; exceptionDetails?: object }>(
    "Runtime.evaluate",
    { expression, contextId: executionContextId, returnByValue: true, awaitPromise: true },
  );
  if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
  return result.value;
}

describe("abuse 3: words that would be scripts", () => {
  test("60 strings in bodies are text, each as it was written, and nothing of them runs", async () => {
    expect(XSS.length).toBe(60);
    const site = await world.site({ "index.html": article() });
    const root = await site.writeOn({ exact: PASSAGE }, XSS[0]!);
    for (const text of XSS.slice(1)) await site.write(text, root.iri, root);
    await browser.visit(`${site.origin}/`);
    await click(browser, "button", /^Thread on/);
    await panelShows(browser, "Report");
    const shown = await browser.evaluate<string[]>(
      `[...document.querySelector("svc-comments").shadowRoot.querySelectorAll(".text")].map((one) => one.textContent)`,
    );
    expect(shown).toEqual([...XSS]);
    expect(await browser.evaluate<boolean>("'ran' in window")).toBe(false);
    const links = await browser.evaluate<string[]>(
      `[...document.querySelector("svc-comments").shadowRoot.querySelectorAll("a")].map((one) => one.protocol + one.rel)`,
    );
    expect(links.filter((one) => !/^https?:nofollow ugc noopener$/.test(one))).toEqual([]);
    expect(
      await browser.evaluate<number>(
        `document.querySelector("svc-comments").shadowRoot.querySelectorAll("script, img, iframe, [onerror], [onload], style, object, embed").length`,
      ),
    ).toBe(0);
  });

  test("in quotes of threads that have lost their place they are text", async () => {
    const site = await world.site({ "index.html": article() });
    const root = await site.writeOn({ exact: XSS[0]! }, "0");
    for (const [i, exact] of XSS.slice(1).entries())
      await site.writeOn({ exact, prefix: exact, suffix: exact }, `${i + 1}`, { by: root });
    await browser.visit(`${site.origin}/`);
    await click(browser, "button", "Comments");
    await until(async () => (await panelText(browser)).split("No longer on the page").length === 61);
    const shown = await browser.evaluate<string[]>(
      `[...document.querySelector("svc-comments").shadowRoot.querySelectorAll(".quote")].map((one) => one.textContent)`,
    );
    expect(shown.toSorted()).toEqual(XSS.toSorted());
    expect(await browser.evaluate<boolean>("'ran' in window")).toBe(false);
  });

  test("in quotes and in names they are text too", async () => {
    const quote = '<img src=x onerror="ran=1">';
    const body = `<p id="odd">Write &lt;img src=x onerror="ran=1"&gt; and nothing happens.</p>`;
    const site = await world.site({ "index.html": article("", body) });
    await site.writeOn({ exact: quote }, "Quoted");
    await browser.visit(`${site.origin}/`);
    await click(browser, "button", `Thread on '${quote}', 0 replies`);
    await panelShows(browser, quote);
    await fill(browser, "textbox", "Reply", "Me");
    await click(browser, "button", "Reply");
    await click(browser, "button", "Rename");
    await fill(browser, "textbox", "Your name", "<b onclick=ran=1>x</b>");
    await click(browser, "button", "Save");
    await panelShows(browser, "<b onclick=ran=1>x</b>");
    expect(await browser.evaluate<boolean>("'ran' in window")).toBe(false);
  });
});

describe("a page whose styles mean harm", () => {
  const HOSTILE = `<style>
    * { display: none !important; visibility: hidden !important; font: 1px/1 cursive !important; opacity: 0 !important }
    html, head, body, main, p { display: block !important; visibility: visible !important; opacity: 1 !important; font: 16px/1.5 serif !important }
    head * { display: none !important }
    html { font-size: 2px !important; direction: rtl; letter-spacing: 1em; text-transform: uppercase }
    svc-comments, svc-comments * { position: static !important; transform: scale(0) !important; pointer-events: none !important }
    button { all: unset !important; width: 900px !important }
    @property --svc-paper { syntax: "<length>"; inherits: false; initial-value: 0px }
    @property --paper { syntax: "<length>"; inherits: false; initial-value: 0px }
  </style>`;

  test("neither hides nor disfigures it", async () => {
    const site = await world.site({ "index.html": article(HOSTILE) });
    await site.writeOn({ exact: PASSAGE }, "Still here");
    await browser.visit(`${site.origin}/`);
    const pin = await byRole(browser, "button", PIN);
    expect((await boxOf(browser, pin)).width).toBeWithin(24, 32);
    await click(browser, "button", PIN);
    await panelShows(browser, "Still here");
    const style = await browser.evaluate<string[]>(`(() => {
      const text = document.querySelector("svc-comments").shadowRoot.querySelector(".text");
      const { fontSize, textTransform, letterSpacing, visibility } = getComputedStyle(text);
      return [fontSize, textTransform, letterSpacing, visibility];
    })()`);
    expect(style).toEqual(["15px", "none", "normal", "visible"]);
    await click(browser, "button", "Close");
    expect(await panelText(browser)).toBe("");
  });

  test("nor is the page changed by it: no rule, no class, no attribute of ours is on it", async () => {
    const site = await world.site({ "index.html": article() });
    await site.writeOn({ exact: PASSAGE }, "Traceless");
    await browser.visit(`${site.origin}/`);
    await byRole(browser, "button", PIN);
    await select(browser, PASSAGE);
    await byRole(browser, "button", "Comment");
    const left = await browser.evaluate<string>(
      `document.body.outerHTML.match(/svc-[a-z]+|style=|class=|tabindex/g)?.join() ?? ""`,
    );
    expect(left).toBe("");
    expect(await named(browser, "complementary")).toEqual([]);
  });
});
