/** Sites that were built wrong, not built at all, or deployed from the wrong folder. */
import {
  broken,
  both,
  type Contents,
  inside,
  instead,
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
} from "./parts.ts";

const PACKAGE = '{"name":"kites","scripts":{"build":"vite build"}}';
const source = (entry: string): string =>
  page(
    `<div id="root"></div><script type="module" src="${entry}"></script>`,
    '<link rel="icon" href="/vite.svg"><title>Vite</title>',
  );
const cra = (url: string): string =>
  page(
    '<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>',
    `<link rel="icon" href="${url}/favicon.ico"><link rel="apple-touch-icon" href="${url}/logo192.png"><link rel="manifest" href="${url}/manifest.json"><title>React App</title>`,
  );
const MANIFEST = '{"short_name":"React App","icons":[{"src":"favicon.ico","sizes":"64x64"}],"start_url":"."}';
const craPublic = (url: string): Contents => ({
  "index.html": cra(url),
  "favicon.ico": PNG,
  "logo192.png": PNG,
  "manifest.json": MANIFEST,
  "robots.txt": "User-agent: *",
});
const craBuild = (base: string): Contents => ({
  "index.html": `<!doctype html><html lang="en"><head><meta charset="utf-8"/><link rel="icon" href="${base}/favicon.ico"/><link rel="manifest" href="${base}/manifest.json"/><title>React App</title><script defer="defer" src="${base}/static/js/main.2c6b3d9f.js"></script><link href="${base}/static/css/main.f855e6bc.css" rel="stylesheet"></head><body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div></body></html>`,
  "favicon.ico": PNG,
  "manifest.json": MANIFEST,
  "static/js/main.2c6b3d9f.js": SHOW,
  "static/css/main.f855e6bc.css": "body{margin:0}",
});
const within = (folder: string, files: Contents): Contents =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [`${folder}/${path}`, content]));
const docs = (base: string): Contents => ({
  "index.html": page(
    `${TEXT}<a href="${base}/guide/">Guide</a><a href="${base}/">Home</a>`,
    `<title>Docs</title><link rel="stylesheet" href="${base}/_astro/index.B2x.css">`,
  ),
  "guide/index.html": page(
    `<h1>Guide</h1><a href="${base}/">Home</a>`,
    `<title>Guide</title><link rel="stylesheet" href="${base}/_astro/index.B2x.css">`,
  ),
  "_astro/index.B2x.css": "h1{color:teal}",
});

