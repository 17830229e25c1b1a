/** The loader gives this to the widget when a reader first wants it. */
import type { Answer } from "./call.ts";

export interface Handover {
  host: HTMLElement;
  root: ShadowRoot;
  /** Over the whole page, in the top layer. */
  layer: HTMLElement;
  /** Null in a frame of another site. */
  launcher: HTMLButtonElement | null;
  /** The path of the page to which the threads of `first` belong. */
  path: string;
  first: Answer;
  /** Framed by a page of another origin: nothing is written here. */
  foreign: boolean;
  /** The launcher was pressed already. */
  pressed: boolean;
}
