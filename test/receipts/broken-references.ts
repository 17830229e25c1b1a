/** Sites with a reference that nothing answers. */
import {
  broken,
  both,
  type Contents,
  hidden,
  move,
  PNG,
  page,
  put,
  type Sample,
  SHOW,
  SVG,
  swap,
  TEXT,
  vite,
  WAV,
} from "./parts.ts";

const css = (more: string): string => `<title>Kites</title><link rel="stylesheet" href="css/site.css">${more}`;
const styled = (sheet: string, more: Contents = {}): Contents => ({
  "index.html": page(TEXT, css("")),
  "css/site.css": sheet,
  ...more,
});
const shown = (body: string, more: Contents = {}): Contents => ({ "index.html": page(TEXT + body), ...more });
const modules = (head: string, main: string, more: Contents = {}): Contents => ({
  "index.html": page(
    '<div id="app"></div><script type="module" src="js/main.js"></script>',
    `<title>Kites</title>${head}`,
  ),
  "js/main.js": main,
  ...more,
});
const map = (imports: Record<string, string>): string =>
  `<script type="importmap">${JSON.stringify({ imports })}</script>`;

export const BROKEN_REFERENCES: Sample[] = [
  broken(
    "a picture that was not uploaded",
    "missing_asset",
    shown('<img src="img/kite.png" alt="A kite">'),
    put({ "img/kite.png": PNG }),
  ),
  broken(
    "a stylesheet that was not uploaded",
    "missing_asset",
    { "index.html": page(TEXT, css("")) },
    put({ "css/site.css": "p{}" }),
  ),
  broken(
    "a page in a folder that forgets ../",
    "missing_asset",
    { ...styled("p{}"), "blog/first.html": page(TEXT, css("")) },
    swap('"css/site.css"', '"../css/site.css"', "blog/first.html"),
  ),
  broken(
    "a picture in other letter case",
    "case_mismatch",
    shown('<img src="img/kite.png" alt="">', { "img/Kite.PNG": PNG }),
    swap("img/kite.png", "img/Kite.PNG"),
  ),
  broken(
    "a folder in other letter case",
    "case_mismatch",
    {
      "index.html": page(TEXT, '<title>Kites</title><link rel="stylesheet" href="CSS/site.css">'),
      "css/site.css": "p{}",
    },
    swap("CSS/site.css", "css/site.css"),
  ),
  broken(
    "a link in other letter case",
    "case_mismatch",
    shown('<a href="about.html">About</a>', { "About.html": page("<h1>About</h1>") }),
    swap('"about.html"', '"About.html"'),
  ),
  broken(
    "a clean URL in other letter case",
    "case_mismatch",
    shown('<a href="/About">About</a>', { "about.html": page("<h1>About</h1>") }),
    swap('"/About"', '"/about"'),
  ),
  broken(
    "an import map whose address is no URL",
    "missing_asset",
    modules(map({ kite: "js/kite.js" }), `import "kite";${SHOW}`, { "js/kite.js": "1" }),
    swap('"js/kite.js"', '"./js/kite.js"', "index.html"),
  ),
  hidden(
    "one candidate of a srcset",
    "missing_asset",
    shown('<img src="a.png" srcset="a.png 1x, a@2x.png 2x" alt="">', { "a.png": PNG }),
    put({ "a@2x.png": PNG }),
  ),
  broken(
    "a video's poster",
    "missing_asset",
    shown('<video poster="still.jpg" controls></video>'),
    put({ "still.jpg": PNG }),
  ),
  broken(
    "an object's data",
    "missing_asset",
    shown('<object data="chart.svg" type="image/svg+xml">A chart</object>'),
    put({ "chart.svg": SVG }),
  ),
  broken(
    "sound that was not uploaded",
    "missing_asset",
    shown('<audio controls src="wind.wav"></audio>'),
    put({ "wind.wav": WAV }),
  ),
  broken(
    "a frame of nothing",
    "missing_asset",
    shown('<iframe src="map.html" title="Map"></iframe>'),
    put({ "map.html": page("<p>Map</p>") }),
  ),
  broken(
    "a sprite that was not uploaded",
    "missing_asset",
    shown('<svg width="9" height="9"><use href="icons.svg#box"></use></svg>'),
    put({ "icons.svg": SVG }),
  ),
  hidden(
    "the picture of a link preview",
    "missing_asset",
    { "index.html": page(TEXT, '<title>Kites</title><meta property="og:image" content="/preview.png">') },
    put({ "preview.png": PNG }),
  ),
  hidden(
    "an icon of the web manifest",
    "missing_asset",
    {
      "index.html": page(TEXT, '<title>Kites</title><link rel="manifest" href="app/site.webmanifest">'),
      "app/site.webmanifest": '{"name":"Kites","icons":[{"src":"icon-192.png","sizes":"192x192"}]}',
    },
    put({ "app/icon-192.png": PNG }),
  ),
  // A headless shell, unlike a browser with a window, never asks for icons.
  hidden(
    "the icon that the page names",
    "missing_asset",
    { "index.html": page(TEXT, '<title>Kites</title><link rel="icon" href="/icons/kite.svg">') },
    put({ "icons/kite.svg": SVG }),
  ),
  broken(
    "a link to a page that is not there",
    "broken_link",
    shown('<a href="contact.html">Contact</a>'),
    put({ "contact.html": page("<p>Write</p>") }),
  ),
  broken(
    "a link to a file, in a single-page app",
    "broken_link",
    { ...vite(), "200.html": page('<a href="/cv.pdf">CV</a>') },
    put({ "cv.pdf": "%PDF-1.4" }),
  ),
  broken(
    "a link to a folder without an index",
    "broken_link",
    shown('<a href="photos/">Photos</a>', { "photos/a.png": PNG }),
    put({ "photos/index.html": page("<p>Photos</p>") }),
  ),
  broken(
    "an area of an image map",
    "broken_link",
    shown(
      '<img src="a.png" usemap="#m" alt=""><map name="m"><area shape="rect" coords="0,0,9,9" href="north.html" alt="North"></map>',
      { "a.png": PNG },
    ),
    put({ "north.html": page("<p>North</p>") }),
  ),
  broken(
    "a picture from the author's own disk",
    "missing_asset",
    shown('<img src="file:///C:/Users/me/kite.png" alt="">'),
    both(swap("file:///C:/Users/me/kite.png", "kite.png"), put({ "kite.png": PNG })),
  ),
  broken(
    "a path of Windows",
    "missing_asset",
    shown('<img src="C:\\Users\\me\\kite.png" alt="">'),
    both(swap("C:\\Users\\me\\kite.png", "kite.png"), put({ "kite.png": PNG })),
  ),
  broken(
    "data that a script fetches while the page loads",
    "missing_asset",
    {
      "index.html": page(`${TEXT}<script src="js/list.js"></script>`),
      "js/list.js": 'fetch("data/kites.json").then((r) => r.json()).catch(() => {});',
    },
    put({ "data/kites.json": "[]" }),
  ),
  hidden(
    "a service worker that was not uploaded",
    "missing_asset",
    shown(
      '<script>if ("serviceWorker" in navigator) navigator.serviceWorker.register("/sw.js").catch(() => {});</script>',
    ),
    put({ "sw.js": "" }),
  ),
  hidden(
    "a worker that was not uploaded",
    "missing_asset",
    shown('<script>const w = new Worker("js/count.js");</script>'),
    put({ "js/count.js": "" }),
  ),
  broken(
    "a percent sign that nobody encoded",
    "missing_asset",
    shown('<img src="100%.png" alt="">', { "100%.png": PNG }),
    swap('"100%.png"', '"100%25.png"'),
  ),
  broken(
    "a page that sends its visitors to nothing",
    "broken_link",
    { "index.html": page(TEXT, '<title>Kites</title><meta http-equiv="refresh" content="9; url=/start/">') },
    put({ "start/index.html": page(TEXT) }),
  ),
  broken(
    "a picture named with its extension twice",
    "missing_asset",
    shown('<img src="kite.png" alt="">', { "kite.png.png": PNG }),
    move("kite.png.png", "kite.png"),
  ),
  broken(
    "a script of a theme that came without it",
    "missing_asset",
    shown('<script src="assets/vendor/jquery.min.js"></script>', { "assets/app.js": "" }),
    put({ "assets/vendor/jquery.min.js": "" }),
  ),
  broken(
    "an input's picture and a table's background",
    "missing_asset",
    shown('<input type="image" src="go.gif" alt="Go">'),
    put({ "go.gif": PNG }),
  ),
  // What no rule of the lint can know: counted as misses.
  broken(
    "jQuery used and never loaded",
    [],
    shown("<script>$(function () {});</script>"),
    swap("$(function () {});", ""),
  ),
  broken(
    "a script that expects an element that is not there",
    [],
    shown('<script>document.getElementById("menu").hidden = true;</script>'),
    swap("<p>", '<p id="menu">'),
  ),
  broken(
    "a request whose address is computed",
    [],
    shown('<script>const lang = "de"; fetch(`/i18n/${lang}.json`).catch(() => {});</script>'),
    put({ "i18n/de.json": "{}" }),
  ),
];
