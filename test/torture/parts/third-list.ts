/** Sites that nobody here had looked at, judged once. The rule by which they were taken, laid down before any was judged: of
 *  249 names out of the registry's list that by name and summary might hold pages (plugins with demos, templates, icon and
 *  style sheets, manuals, decks, interfaces of programs) and that no earlier set or test has, in an order that was drawn, each
 *  whose package holds an `index.html`; of a package without one at its root the folder that holds the first, where that
 *  lies in a folder that builds publish (dist, docs, public …), else the whole package; none over 3,000 files or 80 MB. */
import LIST from "./third-list.txt" with { type: "text" };

/** `name@version`, folder, what the registry's integrity of it is. */
export const THIRD: readonly (readonly [spec: string, folder: string, integrity: string])[] = LIST.trim()
  .split("\n")
  .map((line) => {
    const [spec, folder, integrity] = line.split(" ");
    return [spec!, folder === "." ? "" : folder!, integrity!];
  });
