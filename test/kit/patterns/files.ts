/** Uploads with a long run of one class of characters at each place that the pipeline reads. */
import { join } from "node:path";
import { ROOT } from "../paths.ts";
import type { Growing } from "./slowest.ts";
import { filesOf } from "./source.ts";
import { RUNS } from "./texts.ts";

export type Upload = Record<string, string>;
/** Files around what is read: `text` is at the place. */
type Place = (text: string) => Upload;

/** Between the quotes that the text does not hold. */
const quoted = (text: string): string => (text.includes('"') ? `'${text}'` : `"${text}"`);
const page = (body: string): Upload => ({ "index.html": `<!doctype html><title>x</title>${body}` });
const beside = (html: string, path: string): Place => {
  return (text) => ({ ...page(html), [path]: text });
};
const svg = (inside: string): string => `<svg xmlns="http://www.w3.org/2000/svg">${inside}</svg>`;

/** Places for text of a language of its own. */
export const PLACES: Record<string, Place> = {
  "a page": (text) => ({ "index.html": text }),
  "a page's body": page,
  "a page with a sign-in form": (text) => page(`<form action=/x><input type=password><label>${text}`),
  "a title": (text) => ({ "index.html": `<title>${text}` }),
  "a comment": (text) => page(`<!--${text}`),
  "a drawing in a page": (text) => page(`<svg><g>${text}`),
  "HTML in a drawing": (text) => page(`<svg><desc><div>${text}`),
  "a label": (text) => page(`<label>${text}</label><input>`),
  "a link's words": (text) => page(`<a href=x>${text}`),
  "a frame's page": (text) => page(`<iframe srcdoc=${quoted(text)}></iframe>`),
  "a noscript": (text) => page(`<noscript><b>${text}</noscript>`),
  "a style in a page": (text) => page(`<style>${text}`),
  "a script in a page": (text) => page(`<input type=password><script>${text}`),
  "a module in a page": (text) => page(`<script type=module>${text}`),
  "an import map": (text) => page(`<script type=importmap>{"imports":{"a":${JSON.stringify(text)}}}</script>`),
  "a tag": (text) => page(`<a ${text}>`),
  "a tag without end": (text) => page(`<a ${text}`),
  "a tag's name": (text) => page(`<a${text}>`),
  "a stylesheet": beside("<link rel=stylesheet href=a.css>", "a.css"),
  "a script": beside("<input type=password><script src=a.js></script>", "a.js"),
  "a module": beside("<script type=module src=a.mjs></script>", "a.mjs"),
  "an app's script": (text) => ({
    "index.html": "<title>x</title><div id=root></div><script type=module src=a.js></script>",
    "b.html": "<title>x</title><div id=root></div><script type=module src=a.js></script>",
    "a.js": text,
  }),
  "a web app's manifest": (text) => ({
    ...page("<link rel=manifest href=a.webmanifest>"),
    "a.webmanifest": JSON.stringify({ icons: [{ src: text }], start_url: text }),
  }),
  "a picture in SVG": beside("", "a.svg"),
  "the inside of an SVG": (text) => ({ ...page(""), "a.svg": svg(text) }),
  "an XHTML page": (text) => ({ ...page(""), "a.xhtml": `<html xmlns="http://www.w3.org/1999/xhtml">${text}` }),
  "a document type": (text) => ({ ...page(""), "a.xhtml": `<!DOCTYPE x [${text}]><x/>` }),
  "an entity": (text) => ({ ...page(""), "a.svg": `<!DOCTYPE x [<!ENTITY a ${quoted(text)}>]>${svg("&a;&a;")}` }),
  "any text": beside("", "a.txt"),
  "a text with a key's mark": (text) => beside("", "a.txt")(`ghp_${text}PRIVATE KEY${text}`),
  JSON: beside("", "a.json"),
  _redirects: beside("", "_redirects"),
  "vercel.json": (text) =>
    beside("", "vercel.json")(JSON.stringify({ rewrites: [{ source: text, destination: text }] })),
  "netlify.toml": beside("", "netlify.toml"),
  "404.html": beside("", "404.html"),
};

/** What begins something that goes on for long, in the languages of the places above. */
const BEGINNINGS = [
  ...["", "<b>", "<x", "</x", "<!", "<!--", "<?", "<![CDATA[", "&", "<script>", "<textarea>", "<svg>", "<form>"],
  ...["url(", "url('", '@import "', "@font-face{src:url(", "/*", "//", "a{b:", '"', "'", "`", "`${", "/", "x/", "\\"],
  ...['fetch("', 'import "', 'import("', "location='", "require('", "const a = '", "eval(atob('", "oncontextmenu="],
  ...['"contextmenu",', "\nexport ", "serviceWorker", "document.title ", "new URL("],
];

