/** CONTRACT 7: a line for each deploy, one for a start, and what goes wrong beside the requests is an error. */
import { describe, expect, test } from "bun:test";
import { unlink } from "node:fs/promises";
import { write } from "../kit/database.ts";
import { blobFile } from "../kit/operator.ts";
import { ended, local, type ServerProcess, startProcess, temporaryFolder } from "../kit/process.ts";
import { ZIP } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";
import packageJson from "../../package.json";

type Line = Record<string, unknown>;

/** The lines of an event, once the server has ended. */
async function eventsOf(server: ServerProcess, ...events: string[]): Promise<Line[]> {
  await ended(server, "SIGTERM");
  const lines = server
    .stderr()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  return lines.filter(({ event }) => events.includes(event as string));
}

const SECRET = "a-file-nobody-reads-of.txt";
const upload = { "index.html": '<title>x</title><img src="none.png">', [SECRET]: "y" };

function post(server: ServerProcess, path: string, body: Uint8Array<ArrayBuffer>, token?: string): Promise<Response> {
  const headers = { ...ZIP, ...(token && { authorization: `Bearer ${token}` }) };
  return fetch(local(server) + path, { method: "POST", body, headers });
}

describe("deploys", () => {
  test("json: who, which site and version, how large, how long, what was healed and warned of", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, "--log", "json"]);
    const first = await post(server, "/sites", zipOf(upload));
    const site = (await first.json()) as Record<"site_id" | "slug" | "version_id" | "manage_token", string>;
    const path = `/sites/${site.site_id}/deploys`;
    await post(server, `${path}?dry_run=1`, zipOf(upload), site.manage_token);
    const second = await post(server, path, zipOf({ "page.html": "<title>z</title>" }), site.manage_token);
    const { version_id } = (await second.json()) as { version_id: string };
    const [a, b, ...more] = await eventsOf(server, "deploy", "deploy_refused");
    expect(more).toEqual([]); // a dry run has none
    const common = {
      time: expect.stringMatching(/Z$/),
      level: "info",
      event: "deploy",
      site_id: site.site_id,
      slug: site.slug,
      ms: expect.any(Number),
      stages: expect.objectContaining({ publishing: expect.any(Number) }),
    };
    expect(a).toEqual({
      ...common,
      request_id: first.headers.get("x-request-id"),
      version_id: site.version_id,
      by: "anonymous",
      files: 2,
      bytes: upload["index.html"].length + 1,
      healed: [],
      warnings: ["missing_asset"],
    });
    expect(b).toEqual({
      ...common,
      request_id: second.headers.get("x-request-id"),
      version_id,
      by: "manage_token",
      files: 1,
      bytes: 16,
      healed: ["index_from_single_html"],
      warnings: [],
    });
    const said = server.stderr();
    expect(said).not.toContain(SECRET);
    expect(said).not.toContain(site.manage_token);
  }, 60_000);

  test("any other answer is deploy_refused, with what is known", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, "--log", "json"]);
    const site = (await (await post(server, "/sites", zipOf(upload))).json()) as Record<string, string>;
    const path = `/sites/${site.site_id}/deploys`;
    const answers = [
      await post(server, "/sites", new TextEncoder().encode("no zip")),
      await post(server, path, new TextEncoder().encode("no zip"), site.manage_token),
      await post(server, path, zipOf(upload), "svc_manage_wrong"),
      await post(server, path, zipOf(upload)),
      await post(server, "/sites?spa=perhaps", zipOf(upload)),
    ];
    const refused = await eventsOf(server, "deploy_refused");
    const common = { time: expect.any(String), level: "info", event: "deploy_refused", ms: expect.any(Number) };
    const nobody = { site_id: null, slug: null };
    const { site_id, slug } = site;
    expect(refused).toEqual(
      [
        { code: "invalid_zip", status: 400, by: "anonymous", ...nobody },
        { code: "invalid_zip", status: 400, by: "manage_token", site_id, slug },
        { code: "unauthorized", status: 401, by: null, ...nobody },
        { code: "unauthorized", status: 401, by: "anonymous", ...nobody },
        { code: "invalid_input", status: 400, by: "anonymous", ...nobody },
      ].map((line, n) => ({ ...common, ...line, request_id: answers[n]!.headers.get("x-request-id") })),
    );
  }, 60_000);

  test("a preview, which anybody may see as well, has such lines under names of its own, a dry run none", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, "--log", "json"]);
    const site = (await (await post(server, "/sites", zipOf(upload))).json()) as Record<string, string>;
    const path = `/sites/${site.site_id}/previews?name=pr-1`;
    const other = zipOf({ ...upload, "index.html": "<title>other</title>" });
    await post(server, `${path}&dry_run=1`, other, site.manage_token);
    const { version_id } = (await (await post(server, path, other, site.manage_token)).json()) as {
      version_id: string;
    };
    await post(server, path, new TextEncoder().encode("no zip"), site.manage_token);
    await post(server, path, other, "svc_manage_wrong");
    const { site_id, slug } = site;
    const lines = await eventsOf(server, "preview", "preview_refused");
    expect(
      lines.map(({ event, site_id, slug, by, version_id, code }) => [event, site_id, slug, by, version_id ?? code]),
    ).toEqual([
      ["preview", site_id, slug, "manage_token", version_id],
      ["preview_refused", site_id, slug, "manage_token", "invalid_zip"],
      ["preview_refused", null, null, null, "unauthorized"],
    ]);
    expect(lines[0]).toEqual(
      expect.objectContaining({
        files: 2,
        bytes: 21,
        healed: [],
        warnings: [],
        stages: expect.objectContaining({ publishing: expect.any(Number) }),
      }),
    );
    expect(server.stderr()).not.toContain(site.manage_token);
  }, 60_000);

  test("text: the same values in the same order, - for none", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path]);
    const site = (await (await post(server, "/sites", zipOf(upload))).json()) as Record<string, string>;
    await post(server, "/sites", new TextEncoder().encode("no zip"));
    await ended(server, "SIGTERM");
    const lines = server.stderr().split("\n");
    const { site_id, slug, version_id } = site;
    const bytes = upload["index.html"].length + 1;
    expect(lines.find((line) => line.includes(" info deploy "))).toMatch(
      new RegExp(
        `Z info deploy req_\\w+ ${site_id} ${slug} ${version_id} anonymous 2 ${bytes} [\\d.]+ \\S+=[\\d.]+,\\S+ - missing_asset$`,
      ),
    );
    expect(lines.find((line) => line.includes(" info deploy_refused "))).toMatch(
      /Z info deploy_refused invalid_zip 400 req_\w+ anonymous - - [\d.]+$/,
    );
  }, 60_000);
});

