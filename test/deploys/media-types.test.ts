/** RELIABILITY H45: the Content-Type of every kind of file. */
import { describe, expect, test } from "bun:test";
import { mediaType } from "../../src/base/media-types.ts";

const text = new TextEncoder().encode("<p>é");
const LATIN_1 = new Uint8Array([0x3c, 0x70, 0x3e, 0xe9]);

describe("H45: the type goes by the name's extension, in any case", () => {
  test.each([
    ["index.html", "text/html; charset=utf-8"],
    ["a/INDEX.HTML", "text/html; charset=utf-8"],
    ["page.htm", "text/html; charset=utf-8"],
    ["page.xhtml", "application/xhtml+xml; charset=utf-8"],
    ["style.css", "text/css; charset=utf-8"],
    ["app.js", "text/javascript; charset=utf-8"],
    ["app.mjs", "text/javascript; charset=utf-8"],
    ["app.js.map", "application/json; charset=utf-8"],
    ["data.json", "application/json; charset=utf-8"],
    ["logo.svg", "image/svg+xml; charset=utf-8"],
    ["module.wasm", "application/wasm"],
    ["font.woff2", "font/woff2"],
    ["font.TTF", "font/ttf"],
    ["site.webmanifest", "application/manifest+json; charset=utf-8"],
    ["README.md", "text/markdown; charset=utf-8"],
    ["sitemap.xml", "application/xml; charset=utf-8"],
    ["feed.rss", "application/rss+xml; charset=utf-8"],
    ["feed.atom", "application/atom+xml; charset=utf-8"],
    ["robots.txt", "text/plain; charset=utf-8"],
    ["data.csv", "text/csv; charset=utf-8"],
    ["config.yaml", "text/yaml; charset=utf-8"],
    ["film.vtt", "text/vtt; charset=utf-8"],
    ["day.ics", "text/calendar; charset=utf-8"],
    ["list.m3u8", "application/vnd.apple.mpegurl; charset=utf-8"],
    ["favicon.ico", "image/x-icon"],
    ["photo.JPG", "image/jpeg"],
    ["photo.avif", "image/avif"],
    ["photo.webp", "image/webp"],
    ["photo.jxl", "image/jxl"],
    ["film.mp4", "video/mp4"],
    ["film.webm", "video/webm"],
    ["song.mp3", "audio/mpeg"],
    ["model.glb", "model/gltf-binary"],
    ["model.gltf", "model/gltf+json; charset=utf-8"],
    ["paper.pdf", "application/pdf"],
    ["book.epub", "application/epub+zip"],
    ["all.zip", "application/zip"],
    ["source.py", "text/plain; charset=utf-8"],
    [".well-known/apple-app-site-association", "application/json; charset=utf-8"],
    ["archive.unknown", "application/octet-stream"],
    ["LICENSE", "application/octet-stream"],
    ["html", "application/octet-stream"],
    ["v1.2/json", "application/octet-stream"],
    ["dot.", "application/octet-stream"],
    [".htaccess", "application/octet-stream"],
    ["a.__proto__", "application/octet-stream"],
    ["a.constructor", "application/octet-stream"],
  ])("%s is %s", (path, type) => expect(mediaType(path, text)).toBe(type));
});

describe("H45: the charset is named only where it is true", () => {
  test.each([
    ["a.html", LATIN_1, "text/html"],
    ["a.html", Buffer.from("\ufeff<p>é", "utf16le"), "text/html"],
    ["a.html", Buffer.from("\ufeff<p>é"), "text/html; charset=utf-8"],
    ["a.html", new Uint8Array(), "text/html; charset=utf-8"],
    ["a.js", LATIN_1, "text/javascript"],
    ["a.xml", LATIN_1, "application/xml"],
    ["a.png", text, "image/png"],
  ])("%s (%#) is %s", (path, bytes, type) => expect(mediaType(path, bytes)).toBe(type));

  test("a .ts file is TypeScript where it is text, else a piece of a video", () => {
    expect(mediaType("main.ts", text)).toBe("text/plain; charset=utf-8");
    expect(mediaType("segment-1.ts", new Uint8Array([0x47, 0x40, 0, 0x10, 0xff, 0xff]))).toBe("video/mp2t");
  });
});
