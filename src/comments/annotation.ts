/** Reads an annotation as a client sends it, member by member (COMMENTS 1 and ruling 18). Its id, author, dates and state are
 *  ignored. */
import { isObject, type JsonObject, ownMember } from "../base/json.ts";
import { Refusal } from "../base/errors.ts";
import { mediaType, readJson } from "../http/body.ts";
import type { Quote } from "../store/notes.ts";

export const MOST_BYTES = 16 * 1024;
const LONGEST = { text: 4000, exact: 1200, context: 64, canonical: 200, element: 200, selectors: 20 };

const invalid = (why: string): Refusal => new Refusal("invalid_annotation", why);

const lengthOf = (text: string): number => [...text].length;

/** One value, or a list of just one. */
const single = (value: unknown): unknown => (Array.isArray(value) && value.length === 1 ? value[0] : value);

/** Throws 415 if there is a body and it is not JSON. */
function refuseOtherTypes(request: Request): void {
  if (request.body === null) return;
  const type = mediaType(request);
  if (type === "application/json" || type === "application/ld+json") return;
  throw new Refusal("unsupported_media_type", "Send JSON: Content-Type: application/json.");
}

/** The JSON object of a request, at most 16 KiB. */
export async function readMembers(request: Request): Promise<JsonObject> {
  refuseOtherTypes(request);
  return request.body === null ? {} : readJson(request, MOST_BYTES);
}

/** Throws unless the type is Annotation or missing. */
function checkType(annotation: JsonObject): JsonObject {
  const type = ownMember(annotation, "type") ?? "Annotation";
  if ((Array.isArray(type) ? type : [type]).includes("Annotation")) return annotation;
  throw invalid('The "type" must be "Annotation".');
}

async function readAnnotation(request: Request): Promise<JsonObject> {
  refuseOtherTypes(request);
  try {
    return checkType(await readJson(request, MOST_BYTES));
  } catch (error) {
    if (error instanceof Refusal && error.code === "invalid_json") throw invalid(error.message);
    throw error;
  }
}

/** A text without control characters. */
const isClean = (text: string): boolean => text.isWellFormed() && !text.includes("\0");

const textOf = (body: unknown): unknown => {
  if (typeof body === "string") return body;
  if (!isObject(body)) return undefined;
  const [type, format] = [single(ownMember(body, "type")), single(ownMember(body, "format"))];
  if (type !== undefined && type !== "TextualBody") throw invalid('The body\'s "type" must be "TextualBody".');
  if (format !== undefined && format !== "text/plain") throw invalid('The body\'s "format" must be "text/plain".');
  return ownMember(body, "value");
};

/** The text of a comment, with its own line ends. */
export function checkText(sent: unknown): string {
  if (typeof sent !== "string") throw invalid("The comment has no text: send it as body.value.");
  if (!isClean(sent)) throw invalid("The comment holds a character that is none: a NUL or half of a pair.");
  const text = sent.replace(/\r\n?/g, "\n");
  if (!/[^\s\p{C}\p{Z}]/u.test(text)) throw invalid("The comment is empty.");
  if (lengthOf(text) > LONGEST.text) throw invalid(`The comment is longer than ${LONGEST.text} characters.`);
  return text;
}

const bodyText = (annotation: JsonObject): string =>
  checkText(textOf(single(ownMember(annotation, "body"))) ?? ownMember(annotation, "bodyValue"));

function stringIn(selector: JsonObject, name: string): string {
  const value = ownMember(selector, name) ?? "";
  if (typeof value !== "string" || !isClean(value)) throw invalid(`The selector's "${name}" must be a string.`);
  return value;
}

