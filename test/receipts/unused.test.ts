/** PIPELINE 4: what loads gives a warning, and a picture of a rule that is for no element of the site does not load. */
import { describe, expect, test } from "bun:test";
import { type Contents } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { page, styled, TEXT } from "./parts.ts";

const server = await sharedServer();

const missing = async (files: Contents): Promise<(string | undefined)[]> =>
  (await server.deploy(files)).warnings.map(({ code, path }) => `${code} ${path}`);
const TOLD = ["missing_asset css/site.css"];

describe("a stylesheet's picture that is missing", () => {
  test.each<[why: string, rule: string, body: string, script: string]>([
    ["no element has the class", ".kite{background:url(gone.png)}", "", ""],
    ["no element has the id", "#kite p{background:url(gone.png)}", "", ""],
    ["one of two classes is nobody's", "h1.title.kite{background:url(gone.png)}", '<h1 class="title">a</h1>', ""],
    ["no class holds it", '[class^="icon-"],[class*=" icon-"]{background:url(gone.png)}', "", ""],
    ["none of the list is there", ".kite, .sail > p, p.sea:hover{background:url(gone.png)}", "", ""],
    ["in a media query", "@media print{.kite{background:url(gone.png)}}", "", ""],
    ["behind a comment", "/* .title */ .kite{background:url(gone.png)}", '<h1 class="title">a</h1>', ""],
  ])("is not asked for where %s", async (_, rule, body, script) => {
    expect(await missing({ ...styled(rule), "index.html": withSheet(body, script) })).toEqual([]);
  });

  test.each<[why: string, rule: string, body: string, script: string]>([
    ["an element has the class", ".kite{background:url(gone.png)}", '<p class="a kite">a</p>', ""],
    ["the rule is for a kind of element", "p{background:url(gone.png)}", "", ""],
    ["one of the list is there", ".wind, .kite{background:url(gone.png)}", "<p class=kite>a</p>", ""],
    ["another rule has it too", ".kite{background:url(gone.png)} body{background:url(gone.png)}", "", ""],
    ["a script gives the class", ".kite{background:url(gone.png)}", "", 'document.body.className="kite"'],
    ["a script joins it", ".icon-kite{background:url(gone.png)}", "", 'document.body.className="icon-"+name'],
    ["a script joins its end", ".kite-open{background:url(gone.png)}", "", 'document.body.className=name+"-open"'],
    ["a script counts", ".kite7{background:url(gone.png)}", "", 'document.body.className="kite"+7'],
    ["a class holds it", '[class*="icon-"]{background:url(gone.png)}', '<i class="icon-kite"></i>', ""],
    ["what it must not be is nobody's", "p:not(.kite){background:url(gone.png)}", "", ""],
    ["a name is escaped", ".md\\:kite{background:url(gone.png)}", '<p class="md:kite">a</p>', ""],
    ["an animation has it", "@keyframes k{from{background:url(gone.png)}}", "", ""],
    ["a rule lies in a rule", "p{.kite{color:red} background:url(gone.png)}", "", ""],
  ])("is told where %s", async (_, rule, body, script) => {
    expect(await missing({ ...styled(rule), "index.html": withSheet(body, script) })).toEqual(TOLD);
  });

  test("is told where a script of another host may give the class", async () => {
    const body = '<script src="https://cdn.example/kites.js"></script>';
    expect(await missing({ ...styled(".kite{background:url(gone.png)}"), "index.html": withSheet(body, "") })).toEqual(
      TOLD,
    );
  });
});

describe("a font that is missing", () => {
  const FONT = '@font-face{font-family:"Kite Icons";src:url(gone.woff2)}';
  test.each<[why: string, rule: string, body: string, told: string[]]>([
    ["no rule names", "", "", []],
    ["only a rule for nobody names", '.ki{font-family:"Kite Icons"}', "", []],
    ["a rule for an element names", '.ki{font:9px "Kite Icons"}', '<i class="ki">a</i>', TOLD],
    ["a variable names", ':root{--icons:"Kite Icons"}', "", TOLD],
    ["a page names", "", '<p style="font-family:Kite Icons">a</p>', TOLD],
  ])("which %s", async (_, rule, body, told) => {
    expect(await missing({ ...styled(FONT + rule), "index.html": withSheet(body, "") })).toEqual(told);
  });
});

const withSheet = (body: string, script: string): string =>
  page(`${TEXT}${body}<script>${script}</script>`, '<title>Kites</title><link rel="stylesheet" href="css/site.css">');