const RUN_BY_RUN = Object.entries(RUNS);
const COMMONEST = ["blanks", "lines", "letters", "digits", "attributes", "tags", "brackets", "quotes", "references"];

/** `all`: every run behind every beginning, and not the commonest alone. */
export function* textsAt(place: string, all = false): Generator<Growing<Upload>> {
  const around = PLACES[place]!;
  for (const begin of BEGINNINGS) {
    for (const [name, piece] of RUN_BY_RUN) {
      if (!all && begin !== "" && !COMMONEST.includes(name)) continue;
      const of = (size: number) => around(begin + piece.repeat(size / piece.length));
      yield { name: JSON.stringify([place, begin, name]), of };
    }
  }
}

/** What has attributes that somebody reads, with those that make it read. */
const ELEMENTS = [
  ...["a", "area", "img", "source", "video", "audio", "track", "embed", "object", "iframe", "frame", "body", "td"],
  ...[
    "form",
    "input type=password",
    "input type=image",
    "input",
    "textarea",
    "button",
    "label",
    "base",
    "style",
    "html",
  ],
  ...[
    "link rel=stylesheet",
    "link rel=icon",
    "link rel=manifest",
    "link rel=modulepreload",
    "link rel=preload as=image",
  ],
  ...["meta http-equiv=refresh", "meta property=og:image", "script", "script type=module", "script type=importmap"],
  ...["svg", "use", "image", "math", "annotation-xml", "template", "title", "x-y", "div", "option"],
];

/** Words in quotes of the files that read pages: every attribute that one of them asks for is there. */
export async function wordsOfReaders(): Promise<string[]> {
  const files = (await filesOf()).filter((path) =>
    /^src\/(?:html|pipeline\/(?:abuse|references|spa|lint|markdown))\//.test(path),
  );
  const texts = await Promise.all(files.map((path) => Bun.file(join(ROOT, path)).text()));
  const found = texts.flatMap((text) => [...text.matchAll(/"([a-z][a-z:-]{1,20})"|\b([a-z]{2,12}): "/g)]);
  return [...new Set(found.map((match) => match[1] ?? match[2]!))].toSorted();
}

const tagWith = (element: string, attribute: string, value: string): string => {
  const [tag, ...others] = element.split(" ");
  return `<${tag} ${attribute}=${quoted(value)} ${others.join(" ")}></${tag}>`;
};

/** An attribute with a long value on everything. */
export function* valuesOf(attribute: string): Generator<Growing<Upload>> {
  for (const name of COMMONEST) {
    const of = (size: number) => {
      const value = RUNS[name]!.repeat(size / RUNS[name]!.length);
      return page(ELEMENTS.map((element) => tagWith(element, attribute, value)).join("\n"));
    };
    yield { name: JSON.stringify([attribute, name]), of };
  }
}

/** Attributes that hold an address, or a list of them, or what an address stands in. */
const ADDRESSES =
  `a:href area:href img:src img:srcset source:src source:srcset video:poster audio:src track:src embed:src
  object:data iframe:src iframe:srcdoc frame:src use:href image:xlink:href body:background form:action base:href
  button:formaction div:style`
    .split(/\s+/)
    .map((pair) => [pair.slice(0, pair.indexOf(":")), pair.slice(pair.indexOf(":") + 1)] as const);
const OTHER_ADDRESSES: readonly (readonly [element: string, attribute: string])[] = [
  ["link rel=stylesheet", "href"],
  ["link rel=icon", "href"],
  ["link rel=manifest", "href"],
  ["link rel=modulepreload", "href"],
  ["link rel=preload as=image", "imagesrcset"],
  ["meta http-equiv=refresh", "content"],
  ["meta property=og:image", "content"],
  ["script", "src"],
  ["script type=module", "src"],
  ["input type=image", "src"],
  ["input type=password", "formaction"],
];
/** How they begin. */
const SCHEMES = ["", "x", "/", "//a.example/", "http://a.example/", "https://[", "javascript:", "javascript:'"];
const OF_DATA = ["data:", "data:text/html", "data:text/html,", "data:text/html;base64,", "0;url=", "a.js?", "a.exe"];

/** One page with a long address at every place for one, by how it begins and what it ends in. */
export function* addresses(): Generator<Growing<Upload>> {
  for (const begin of [...SCHEMES, ...OF_DATA]) {
    for (const [name, piece] of RUN_BY_RUN) {
      for (const end of ["", "/"]) {
        const of = (size: number) => {
          const value = begin + piece.repeat(size / piece.length) + end;
          return page([...ADDRESSES, ...OTHER_ADDRESSES].map((pair) => tagWith(...pair, value)).join("\n"));
        };
        yield { name: JSON.stringify([begin, name, end]), of };
      }
    }
  }
}
