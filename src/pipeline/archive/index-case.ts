/** Folders whose index is called otherwise than `index.html`: IIS, old editors and Windows leave such names. */
import type { Draft, Healed } from "../../base/types.ts";

/** Gives such a folder an `index.html` of the same bytes. The uploaded name stays reachable. */
export function fixIndexCase(draft: Draft): Draft {
  const files = new Map(draft.files);
  const made = new Set(draft.made);
  const healed: Healed[] = [];
  for (const [folder, source] of otherIndexes(draft.files.keys())) {
    const path = `${folder}index.html`;
    if (files.has(path)) continue;
    files.set(path, draft.files.get(source)!);
    made.add(path);
    healed.push({ code: "index_case_fixed", message: `${source} is also served as ${path}.`, path: source });
  }
  return { ...draft, files, made, healed: [...draft.healed, ...healed] };
}

/** The best candidate of each folder: `index.html` in any case before `index.htm`, then by spelling. */
function otherIndexes(paths: Iterable<string>): Map<string, string> {
  const best = new Map<string, string>();
  for (const path of [...paths].sort()) {
    const [, folder, ending] = /^(.*\/)?index\.(html?)$/i.exec(path) ?? [];
    if (ending === undefined) continue;
    const before = best.get(folder ?? "");
    if (before === undefined || (ending.length === 4 && /\.htm$/i.test(before))) best.set(folder ?? "", path);
  }
  return best;
}
