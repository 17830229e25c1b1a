/** Tables of the manual, which a phone shows row by row (style/manual.css): roles keep them tables for whoever hears them, however
 *  they are laid out, and a cell of more than two columns has the name of its own. Called while the manual is made. */

const TABLE = /<table>[\s\S]*?<\/table>/g;
const HEADER = /<th[^>]*>([\s\S]*?)<\/th>/g;
const ROW = /<tr>[\s\S]*?<\/tr>/g;
const PART = /<(thead|tbody|tr|th)(?=[\s>])/g;
const ROLES: Readonly<Record<string, string>> = {
  thead: "rowgroup",
  tbody: "rowgroup",
  tr: "row",
  th: "columnheader",
};

const bareText = (html: string): string =>
  html
    .replace(/<[^>]*>/g, "")
    .replaceAll('"', "&quot;")
    .trim();

/** The first cell is what the row is called, and of two columns the second needs no name. */
function namedCells(row: string, columns: readonly string[]): string {
  let at = -1;
  return row.replace(/<td/g, () => {
    at++;
    return `<td role="cell"${at > 0 && columns.length > 2 ? ` data-column="${columns[at] ?? ""}"` : ""}`;
  });
}

function rowByRow(table: string): string {
  const columns = [...table.matchAll(HEADER)].map(([, name]) => bareText(name!));
  return table
    .replace(ROW, (row) => namedCells(row, columns))
    .replace(PART, (start, name: string) => `${start} role="${ROLES[name]}"`)
    .replace("<table>", '<table role="table">');
}

/** The HTML of a chapter, its tables ready for a phone. */
export const withTablesForPhones = (html: string): string => html.replace(TABLE, rowByRow);
