/** Anchors as GitHub makes them from headings, so that links written for GitHub lead to the same place here. */

/** What GitHub takes out: everything but letters, marks, numbers, connectors, hyphens and spaces. */
const DROPPED = /[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu;

const slug = (text: string): string => text.trim().toLowerCase().replace(DROPPED, "").replaceAll(" ", "-");

/** `used` begins with the ids of the author's own HTML. A heading without a letter is `section`, for an id must not be empty. */
export function createAnchors(used: Set<string>): (text: string) => string {
  const repeats = new Map<string, number>();
  return (text) => {
    const base = slug(text) || "section";
    let id = base;
    for (let n = repeats.get(base) ?? 0; used.has(id);) {
      id = `${base}-${++n}`;
      repeats.set(base, n);
    }
    used.add(id);
    return id;
  };
}
