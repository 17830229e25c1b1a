/** Tells where in a page SVG or MathML is read: there a `<style>` or `<title>` holds markup, not text, and CDATA
 *  exists. So a form that a page hides in this way is read as a browser reads it. Only elements inside a drawing are
 *  kept on the stack. */
import { attributesOf, closesItself } from "./attributes.ts";

/** `drawing` is not HTML. `plain` is HTML in which no element holds text alone. */
export type Kind = "html" | "drawing" | "plain";

export interface Namespaces {
  /** Told of each start tag in its order. */
  open(name: string, attributes: string): Kind;
  /** Told of each end tag. Whether it ends an element of a drawing. */
  close(name: string): boolean;
  /** Whether the next token is directly in an element that is not HTML, and whether the page is XML. */
  inside(): { foreign: boolean; xml: boolean };
}

interface OpenElement {
  name: string;
  /** `gate`: an element of a drawing whose content is HTML again. */
  kind: "foreign" | "gate" | "html";
  /** True in SVG, false in MathML. */
  svg: boolean;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));
export const VOID = words("area base br col embed hr img input link meta param source track wbr keygen bgsound frame");
/** Tags that end a drawing from any depth in it. */
const BREAKOUT = words(
  `b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr ol
   p pre ruby s small span strong strike sub sup table tt u ul var`,
);
const SVG_GATES = words("foreignobject desc title");
const MATH_GATES = words("mi mo mn ms mtext");
/** Elements that end by themselves when their parent ends. */
export const IMPLIED_END = words("p li dd dt option optgroup rb rp rt rtc thead tbody tfoot tr td th");
const CLOSES_PARAGRAPH = words(
  `address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5
   h6 header hgroup hr main menu nav ol p pre section summary table ul`,
);
/** Browsers nest no deeper. */
const DEEPEST = 512;

function isGate(name: string, attributes: string, svg: boolean): boolean {
  if (svg) return SVG_GATES.has(name);
  if (name !== "annotation-xml") return MATH_GATES.has(name);
  return /^(?:text\/html|application\/xhtml\+xml)$/i.test(attributesOf(attributes).get("encoding") ?? "");
}

/** Whether a start tag in a drawing ends it. */
export function breaksOut(name: string, attributes: string): boolean {
  if (name !== "font") return BREAKOUT.has(name);
  const given = attributesOf(attributes);
  return given.has("color") || given.has("face") || given.has("size");
}

class Browser implements Namespaces {
  /** The tags did not nest, so that another reading may be the true one. */
  doubtful = false;
  private readonly stack: OpenElement[] = [];

  constructor(private readonly leaves: boolean) {}

  private get top(): OpenElement | undefined {
    return this.stack.at(-1);
  }
  private get isForeign(): boolean {
    return this.top?.kind === "foreign";
  }
  inside(): { foreign: boolean; xml: boolean } {
    return { foreign: this.isForeign, xml: false };
  }

  open(name: string, attributes: string): Kind {
    if (this.isForeign && breaksOut(name, attributes)) this.leaveForeign();
    const inside = this.isForeign;
    if (!inside && name !== "svg" && name !== "math") {
      this.openHtml(name);
      return "html";
    }
    const svg = inside && this.top!.name !== "annotation-xml" ? this.top!.svg : name === "svg";
    if (!closesItself(attributes)) this.push(name, inside && isGate(name, attributes, svg) ? "gate" : "foreign", svg);
    return "drawing";
  }

  close(name: string): boolean {
    const { top, stack } = this;
    if (!top) return false;
    const html = top.kind === "html";
    const at = this.openAt(name, html);
    if (at >= 0) {
      if (html && stack.slice(at + 1).some((entry) => !IMPLIED_END.has(entry.name))) this.doubtful = true;
      stack.length = at;
    } else if (top.kind === "foreign" && (name === "p" || name === "br")) this.leaveForeign();
    else {
      this.doubtful = true;
      if (this.leaves && !html && !stack.some((entry) => entry.kind === "html")) stack.length = 0;
    }
    return at >= 0 && !html;
  }

  private leaveForeign(): void {
    while (this.isForeign) this.stack.pop();
  }

  private push(name: string, kind: OpenElement["kind"], svg = false): void {
    if (this.stack.length < DEEPEST) this.stack.push({ name, kind, svg });
    else this.doubtful = true;
  }

  private openHtml(name: string): void {
    const { top, stack } = this;
    if (!top || VOID.has(name)) return;
    const ends = top.kind === "html" && (top.name === "p" ? CLOSES_PARAGRAPH.has(name) : top.name === name);
    if (ends && IMPLIED_END.has(top.name)) stack.pop();
    this.push(name, "html");
  }

  /** The place of the open element of that name on the stack, searched from the top and only as far as elements of its
   *  kind go; -1 if there is none. */
  private openAt(name: string, html: boolean): number {
    for (let i = this.stack.length - 1; i >= 0; i--) {
      if ((this.stack[i]!.kind === "html") !== html) return -1;
      if (this.stack[i]!.name === name) return i;
    }
    return -1;
  }
}

/** The namespaces as a browser sees them, as far as nested tags show. `leaves`: an end tag without a partner in a
 *  drawing counts as that of an element around it, which ends the drawing too. */
export const asBrowser = (leaves = true): Namespaces & { readonly doubtful: boolean } => new Browser(leaves);

/** Everything is HTML. */
export const allHtml = (): Namespaces => ({
  open: () => "html",
  close: () => false,
  inside: () => ({ foreign: false, xml: false }),
});

/** From the first drawing on no element hides what is in it. */
export function plainAfterDrawing(): Namespaces {
  let drawn = false;
  return {
    open: (name) => ((drawn ||= name === "svg" || name === "math") ? "plain" : "html"),
    close: () => false,
    inside: () => ({ foreign: drawn, xml: false }),
  };
}

/** XML knows no elements that hold text alone. */
export const xml = (): Namespaces => ({
  open: () => "plain",
  close: () => false,
  inside: () => ({ foreign: true, xml: true }),
});
