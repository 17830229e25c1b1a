/** What a rule shows at a path in the place of a file of that name, or where there is none: for whoever asks which page an
 *  address is. Where a rule leads elsewhere, it is that address's own page. */
import { answer } from "./answer.ts";
import type { RuleTable } from "./table.ts";

/** `path` is percent-encoded. Throws `invalid_path`. */
export const shownByRule =
  <File>(files: ReadonlyMap<string, File>, rules: RuleTable | null) =>
  (path: string): File | null => {
    if (rules === null) return null;
    const { answered } = answer(files, path, { rules, owned: false, navigates: true });
    return answered.kind === "file" && answered.rule !== undefined ? answered.file : null;
  };
