/** A store operation says once that it reads, writes or changes (src/store/operation.ts); all else follows from its row. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import {
  type Backend,
  bind,
  change,
  note,
  type Op,
  read,
  type Rows,
  statement,
  steps,
  write,
} from "../../src/store/operation.ts";
import { SESSIONS } from "../../src/store/people/sessions.ts";
import { glob, ROOT } from "../house/fence/source.ts";

type IsTable<T> = T extends Rows ? true : false;
/** These lines are the test: `bun check` fails if one of the two types is another. */
const accepted: IsTable<typeof SESSIONS> = true;
const breach: IsTable<{ find: (hash: string) => Promise<null> }> = false;

const isRow = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  typeof (value as { on?: unknown }).on === "function" &&
  ["read", "write", "change"].includes(String((value as { kind?: unknown }).kind));

/** Members of exported tables that have no kind: a table is a constant with a row or a function in it. */
function withoutKind(exports: Readonly<Record<string, unknown>>): string[] {
  const constants = Object.entries(exports).filter(([name]) => /^[A-Z_]+$/.test(name));
  return constants.flatMap(([table, rows]) => {
    const members = typeof rows === "object" && rows !== null ? Object.entries(rows) : [];
    const holds = members.some(([, member]) => isRow(member) || typeof member === "function");
    return holds && !isRow(rows)
      ? members.filter(([, member]) => !isRow(member)).map(([name]) => `${table}.${name}`)
      : [];
  });
}

test("every operation that the store exports has a kind, at run time as by its type", async () => {
  expect([accepted, breach]).toEqual([true, false]);
  const files = (await glob("src/store/**/*.ts")).filter((path) => !/(-thread|\.d)\.ts$/.test(path));
  const found: string[] = [];
  let tables = 0;
  for (const path of files) {
    const exports = (await import(join(ROOT, path))) as Record<string, unknown>;
    found.push(...withoutKind(exports).map((name) => `${path}: ${name}`));
    tables += Object.values(exports).filter((rows) => isRow(Object.values(rows ?? {})[0])).length;
  }
  expect(found).toEqual([]);
  expect(tables).toBeGreaterThan(25);
  expect(withoutKind({ MADE_UP: { ...SESSIONS, find: async () => null } })).toEqual(["MADE_UP.find"]);
});

const ASK = statement<{ n: number }>("select 1 as n");
function* nothing(): Op<void> {}

test("a connection that only reads runs its reads, and asks another thread for all else by the row's own name", async () => {
  const rows = {
    asks: read(() => ASK.get()),
    writes: write(nothing),
    notes: note(nothing),
    changes: change(nothing, () => []),
    asksOften: steps("read", async (_: Backend) => "here"),
    putsFirst: steps("write", async (_: Backend, blob: string) => blob),
  };
  const asked: string[] = [];
  const backend: Backend = {
    db: {
      read: async <T>(_: () => Op<T>) => "read here" as T,
      note: async () => expect.unreachable(),
      write: async () => expect.unreachable(),
      change: async () => expect.unreachable(),
    },
    place: {
      put: async () => ({
        *allThere() {
          return true;
        },
      }),
      makeRoom: () => false,
    },
    now: () => 0,
  };
  const bound = bind(rows, backend, async (name, args) => void asked.push([name, ...args].join(" ")));
  expect(await bound.asks()).toBe("read here" as never);
  expect(await bound.asksOften()).toBe("here");
  await bound.writes();
  await bound.notes();
  await bound.changes();
  await bound.putsFirst("a blob");
  expect(asked).toEqual(["writes", "notes", "changes", "putsFirst a blob"]);
});
