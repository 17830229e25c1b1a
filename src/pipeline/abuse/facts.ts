/** What is told of a page before it is judged. */
import type { Risk } from "./words.ts";

export interface Form {
  id: string | null;
  /** As written; null without one. */
  action: string | null;
  /** Its attributes as written. */
  written: string;
}

export interface Control {
  name: "input" | "textarea" | "button";
  attributes: ReadonlyMap<string, string>;
  /** The forms that it belongs to by its place. */
  forms: readonly Form[];
  /** The words of its labels. */
  labels: string[];
  /** How many characters of visible text stand before it. */
  at: number;
  /** What it asks for, the most telling first. */
  risks: readonly Risk[];
}

/** A link or a button that is open, and what it says. */
export interface Pressable {
  is: "a" | "button";
  /** Its attributes as they are written. */
  written: string;
  text: string;
}

export interface Picture {
  /** Its alternative text. */
  alt: string;
  /** As written; empty where it names no host, or nobody sees it. */
  address: string;
  inside: Pressable | null;
}

/** A frame, or what stands in for one. */
export interface Frame {
  address: string | null;
  page: string | null;
  /** For whoever has scripts off. */
  noscript: boolean;
}

export interface PageFacts {
  /** Only whoever has scripts off sees it. */
  noscript: boolean;
  /** Those that may be the first one. */
  bases: string[];
  forms: Form[];
  controls: Control[];
  /** By the id that they name. */
  labels: Map<string, string>;
  title: string;
  text: string;
  pictures: Picture[];
  icons: string[];
  links: Pressable[];
  /** Contents of `<meta http-equiv=refresh>`. */
  refreshes: string[];
  /** Code in the page: script elements. */
  code: string[];
  /** Those of them that a browser runs: no data, no import map. */
  runs: string[];
  /** What event attributes run. */
  handlers: { name: string; code: string }[];
  /** Addresses of scripts. */
  scripts: string[];
  /** Attributes that run or name something: what an element does when it is pressed, what it keeps for a script. */
  events: string[];
  /** Pages in the page: what frames show, by address or as they are. */
  frames: Frame[];
}

/** Thrown where a page is built to be unreadable: the message completes "… cannot be checked: ". */
export class Unreadable extends Error {}

/** No honest page comes near. */
export const MOST = {
  bases: 20,
  /** Each address of the page is resolved against it. */
  base_length: 8192,
  open_forms: 20,
  templates: 100,
  controls: 20_000,
  pictures: 50_000,
};

/** Characters of visible text under which a page only passes visitors on (PIPELINE 3). */
export const LITTLE_TEXT = 400;

export const emptyFacts = (noscript = false): PageFacts => ({
  noscript,
  bases: [],
  forms: [],
  controls: [],
  labels: new Map(),
  title: "",
  text: "",
  pictures: [],
  icons: [],
  links: [],
  refreshes: [],
  code: [],
  runs: [],
  handlers: [],
  scripts: [],
  events: [],
  frames: [],
});
