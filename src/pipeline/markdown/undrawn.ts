/** Formulas and diagrams: other tools draw them with a script of a megabyte. Here they stay as written, word for
 *  word, and the deploy says so. `$$ … $$`, `$ … $` around TeX, and fences of ```math and ```mermaid. */
import type { MarkedExtension, TokenizerAndRendererExtension, Tokens } from "marked";

export type Drawing = "math" | "mermaid";

/** Scripts that draw what is in the page: if the page has its own, its text is left alone. */
const DRAWN_BY: Record<Drawing, RegExp> = { math: /mathjax|katex/i, mermaid: /mermaid/i };
const drawsItself = (text: string, what: Drawing): boolean => text.includes("<script") && DRAWN_BY[what].test(text);

/** Signs of TeX, or of a formula of one letter, that prices do not have. */
const TEX = /^[a-z](?:\s*[=<>+*-]\s*\S.*)?$|\\[a-z]{2}|[\w)}\]][_^][\w{(\\+-]/i;
const INLINE = /^(?:\$\$([^$`]{1,2000})\$\$|\$`([^`\n]{1,1000})`\$|\$(?![\s${`])([^$\n`]{1,1000})\$)(?![\w$])/;
const BLOCK = /^ {0,3}\$\$[ \t]*/;
const [BLOCK_NAME, INLINE_NAME] = ["math_block", "math"] as const;

interface Formula extends Tokens.Generic {
  text: string;
}

/** Only where a paragraph could begin: to cut paragraphs for it, `marked` would need their length's square. */
const block = (code: (token: Tokens.Code) => string): TokenizerAndRendererExtension => ({
  name: BLOCK_NAME,
  level: "block",
  tokenizer(src): Formula | undefined {
    const opening = BLOCK.exec(src)?.[0].length;
    if (opening === undefined) return undefined;
    const end = src.indexOf("$$", opening);
    const text = src
      .slice(opening, end)
      .replace(/^\s*\n/, "")
      .trimEnd();
    const rest = /^[ \t]*(?:\n|$)/.exec(src.slice(end + 2, end + 200))?.[0];
    if (end < 0 || text === "" || rest === undefined || /\n[ \t]*\n/.test(text)) return undefined;
    if (!src.slice(0, end).includes("\n") && !TEX.test(text)) return undefined;
    return { type: BLOCK_NAME, raw: src.slice(0, end + 2 + rest.length), text };
  },
  renderer: ({ raw, text }) => code({ type: "code", raw, text: String(text), lang: "math" }),
});

const inline = (shown: () => void): TokenizerAndRendererExtension => ({
  name: INLINE_NAME,
  level: "inline",
  start(src) {
    const at = src.search(/(?<![\w\\$])\$/);
    return at < 0 ? undefined : at;
  },
  tokenizer(src): Formula | undefined {
    const [raw, displayed, quoted, dollars] = INLINE.exec(src) ?? [];
    const text = displayed?.trim() ?? quoted ?? dollars;
    if (raw === undefined || !text || /\s$/.test(text)) return undefined;
    const sure = quoted !== undefined || displayed?.includes("\n") || TEX.test(text);
    return sure ? { type: INLINE_NAME, raw, text } : undefined;
  },
  renderer({ text }) {
    shown();
    return `<code>${Bun.escapeHTML(String(text))}</code>`;
  },
});

/** The undrawn code of one page. */
interface Undrawn {
  /** Null where there can be no formula. */
  extension: MarkedExtension | null;
  /** A listing, seen. */
  code(token: Tokens.Code): string;
  /** The kinds of drawing that are in the page as code. */
  found(): Drawing[];
}

export function createUndrawn(text: string, listing: (token: Tokens.Code) => string): Undrawn {
  const seen = new Set<Drawing>();
  const code = (token: Tokens.Code): string => {
    const [language] = (token.lang ?? "").split(/\s/, 1);
    if (language === "math" || language === "mermaid") seen.add(language);
    return listing(token);
  };
  const formula = (): void => void seen.add("math");
  const formulas = text.includes("$") && !drawsItself(text, "math");
  return {
    extension: formulas ? { extensions: [block(code), inline(formula)] } : null,
    code,
    found: () => [...seen].filter((what) => !drawsItself(text, what)),
  };
}
