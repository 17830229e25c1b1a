/** What a passage is called by in a comment's anchor (a TextQuoteSelector). Runs in browsers. */

export interface Quote {
  exact: string;
  /** What stands before and behind the passage: 64 characters at most. */
  prefix: string;
  suffix: string;
}
