/** From a path and a method to a row of a table. */
import { Refusal } from "../base/errors.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";

/** The first members of a row in every table of routes; each table has more of its own. */
type Row = readonly [method: Method, path: string, ...rest: unknown[]];

/** The rows of one path, of which the method chooses. Throws 405. */
type AtPath<R> = (method: string) => { row: R; params: Readonly<Record<string, string>> };

/** Names of domains have dots, and letters of all scripts, percent-encoded; no other name in a path has. */
const placeholder = (_: string, name: string): string =>
  name === "domain" ? "(?<domain>[A-Za-z0-9._~%-]{1,1000})" : `(?<${name}>[A-Za-z0-9_-]{1,64})`;

const pattern = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(".", "\\.").replace(/:(\w+)/g, placeholder)}$`);

/** Finds the rows of a path. HEAD is answered by GET's row, and the body is left out on the way. Null if no row has the
 *  path. */
export function matcher<R extends Row>(table: readonly R[]): (path: string) => AtPath<R> | null {
  const rows = table.map((row) => ({ row, pattern: pattern(row[1]) }));
  return (path) => {
    const fitting = rows.filter((candidate) => candidate.pattern.test(path));
    if (fitting.length === 0) return null;
    return (method) => {
      const found = fitting.find(({ row }) => row[0] === (method === "HEAD" ? "GET" : method));
      if (!found) throw methodNotAllowed(fitting.map(({ row }) => row[0]));
      return { row: found.row, params: { ...found.pattern.exec(path)!.groups } };
    };
  };
}

function methodNotAllowed(methods: readonly Method[]): Refusal {
  const allow = methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  const list = [...new Set(allow)].join(", ");
  return new Refusal("method_not_allowed", `This address takes ${list} only.`, {}, { allow: list });
}
