/** Sites that nobody here had looked at, judged once. The rule by which they were taken, laid down before any was judged: of
 *  239 names out of the registry's list that by name and summary might hold pages (plugins with demos, templates, icon and
 *  style sheets, manuals, decks, interfaces of programs) and that no earlier set or test has, in an order that was drawn, each
 *  whose package holds an `index.html`; of a package without one at its root the folder that holds the first, where that
 *  lies in a folder that builds publish (dist, docs, public …), else the whole package; none over 3,000 files or 80 MB. */
import type { NpmSite } from "./npm-sites.ts";
import LIST from "./third-list.txt" with { type: "text" };

/** `name@version`, folder, the tarball's integrity, and `server` for the interface of a program that has to answer it. */
const ROWS = LIST.trim()
  .split("\n")
  .map((line) => line.split(" "));
const sites = (kind: string | undefined): NpmSite[] =>
  ROWS.filter((row) => row[3] === kind).map(([spec, folder, integrity]) => [
    spec!,
    folder === "." ? "" : folder!,
    integrity!,
  ]);

/** Sites that stand alone. */
export const THIRD = sites(undefined);
/** Interfaces of programs, which are not here. */
export const THIRD_OF_SERVERS = sites("server");
