/** COMMENTS 4, abuse 3, on the dashboard: what strangers write is text there, wherever it stands. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Commenter, ownerCalls, turnOn } from "../../comments/commenter.ts";
import { asName, XSS } from "../../comments/xss.ts";
import { type DeployResult, startServer, type TestServer } from "../../kit/server.ts";
import { type Visitor, visitorOf } from "../../kit/visitor.ts";
import { type Browser, openBrowser } from "../chromium.ts";
import { enter } from "../entering.ts";

const FREE = {
  SVC_RATE_COMMENT: "off",
  SVC_RATE_COMMENT_IDENTITY: "off",
  SVC_RATE_COMMENT_SITE: "off",
  SVC_RATE_RENAME: "off",
};
/** A path cannot hold a slash, and no file of Windows these; the rest of markup is there. */
const ODD_PAGE = "<img src=x onerror=alert(1)>'&quot;.html";

let server: TestServer;
let browser: Browser;
let ann: Visitor;
let site: DeployResult;
const dialogs: string[] = [];

async function writeAll(): Promise<void> {
  const own = ownerCalls(server, site, site.manage_token);
  for (const [i, text] of XSS.entries()) {
    const page = i % 2 === 0 ? "/" : `/${encodeURIComponent(ODD_PAGE)}`;
    const visitor = new Commenter(server, site);
    const id = await visitor.comment(text, { page, exact: text, prefix: text.slice(0, 60), suffix: text.slice(0, 60) });
    const { status } = await visitor.rename(asName(text));
    if (status !== 200) throw new Error(`the name ${asName(text)} was answered ${status}`);
    await visitor.report(id, "other", text);
    await visitor.reply(id, text);
    if (i % 3 === 0) await own("POST", `${id}/resolve`, { note: text });
    if (i % 3 === 1) await own("POST", `${await visitor.comment(text)}/reject`, { note: text });
  }
}

beforeAll(async () => {
  server = await startServer(FREE);
  ann = await visitorOf(server);
  site = await ann.deploy({ "index.html": "<title>x</title>x", [ODD_PAGE]: "x" });
  await turnOn(server, site, "anonymous");
  await writeAll();
  browser = await openBrowser();
  await enter(browser, server, ann);
  browser.on<{ message: string }>("Page.javascriptDialogOpening", ({ message }) => void dialogs.push(message));
}, 120_000);
afterAll(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
});

const OURS =
  "a,blockquote,body,button,code,details,div,fieldset,footer,form,h1,h2,head,header,html,input,label,legend,li,link,main,meta,nav,ol,p,path,rect,script,section,span,strong,summary,svg,textarea,time,title,ul";
/** Elements that are none of the page's own, attributes that run, addresses that lead elsewhere. */
const STRANGE = `[...document.querySelectorAll("*")].flatMap((element) => {
  const odd = [...element.attributes].filter(({ name, value }) =>
    /^on|^style$|^srcdoc$/.test(name) || (/^(href|src|action|formaction)$/.test(name) && !/^(https?:|\\/(?!\\/)|#)/.test(value)));
  const foreign = !${JSON.stringify(OURS.split(","))}.includes(element.localName);
  const script = element.localName === "script" && !element.getAttribute("src")?.startsWith("/assets/");
  return foreign || script || odd.length > 0 ? [element.outerHTML.slice(0, 200)] : [];
})`;

async function everyPage(show: string): Promise<{ text: string; pages: number }> {
  let [text, pages] = ["", 0];
  const first = `${server.base_url}/dashboard/sites/${site.site_id}/comments?show=${show}`;
  for (let next: string | null = first; next !== null; pages++) {
    const visit = await browser.visit(next);
    expect([show, pages, visit.failures, visit.messages]).toEqual([show, pages, [], []]);
    await browser.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))");
    expect(await browser.evaluate<string[]>(STRANGE)).toEqual([]);
    text += await browser.evaluate<string>("document.querySelector('main').textContent");
    next = await browser.evaluate<string | null>("document.querySelector('a[rel=next]')?.href ?? null");
  }
  return { text, pages };
}

const words = (text: string): string => text.replace(/\s+/g, " ");

describe("abuse 3: body, name, quote, page path, note and report", () => {
  const LISTED: [show: string, has: (i: number) => boolean][] = [
    ["open", (i) => i % 3 !== 0],
    ["resolved", (i) => i % 3 === 0],
    ["reported", () => true],
    ["rejected", (i) => i % 3 === 1],
  ];
  test.each(LISTED)(
    "%s: nothing of it is an element, runs, or is lost",
    async (show, has) => {
      const sent = XSS.filter((_, i) => has(i));
      const { text, pages } = await everyPage(show);
      const lost = (wanted: string) => !words(text).includes(words(wanted));
      expect(sent.filter(lost)).toEqual([]);
      expect(sent.map(asName).filter(lost)).toEqual([]);
      expect(lost(`/${ODD_PAGE}`)).toBe(show === "rejected"); // those were written on the index
      expect(pages).toBe(Math.ceil(sent.length / 20));
      expect(dialogs).toEqual([]);
    },
    60_000,
  );

  test("pending: as well", async () => {
    await turnOn(server, site, "approved");
    const visitor = new Commenter(server, site);
    for (const text of XSS.slice(0, 20)) await visitor.comment(text, { exact: text });
    const { text } = await everyPage("pending");
    expect(XSS.slice(0, 20).filter((one) => !text.includes(one))).toEqual([]);
    expect(dialogs).toEqual([]);
  }, 60_000);

  test("what an address says is never shown, and a refused form's mode is no markup", async () => {
    const probe = encodeURIComponent(XSS[13]!);
    const path = `${server.base_url}/dashboard/sites/${site.site_id}/comments?show=${probe}&cursor=${probe}&done=${probe}`;
    const { failures, messages } = await browser.visit(path);
    expect([failures, messages, await browser.evaluate<string[]>(STRANGE)]).toEqual([[], [], []]);
    const { status, html } = await ann.send(`/dashboard/sites/${site.site_id}/comments/settings`, {
      mode: XSS[13]!,
      show: XSS[13]!,
      passcode: XSS[13]!,
    });
    expect([status, html.includes("<script>")]).toEqual([400, false]);
  });
});