function quoteOf(selector: JsonObject): Quote {
  const exact = stringIn(selector, "exact");
  if (exact.trim() === "") throw invalid('The selector\'s "exact" is empty.');
  if (lengthOf(exact) > LONGEST.exact) {
    throw new Refusal("anchor_too_long", `The passage is longer than ${LONGEST.exact} characters: select less.`);
  }
  const prefix = [...stringIn(selector, "prefix")].slice(-LONGEST.context).join("");
  const suffix = [...stringIn(selector, "suffix")].slice(0, LONGEST.context).join("");
  return { exact, prefix, suffix };
}

/** The longest CSS selector that names one element. */
const ELEMENT =
  /^(?:#[A-Za-z][\w-]*|[a-z][a-z0-9-]*(?::nth-of-type\(\d{1,4}\))?(?:\s?>\s?[a-z][a-z0-9-]*(?::nth-of-type\(\d{1,4}\))?)*)$/;

function elementOf(selector: JsonObject): string {
  const value = stringIn(selector, "value");
  if (value.length <= LONGEST.element && ELEMENT.test(value)) return value;
  throw invalid("A CssSelector is #id or a path of tags with :nth-of-type(), of at most 200 characters.");
}

interface Selected {
  quote: Quote | null;
  element: string | null;
}

/** The first selector of each known kind; other kinds are ignored. */
function selectedBy(sent: unknown): Selected {
  const selectors = sent === undefined || sent === null ? [] : Array.isArray(sent) ? sent : [sent];
  if (selectors.length > LONGEST.selectors) throw invalid(`At most ${LONGEST.selectors} selectors.`);
  const chosen: Selected = { quote: null, element: null };
  for (const selector of selectors) {
    if (!isObject(selector)) throw invalid("A selector must be an object.");
    const type = ownMember(selector, "type");
    if (type === "TextQuoteSelector") chosen.quote ??= quoteOf(selector);
    if (type === "CssSelector") chosen.element ??= elementOf(selector);
  }
  return chosen;
}

export interface SentComment extends Selected {
  /** The address of a page, or of the comment that is answered. */
  target: string;
  motivation: "commenting" | "replying" | null;
  text: string;
  canonical: string | null;
}

function targetOf(annotation: JsonObject): { target: string } & Selected {
  const target = single(ownMember(annotation, "target"));
  if (typeof target === "string") return { target, quote: null, element: null };
  const source = isObject(target) ? (ownMember(target, "source") ?? ownMember(target, "id")) : undefined;
  if (typeof source !== "string") throw invalid("The target must be the address of a page, or have it as its source.");
  return { target: source, ...selectedBy(ownMember(target as JsonObject, "selector")) };
}

function motivationOf(annotation: JsonObject): SentComment["motivation"] {
  const motivation = single(ownMember(annotation, "motivation")) ?? null;
  if (motivation === null || motivation === "commenting" || motivation === "replying") return motivation;
  throw invalid('The motivation must be "commenting" or "replying".');
}

/** The public feed tells it to everybody, and a reader may make a link of it: no scheme that runs or opens anything. */
const CANONICAL = /^(?:urn:uuid:|https?:\/\/)[^\s\p{C}<>"{}|\\^`]+$/iu;

function canonicalOf(annotation: JsonObject): string | null {
  const canonical = ownMember(annotation, "canonical") ?? null;
  if (canonical === null) return null;
  if (typeof canonical === "string" && CANONICAL.test(canonical) && canonical.length <= LONGEST.canonical) {
    return canonical;
  }
  throw invalid(
    'The "canonical" must be urn:uuid:… or an address with https:// or http://, of at most 200 characters.',
  );
}

/** Throws `invalid_annotation`, `anchor_too_long`, 413, 415. */
export async function readComment(request: Request): Promise<SentComment> {
  const annotation = await readAnnotation(request);
  return {
    text: bodyText(annotation),
    motivation: motivationOf(annotation),
    ...targetOf(annotation),
    canonical: canonicalOf(annotation),
  };
}

/** Reads the annotation of a change: only its text counts. */
export const readChangedText = async (request: Request): Promise<string> => bodyText(await readAnnotation(request));
