/** Archives, and what the reader says of them, for the tables of the archive tests. */
import { expect, test } from "bun:test";
import { accept, refusalOf } from "../kit/ingesting.ts";
import { buildZip, type Member } from "../kit/zip.ts";

export type Row = [id: string, what: string, zip: () => Uint8Array, reason: RegExp];

export const PAGE: Member = { name: "index.html", data: "<!doctype html><title>Page</title><p>A page." };

export const TEXT = "a text that deflate makes shorter, shorter, shorter, shorter";

/** A page and one entry with the given peculiarity. */
export const withEntry = (peculiar: Partial<Member>): Uint8Array =>
  buildZip([PAGE, { name: "a.txt", data: TEXT, ...peculiar }]);

export const both = (fields: Partial<NonNullable<Member["local"]>>): Partial<Member> => ({
  local: fields,
  central: fields,
});

export const bytes = (...values: number[]): Uint8Array => new Uint8Array(values);

export function refuses(code: string, rows: readonly Row[]): void {
  test.each(rows.map((row) => [row[0], row[1], row] as const))(`%s: %s is refused as ${code}`, (_id, _what, row) => {
    const refusal = refusalOf(row[2]());
    expect(refusal.code as string).toBe(code);
    expect(refusal.message).toMatch(row[3]);
    expect(refusal.message).toMatch(/^[\x20-\x7e]+\.$/);
  });
}

export function accepts(rows: readonly (readonly [id: string, what: string, zip: () => Uint8Array])[]): void {
  test.each(rows.map((row) => [...row] as const))("%s: %s is accepted", (_id, _what, zip) => {
    const { paths, text } = accept(zip());
    expect(paths).toEqual(["a.txt", "index.html"]);
    expect(text("a.txt")).toBe(TEXT);
  });
}
