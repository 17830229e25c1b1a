/** From a method and a path to a row of the table. */
import { Refusal } from "../errors.ts";
import type { Handler, Route } from "../routes/table.ts";

interface Matched {
  handler: Handler;
  opens: Route[3];
  params: Readonly<Record<string, string>>;
}

const pattern = (path: string): RegExp => new RegExp(`^${path.replace(/:(\w+)/g, "(?<$1>[A-Za-z0-9_-]{1,64})")}$`);

/** HEAD is answered by GET's row; the body is left out on the way. Throws 404 and 405. */
export function matcher(table: readonly Route[]): (method: string, path: string) => Matched {
  const rows = table.map(([method, path, handler, opens]) => ({
    method: method as string,
    path: pattern(path),
    handler,
    opens,
  }));
  return (method, path) => {
    const fitting = rows.filter((row) => row.path.test(path));
    if (fitting.length === 0) throw new Refusal("not_found", "There is nothing at this address of the API.");
    const row = fitting.find((candidate) => candidate.method === (method === "HEAD" ? "GET" : method));
    if (row) return { handler: row.handler, opens: row.opens, params: { ...row.path.exec(path)!.groups } };
    const allow = fitting.flatMap((candidate) => (candidate.method === "GET" ? ["GET", "HEAD"] : [candidate.method]));
    const list = [...new Set(allow)].join(", ");
    throw new Refusal("method_not_allowed", `This address takes ${list} only.`, {}, { allow: list });
  };
}
