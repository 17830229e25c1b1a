/** BEYOND 15: the renderer's number goes up with each change of the pages that svc makes, so that `svc update` can say which are older. */
import { expect, test } from "bun:test";
import { RENDERER } from "../../src/base/types.ts";
import { contentHash } from "../../src/base/version-id.ts";
import { Home } from "../kit/cli.ts";
import { write } from "../kit/database.ts";
import { bearer, call } from "../kit/people.ts";
import { startServer } from "../kit/server.ts";

/** The pages of one docs site and one list of files, by the renderer that made them. Of another number only the last one counts. */
const MADE_BY: Readonly<Record<number, string>> = { 1: "b8bfa000da7673aa" };

const DOCS = {
  "README.md":
    "# Harbour\n\n> [!NOTE]\n> Tides\n\n- [ ] one\n- [x] two\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n```js\nlet a = 1;\n```\n\nA note[^1].\n\n[^1]: Here.\n",
  "guide/start.md": "# Start\n\n## One\n\n### Two\n\n![p](p.png) :wave: <b>x</b>\n",
  "guide/p.png": "PNG",
};

test("pages are those of the renderer's number: whoever changes them raises it in src/base/types.ts", async () => {
  await using server = await startServer();
  const docs = await server.deploy(DOCS);
  const list = await server.deploy({ "a.txt": "a", "b/c.txt": "c" });
  const texts: string[] = [];
  for (const { site_id, version_id, slug } of [docs, list]) {
    const files = (await server.running.store.versions.manifest(site_id, version_id))!;
    for (const path of [...files.keys()].toSorted()) {
      const file = files.get(path)!;
      if (file.made)
        texts.push(
          path,
          new TextDecoder().decode(await server.running.store.blobs.read(file)).replaceAll(slug, "name"),
        );
    }
  }
  expect({ renderer: RENDERER, made: contentHash(new TextEncoder().encode(texts.join("\0"))).slice(0, 16) }).toEqual({
    renderer: RENDERER,
    made: MADE_BY[RENDERER]!,
  });
});

test("svc update of equal content says that pages are of an older svc, and how they are made anew; of others it does not", async () => {
  await using server = await startServer();
  await using home = await Home.make(server.base_url);
  await home.write("docs", { "README.md": "# One" });
  await home.write("plain", { "index.html": "<title>One</title>" });
  for (const folder of ["docs", "plain"]) await home.run([folder]);
  const words = "Its pages were made by an older svc";
  expect((await home.run(["update", "docs"])).err).not.toContain(words);
  write(server.data_dir, "update receipts set renderer = 0");
  expect((await home.run(["update", "docs"])).err).toContain(`No changes (already live)`);
  expect((await home.run(["update", "docs"])).err).toContain(words);
  expect((await home.run(["update", "plain"])).err).not.toContain(words);
  const made_by = await Promise.all(
    (await home.links()).map(async ({ site_id, manage_token }) => {
      const credential = bearer(manage_token as string);
      const { body: site } = await call(server, "GET", `/sites/${site_id as string}`, undefined, credential);
      const path = `/sites/${site_id as string}/versions/${site["live_version_id"] as string}/receipt`;
      return (await call(server, "GET", path, undefined, credential)).body["pages_made_by"];
    }),
  );
  expect(made_by.toSorted()).toEqual(["an older svc", null]);
  await home.write("docs", { "README.md": "# One\n" });
  for (const _ of [1, 2]) expect((await home.run(["update", "docs"])).err).not.toContain(words);
});
