/** Sites whose stylesheets, modules or import maps name what is not there. */
import { broken, importMap, modules, PNG, page, put, type Sample, SHOW, shown, styled, swap, TEXT } from "./parts.ts";

export const BROKEN_NESTED: Sample[] = [
  broken(
    "a font that a stylesheet names",
    "missing_asset",
    styled('@font-face{font-family:Kite;src:url("../fonts/kite.woff2") format("woff2")}h1{font-family:Kite}'),
    put({ "fonts/kite.woff2": PNG }),
  ),
  broken(
    "a background three imports down",
    "missing_asset",
    styled('@import "a.css";', {
      "css/a.css": "@import url(deep/b.css) screen;",
      "css/deep/b.css": "body{background:url(../../sky.png)}",
    }),
    put({ "sky.png": PNG }),
  ),
  broken(
    "an @import of nothing",
    "missing_asset",
    styled('@import url("reset.css");p{margin:0}'),
    put({ "css/reset.css": "*{margin:0}" }),
  ),
  broken(
    "a background in a style attribute",
    "missing_asset",
    shown('<div style="height:9px;background:url(&quot;hero.jpg&quot;)"></div>'),
    put({ "hero.jpg": PNG }),
  ),
  broken(
    "a background in a style element",
    "missing_asset",
    { "index.html": page(TEXT, "<title>Kites</title><style>body{background:url('/bg/sky.png')}</style>") },
    put({ "bg/sky.png": PNG }),
  ),
  broken(
    "a module that imports a lost one",
    "missing_asset",
    modules("", `import { a } from './lib/a.js';${SHOW}`),
    put({ "js/lib/a.js": "export const a=1" }),
  ),
  broken(
    "a minified module that imports a lost one",
    "missing_asset",
    modules("", `import{a as e}from"./chunk-X2.js";${SHOW}`),
    put({ "js/chunk-X2.js": "export const a=1" }),
  ),
  broken(
    "a lost module that is re-exported",
    "missing_asset",
    modules("", `import "./all.js";${SHOW}`, { "js/all.js": "export * from './gone.js'" }),
    put({ "js/gone.js": "export const a=1" }),
  ),
  broken(
    "a preloaded module that is gone",
    "missing_asset",
    modules('<link rel="modulepreload" href="/js/vendor.js">', SHOW),
    put({ "js/vendor.js": "1" }),
  ),
  broken(
    "an import in an inline module",
    "missing_asset",
    shown('<script type="module">import { fly } from "./fly.js"; fly();</script>'),
    put({ "fly.js": "export const fly=()=>{}" }),
  ),
  broken(
    "an import map to a lost file",
    "missing_asset",
    modules(importMap({ kite: "/vendor/kite.js" }), `import "kite";${SHOW}`),
    put({ "vendor/kite.js": "1" }),
  ),
  broken(
    "an import map without the name",
    "unbuilt_source",
    modules(importMap({ kite: "/js/kite.js" }), `import "kites";${SHOW}`, { "js/kite.js": "1" }),
    swap('"kites"', '"kite"', "js/main.js"),
  ),
  broken(
    "an import map that is no JSON",
    "unbuilt_source",
    modules('<script type="importmap">{"imports":{"kite":"/js/kite.js",}}</script>', `import "kite";${SHOW}`, {
      "js/kite.js": "1",
    }),
    swap('.js",}', '.js"}', "index.html"),
  ),
];
