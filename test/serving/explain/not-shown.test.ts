/** BEYOND 5: what is told where visitors are shown nothing: "Always 200", and never of another version. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { blobOf } from "../../kit/operator.ts";
import { bearer } from "../../kit/people.ts";
import { type DeployResult, ZIP } from "../../kit/server.ts";
import { sharedServer } from "../../kit/shared.ts";
import { zipOf } from "../../kit/zip.ts";

setDefaultTimeout(60_000);

const server = await sharedServer();

async function ask({ site_id, manage_token }: DeployResult, url: string) {
  const path = `/sites/${site_id}/explain?${new URLSearchParams({ url })}`;
  const answer = await server.api(path, { headers: bearer(manage_token) });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

test("BEYOND 5: each host of a disabled site is told with its own version, and what is none of its hosts is 400", async () => {
  const site = await server.deploy({ "index.html": "one" });
  const { version_id: live } = await server.redeploy(site, { "index.html": "two" });
  const shown = await server.api(`/sites/${site.site_id}/previews?name=next`, {
    method: "POST",
    body: zipOf({ "index.html": "three" }),
    headers: { ...ZIP, ...bearer(site.manage_token) },
  });
  const { version_id: next } = (await shown.json()) as { version_id: string };
  server.disable(site, "phishing");
  const at = (label: string) => `http://${label}${site.slug}.localhost:${server.port}/`;
  for (const [label, version_id] of [
    ["", live],
    [`${live}--`, live],
    [`${site.version_id}--`, site.version_id],
    ["next--", next],
    [`${next}--`, next],
  ] as const) {
    const { status, body } = await ask(site, at(label));
    expect([label, status]).toEqual([label, 200]);
    expect(body).toMatchObject({ status: 451, by: "state", version_id, live: version_id === live });
  }
  for (const label of ["never--", "0123456789abcdef--"]) {
    const { status, body } = await ask(site, at(label));
    expect([label, status, body.code]).toEqual([label, 400, "invalid_input"]);
  }
});

test("BEYOND 5: a file that is damaged in the store is told as visitors get it, 500, and named", async () => {
  const site = await server.deploy({ "index.html": "x", "film.mp4": new Uint8Array(1_200_000).fill(1) });
  const { sha256 } = (await ask(site, "/film.mp4")).body.file as { sha256: string };
  writeFileSync(blobOf(server.data_dir, sha256), new Uint8Array(1_200_000).fill(2));
  const { status, body } = await ask(site, "/film.mp4");
  expect([status, (await server.site(site.slug, "/film.mp4")).status]).toEqual([200, 500]);
  expect(body).toMatchObject({ status: 500, by: "file", file: { path: "film.mp4" } });
});
