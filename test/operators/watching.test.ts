/** CONTRACT 7: what an operator watches. docs/watching.md names every line of the log, its alerts and the dashboard ask
 *  for figures that /metrics has. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../kit/paths.ts";
import { block, WATCHING } from "../kit/self-hosting.ts";
import { JOBS } from "../../src/upkeep/jobs.ts";
import { startServer } from "../kit/server.ts";

setDefaultTimeout(60_000);

const section = (heading: string): string => WATCHING.split(`\n## ${heading}\n`)[1]!.split("\n## ")[0]!;

describe("the log", () => {
  const SERVER = /^src\/(?!web\/browser|cli|client|comments\/widget)/;
  const LINE = /\blog\.(record|event|error)\(\s*(["`])((?:(?!\2)[\s\S])*)\2/g;
  const BESIDE = /\bloggedBy\(log, "([^"]*)"/g;
  /** What changes from line to line is `…`. */
  const fixed = (text: string): string => text.replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, "…");

  function linesOf(source: string): string[] {
    const said = [...source.matchAll(LINE)].map(([, , , text = ""]) => fixed(text));
    return [...said, ...[...source.matchAll(BESIDE)].map(([, text = ""]) => text)];
  }

  /** A job of the upkeep thread that fails is logged by its name, unless it says more itself. */
  const jobs = JOBS.flatMap(({ name, failed }) => (failed ? [] : [name]));

  test("the manual names each line that the server can write", async () => {
    const paths = (await Array.fromAsync(new Bun.Glob("src/**/*.ts").scan({ cwd: ROOT }))).filter((path) =>
      SERVER.test(path),
    );
    const lines = [...new Set([...jobs, ...paths.flatMap((path) => linesOf(readFileSync(join(ROOT, path), "utf8")))])];
    expect(lines.length).toBeGreaterThan(30);
    const text = section("The log");
    expect(lines.filter((line) => !text.includes(`\`${line}\``))).toEqual([]);
  });

  test("and no other", async () => {
    const paths = (await Array.fromAsync(new Bun.Glob("src/**/*.ts").scan({ cwd: ROOT }))).filter((path) =>
      SERVER.test(path),
    );
    const lines = new Set([...jobs, ...paths.flatMap((path) => linesOf(readFileSync(join(ROOT, path), "utf8")))]);
    const rows = section("The log")
      .split("\n")
      .filter((line) => line.startsWith("| `"));
    const named = rows.flatMap((line) => [...line.split("|")[1]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((name) => !lines.has(name))).toEqual([]);
  });

  test.each([
    ["src/a.ts", 'log.event(`swept ${a.b} sites of ${c ?? "none"}`);', "swept … sites of …"],
    ["src/b.ts", 'log.error(\n  "blob missing",\n  why,\n);', "blob missing"],
    ["src/c.ts", 'every(1, look, loggedBy(log, "looking"));', "looking"],
  ])("the test itself: %s", (_, source, line) => {
    expect(linesOf(source)).toEqual([line]);
  });
});

describe("figures", () => {
  /** Names and their labels; those of a histogram's series as well. */
  async function shownFigures(): Promise<Map<string, Set<string>>> {
    await using server = await startServer();
    await server.deploy({ "index.html": "x" });
    const text = await (await fetch(`${server.base_url}/metrics`)).text();
    const figures = new Map<string, Set<string>>();
    for (const [, name, labels = ""] of text.matchAll(/^([a-z_]+)(?:\{([^}]*)\})? /gm)) {
      const own = figures.get(name!) ?? new Set(["instance", "job"]);
      for (const [, label] of labels.matchAll(/(\w+)="/g)) own.add(label!);
      figures.set(name!, own);
    }
    for (const [, name] of text.matchAll(/^# TYPE (\S+)/gm))
      if (!figures.has(name!)) figures.set(name!, new Set(["instance", "job"]));
    return figures;
  }
  const NAME = /\b(?:svc|process)_[a-z_]+/g;

  interface Target {
    expr: string;
    legendFormat?: string;
  }
  const dashboard = JSON.parse(readFileSync(join(ROOT, "docs", "grafana-dashboard.json"), "utf8")) as {
    panels: {
      id: number;
      type: string;
      title: string;
      targets?: Target[];
      gridPos: Record<"x" | "y" | "w" | "h", number>;
    }[];
  };
  const targets = dashboard.panels.flatMap((panel) => panel.targets ?? []);

  test("the dashboard asks for figures and labels that /metrics has, and shows every figure", async () => {
    const figures = await shownFigures();
    const asked = targets.flatMap(({ expr }) => expr.match(NAME) ?? []);
    expect(asked.filter((name) => !figures.has(name))).toEqual([]);
    const base = (name: string) => name.replace(/_(bucket|count|sum)$/, "");
    const shown = new Set(asked.map(base));
    expect([...figures.keys()].map(base).filter((name) => !shown.has(name))).toEqual([]);
    for (const { expr, legendFormat = "" } of targets) {
      const own = (expr.match(NAME) ?? []).flatMap((name) => [...figures.get(name)!]);
      const labels = [...`${expr} ${legendFormat}`.matchAll(/by \(([^)]+)\)|\{\{(\w+)\}\}|[{,](\w+)=/g)].flatMap(
        ([, by, legend, where]) => by?.split(/, */) ?? [legend ?? where!],
      );
      expect([expr, labels.filter((label) => label !== "le" && !own.includes(label))]).toEqual([expr, []]);
    }
  });

  test("its panels have ids of their own and do not lie on each other", () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, n) => `${x + (n % w)} ${y + Math.floor(n / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(dashboard.panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
  });

  test("the manual's alerts ask for figures that /metrics has", async () => {
    const figures = await shownFigures();
    const asked = block("yaml", "alert:").match(NAME) ?? [];
    expect(asked.length).toBeGreaterThan(8);
    expect(asked.filter((name) => !figures.has(name))).toEqual([]);
  });
});
