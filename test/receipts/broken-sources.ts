/** Sites that load what only a bundler or Node can read. */
import { broken, both, drop, move, page, put, type Sample, SHOW, swap, TEXT } from "./parts.ts";

export const BROKEN_SOURCES: Sample[] = [
  broken(
    "Sass as a stylesheet",
    "unbuilt_source",
    {
      "index.html": page(TEXT, '<title>Kites</title><link rel="stylesheet" href="scss/site.scss">'),
      "scss/site.scss": "$ink: #222;\np { color: $ink }",
    },
    both(swap("scss/site.scss", "site.css"), put({ "site.css": "p{color:#222}" })),
  ),
  broken(
    "TypeScript as a script",
    "unbuilt_source",
    {
      "index.html": page('<div id="app"></div><script src="app.ts"></script>'),
      "app.ts": "const a: string = 'kites'; document.body.append(a)",
    },
    both(swap("app.ts", "app.js"), move("app.ts", "app.js"), swap(": string", "", "app.js")),
  ),
  broken(
    "a module that imports a stylesheet, as only a bundler can",
    "unbuilt_source",
    {
      "index.html": page('<div id="app"></div><script type="module" src="main.js"></script>'),
      "main.js": `import "./site.css";\n${SHOW}`,
      "site.css": "p{margin:0}",
    },
    swap('import "./site.css";', "", "main.js"),
  ),
  broken(
    "a module loaded as a plain script",
    "unbuilt_source",
    {
      "index.html": page('<div id="app"></div><script src="main.js"></script>'),
      "main.js": `import { kites } from "./kites.js";\n${SHOW}`,
      "kites.js": "export const kites = 3;",
    },
    swap('<script src="main.js">', '<script type="module" src="main.js">'),
  ),
  broken(
    "Node's require in a page",
    "unbuilt_source",
    {
      "index.html": page('<div id="app"></div><script src="main.js"></script>'),
      "main.js": `const _ = require("lodash");\n${SHOW}`,
    },
    swap('const _ = require("lodash");', "", "main.js"),
  ),
  broken(
    "imports without their ending",
    "missing_asset",
    {
      "index.html": page('<div id="app"></div><script type="module" src="js/main.js"></script>'),
      "js/main.js": `import { kites } from "./kites";\n${SHOW}`,
      "js/kites.js": "export const kites = 3;",
    },
    swap('"./kites"', '"./kites.js"', "js/main.js"),
  ),
  broken(
    "packages loaded from node_modules",
    ["secret_file_dropped", "missing_asset"],
    {
      "index.html": page(`${TEXT}<script src="node_modules/kite/kite.js"></script>`),
      "node_modules/kite/kite.js": "1",
    },
    both(swap("node_modules/kite/kite.js", "kite.js"), drop("node_modules/kite/kite.js"), put({ "kite.js": "1" })),
  ),
];
