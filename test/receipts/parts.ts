/** What the sites of the receipts' test set are made of. */
import type { WarningCode } from "../../src/base/types.ts";

export type Contents = Record<string, string | Uint8Array>;
type Change = (files: Contents) => Contents;

export interface Sample {
  name: string;
  files: () => Contents | Promise<Contents>;
  /** What is really wrong, decided by hand before any rule was written; null: nothing. */
  wrong: {
    /** The receipt's codes. Empty: no rule of the lint can see it, and the set counts it as a miss. */
    codes: WarningCode[];
    /** Whether a browser shows it: a failed request, an uncaught error or a blank page. Otherwise a person would know. */
    seen: "browser" | "hand";
    /** The recipe, followed by hand. */
    fix: Change;
  } | null;
}

/** One transparent pixel. */
export const PNG: Uint8Array = Uint8Array.fromBase64(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
);
export const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect id="box" width="9" height="9"/></svg>';
/** Enough of a silent WAV for a request; nobody listens. */
export const WAV = Uint8Array.fromBase64("UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=");

export const page = (body: string, head = "<title>Kites</title>"): string =>
  `<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">${head}</head>\n<body>\n${body}\n</body>\n</html>\n`;

export const TEXT = "<h1>Kites</h1><p>They rise against the wind.</p>";
/** What a bundle does here: it shows something. */
export const SHOW = 'const at=document.querySelector("#root,#app,app-root")||document.body;at.append("Kites rise");';

/** The head of a page with a stylesheet. */
export const STYLED_HEAD = '<title>Kites</title><link rel="stylesheet" href="css/site.css">';
/** A page with this stylesheet. */
export const styled = (sheet: string, more: Contents = {}): Contents => ({
  "index.html": page(TEXT, STYLED_HEAD),
  "css/site.css": sheet,
  ...more,
});
/** A page that shows this below its text. */
export const shown = (body: string, more: Contents = {}): Contents => ({ "index.html": page(TEXT + body), ...more });
/** An app of modules that begins at `main`. */
export const modules = (head: string, main: string, more: Contents = {}): Contents => ({
  "index.html": page(
    '<div id="app"></div><script type="module" src="js/main.js"></script>',
    `<title>Kites</title>${head}`,
  ),
  "js/main.js": main,
  ...more,
});
export const importMap = (imports: Record<string, string>): string =>
  `<script type="importmap">${JSON.stringify({ imports })}</script>`;

/** The folder that `vite build` makes, for the given base. */
export const vite = (base = "/", extra = ""): Contents => ({
  "index.html": `<!doctype html>
<html lang="en">
  <head>
    <meta charset="UTF-8" />
    <link rel="icon" type="image/svg+xml" href="${base}vite.svg" />
    <meta name="viewport" content="width=device-width, initial-scale=1.0" />
    <title>Vite + React</title>
    <script type="module" crossorigin src="${base}assets/index-BNq3Kf2s.js"></script>
    <link rel="stylesheet" crossorigin href="${base}assets/index-D8b4DHJx.css">
  </head>
  <body>
    <div id="root"></div>
  </body>
</html>
`,
  "vite.svg": SVG,
  "assets/index-BNq3Kf2s.js": `${SHOW}${extra}`,
  "assets/index-D8b4DHJx.css": ":root{color:#213547}",
});

/** What a person does with a recipe. */
export const put =
  (more: Contents): Change =>
  (files) => ({ ...files, ...more });
export const drop =
  (...paths: string[]): Change =>
  (files) =>
    Object.fromEntries(Object.entries(files).filter(([path]) => !paths.includes(path)));
/** Every `from` in the texts named (or in all of them) becomes `to`. */
export const swap =
  (from: string, to: string, ...paths: string[]): Change =>
  (files) =>
    Object.fromEntries(
      Object.entries(files).map(([path, content]) => {
        const chosen = typeof content === "string" && (paths.length === 0 || paths.includes(path));
        return [path, chosen ? content.replaceAll(from, to) : content];
      }),
    );
/** Deploys the folder instead of what is around it. */
export const inside =
  (folder: string): Change =>
  (files) =>
    Object.fromEntries(
      Object.entries(files).flatMap(([path, content]) =>
        path.startsWith(`${folder}/`) ? [[path.slice(folder.length + 1), content]] : [],
      ),
    );
export const move =
  (from: string, to: string): Change =>
  (files) =>
    Object.fromEntries(Object.entries(files).map(([path, content]) => [path === from ? to : path, content]));
export const both =
  (...changes: Change[]): Change =>
  (files) =>
    changes.reduce((changed, change) => change(changed), files);
/** What the build makes, deployed in place of the source. */
export const instead =
  (files: Contents): Change =>
  () =>
    files;

export const sound = (name: string, files: Contents): Sample => ({ name, files: () => files, wrong: null });

/** Broken, and the browser shows it. */
export const broken = (name: string, codes: WarningCode[] | WarningCode, files: Contents, fix: Change): Sample => ({
  name,
  files: () => files,
  wrong: { codes: [codes].flat(), seen: "browser", fix },
});
/** Broken in a way that no load in a browser shows. */
export const hidden = (name: string, codes: WarningCode[] | WarningCode, files: Contents, fix: Change): Sample => ({
  name,
  files: () => files,
  wrong: { codes: [codes].flat(), seen: "hand", fix },
});
