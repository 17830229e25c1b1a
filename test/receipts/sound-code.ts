/** Sites without a fault whose styles and scripts look as if they had one. */
import { type Contents, page, PNG, type Sample, SHOW, sound, styled, TEXT, vite } from "./parts.ts";

const scripted = (code: string, more: Contents = {}, type = ""): Contents => ({
  "index.html": page(`${TEXT}<div id="app"></div><script${type} src="js/main.js"></script>`),
  "js/main.js": code,
  ...more,
});
const modular = (code: string, more: Contents = {}): Contents => scripted(code, more, ' type="module"');
const ROUTES = 'const go=u=>{history.pushState({},"",u)};';

export const SOUND_CODE: Sample[] = [
  sound("a single-page app with routes", {
    ...vite("/", `${ROUTES}at.innerHTML='<a href="/about">About</a><a href="/kites/7">Seven</a>';`),
  }),
  sound("a single-page app whose shell links its routes in a noscript", {
    ...vite(),
    "index.html": (vite()["index.html"] as string).replace(
      '<div id="root">',
      '<noscript><a href="/about">About</a></noscript><div id="root">',
    ),
  }),
  sound("a build with relative addresses", vite("./")),
  sound(
    "stylesheets in a chain",
    styled('@import "a.css";@import url(b.css) layer(base) supports(display:grid) screen;p{margin:0}', {
      "css/a.css": "@import 'deep/c.css';",
      "css/b.css": "b{top:0}",
      "css/deep/c.css": "body{background:url(../../sky.png)}",
      "sky.png": PNG,
    }),
  ),
  sound(
    "comments in a stylesheet",
    styled(
      '/* url(gone.png) @import "gone.css"; */p{margin:0;/*background:url("gone.png")*/content:"url(gone.png) /* "}i{background:url(#r)}',
    ),
  ),
  sound(
    "data in a stylesheet",
    styled(
      "p{background:url(\"data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg'><path d='url(gone)'/></svg>\")}b{background:url(data:image/png;base64,iVBORw0KGgo=)}",
    ),
  ),
  sound(
    "a font with old fallbacks that no browser loads",
    styled(
      "@font-face{font-family:K;src:url(k.eot);src:url(k.eot?#iefix) format('embedded-opentype'),url(k.woff2) format('woff2'),url(k.svg#k) format('svg')}p{behavior:url(PIE.htc)}h1{font-family:K}",
      { "css/k.woff2": PNG },
    ),
  ),
  sound(
    "escapes and spaces in a stylesheet",
    styled("p{background:url( 'a b.png' )}b{background:url(a\\ b.png)}", { "css/a b.png": PNG }),
  ),
  sound(
    "strings that look like imports, in a minified bundle",
    scripted(
      `var a='import x from "./gone.js"',b="import('./gone.js')",c=\`import "gone"; export * from './gone.js'; \${a+"from'./gone2.js'"}\`,d=/import "gone"|["']/g,e=1/2,f=e/a.length/2;/* import "gone" */function g(){}/["'\`]/.test(a);if(a)/'/.test(b);document.title+=""// import './gone.js'\n`,
    ),
  ),
  sound(
    "a parser that carries code as text",
    modular(
      `const KEYWORDS = ["import", "from", "export"]; const from = "x"; const o = { import: "./gone.js", from: "./gone.js" }; o.from; document.title = KEYWORDS[0] + from;\n${SHOW}`,
    ),
  ),
  sound(
    "dynamic imports that are computed",
    modular(
      `const pages = ["a"]; for (const p of pages) import("./pages/" + p + ".js"); for (const p of pages) import(\`./pages/\${p}.js\`);${SHOW}`,
      { "js/pages/a.js": "export const a=1" },
    ),
  ),
  sound(
    "dynamic imports with remarks of a bundler",
    modular(`import(/* webpackChunkName: "a" */ "./a.js").then(()=>import(/* @vite-ignore */\n"./b.js"));${SHOW}`, {
      "js/a.js": "export{}",
      "js/b.js": "export{}",
    }),
  ),
  sound(
    "imports of Node guarded by its presence",
    modular(
      `const inNode = typeof process === "object" && process.versions?.node;\nif (inNode) { const { createRequire } = await import("module"); const fs = createRequire(import.meta.url)("fs"); await import("node:fs"); }\n${SHOW}`,
    ),
  ),
  sound(
    "a universal module",
    scripted(
      '(function (root, factory) { if (typeof define === "function" && define.amd) define(["jquery"], factory); else if (typeof module === "object" && module.exports) module.exports = factory(require("jquery")); else root.kites = factory(); })(this, function ($) { return 3; });',
    ),
  ),
  sound(
    "a browserify bundle",
    scripted(
      '(function(){function r(e,n,t){function o(i){return n[i]?1:0}return o}return r})()({1:[function(require,module,exports){\nvar a = require("lodash");\nmodule.exports = a;\n},{"lodash":2}]},{},[1]);',
    ),
  ),
  sound("an import map with a prefix, an unused other host and a scope", {
    "index.html": page(
      '<div id="app"></div><script type="module" src="/js/main.js"></script>',
      `<title>Kites</title><script type="importmap">{"imports":{"kite":"./js/kite.js","lib/":"/js/lib/","react":"https://esm.sh/react@19"},"scopes":{"/js/lib/":{"wind":"/js/wind.js"}}}</script>`,
    ),
    "js/main.js": `import "kite";import "lib/a.js";${SHOW}`,
    "js/kite.js": "export{}",
    "js/lib/a.js": 'import "wind";',
    "js/wind.js": "export{}",
  }),
  sound("a service worker and its cache", {
    "index.html": page(`${TEXT}<script>navigator.serviceWorker?.register("/sw.js", { scope: "/" });</script>`),
    "sw.js":
      'importScripts("./cache.js"); addEventListener("fetch", (e) => { if (e.request.url.endsWith("/gone")) e.respondWith(fetch("/offline.html")); });',
    "cache.js": "self.kept = [];",
    "offline.html": page("<p>Offline</p>"),
  }),
  sound(
    "workers by module addresses",
    modular(
      `const w = new Worker(new URL("./count.js", import.meta.url), { type: "module" }); const u = new URL("a.png", import.meta.url).href; ${SHOW}`,
      { "js/count.js": 'import "./add.js";', "js/add.js": "export{}", "js/a.png": PNG },
    ),
  ),
  sound("a source map that was not uploaded", {
    ...vite("/", "\n//# sourceMappingURL=index-BNq3Kf2s.js.map\n"),
    "assets/index-D8b4DHJx.css": "p{margin:0}\n/*# sourceMappingURL=gone.css.map */",
  }),
  sound(
    "an API of its own machine while developing",
    scripted(
      'const API = location.hostname === "nowhere.invalid" ? "http://localhost:3000" : "";\nfunction load() { return API + "/x"; }\nload();',
    ),
  ),
  sound(
    "keys that are made for browsers, and samples",
    scripted(
      'const config = { apiKey: "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY", stripe: "pk_live_51Habcdefghijklmnopqrstuv", sample: "AKIAIOSFODNN7EXAMPLE", token: "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", anon: "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJzdXBhYmFzZSIsInJvbGUiOiJhbm9uIn0.abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG" };',
    ),
  ),
  sound(
    "a library that reads private keys",
    scripted(
      'var head = "-----BEGIN RSA PRIVATE KEY-----", tail = "-----END RSA PRIVATE KEY-----"; function pem(b) { return head + "\\n" + b + "\\n" + tail; }',
    ),
  ),
  sound(
    "a request that a click sends elsewhere",
    scripted('document.addEventListener("submit", () => fetch("/api/kites", { method: "POST", body: "{}" }));'),
  ),
  sound("a request for a file of the site", {
    "index.html": page(`${TEXT}<script src="js/deep/list.js"></script>`),
    "js/deep/list.js": 'fetch("data/kites.json").then((r) => r.json()); fetch("/data/kites.json?x=1");',
    "data/kites.json": "[]",
  }),
  sound(
    "modules of JSON and bytes",
    modular(
      `import kites from "./kites.json" with { type: "json" };\nimport sheet from './a.css' with { type: 'css' };\n${SHOW}`,
      { "js/kites.json": "[]", "js/a.css": "p{margin:0}" },
    ),
  ),
  sound("a title that a script sets", {
    "index.html":
      '<!doctype html><html><head><meta charset="utf-8"></head><body><div id="app"></div><script>document.title = "Kites"; document.querySelector("#app").append("Kites");</script></body></html>',
  }),
  sound("scripts beside the site that nothing loads", {
    "index.html": page(TEXT),
    "vite.config.js": 'import react from "@vitejs/plugin-react"; import "./gone.js";',
    "old/old.css": "p{background:url(gone.png)}",
  }),
];