export const BROKEN_BUILDS: Sample[] = [
  broken("a Vite build for GitHub Pages", "wrong_base_path", vite("/my-repo/"), swap("/my-repo/", "/")),
  broken("a CRA build with a homepage", "wrong_base_path", craBuild("/kites/app"), swap("/kites/app", "")),
  broken("an Astro site with a base", "wrong_base_path", docs("/docs-site"), swap("/docs-site", "")),
  broken(
    "an Angular build with a base href",
    "wrong_base_path",
    {
      "index.html": page(
        '<app-root></app-root><script src="main-4YQ2NLXB.js" type="module"></script>',
        '<title>Shop</title><base href="/shop/"><link rel="stylesheet" href="styles-5INURTSO.css">',
      ),
      "main-4YQ2NLXB.js": SHOW,
      "styles-5INURTSO.css": "body{margin:0}",
    },
    swap('href="/shop/"', 'href="/"'),
  ),
  broken(
    "a Parcel build with a public url",
    "wrong_base_path",
    {
      "index.html": page(
        '<div id="app"></div><script type="module" src="/dist/index.975ef6c8.js"></script>',
        '<title>Parcel</title><link rel="stylesheet" href="/dist/index.6c03bd80.css">',
      ),
      "index.975ef6c8.js": SHOW,
      "index.6c03bd80.css": "p{margin:0}",
    },
    swap("/dist/", "/"),
  ),
  broken(
    "a build in a folder beside a root index",
    "wrong_base_path",
    { "index.html": page(`${TEXT}<a href="app/">The app</a>`), ...within("app", vite("/")) },
    swap('="/', '="/app/', "app/index.html"),
  ),
  broken(
    "an Express project: the pages at the root, what they load in public/",
    "wrong_base_path",
    {
      "index.html": page(
        `${TEXT}<script src="/js/menu.js"></script>`,
        '<title>Kites</title><link rel="stylesheet" href="/css/site.css">',
      ),
      "public/css/site.css": "p{margin:0}",
      "public/js/menu.js": "document.title+='!'",
    },
    both(move("public/css/site.css", "css/site.css"), move("public/js/menu.js", "js/menu.js")),
  ),
  broken(
    "a Vite project, unbuilt",
    "unbuilt_source",
    {
      "index.html": source("/src/main.tsx"),
      "package.json": PACKAGE,
      "src/main.tsx": 'import { createRoot } from "react-dom/client";\ncreateRoot(document.body).render(<p>Kites</p>);',
      "public/vite.svg": SVG,
    },
    instead(vite()),
  ),
  broken(
    "a Vite project's index.html alone",
    "unbuilt_source",
    { "index.html": source("/src/main.jsx"), "vite.svg": SVG },
    instead(vite()),
  ),
  broken(
    "a Vite project that has its build beside it",
    "unbuilt_source",
    {
      "index.html": source("/src/main.ts"),
      "src/main.ts": "const a: number = 1;",
      "vite.svg": SVG,
      ...within("dist", vite()),
    },
    inside("dist"),
  ),
  broken(
    "a Vue project, unbuilt: a bare import",
    "unbuilt_source",
    {
      "index.html": source("/src/main.js"),
      "vite.svg": SVG,
      "src/main.js": 'import { createApp } from "vue";\nimport App from "./App.vue";\ncreateApp(App).mount("#root");',
      "src/App.vue": "<template><p>Kites</p></template>",
    },
    instead(vite()),
  ),
  broken(
    "a CRA project, unbuilt",
    ["template_placeholder", "index_elsewhere"],
    {
      ...within("public", craPublic("%PUBLIC_URL%")),
      "package.json": PACKAGE,
      "src/index.js": 'import React from "react";',
    },
    instead(craBuild("")),
  ),
  broken("CRA's public folder as the site", "template_placeholder", craPublic("%PUBLIC_URL%"), instead(craBuild(""))),
  broken(
    "Vue CLI's public folder as the site",
    "template_placeholder",
    {
      "index.html": page(
        '<div id="app"></div><img src="<%= BASE_URL %>logo.png" alt="">',
        '<link rel="icon" href="<%= BASE_URL %>favicon.ico"><title><%= htmlWebpackPlugin.options.title %></title>',
      ),
      "favicon.ico": PNG,
      "logo.png": PNG,
    },
    both(swap("<%= BASE_URL %>", ""), swap("<%= htmlWebpackPlugin.options.title %>", "Kites")),
  ),
  broken(
    "the parent of the built folder",
    "index_elsewhere",
    {
      "package.json": PACKAGE,
      "README.txt": "Kites",
      "src/main.tsx": "const a: number = 1;",
      ...within("dist", vite()),
    },
    inside("dist"),
  ),
  broken(
    "Flutter's web folder, unbuilt",
    ["template_placeholder", "missing_asset"],
    {
      "index.html": page(
        '<script src="flutter_bootstrap.js" async></script>',
        '<base href="$FLUTTER_BASE_HREF"><title>kites</title>',
      ),
    },
    both(swap("$FLUTTER_BASE_HREF", "/"), put({ "flutter_bootstrap.js": SHOW })),
  ),
  broken(
    "a Jekyll theme, unbuilt",
    "template_placeholder",
    {
      "index.html": page(
        TEXT,
        '<title>Kites</title><link rel="stylesheet" href="{{ \'/assets/main.css\' | relative_url }}">',
      ),
      "assets/main.css": "p{margin:0}",
    },
    swap("{{ '/assets/main.css' | relative_url }}", "/assets/main.css"),
  ),
  broken(
    "a Flask template",
    "template_placeholder",
    {
      "index.html": page(
        TEXT,
        `<title>Kites</title><link rel="stylesheet" href="{{ url_for('static', filename='site.css') }}">`,
      ),
      "static/site.css": "p{margin:0}",
    },
    swap("{{ url_for('static', filename='site.css') }}", "/static/site.css"),
  ),
  broken(
    "a Django template",
    "template_placeholder",
    { "index.html": page(`${TEXT}<img src="{% static 'kite.png' %}" alt="">`), "static/kite.png": PNG },
    swap("{% static 'kite.png' %}", "static/kite.png"),
  ),
  broken(
    "a Vite build whose second chunk was lost",
    "missing_asset",
    vite("/", 'import("./about-Cq1x.js").then(m=>m.show());'),
    put({ "assets/about-Cq1x.js": "export const show=()=>{}" }),
  ),
  broken(
    "a Next export behind a prefix for its assets alone",
    "wrong_base_path",
    {
      "index.html": page(
        `${TEXT}<script src="/site/_next/static/chunks/main.js" async></script>`,
        '<title>Next</title><link rel="stylesheet" href="/site/_next/static/css/a.css">',
      ),
      "_next/static/chunks/main.js": "document.title",
      "_next/static/css/a.css": "p{margin:0}",
    },
    swap("/site/", "/"),
  ),
];
