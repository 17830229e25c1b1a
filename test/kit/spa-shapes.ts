/** What builders emit, as small faithful imitations: file list and index, the rest shortened. */

export type Shape = Record<string, string>;

export const head = (inside: string): string =>
  `<!doctype html>\n<html lang="en">\n  <head>\n    <meta charset="UTF-8" />\n    <meta name="viewport" content="width=device-width, initial-scale=1.0" />\n${inside}\n  </head>\n`;
export const page = (inside: string, body: string): string => `${head(inside)}  <body>\n${body}\n  </body>\n</html>\n`;

export const vite = (title: string, body: string): Shape => ({
  "index.html": page(
    `    <link rel="icon" type="image/svg+xml" href="/vite.svg" />\n    <title>${title}</title>\n    <script type="module" crossorigin src="/assets/index-BNq3Kf2s.js"></script>\n    <link rel="stylesheet" crossorigin href="/assets/index-D8b4DHJx.css">`,
    body,
  ),
  "vite.svg": "<svg/>",
  "assets/index-BNq3Kf2s.js": "const e=document.querySelector('#app');addEventListener('popstate',()=>{})",
  "assets/index-D8b4DHJx.css": ":root{}",
});

const NOSCRIPT = "<noscript>You need to enable JavaScript to run this app.</noscript>";
export const ROUTER = "const r={push(u){history.pushState({},'',u)}}";
export const NAVIGATION = `<nav><a href="/">Home</a><a href="/docs/">Docs</a></nav><h1>Welcome</h1><p>${"Text. ".repeat(40)}</p>`;

