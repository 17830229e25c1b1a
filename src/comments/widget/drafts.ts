/** Texts that somebody has begun to write and not posted yet. They are kept in this tab alone; a page may forbid
 *  storage. */

const keyOf = (page: string, of: string): string => `svc-draft ${page} ${of}`;

export function draft(page: string, of: string): string {
  try {
    return sessionStorage.getItem(keyOf(page, of)) ?? "";
  } catch {
    return "";
  }
}

export function keepDraft(page: string, of: string, text: string): void {
  try {
    if (text === "") sessionStorage.removeItem(keyOf(page, of));
    else sessionStorage.setItem(keyOf(page, of), text);
  } catch {
    // Full, or forbidden: it stays in the box.
  }
}
