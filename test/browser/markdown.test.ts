/** A Markdown site as people meet it: with a mouse, a keyboard, a phone, no script, a screen reader, a printer. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { collectDist, deploySite } from "../../lib.ts";
import { closeHtml } from "../../src/html/close-html.ts";
import { EXAMPLES } from "../kit/paths.ts";
import { startServer, type TestServer } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { type Browser, openBrowser } from "./chromium.ts";
import { ofWritten, PIECES, random } from "./pieces.ts";
import { longTest, partOf } from "../kit/whole.ts";

const AXE = join(import.meta.dir, "..", "tools", "node_modules", "axe-core", "axe.min.js");
const EXAMPLE = join(EXAMPLES, "docs");
const HEBREW = `# מדריך\n\nשלום, זה עמוד שלם בעברית עם \`npm install\` באמצע.\n\n- [x] גמור\n- [ ] פתוח\n\n| א | ב |\n|-|-|\n| 1 | 2 |\n`;
const WIDE = `# Wide\n\n|${"a column |".repeat(30)}\n|${"-|".repeat(30)}\n|${"1|".repeat(30)}\n\n\`\`\`js\n${"const long = 1; ".repeat(40)}\n\`\`\`\n\n${"unbroken".repeat(60)}\n\n## One\n\n## Two\n`;

let server: TestServer;
let browser: Browser;
let url: string;
beforeAll(async () => {
  server = await startServer();
  browser = await openBrowser();
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  const files = new Map([...(await collectDist(EXAMPLE)), ["hebrew.md", bytes(HEBREW)], ["wide.md", bytes(WIDE)]]);
  ({ url } = await deploySite({ files, baseUrl: server.base_url }));
}, 60_000);
afterAll(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
});

const screen = (width: number, mobile = false): Promise<unknown> =>
  browser.cdp("Emulation.setDeviceMetricsOverride", { width, height: 800, deviceScaleFactor: 1, mobile });
const media = (type: string, scheme = "light"): Promise<unknown> =>
  browser.cdp("Emulation.setEmulatedMedia", {
    media: type,
    features: [{ name: "prefers-color-scheme", value: scheme }],
  });
beforeEach(async () => {
  await screen(1280);
  await media("");
});
const press = async (key: string, code = key, text?: string): Promise<void> => {
  const virtual = { Tab: 9, Enter: 13, Escape: 27, ArrowDown: 40, ArrowUp: 38 }[key];
  const event = { key, code, text, windowsVirtualKeyCode: virtual };
  await browser.cdp("Input.dispatchKeyEvent", { type: text || key === "Enter" ? "keyDown" : "rawKeyDown", ...event });
  await browser.cdp("Input.dispatchKeyEvent", { type: "keyUp", ...event });
};
const focused = (): Promise<string> => browser.evaluate("document.activeElement.textContent.trim()");
const PAGES = [
  "/",
  "/01-first-sail",
  "/sailing/",
  "/sailing/tides",
  "/sailing/knots",
  "/club/house",
  "/hebrew",
  "/wide",
];

describe("no failed request and no error", () => {
  test.each(partOf(PAGES, 2))(
    "%s",
    async (path) => {
      const { failures, text } = await browser.visit(url + path);
      expect(failures).toEqual([]);
      expect(text.length).toBeGreaterThan(100);
    },
    60_000,
  );
});

describe("axe finds nothing at WCAG 2.1 AA", () => {
  const RUN = `axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" | ")))`;
  const problems = async (): Promise<string[]> => {
    await browser.evaluate(`(0, eval)(${JSON.stringify(await Bun.file(AXE).text())}), 0`);
    return browser.evaluate<string[]>(RUN);
  };
  const LOOKS: [string, number, string][] = [
    ["a wide screen", 1280, "light"],
    ["a phone", 390, "light"],
    ["a phone in the dark", 390, "dark"],
    ["a wide screen in the dark", 1280, "dark"],
  ];
  test.each(partOf(LOOKS, 2))(
    "on %s",
    async (_, width, scheme) => {
      await screen(width, width < 500);
      await media("", scheme);
      for (const path of PAGES) {
        await browser.visit(url + path);
        expect([path, ...(await problems())]).toEqual([path]);
      }
      await media("");
    },
    120_000,
  );
  test("with the lists and the search open", async () => {
    await screen(390, true);
    await browser.visit(`${url}/sailing/tides`);
    for (const id of ["docs:pages", "docs:contents"]) {
      await browser.evaluate(`document.getElementById("${id}").showPopover()`);
      expect(await problems()).toEqual([]);
    }
    await screen(1280);
    await search("the");
    expect(await problems()).toEqual([]);
  }, 60_000);
  test("axe sees what is wrong", async () => {
    await browser.visit(url);
    await browser.evaluate(
      `document.querySelectorAll("[type=checkbox]").forEach((box) => box.removeAttribute("aria-label"))`,
    );
    expect((await problems()).join()).toStartWith("label: <input");
  }, 60_000);
});

/** Waits until the page says so: what follows a key or a click comes in its own time. */
const becomes = (expression: string, expected: unknown) =>
  until(async () => (await browser.evaluate(expression).catch(() => undefined)) === expected);

