/** What is told of a page before it is judged. */
import type { Risk } from "./words.ts";

export interface Form {
  id: string | null;
  /** As written; null without one. */
  action: string | null;
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
  inside: Pressable | null;
}

export interface PageFacts {
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
  /** Addresses of scripts. */
  scripts: string[];
  /** Attributes that run or name something: what an element does when it is pressed, what it keeps for a script. */
  events: string[];
  /** Pages in the page: what frames show, by address or as they are. */
  frames: { address: string | null; page: string | null }[];
}

/** Thrown where a page is built to be unreadable: the message completes "… cannot be checked: ". */
export class Unreadable extends Error {}

/** No honest page comes near. A browser takes the first base and ignores a form in a form. */
export const MOST = {
  bases: 20,
  /** Each address of the page is resolved against it. */
  base_length: 8192,
  open_forms: 20,
  templates: 100,
  controls: 20_000,
  pictures: 50_000,
};

export const emptyFacts = (): PageFacts => ({
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
  scripts: [],
  events: [],
  frames: [],
});
