/** The input and the result of a look at a page. */
import type { Brand } from "./brands.ts";
import type { Budget } from "../budget.ts";
import type { PageCode } from "./page-code.ts";
import type { PageFacts } from "./facts.ts";
import type { OwnHost } from "../../html/addresses.ts";

export interface Judged {
  path: string;
  page: PageFacts;
  code: PageCode;
  own: OwnHost;
  brands: readonly Brand[];
  anonymous: boolean;
  budget: Budget;
}

/** `name` is for the operator; `why` goes on "… `page`"; `fix` names the change. */
export interface Signal {
  name: string;
  why: string;
  fix: string;
}
export type Look = (judged: Judged) => Signal | null;
