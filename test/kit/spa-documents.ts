/** Sites of documents, as generators write them: none is a single-page app. */
import { head, NAVIGATION, page, ROUTER, type Shape, vite } from "./spa-shapes.ts";

const nextPage = (body: string): string =>
  `<!DOCTYPE html><html lang="en"><head><meta charSet="utf-8"/><link rel="preload" as="script" href="/_next/static/chunks/webpack-1.js"/><script src="/_next/static/chunks/main-app-2.js" async=""></script><title>Next</title></head><body>${body}<script src="/_next/static/chunks/webpack-1.js" async=""></script><script>(self.__next_f=self.__next_f||[]).push([0])</script></body></html>`;
const generated = (inside: string): Shape => ({
  "index.html": page("<title>Docs</title>", NAVIGATION + inside),
  "guide/index.html": page("<title>Guide</title>", NAVIGATION),
  "js/site.js": ROUTER,
});

/** Must come out as no SPA, with the rule that says so. */
export const DOCUMENTS: Record<string, { rule: "none" | "own_404"; files: Shape }> = {
  Docusaurus: {
    rule: "own_404",
    files: {
      "index.html": page(
        '<meta name="generator" content="Docusaurus v3.5.2"><script src="/assets/js/main.0c1.js" defer></script>',
        `<div id="__docusaurus"><div role="region" aria-label="Skip to main content"><a class="skipToContent" href="#__docusaurus_skipToContent_fallback">Skip</a></div>${NAVIGATION}</div>`,
      ),
      "404.html": page("", '<div id="__docusaurus">Page Not Found</div>'),
      "assets/js/main.0c1.js": ROUTER,
    },
  },
  VitePress: {
    rule: "own_404",
    files: {
      "index.html": page(
        '<script type="module" src="/assets/app.BRl6.js"></script>',
        `<div id="app">${NAVIGATION}</div>`,
      ),
      "404.html": page('<script type="module" src="/assets/app.BRl6.js"></script>', '<div id="app"></div>'),
      "assets/app.BRl6.js": ROUTER,
    },
  },
  VuePress: {
    rule: "own_404",
    files: {
      "index.html": page("", `<div id="app">${NAVIGATION}</div><script src="/assets/js/app.1.js" defer></script>`),
      "404.html": page("", '<div id="app"><a href="/">Take me home.</a></div>'),
      "assets/js/app.1.js": ROUTER,
    },
  },
  Starlight: {
    rule: "own_404",
    files: {
      ...generated("<starlight-theme-select></starlight-theme-select>"),
      "404.html": page("", "<h1>404</h1>"),
    },
  },
  Astro: { rule: "none", files: generated('<astro-island client="load"></astro-island>') },
  "Astro's minimal page": {
    rule: "none",
    files: { "index.html": page("<title>Astro</title>", "<h1>Astro</h1>"), "favicon.svg": "<svg/>" },
  },
  "Next export": {
    rule: "own_404",
    files: {
      "index.html": nextPage(NAVIGATION),
      "about.html": nextPage(NAVIGATION),
      "404.html": nextPage("<h1>404</h1>"),
      "index.txt": "0:",
      "_next/static/chunks/main-app-2.js": ROUTER,
    },
  },
  "Next export with slashes": {
    rule: "own_404",
    files: {
      "index.html": nextPage('<div id="__next"></div>'),
      "about/index.html": nextPage('<div id="__next"></div>'),
      "404.html": nextPage("<h1>404</h1>"),
      "404/index.html": nextPage("<h1>404</h1>"),
      "_next/static/chunks/main-app-2.js": ROUTER,
    },
  },
  "Nuxt generate": {
    rule: "own_404",
    files: {
      "index.html": page("", `<div id="__nuxt">${NAVIGATION}</div><script type="module" src="/_nuxt/a.js"></script>`),
      "200.html": page("", '<div id="__nuxt"></div><script type="module" src="/_nuxt/a.js"></script>'),
      "404.html": page("", '<div id="__nuxt"></div><script type="module" src="/_nuxt/a.js"></script>'),
    },
  },
  Hugo: { rule: "own_404", files: { ...generated(""), "404.html": "<h1>404 Not found</h1>" } },
  Jekyll: { rule: "own_404", files: { ...generated(""), "404.html": "<h1>404</h1><p>Page not found :(</p>" } },
  Eleventy: { rule: "none", files: generated("<script src='/js/site.js'></script>") },
  Hexo: { rule: "none", files: generated('<div id="root"></div>') },
  Pelican: { rule: "none", files: { ...generated(""), "archives.html": NAVIGATION } },
  MkDocs: { rule: "own_404", files: { ...generated(""), "404.html": NAVIGATION } },
  Sphinx: {
    rule: "none",
    files: {
      "index.html": page('<script src="_static/doctools.js"></script>', NAVIGATION),
      "genindex.html": NAVIGATION,
      "_static/doctools.js": ROUTER,
      ".buildinfo": "x",
    },
  },
  Doxygen: {
    rule: "none",
    files: {
      "index.html": page(
        '<script src="jquery.js"></script>',
        '<div id="top"><table cellspacing="0"><tr><td>Lib</td></tr></table></div><div class="contents"></div>',
      ),
      "files.html": NAVIGATION,
    },
  },
  "rustdoc, whose root sends to the crate": {
    rule: "none",
    files: {
      "index.html": '<meta http-equiv="refresh" content="0; URL=demo/index.html">',
      "demo/index.html": NAVIGATION,
    },
  },
  "a crate of rustdoc": {
    rule: "none",
    files: {
      "index.html": page(
        '<script defer src="../static.files/main-1.js"></script>',
        `<rustdoc-topbar></rustdoc-topbar><nav class="sidebar"><a href="all.html">All Items</a></nav><main>${NAVIGATION}</main>`,
      ),
      "all.html": NAVIGATION,
    },
  },
  JSDoc: {
    rule: "none",
    files: {
      "index.html": page(
        '<script src="scripts/prettify/prettify.js"></script>',
        '<div id="main"><h1 class="page-title">Home</h1></div>',
      ),
      "global.html": NAVIGATION,
    },
  },
  Storybook: {
    rule: "none",
    files: {
      "index.html": page(
        "<title>storybook - Storybook</title>",
        "<div id=\"root\"></div><script>window['FEATURES'] = {};</script><script type=\"module\">import './sb-manager/globals-runtime.js'; import './sb-addons/docs-1/manager-bundle.js'; import './sb-manager/runtime.js';</script>",
      ),
      "iframe.html": page(
        '<script type="module" crossorigin src="./assets/iframe-BQ1.js"></script>',
        '<div id="storybook-root"></div><div id="storybook-docs"></div>',
      ),
      "sb-manager/runtime.js": ROUTER,
      "sb-manager/globals-runtime.js": "1",
    },
  },
  "Swagger UI, whose bundle has pushState": {
    rule: "none",
    files: {
      "index.html": page(
        '<title>Swagger UI</title><link rel="stylesheet" type="text/css" href="./swagger-ui.css" />',
        '<div id="swagger-ui"></div><script src="./swagger-ui-bundle.js" charset="UTF-8"> </script><script src="./swagger-initializer.js" charset="UTF-8"> </script>',
      ),
      "oauth2-redirect.html": "<script>run()</script>",
      "swagger-ui-bundle.js": ROUTER,
    },
  },
  "Redoc in one file": {
    rule: "none",
    files: {
      "index.html": page("", '<redoc spec-url="openapi.yaml"></redoc><script src="redoc.standalone.js"> </script>'),
      "redoc.standalone.js": ROUTER,
    },
  },
  "docsify by fragment": {
    rule: "none",
    files: {
      "index.html": page(
        "",
        '<div id="app"></div><script>window.$docsify = { name: "x", repo: "" }</script><script src="docsify.min.js"></script>',
      ),
      "docsify.min.js": ROUTER,
    },
  },
  "Stoplight Elements by fragment": {
    rule: "none",
    files: {
      "index.html": page(
        '<script src="/web-components.min.js"></script>',
        '<elements-api apiDescriptionUrl="/openapi.yaml" router="hash"></elements-api>',
      ),
    },
  },
  "Vite with several pages": {
    rule: "none",
    files: {
      "index.html": page('<script type="module" src="/assets/main-1.js"></script>', '<div id="app"></div>'),
      "admin/index.html": page('<script type="module" src="/assets/admin-2.js"></script>', '<div id="app"></div>'),
      "assets/main-1.js": ROUTER,
    },
  },
  "pages that share a script but have no router": {
    rule: "none",
    files: {
      "index.html": page('<script src="/site.js"></script>', '<div id="app"></div>'),
      "about.html": page('<title>About</title><script src="/site.js"></script>', '<div id="app"></div>'),
      "site.js": "addEventListener('popstate', show)",
    },
  },
  "a plain page with a canvas": {
    rule: "none",
    files: {
      "index.html": page("", '<canvas id="app"></canvas><script src="game.js"></script>'),
      "game.js": "pushState",
    },
  },
  "a plain page with an inline #app": {
    rule: "none",
    files: { "index.html": page("", '<div id="app"></div><script>app.textContent = new Date()</script>') },
  },
  "a shell with a separate privacy.html": {
    rule: "none",
    files: { ...vite("App", '<div id="root"></div>'), "privacy.html": page("", "<h1>Privacy</h1>") },
  },
  "a shell of which popstate is all that is known": {
    rule: "none",
    files: {
      "index.html": page('<script src="a.js"></script>', '<div id="stage"></div>'),
      "a.js": "addEventListener('popstate', f)",
    },
  },
  "an empty index": { rule: "none", files: { "index.html": "" } },
};
