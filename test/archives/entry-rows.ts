/** Archives of odd entries, and what becomes of them, for the tables of the archive tests. */
import { expect, test } from "bun:test";
import { accept, refusalOf } from "../kit/ingesting.ts";
import { buildZip, type Content, type Member } from "../kit/zip.ts";

export const INDEX: Member = { name: "index.html", data: "<p>A page." };

/** A page beside entries of these names, each holding its place in the list. */
export const named = (...names: Content[]): Uint8Array =>
  buildZip([INDEX, ...names.map((name, at): Member => ({ name, data: `file ${at}` }))]);

export const raw = (...values: (string | number)[]): Uint8Array =>
  Buffer.concat(values.map((value) => (typeof value === "string" ? Buffer.from(value) : Buffer.of(value))));

export type Refused = [id: string, what: string, zip: () => Uint8Array, reason: RegExp];

export function refuses(code: string, rows: readonly Refused[]): void {
  test.each(rows.map((row) => [row[0], row[1], row] as const))(`%s: %s is refused as ${code}`, (_id, _what, row) => {
    const refusal = refusalOf(row[2]());
    expect(refusal.code as string).toBe(code);
    expect(refusal.message).toMatch(row[3]);
    expect(refusal.message).not.toMatch(/[\x00-\x1f\x7f-\x9f\u200b\u202e\ufeff]/);
    expect(refusal.message.length).toBeLessThan(400);
    expect(refusal.details.entry).toBeString();
  });
}

/** Names, and the paths that they are beside index.html. */
export type Kept = [id: string, what: string, names: Content[], paths: string[], warnings?: string[]];

export function keeps(rows: readonly Kept[]): void {
  test.each(rows.map((row) => [row[0], row[1], row] as const))(
    "%s: %s is kept",
    (_id, _what, [, , names, paths, warnings = []]) => {
      const result = accept(named(...names));
      expect(result.paths.filter((path) => path !== "index.html")).toEqual(paths.toSorted());
      expect(paths.map((path) => result.text(path))).toEqual(paths.map((_, at) => `file ${at}`));
      expect(result.warnings).toEqual(warnings);
    },
  );
}
