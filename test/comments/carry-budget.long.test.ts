/** COMMENTS, ruling 14: what one deploy may take to carry the comments of a site is bounded, however many pages it has and
 *  however large they are; what there was no time for comes with another deploy. */
import { describe, expect, test } from "bun:test";
import type { Version } from "../../src/base/types.ts";
import { carryThreads } from "../../src/comments/carry.ts";
import type { AnchorRow, CarriedRow } from "../../src/store/notes.ts";
import type { StoredFile, StoredManifest } from "../../src/store/versions.ts";
import { cpuOfAsync } from "../kit/cpu.ts";

const PASSAGE = "The passage that somebody has commented on, word for word.";
/** A text of drawn words with the passage at its end. */
function textOf(seed: number, length: number): string {
  const words: string[] = [];
  for (let n = seed, have = 0; have < length; have += words.at(-1)!.length + 1) {
    words.push((n = (n * 1103515245 + 12345) % 2 ** 31).toString(36));
  }
  return `${words.join(" ")} ${PASSAGE}`;
}

/** A site whose versions are given as path → text, with a thread on the passage of each page. */
class Site {
  private readonly versions = new Map<string, Map<string, string>>();
  rows: AnchorRow[] = [];
  private live = "";

  constructor(
    private readonly spa: boolean,
    paths: readonly string[],
    first: ReadonlyMap<string, string>,
  ) {
    this.deploy("v0", first);
    this.rows = paths.map((page, n) => {
      const text = first.get(spa ? "index.html" : page.slice(1))!;
      const start = text.indexOf(PASSAGE);
      const place = { version_id: "v0", start, end: start + PASSAGE.length };
      const quote = { exact: PASSAGE, prefix: text.slice(start - 32, start), suffix: "" };
      return { id: `c_${n}`, page, status: "open", quote, carried: "exact", place };
    });
  }
  deploy(version_id: string, files: ReadonlyMap<string, string>): void {
    this.versions.set(version_id, new Map(files));
    this.live = version_id;
  }
  private manifest(version_id: string): StoredManifest {
    const files = [...this.versions.get(version_id)!].map(([path, text]): [string, StoredFile] => [
      path,
      {
        path,
        bytes: Buffer.byteLength(text),
        sha256: new Bun.CryptoHasher("sha256").update(text).digest("hex"),
        media_type: "text/html",
        made: 0,
        blob_no: 1,
      } as unknown as StoredFile,
    ]);
    return new Map(files);
  }
  async carry(): Promise<CarriedRow[]> {
    const contents = new Map<string, string>();
    let done: readonly CarriedRow[] = [];
    await carryThreads(
      {
        notes: { anchors: async () => this.rows, carry: async (_, rows) => void (done = rows) },
        versions: {
          get: async (_, id) =>
            ({ version_id: id, spa_enabled: this.spa ? 1 : 0, spa_rule: "shell" }) as unknown as Version,
          manifest: async (_, id) => {
            for (const text of this.versions.get(id)!.values()) {
              contents.set(new Bun.CryptoHasher("sha256").update(text).digest("hex"), text);
            }
            return this.manifest(id);
          },
        },
        blobs: {
          read: async ({ sha256 }) => new TextEncoder().encode(contents.get(sha256)!),
          open: () => Bun.file("/dev/null"),
        },
      },
      { site_id: "s", spa_override: null, live_version_id: this.live },
    );
    const by_id = new Map(done.map((row) => [row.id, row]));
    this.rows = this.rows.map((row) => {
      const now = by_id.get(row.id);
      return now === undefined ? row : { ...row, carried: now.carried, place: now.place ?? row.place };
    });
    return [...done];
  }
}

describe("carrying all comments of a site", () => {
  test("a thousand pages of an app that show one shell cost what one of them costs", async () => {
    const [shell, next] = [textOf(1, 400_000), `${textOf(1, 200_000)} ${textOf(2, 200_000)}`];
    const siteOf = (pages: number) => {
      const paths = Array.from({ length: pages }, (_, n) => `/app/${n}`);
      const site = new Site(true, paths, new Map([["index.html", shell]]));
      site.deploy("v1", new Map([["index.html", next]]));
      return site;
    };
    await siteOf(1).carry();
    const one = await cpuOfAsync(async () => expect(await siteOf(1).carry()).toHaveLength(1));
    const thousand = await cpuOfAsync(async () => {
      const done = await siteOf(1000).carry();
      expect(done.map(({ carried }) => carried)).toEqual(Array(1000).fill("exact"));
    });
    // One by one they would take a thousand times as long.
    expect(thousand).toBeLessThan(10 * one + 500);
  }, 60_000);

  test("of more than there is time for some are carried, others stay as they were, and each has its turn in time", async () => {
    const paths = Array.from({ length: 12 }, (_, n) => `page-${n}.html`);
    const filesOf = (version: number) =>
      new Map(paths.map((path, n) => [path, `Version ${version}. ${textOf(n + 1, 3_000_000)}`]));
    const site = new Site(
      false,
      paths.map((path) => `/${path}`),
      filesOf(0),
    );
    const behind = () => site.rows.filter(({ place }) => place!.version_id === "v0").length;
    for (let version = 1; version <= 8 && behind() > 0; version++) {
      site.deploy(`v${version}`, filesOf(version));
      const done = await site.carry();
      // 64 MB are read: at most 10 pairs of 3 MB.
      expect(done.length).toBeWithin(4, 12);
      expect(site.rows.every(({ carried }) => carried === "exact")).toBeTrue();
    }
    expect(behind()).toBe(0);
  }, 120_000);

  test("what was moved in many pages is searched for within one bound for all", async () => {
    const paths = Array.from({ length: 200 }, (_, n) => `page-${n}.html`);
    // No word is left that the two have in common but those of the passage, which stands elsewhere.
    const filesOf = (seed: number) => new Map(paths.map((path, n) => [path, textOf(1000 * seed + n, 20_000)]));
    const site = new Site(
      false,
      paths.map((path) => `/${path}`),
      filesOf(1),
    );
    site.rows = site.rows.flatMap((row) => Array.from({ length: 10 }, (_, k) => ({ ...row, id: `${row.id}_${k}` })));
    site.deploy("v1", new Map([...filesOf(2)].map(([path, text]) => [path, text.replace(PASSAGE, "")])));
    const took = await cpuOfAsync(() => site.carry());
    // Each of the 2,000 goes through 20,000 characters at most: within the bound, and far from one search for each in all.
    expect(took).toBeLessThan(30_000);
    expect(new Set(site.rows.map(({ carried }) => carried))).toEqual(new Set(["lost"]));
  }, 120_000);
});
