/** What the build makes of the manual. */

/** What stands below one heading, as words alone: what a search looks through. */
export interface Section {
  /** Its anchor; empty for what stands above the first heading. */
  id: string;
  depth: number;
  title: string;
  text: string;
}

export interface Chapter {
  /** Of its file in docs/, and of its address. */
  name: string;
  title: string;
  /** Its first paragraph. */
  excerpt: string;
  html: string;
  sections: readonly Section[];
}