const STATUS = `.found [role=status]`;
/** Waits until the page tells how many it found. */
const search = async (words: string): Promise<string[]> => {
  await browser.evaluate(`(() => {
    const status = document.querySelector("${STATUS}");
    if (status) status.textContent = "";
    const input = document.querySelector("search input");
    input.focus();
    input.value = ${JSON.stringify(words)};
    input.dispatchEvent(new Event("input", { bubbles: true }));
  })()`);
  await becomes(`(document.querySelector("${STATUS}")?.textContent ?? "") !== ""`, true);
  return browser.evaluate<string[]>(`[...document.querySelectorAll(".found:not([hidden]) a")].map((a) => a.innerText)`);
};

describe("search", () => {
  const TITLES = `[...document.querySelectorAll(".found:not([hidden]) a b")].map((b) => b.textContent)`;
  const MARKS = `[...document.querySelectorAll(".found:not([hidden]) mark")].map((mark) => mark.textContent)`;
  test.each<[string, string[]]>([
    ["twelfths", ["The rule of twelfths"]],
    ["FIRST call", ["The first call"]],
    ["radio mean", ["Words that mean one thing"]],
    ["mussels", ["Tides"]],
    ["zzzz", []],
  ])(
    "%s",
    async (words, first) => {
      await screen(1280);
      await browser.visit(`${url}/club/house`);
      const hits = await search(words);
      expect((await browser.evaluate<string[]>(TITLES)).slice(0, 1)).toEqual(first);
      const count = await browser.evaluate<string>(`document.querySelector("${STATUS}").textContent`);
      expect(count).toBe(`${first.length === 0 ? "Nothing" : hits.length} found in titles and text`);
    },
    60_000,
  );
  test("matches are marked, in titles and in what is shown of the text", async () => {
    await screen(1280);
    await browser.visit(`${url}/club/house`);
    await search("MUSSELS harbour");
    const marks = await browser.evaluate<string[]>(MARKS);
    expect(marks).toContain("mussels");
    expect(marks.every((mark) => /^(?:mussels|harbour)$/i.test(mark))).toBe(true);
    expect(await browser.evaluate<string>(`document.querySelector(".found a p").textContent`)).toContain(
      "mussels and the odd anchor",
    );
  }, 60_000);
  test("its index is loaded at the first key, not before; Ctrl+K opens it like /", async () => {
    const loaded = `performance.getEntriesByType("resource").some(({ name }) => name.endsWith("search.json"))`;
    await browser.visit(`${url}/club/house`);
    await browser.evaluate(`document.activeElement.blur()`);
    await browser.cdp("Input.dispatchKeyEvent", {
      type: "rawKeyDown",
      key: "k",
      code: "KeyK",
      modifiers: 2,
      windowsVirtualKeyCode: 75,
    });
    expect(await browser.evaluate<string>("document.activeElement.type")).toBe("search");
    expect(await browser.evaluate<boolean>(loaded)).toBe(false);
    await search("t");
    expect(await browser.evaluate<boolean>(loaded)).toBe(true);
  }, 60_000);
  test("of a large site what is deep in a text is found, in parts that are loaded only where they are needed", async () => {
    const filler = "Packages are fetched, unpacked and linked into the folder of the project. ".repeat(70);
    const pages = Array.from({ length: 80 }, (_, i): [string, Uint8Array] => {
      const deep = i === 61 ? "Some packages are hoisted to the top-level of the tree." : "";
      const text = `# Command ${i}\n\n## Usage\n\n${filler}\n\n## Notes\n\n${filler}${deep} ${filler}\n`;
      return [`command-${i}.md`, new TextEncoder().encode(text)];
    });
    const large = await deploySite({ files: new Map(pages), baseUrl: server.base_url });
    const loaded = () =>
      browser.evaluate<string[]>(
        `performance.getEntriesByType("resource").map(({ name }) => name.split("/").pop()).filter((name) => name.startsWith("search"))`,
      );
    const status = () => browser.evaluate<string>(`document.querySelector("${STATUS}").textContent`);
    await browser.visit(large.url);
    await search("command");
    expect([await status(), await loaded()]).toEqual(["The first 20 of 240 found in titles and text", ["search.json"]]);
    await search("hoisted to the top-level");
    await until(async () => (await status()) === "1 found in titles and text");
    const [hit] = await browser.evaluate<string[]>(
      `[...document.querySelectorAll(".found a")].map((a) => a.innerText)`,
    );
    expect(hit).toMatch(/^Notes\s+Command 61\s+…[^]*hoisted to the top-level of the tree/);
    expect(await browser.evaluate<string>(`document.querySelector(".found a").href`)).toEndWith(
      "/command-61.html#notes",
    );
    expect((await loaded()).length).toBeGreaterThan(2);
    const all = await loaded();
    await search("no such words");
    await until(async () => (await status()) === "Nothing found in titles and text");
    expect(await loaded()).toEqual(all);
  }, 60_000);
  test("by keyboard: / to the field, arrows through what was found, Enter opens, Escape closes", async () => {
    await browser.visit(`${url}/club/house`);
    await press("/", "Slash", "/");
    expect(await browser.evaluate<string>("document.activeElement.type")).toBe("search");
    await search("the");
    await press("ArrowDown");
    const first = await focused();
    await press("ArrowDown");
    expect(await focused()).not.toBe(first);
    await press("ArrowUp");
    expect(await focused()).toBe(first);
    await press("Escape");
    expect(await browser.evaluate<boolean>(`document.querySelector(".found").hidden`)).toBe(true);
    await search("twelfths");
    await press("Enter", "Enter", "\r");
    await becomes("location.pathname + location.hash", "/sailing/tides.html#the-rule-of-twelfths");
  }, 60_000);
});

