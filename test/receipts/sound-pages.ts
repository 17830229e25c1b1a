/** Sites without a fault whose text looks as if they had one. */
import { type Contents, page, PNG, type Sample, shown, sound, SVG, TEXT } from "./parts.ts";

const headed = (head: string, more: Contents = {}): Contents => ({
  "index.html": page(TEXT, `<title>Kites</title>${head}`),
  ...more,
});
const utf16 = (text: string): Uint8Array => new Uint8Array(Buffer.from(`\ufeff${text}`, "utf16le"));
const latin1 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "latin1"));

export const SOUND_PAGES: Sample[] = [
  sound("one page", shown("")),
  sound(
    "references in templates",
    shown(
      '<template><img src="gone.png"><a href="gone.html">x</a><template><img src="gone.png"></template><script src="gone.js"></script></template>',
    ),
  ),
  sound(
    "references in comments",
    shown(
      '<!-- <img src="gone.png"> <script src="gone.js"></script> --><!--[if lt IE 9]><script src="js/html5shiv.js"></script><![endif]-->',
    ),
  ),
  sound(
    "references in code samples",
    shown(
      '<pre><code>&lt;img src="gone.png"&gt; &lt;script src="/src/main.tsx"&gt;&lt;/script&gt; href="%PUBLIC_URL%/x" {{ url_for("x") }}</code></pre>',
    ),
  ),
  sound(
    "references in raw text",
    shown(
      '<textarea><img src="gone.png"></textarea><noscript><img src="gone.gif"></noscript><xmp><script src="gone.js"></script></xmp>',
    ),
  ),
  sound(
    "references in scripts that are no scripts",
    shown(
      '<script type="text/x-handlebars" src="gone.hbs"><img src="{{gone}}"></script><script type="application/ld+json">{"@type":"Thing","image":"/gone.png"}</script>',
    ),
  ),
  sound(
    "data: and blob: addresses",
    shown(
      `<img src="data:image/svg+xml,${encodeURIComponent(SVG)}" alt=""><script>const u = URL.createObjectURL(new Blob(["1"])); const i = new Image(); i.src = "data:,";</script>`,
    ),
  ),
  sound("a base href of its own folder", {
    "index.html": page(
      `${TEXT}<img src="a.png" alt=""><a href="b.html">B</a>`,
      '<base href="pages/"><title>Kites</title>',
    ),
    "pages/a.png": PNG,
    "pages/b.html": page("<p>B</p>"),
  }),
  sound("a base href on another host", {
    "index.html": page(
      `${TEXT}<a href="gone.html">There</a>`,
      '<base href="https://kites.example/docs/"><title>Kites</title>',
    ),
  }),
  sound(
    "srcset with widths and data",
    shown(
      `<img src="a.png" srcset="a.png 100w, b,c.png 200w,data:image/png;base64,iVBORw0KGgo= 300w" sizes="10px" alt=""><picture><source srcset="a.png, b,c.png 2x"><img src="a.png" alt=""></picture>`,
      { "a.png": PNG, "b,c.png": PNG },
    ),
  ),
  sound("protocol-relative addresses", shown('<a href="//kites.example/gone.html">There</a>')),
  sound(
    "links to fragments",
    shown(
      '<a href="#kites">Here</a><a href="">Again</a><a href="?sort=up">Sorted</a><a href="/#gone">Home</a><svg width="9" height="9"><rect id="r"/><use href="#r"/></svg>',
    ),
  ),
  sound(
    "query strings",
    headed('<link rel="stylesheet" href="site.css?v=1.2.3"><script src="site.js?#x" defer></script>', {
      "site.css": "@font-face{font-family:K;src:url('k.woff2?v=4.7.0#iefix')}",
      "site.js": "1",
      "k.woff2": PNG,
    }),
  ),
  sound(
    "clean URLs and folders",
    shown(
      '<a href="/about">About</a><a href="about.html#x">About</a><a href="guide">Guide</a><a href="guide/">Guide</a><a href="./guide/../about">About</a><a href=".">Home</a>',
      {
        "about.html": page("<p>About</p>"),
        "guide/index.html": page('<a href="..">Up</a><a href="../about">About</a>'),
      },
    ),
  ),
  sound(
    "entities and percent signs in addresses",
    shown(
      '<img src="a&amp;b.png" alt=""><img src="c%20d.png" alt=""><img src="e f.png" alt=""><a href="w%C3%BChlm%C3%A4use.html">1</a><a href="wühlmäuse.html">2</a><a href="&#119;ühlmäuse">3</a>',
      { "a&b.png": PNG, "c d.png": PNG, "e f.png": PNG, "wühlmäuse.html": page("<p>Here</p>") },
    ),
  ),
  sound(
    "decomposed letters in addresses",
    shown(`<a href="${"café.html".normalize("NFD")}">Café</a>`, { "café.html": page("<p>Open</p>") }),
  ),
  sound(
    "backslashes, white space and line breaks in addresses",
    shown('<img src="img\\a.png" alt=""><img src="  img/a.png  " alt=""><img src="img/\na.png" alt="">', {
      "img/a.png": PNG,
    }),
  ),
  sound("old markup without quotes", {
    "index.html":
      "<HTML><HEAD><TITLE>Kites</TITLE></HEAD><BODY BACKGROUND=a.png><H1>Kites</H1><IMG SRC=a.png ALT=x><A HREF=b.html>B</A></BODY></HTML>",
    "a.png": PNG,
    "b.html": "<title>B</title>B",
  }),
  sound(
    "other schemes",
    shown(
      '<a href="mailto:a@b.example">1</a><a href="tel:+1">2</a><a href="javascript:void(0)">3</a><a href="sms:1">4</a><a href="whatsapp://send?text=x">5</a>',
    ),
  ),
  sound(
    "localhost in the text and in a link",
    shown(
      '<p>Open http://localhost:3000/ and see.</p><a href="http://localhost:8080/">Open it</a><pre><code>fetch("http://localhost:3000/")</code></pre>',
    ),
  ),
  sound(
    "a page that documents templates",
    shown('<p>Write {{ title }} or &lt;%= title %&gt; or %PUBLIC_URL%.</p><code>{% include "x.html" %}</code>'),
  ),
  sound(
    "pictures over http, which browsers upgrade",
    shown('<img data-src="http://kites.example/a.png" alt=""><a href="http://kites.example/">There</a>'),
  ),
  sound(
    "links in the head that load nothing",
    headed(
      '<link rel="canonical" href="/gone/"><link rel="alternate" hreflang="de" href="/de/"><link rel="dns-prefetch" href="//cdn.example"><link rel="preconnect" href="https://cdn.example"><link rel="next" href="/2"><meta name="description" content="/gone.png"><meta property="og:url" content="/gone">',
    ),
  ),
  sound("lazy pictures that a script fills in", shown('<img data-src="gone.png" data-srcset="gone.png 2x" alt="">')),
  sound(
    "a form that another service answers",
    shown(
      '<form action="/api/gone" method="post"><button>Send</button></form><form action="https://formspree.io/f/x"></form>',
    ),
  ),
  sound("a page in XHTML", {
    "index.html": page(`${TEXT}<a href="x.xhtml">X</a>`),
    "x.xhtml": `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>X</title></head><body><p>X</p><img src="a.png" alt=""/></body></html>`,
    "a.png": PNG,
  }),
  sound("pages in UTF-16 and Windows-1252", {
    "index.html": utf16(page('<h1>Kites</h1><img src="é.png" alt=""><a href="alt.html">Old</a>')),
    "alt.html": latin1('<title>Alt</title><p>été</p><img src="é.png" alt="">'),
    "é.png": PNG,
  }),
  sound("a page that sends its visitors on", {
    "index.html": page("<p>Moved</p>", '<title>Kites</title><meta http-equiv="refresh" content="9; url=docs/">'),
    "docs/index.html": page(TEXT),
  }),
  sound("its own 404 page", shown("", { "404.html": page('<p>Gone</p><a href="/">Home</a>') })),
  sound("parts of pages that a script puts into the index", {
    "index.html": page(
      `${TEXT}<div id="at"></div><script>fetch("parts/menu.html").then((r) => r.text()).then((t) => { at.innerHTML = t; });</script>`,
    ),
    "parts/menu.html": '<nav><img src="img/a.png" alt=""><a href="about.html">About</a></nav>',
    "img/a.png": PNG,
    "about.html": page("<p>About</p>"),
  }),
  sound(
    "frames, objects and embedded films",
    shown(
      '<iframe src="map.html" title="Map"></iframe><iframe srcdoc="<p>Here</p>" title="Note"></iframe><object data="a.svg" type="image/svg+xml"></object><video controls><source src="a.mp4?x"><track src="a.vtt"></video>',
      { "map.html": page("<p>Map</p>"), "a.svg": SVG, "a.mp4": PNG, "a.vtt": "WEBVTT\n" },
    ),
  ),
  sound(
    "a sprite and a drawing with links",
    shown(
      '<svg width="9" height="9"><use xlink:href="icons.svg#box" href="icons.svg#box"/></svg><svg width="9" height="9"><title>Box</title><a href="b.html"><text>B</text></a></svg>',
      { "icons.svg": SVG, "b.html": page("<p>B</p>") },
    ),
  ),
  sound(
    "downloads of Python, as Sphinx ships them",
    shown('<a class="reference download" href="_downloads/ab12/plot.py" download="">plot.py</a>', {
      "_downloads/ab12/plot.py": "import os\n",
      "objects.inv": "# Sphinx",
    }),
  ),
  sound(
    "a large film that waits for a click",
    shown('<video controls preload="none" src="film.mp4"></video>', { "film.mp4": new Uint8Array(5 << 20).fill(3) }),
  ),
  sound(
    "a large archive to download",
    shown('<a href="kites.zip" download>All kites</a>', { "kites.zip": new Uint8Array(5 << 20).fill(3) }),
  ),
  sound("pictures alone, in a list", { "a.png": PNG, "b.png": PNG, "Kites at dusk.png": PNG }),
  sound("one page under another name", {
    "kites.html": page(`${TEXT}<a href="kites.html">Here</a><img src="a.png" alt="">`),
    "a.png": PNG,
  }),
  sound("an index in capitals", {
    "INDEX.HTML": page(`${TEXT}<a href="INDEX.HTML">Here</a><a href="index.html">Here</a><a href="/">Here</a>`),
  }),
  sound("a link to the service's own pages", shown('<a href="/_svc/report">Report</a>')),
];
