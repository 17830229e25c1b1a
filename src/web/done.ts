/** What went well, by the fixed codes of `?done=` (WEB 1.4): no text of an address is ever shown. */

const SAID = {
  deployed: "The new version is live.",
  unchanged: "No changes: this version is live already.",
  saved: "The settings are saved.",
  deleted: "It is deleted.",
  "preview-ended": "The preview has ended: nothing is at its address any more.",
  none: "No site was selected.",
  password: "Your password is changed. All other sessions have ended.",
  "session-ended": "The session has ended.",
  "sessions-ended": "All other sessions have ended.",
  "token-revoked": "The deploy token is revoked: nothing deploys with it any more.",
  approved: "Approved: everybody sees it.",
  rejected: "Rejected: nobody sees it any more.",
  resolved: "The thread is resolved.",
  reopened: "The thread is open again.",
  "comment-deleted": "The comment is deleted.",
  "account-deleted": "Your account and its sites are deleted.",
} as const;
type Done = keyof typeof SAID;

const isDone = (code: string): code is Done => Object.hasOwn(SAID, code);

/** The sentence; null for a code that is none. */
export const saidBy = (code: string | null): string | null => (code !== null && isDone(code) ? SAID[code] : null);
