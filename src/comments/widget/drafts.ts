/** What somebody has begun to write, until it is posted: in this tab alone. A page may forbid storage. */

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