describe("keyboard", () => {
  test("the first stop is the skip link, and it leads into the text", async () => {
    await browser.visit(url);
    await press("Tab");
    expect(await focused()).toBe("Skip to the text");
    expect(await browser.evaluate<number>(`document.activeElement.getBoundingClientRect().top`)).toBeGreaterThan(0);
    await press("Enter", "Enter", "\r");
    await becomes("document.activeElement.tagName", "MAIN");
  }, 60_000);
  test("every stop shows that it has the focus", async () => {
    await browser.visit(`${url}/sailing/tides`);
    const bare: string[] = [];
    for (let stop = 0; stop < 40; stop++) {
      await press("Tab");
      const seen = await browser.evaluate<[string, string, number]>(
        `(() => { const e = document.activeElement, s = getComputedStyle(e); return [e.outerHTML.slice(0, 80), s.outlineStyle, parseFloat(s.outlineWidth)] })()`,
      );
      if (seen[0].startsWith("<body")) break;
      if (seen[1] === "none" || seen[2] < 1) bare.push(seen[0]);
    }
    expect(bare).toEqual([]);
  }, 60_000);
});

test("the copy button copies the code and says so", async () => {
  await browser.cdp("Browser.grantPermissions", { permissions: ["clipboardReadWrite", "clipboardSanitizedWrite"] });
  await browser.cdp("Emulation.setFocusEmulationEnabled", { enabled: true });
  await browser.visit(`${url}/sailing/radio`);
  await browser.evaluate(`document.querySelector(".code button").click()`);
  await becomes(`document.querySelector(".code button").textContent`, "Copied");
  const copied = await browser.evaluate<string>("navigator.clipboard.readText()");
  expect(copied.replaceAll("\r\n", "\n")).toStartWith("Brackwater Harbour, Brackwater Harbour,\nthis is");
}, 60_000);

