/** BEYOND 7, CONTRACT 2: what a host shows moves on while somebody asks for it. Between two reads of the store what was
 *  shown may be gone, with its version; whoever asks gets what is shown then, and no 404. */
import { describe, expect, test } from "bun:test";
import type { LoadedVersion, SiteRow } from "../../src/serve/cache.ts";
import { createLocate, type Hosted, type SiteHost } from "../../src/serve/locate.ts";
import type { Site } from "../../src/base/types.ts";

const idOf = (n: number) => String(n).padStart(16, "0");
const HOUR = 3_600_000;
const SITE = { site_id: "site_x", slug: "lab", disabled_reason: null, expires_at: null, comments_mode: "off" } as const;

/** A site whose live version and preview `pr` are the n-th, where the first `gone` are removed as soon as a row names them. */
function moving(gone: number) {
  const asked = { rows: 0, versions: 0 };
  const rowOf = (n: number) => {
    const site = { ...SITE, live_version_id: idOf(n) } as Site;
    return { site, moved_to: null, tombstone: null, live: null, previews: null, used: false } as unknown as SiteRow;
  };
  const rows = { ready: () => undefined, read: async () => rowOf(++asked.rows), setLive: () => {} };
  const read = async (_: unknown, version_id: string) => {
    asked.versions++;
    const there = Number(version_id) > gone;
    return there ? ({ version: { version_id } } as LoadedVersion) : null;
  };
  const shown = async () => [{ name: "pr", version_id: idOf(asked.rows), expires_at: HOUR, only: `${asked.rows} d` }];
  const parts = { store: { previews: { shown } }, now: () => 0, base_url: "http://localhost", contact: null };
  const locate = createLocate(rows, { ready: () => undefined, read }, parts);
  const versionAt = async (host: Omit<SiteHost, "slug">) =>
    ((await locate({ slug: "lab", ...host })) as Hosted).version.version.version_id;
  return { asked, versionAt };
}

const ALIAS = { version_id: null, preview: "pr" };
const LIVE = { version_id: null };

describe.each([
  ["a preview's alias", ALIAS],
  ["the live host", LIVE],
])("%s", (_, host) => {
  test.each([0, 1, 3])("shows what is there, %i moves later", async (gone) => {
    expect(await moving(gone).versionAt(host)).toBe(idOf(gone + 1));
  });

  test("is 404 where nothing of it is stored, and the store is not asked for ever", async () => {
    const { asked, versionAt } = moving(Infinity);
    const refused = await versionAt(host).catch((error: { code: string }) => error.code);
    expect([refused, asked.rows]).toEqual(["unknown_version", 5]);
  });
});

test("an id that no row names is looked for once: anybody can make one up", async () => {
  const { asked, versionAt } = moving(Infinity);
  const refused = await versionAt({ version_id: "f".repeat(16) }).catch((error: { code: string }) => error.code);
  expect([refused, asked]).toEqual(["unknown_version", { rows: 1, versions: 1 }]);
});