/** Must come out SPA, with the rule that says so. */
export const APPS: Record<string, { rule: string; files: Shape }> = {
  "Vite React": { rule: "shell", files: vite("Vite + React", '    <div id="root"></div>') },
  "Vite Vue": { rule: "shell", files: vite("Vite + Vue", '    <div id="app"></div>') },
  "Vite Svelte": { rule: "shell", files: vite("Vite + Svelte", '    <div id="app"></div>') },
  "Vite Solid": { rule: "shell", files: vite("Vite + Solid", `    ${NOSCRIPT}<div id="root"></div>`) },
  "Vite Preact": { rule: "shell", files: vite("Vite + Preact", '    <div id="app"></div>') },
  "Vite Lit, whose template has a heading inside its element": {
    rule: "shell",
    files: vite("Vite + Lit", "    <my-element>\n      <h1>Get started</h1>\n    </my-element>"),
  },
  "Create React App": {
    rule: "shell",
    files: {
      "index.html": `<!doctype html><html lang="en"><head><meta charset="utf-8"/><link rel="icon" href="/favicon.ico"/><meta name="theme-color" content="#000000"/><meta name="description" content="Web site created using create-react-app"/><link rel="manifest" href="/manifest.json"/><title>React App</title><script defer="defer" src="/static/js/main.2c6b3d9f.js"></script><link href="/static/css/main.f855e6bc.css" rel="stylesheet"></head><body>${NOSCRIPT}<div id="root"></div></body></html>`,
      "asset-manifest.json": "{}",
      "static/js/main.2c6b3d9f.js": "1",
    },
  },
  Angular: {
    rule: "shell",
    files: {
      "index.html": page(
        '<title>Demo</title><base href="/"><link rel="stylesheet" href="styles-5INURTSO.css">',
        '<app-root></app-root>\n<link rel="modulepreload" href="chunk-3N2T.js"><script src="polyfills-FFHMD2TL.js" type="module"></script><script src="main-4YQ2NLXB.js" type="module"></script>',
      ),
      "main-4YQ2NLXB.js": "1",
    },
  },
  "webpack with an empty body and a router": {
    rule: "shell",
    files: {
      "index.html":
        '<!doctype html><html><head><meta charset="utf-8"><title>Webpack App</title><meta name="viewport" content="width=device-width,initial-scale=1"><script defer="defer" src="main.js"></script></head><body></body></html>',
      "main.js": ROUTER,
    },
  },
  Parcel: {
    rule: "shell",
    files: {
      "index.html":
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>My First Parcel App</title><link rel="stylesheet" href="/index.6c03bd80.css"></head><body> <div id="app"></div> <script type="module" src="/index.975ef6c8.js"></script> </body></html>',
      "index.975ef6c8.js": "1",
    },
  },
  Rsbuild: {
    rule: "shell",
    files: {
      "index.html":
        '<!doctype html><html><head><title>Rsbuild App</title><meta charset="UTF-8"><script defer src="/static/js/lib-react.f2b1d7e0.js"></script><script defer src="/static/js/index.57de6f3b.js"></script><link href="/static/css/index.2960ac62.css" rel="stylesheet"></head><body><div id="root"></div></body></html>',
      "static/js/index.57de6f3b.js": "1",
    },
  },
  "React Router in SPA mode, which mounts on the document": {
    rule: "shell",
    files: {
      "index.html": `<!DOCTYPE html><html lang="en"><head><meta charSet="utf-8"/><link rel="modulepreload" href="/assets/manifest-bfc7e5cf.js"/><link rel="modulepreload" href="/assets/entry.client-BqbBaVLG.js"/><link rel="modulepreload" href="/assets/jsx-runtime-R4qGU7Xr.js"/></head><body><script>console.log("💿 Hey developer 👋. You can provide a way better UX than this " + "when your app is loading JS modules. Check out https://reactrouter.com/start for more information.");</script><script>window.__reactRouterContext = {"basename":"/","ssr":false,"isSpaMode":true};</script><script type="module" async="">import "/assets/manifest-bfc7e5cf.js";
import * as route0 from "/assets/root-DJPIA2pm.js";
window.__reactRouterRouteModules = {"root":route0};
import("/assets/entry.client-BqbBaVLG.js");</script><!--$--><script>window.__reactRouterContext.streamController.close();</script><!--/$--></body></html>`,
      "assets/entry.client-BqbBaVLG.js": "import './jsx-runtime-R4qGU7Xr.js'",
      "assets/jsx-runtime-R4qGU7Xr.js": ROUTER,
      "assets/manifest-bfc7e5cf.js": "1",
      "assets/root-DJPIA2pm.js": "1",
    },
  },
  "SvelteKit's fallback": {
    rule: "shell",
    files: {
      "index.html": `${head('<link href="/_app/immutable/entry/start.Cdc14PXm.js" rel="modulepreload">')}<body data-sveltekit-preload-data="hover">
        <div style="display: contents">
          <script>
            {
              __sveltekit_1d1oltg = { base: "" };
              const element = document.currentScript.parentElement;
              Promise.all([
                import("/_app/immutable/entry/start.Cdc14PXm.js"),
                import("/_app/immutable/entry/app.D7k6nesJ.js")
              ]).then(([kit, app]) => { kit.start(app, element); });
            }
          </script>
        </div></body></html>`,
      "_app/immutable/entry/start.Cdc14PXm.js": "1",
      "_app/version.json": "{}",
    },
  },
  "SvelteKit's 200.html beside a prerendered index": {
    rule: "fallback_200",
    files: { "index.html": page("<title>Home</title>", NAVIGATION), "200.html": page("", '<div id="svelte"></div>') },
  },
  "Nuxt without ssr: every copy of the shell has its own time": {
    rule: "copied_404",
    files: Object.fromEntries(
      ["index.html", "200.html", "404.html", "about/index.html"].map((path, i) => [
        path,
        `<!DOCTYPE html><html><head><meta charset="utf-8"><link rel="modulepreload" as="script" crossorigin href="/_nuxt/CiYHGVIk.js"><script type="module" src="/_nuxt/CiYHGVIk.js" crossorigin></script></head><body><div id="__nuxt"></div><div id="teleports"></div><script>window.__NUXT__={};</script><script type="application/json" data-nuxt-data="nuxt-app" data-ssr="false" id="__NUXT_DATA__">[{"prerenderedAt":1,"serverRendered":2},179526522991${i},false]</script></body></html>`,
      ]),
    ),
  },
  "Expo, single": {
    rule: "shell",
    files: {
      "index.html": `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8" /><title>expo-app</title><style id="expo-reset">#root{display:flex}</style></head><body>${NOSCRIPT}<div id="root"></div><script src="/_expo/static/js/web/AppEntry-0a1b2c.js" defer></script></body></html>`,
      "_expo/static/js/web/AppEntry-0a1b2c.js": "1",
    },
  },
  "Slidev, which brings a _redirects": {
    rule: "config",
    files: {
      ...vite("Slides", '<div id="app"></div>'),
      "404.html": "<p>gone</p>",
      _redirects: "/*    /index.html   200\n",
    },
  },
  "Vue CLI": {
    rule: "shell",
    files: {
      "index.html":
        '<!doctype html><html lang=""><head><title>vue</title><script defer="defer" src="/js/chunk-vendors.js"></script></head><body><noscript><strong>We\'re sorry but vue doesn\'t work properly without JavaScript enabled. Please enable it to continue, it is needed.</strong></noscript><div id="app"></div></body></html>',
    },
  },
  "Blazor WebAssembly, whose error bar links to itself": {
    rule: "shell",
    files: {
      "index.html": page(
        '<title>App</title><base href="/" />',
        '<div id="app"><svg class="loading-progress"><circle r="40%" /></svg><div class="loading-progress-text"></div></div><div id="blazor-error-ui">An unhandled error has occurred.<a href="." class="reload">Reload</a><span class="dismiss">🗙</span></div><script src="_framework/blazor.webassembly.js"></script>',
      ),
    },
  },
  Flutter: {
    rule: "shell",
    files: {
      "index.html": page('<base href="/">', '  <script src="flutter_bootstrap.js" async></script>'),
      "flutter_bootstrap.js": "1",
    },
  },
  "docsify with its router in the path": {
    rule: "history_router",
    files: {
      "index.html": page(
        "<title>Document</title>",
        "<div id=\"app\"></div><script>window.$docsify = { name: '', routerMode: 'history' }</script><script src=\"//cdn.jsdelivr.net/npm/docsify@4\"></script>",
      ),
      "README.md": "# Hello",
    },
  },
  "Stoplight Elements with its router in the path": {
    rule: "history_router",
    files: {
      "index.html": page(
        '<script src="/web-components.min.js"></script>',
        '<elements-api apiDescriptionUrl="/openapi.yaml" router="history" layout="sidebar"></elements-api>',
      ),
    },
  },
  "React from a CDN in one file": {
    rule: "shell",
    files: {
      "index.html": page(
        '<script src="https://unpkg.com/react@18/umd/react.production.min.js"></script><script src="https://unpkg.com/react-dom@18/umd/react-dom.production.min.js"></script>',
        '<div id="root"></div><script type="text/babel">ReactDOM.createRoot(document.getElementById("root")).render(<App/>)</script>',
      ),
    },
  },
  "Vue from a CDN in one file": {
    rule: "shell",
    files: {
      "index.html": page(
        '<script src="https://unpkg.com/vue@3/dist/vue.global.js"></script>',
        "<div id=\"app\">{{ message }}</div><script>Vue.createApp({ data: () => ({ message: 'Hi' }) }).mount('#app')</script>",
      ),
    },
  },
  "Preact by an import map in one file": {
    rule: "shell",
    files: {
      "index.html": page(
        '<script type="importmap">{"imports":{"preact":"https://esm.sh/preact@10"}}</script>',
        '<div id="app"></div><script type="module">import { h, render } from "preact"; render(h("p"), document.getElementById("app"))</script>',
      ),
    },
  },
  "the shim of spa-github-pages": {
    rule: "copied_404",
    files: { ...vite("App", '<div id="root"></div>'), "404.html": "<script>var pathSegmentsToKeep = 0;</script>" },
  },
  "an app with an offline page, an ownership proof and a sign-in return": {
    rule: "shell",
    files: {
      ...vite("App", '<div id="root"></div>'),
      "offline.html": "<h1>Offline</h1>",
      "google1234567890abcdef.html": "google-site-verification: google1234567890abcdef.html",
      "silent-check-sso.html": "<script>parent.postMessage(location.href, location.origin)</script>",
      "auth/oauth2-redirect.html": "<script>opener.done()</script>",
    },
  },
  "an app with some pages prerendered": {
    rule: "prerendered_shell",
    files: {
      "index.html": page("", '<div id="root"></div><script type="module" src="/assets/entry.js"></script>'),
      "pricing/index.html": page(
        "",
        `<div id="root">${NAVIGATION}</div><script type="module" src="../assets/entry.js"></script>`,
      ),
      "assets/entry.js": ROUTER,
    },
  },
};