describe("on a phone", () => {
  test.each(partOf(PAGES, 2))(
    "%s does not scroll sideways",
    async (path) => {
      await screen(360, true);
      await browser.visit(url + path);
      expect(await browser.evaluate<number>("document.documentElement.scrollWidth")).toBe(360);
    },
    60_000,
  );
  test("the search is a magnifier of 44 px that opens the field, and neither it nor the name is cut", async () => {
    const text = (title: string) => new TextEncoder().encode(`# ${title}\n\nText.\n\n## One\n\n## Two\n`);
    const files = new Map([
      ["README.md", text("Harbour Handbook")],
      ["b.md", text("B")],
    ]);
    const handbook = await deploySite({ files, baseUrl: server.base_url });
    const size = (selector: string) =>
      browser.evaluate<number[]>(
        `(() => { const { width, height } = document.querySelector("${selector}").getBoundingClientRect(); return [width, height]; })()`,
      );
    const cut = `(() => { const { scrollWidth, clientWidth } = document.querySelector(".brand"); return scrollWidth > clientWidth; })()`;
    await screen(390, true);
    await browser.visit(handbook.url);
    expect(await size("search input")).toEqual([44, 44]);
    expect(await browser.evaluate<boolean>(cut)).toBe(false);
    expect(await browser.evaluate<boolean>(`document.querySelector("search svg").checkVisibility()`)).toBe(true);
    await browser.click("search input");
    await becomes("document.activeElement.type", "search");
    expect((await size("search input"))[0]).toBeGreaterThan(250);
    expect(await search("text")).toHaveLength(2);
    expect(await browser.evaluate<number>("document.documentElement.scrollWidth")).toBe(390);
    await screen(700);
    await browser.visit(handbook.url);
    expect((await size("search input"))[0]).toBeGreaterThan(140);
    expect(await browser.evaluate<boolean>(`document.querySelector("search svg").checkVisibility()`)).toBe(false);
  }, 60_000);
  test("the list of pages opens over the text and closes again, without a script", async () => {
    await screen(390, true);
    await browser.cdp("Emulation.setScriptExecutionDisabled", { value: true });
    await browser.visit(`${url}/sailing/tides`);
    const visible = `document.getElementById("docs:pages").checkVisibility()`;
    const click = async (x: number, y: number) => {
      for (const type of ["mousePressed", "mouseReleased"])
        await browser.cdp("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
    };
    await becomes(visible, false);
    await click(30, 30);
    await becomes(visible, true);
    await click(380, 500);
    await becomes(visible, false);
    await browser.cdp("Emulation.setScriptExecutionDisabled", { value: false });
  }, 60_000);
});

test("without a script the page is whole: text, pages, contents; only search and copy are not there", async () => {
  await browser.cdp("Emulation.setScriptExecutionDisabled", { value: true });
  const { text } = await browser.visit(`${url}/sailing/tides`);
  await browser.cdp("Emulation.setScriptExecutionDisabled", { value: false });
  for (const part of ["The harbour dries", "Your first sail", "On this page", "Previous"]) expect(text).toContain(part);
  expect(text).not.toContain("Copy");
  expect(await browser.evaluate<boolean>(`document.querySelector("search").checkVisibility()`)).toBe(false);
}, 60_000);

test("a switch turns the colours, on every page from then on", async () => {
  const paper = () => browser.evaluate<string>("getComputedStyle(document.body).backgroundColor");
  const [light, dark] = ["rgb(255, 255, 255)", "rgb(20, 24, 26)"];
  await media("", "light");
  await browser.visit(url);
  expect(await paper()).toBe(light);
  await browser.evaluate(`document.querySelector(".theme").click()`);
  expect(await paper()).toBe(dark);
  expect(await browser.evaluate<string>(`document.querySelector(".theme").ariaPressed`)).toBe("true");
  await browser.visit(`${url}/club/house`);
  expect(await paper()).toBe(dark);
  await media("", "dark");
  await browser.evaluate(`document.querySelector(".theme").click()`);
  expect(await paper()).toBe(light);
  await browser.evaluate("localStorage.clear()");
  await media("");
}, 60_000);

test("nothing fades where less motion is wanted", async () => {
  const fades = () =>
    browser.evaluate<string[]>(
      `[".code button", ".turn a"].map((name) => getComputedStyle(document.querySelector(name)).transitionDuration)`,
    );
  await browser.visit(`${url}/sailing/radio`);
  expect(await fades()).toEqual(["0.12s", "0.12s"]);
  await browser.cdp("Emulation.setEmulatedMedia", { features: [{ name: "prefers-reduced-motion", value: "reduce" }] });
  expect(await fades()).toEqual(["0s", "0s"]);
}, 60_000);

test("dark where the reader's machine is dark", async () => {
  const paper = () => browser.evaluate<string>("getComputedStyle(document.body).backgroundColor");
  await browser.visit(url);
  expect(await paper()).toBe("rgb(255, 255, 255)");
  await media("", "dark");
  expect(await paper()).toBe("rgb(20, 24, 26)");
}, 60_000);

test("in print the text stands alone, and links to elsewhere tell their address", async () => {
  await browser.visit(`${url}/sailing/tides`);
  await media("print", "dark");
  const shown = await browser.evaluate<string[]>(
    `[...document.querySelectorAll(".top, .pages, .contents, .turn, .source, article")].filter((e) => e.checkVisibility()).map((e) => e.tagName)`,
  );
  expect(shown).toEqual(["ARTICLE"]);
  expect(await browser.evaluate<string>("getComputedStyle(document.body).color")).toBe("rgb(0, 0, 0)");
}, 60_000);

test("right to left by content: the pages stand on the right, code runs left to right", async () => {
  await browser.visit(`${url}/hebrew`);
  const places = await browser.evaluate<[number, number]>(
    `[".pages", "article"].map((name) => document.querySelector(name).getBoundingClientRect().left)`,
  );
  expect(places[0]).toBeGreaterThan(places[1]);
  expect(await browser.evaluate<string>(`getComputedStyle(document.querySelector("article code")).direction`)).toBe(
    "ltr",
  );
}, 60_000);

const OPEN = [
  ["div", "<div>"],
  ["comment", "<!-- x"],
  ["script", "<script><!--<script>"],
  ["bold", "text <b>"],
  ["table", "<table><tr><td>"],
  ["closers", "</article></main></div></body></html>"],
  ["template", "<template>"],
  ["quote", '<div class="'],
  ["link", "text <a name=x/>"],
  ["drawing", "<svg><![CDATA["],
  ["select", "<select><option>"],
  ["plain", "<plaintext>"],
  ["title", "<title>"],
  ["area", "<script><!--><script></script>\n\n<textarea>"],
  ["empty-drawing", "<svg/>\n\n<textarea>"],
  ["open-drawing", "<svg x=a/><style>p{}</style>"],
  ["drawn-html", "<svg><foreignObject><textarea></svg>"],
  ["cut-end", '<textarea></textarea x="<plaintext>'],
  ["breakout", "<svg><p><style><textarea></style>"],
] as const;

test("whatever raw HTML leaves open, the page around it stays whole", async () => {
  const pages = OPEN.map(([name, html]) => [`${name}.md`, `# ${name}\n\nSome words.\n\n${html}`] as const);
  const site = await server.deploy(Object.fromEntries([["README.md", "# Open"], ...pages]));
  for (const [name] of OPEN) {
    await browser.visit(`${site.url}/${name}`);
    const whole = await browser.evaluate<boolean[]>(
      `["body > .frame > main > article", "main > nav.turn", "main > .source", "body > .frame > .pages"].map((path) => document.querySelectorAll(path).length === 1 && document.querySelector(path).checkVisibility())`,
    );
    expect([name, ...whole]).toEqual([name, true, true, true, true]);
    const bold = await browser.evaluate<string>(`getComputedStyle(document.querySelector(".source a")).fontWeight`);
    expect([name, bold]).toEqual([name, "400"]);
  }
}, 60_000);

const MORE_PIECES =
  "<!--> <script><!--> <script><!--<script> <g/> <noscript> </noscript> <main> </main> <article> </article> <nav> </nav> " +
  "<dt> <ruby> <image> <frameset> <col> <tbody> </tbody> <input> <details> <a> </a>";
const ALL_PIECES = [...PIECES, ...MORE_PIECES.split(" "), "<svg x=a/>", '</textarea x="', "</title "];
const FRAME = ["body > .frame > main > article", "main > nav.turn", "main > p.source", "body > footer"];

const inFrame = (html: string): string =>
  `<!doctype html><body><div class=frame><main><article>\n${html}</article><nav class=turn></nav><p class=source></p></main></div><footer></footer>`;

const ASK = ofWritten(
  `${JSON.stringify(FRAME)}.filter((path) => inner.querySelectorAll(path).length === 0).join(", ")`,
);

longTest(
  "2,000 pages of random pieces keep their frame",
  async () => {
    const next = random(7);
    const sources = Array.from({ length: 2000 }, () =>
      Array.from({ length: 1 + next(8) }, () => ALL_PIECES[next(ALL_PIECES.length)]!).join(""),
    );
    await browser.visit("about:blank");
    const broken: string[] = [];
    for (let from = 0; from < sources.length; from += 100) {
      const some = sources.slice(from, from + 100);
      const pages = some.map((source) => inFrame(closeHtml(source, () => null)));
      const lost = JSON.parse(await browser.evaluate<string>(`(${ASK})(${JSON.stringify(pages)})`)) as string[];
      broken.push(...some.flatMap((source, i) => (lost[i] ? `${source}: ${lost[i]}` : [])));
    }
    expect(broken).toEqual([]);
  },
  120_000,
);

test("a page that is not closed loses its frame", async () => {
  const [lost] = JSON.parse(await browser.evaluate<string>(`(${ASK})(${JSON.stringify([inFrame("<textarea>")])})`));
  expect(lost).toContain("body > footer");
}, 30_000);

test("the contents mark what is being read", async () => {
  await browser.visit(`${url}/sailing/tides#in-the-harbour-mouth`);
  await browser.evaluate(`document.getElementById("in-the-harbour-mouth").scrollIntoView({ behavior: "instant" })`);
  const marked = `document.querySelector(".contents [aria-current]")?.textContent`;
  await becomes(`["In the harbour mouth", "The rule of twelfths"].includes(${marked})`, true);
}, 60_000);