describe("a start", () => {
  test.each([1, 2])(
    "with %i workers is one line: version, schema, data folder, address",
    async (workers) => {
      if (workers > 1 && process.platform !== "linux") return;
      await using dir = await temporaryFolder();
      const flags = ["--data-dir", dir.path, "--log", "json", "--workers", String(workers), "--max-connections", "99"];
      const server = await startProcess(flags);
      expect(await eventsOf(server, "start")).toEqual([
        {
          time: expect.any(String),
          level: "info",
          event: "start",
          version: packageJson.version,
          schema: expect.any(Number),
          data_dir: dir.path,
          address: server.base_url,
          listens_on: `127.0.0.1:${server.port}`,
          workers,
          max_connections: 99,
        },
      ]);
    },
    60_000,
  );
});

describe("what goes wrong beside the requests is an error", () => {
  test("a blob that is missing at the start, and a sweep that refuses", async () => {
    await using dir = await temporaryFolder();
    const env = { SVC_GC_INTERVAL: "1s" };
    let server = await startProcess(["--data-dir", dir.path, "--log", "json"]);
    expect((await post(server, "/sites", zipOf({ "index.html": "x", "a.txt": "a text" }))).status).toBe(200);
    await ended(server, "SIGTERM");
    await unlink(blobFile(dir.path, "a text"));
    server = await startProcess(["--data-dir", dir.path, "--log", "json"], { env });
    await until(() => server.stderr().includes("blob missing: "));
    write(dir.path, "alter table sites rename to lost");
    for (const what of ["blob missing: ", "sweep: "]) {
      await until(() => server.stderr().includes(what));
      const lines = server.stderr().split("\n");
      expect(JSON.parse(lines.find((text) => text.includes(what))!)).toMatchObject({ level: "error" });
    }
    await ended(server, "SIGTERM");
  }, 60_000);
});
