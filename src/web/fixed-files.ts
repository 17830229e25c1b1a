/** Files whose names the Web fixed: for robots, for programs that read, for tabs and home screens. */
import { type AnswerOwnFile, ownFile } from "../http/own-file.ts";
import type { Handler, Route } from "../routes/context.ts";
import { figure, humanSize } from "../base/units.ts";
import { curl } from "./home.ts";
import { installLine, npxLine } from "./package.ts";
import { ICON_192_PATH, ICON_512_PATH } from "./assets.ts";
import { picture } from "./built.ts" with { type: "macro" };
import { ahead } from "./browser/wording.ts";

const FAVICON = Buffer.from(picture("favicon.ico"), "base64");
const TEXT = "text/plain; charset=utf-8";

const fixedFile = (type: string, content: Uint8Array | string) =>
  ownFile({ type, content, kept: "checked", codable: false });

const ROBOTS = `User-agent: *
Disallow: /dashboard
Disallow: /claim/
Disallow: /device
Disallow: /signin
Disallow: /signup
`;

const manifest = JSON.stringify({
  name: "svc",
  short_name: "svc",
  description: "Drop a folder, get a live URL.",
  start_url: "/",
  display: "browser",
  background_color: "#ffffff",
  theme_color: "#176b5b",
  icons: [
    { src: ICON_192_PATH, sizes: "192x192", type: "image/png" },
    { src: ICON_512_PATH, sizes: "512x512", type: "image/png" },
  ],
});

function kept(keep_versions: number | null): string {
  if (keep_versions === null) return "Every version is kept";
  return `Of a site ${keep_versions === 1 ? "the newest version is" : `the newest ${figure(keep_versions)} versions are`} kept`;
}

const forPrograms: Handler = async (ctx) => {
  const { base_url, max_files, max_bytes, max_zip_bytes, anonymous, anonymous_ttl, keep_versions } = ctx.parts.config;
  const open = anonymous === "on";
  const how_long = open
    ? `A site made without an account stays ${ahead(anonymous_ttl)}; one that an account owns stays for good.`
    : "On this server sites are made by accounts alone, and stay for good: sign in first (svc login, or a session or deploy token as a Bearer credential); POST /sites without one is 401 account_required.";
  const text = `# svc

> svc turns a folder of static files into a live URL in one request. ${how_long} ${kept(keep_versions)}, and every deploy answers with what would fail in a browser.

## Deploy

With the command line client, on any machine with Node 18 or later and nothing else, from the folder above:

    ${npxLine(base_url)}

Installed: ${installLine(base_url)}, then svc ./my-site. (svc on the public npm registry is another program.)

With curl, any zip of the files (index.html at its root):

    ${(open ? curl(base_url) : curl(base_url).replace("curl ", 'curl -H "Authorization: Bearer $SVC_TOKEN" ')).replace("\n", "\n    ")}

A new version of the same site: the same body to ${base_url}/sites/<site_id>/deploys with "Authorization: Bearer <manage_token>".

## The answer, as JSON

- url: where the site is live
- site_id, slug, version_id: names of the site and of this version
- manage_token: changes this site; keep it, it is shown once
- claim_url, claim_token: a person opens claim_url to keep the site in an account; shown once
- expires_at: when the site ends; null for one that an account owns
- healed: what was fixed on the way ({code, message, path?})
- warnings: what is still wrong ({code, message, path?, fix_recipe}): carry out each fix_recipe and deploy again
- next_actions: what can be done next ({action, description, command?, method?, url?})

render stays {"status": "pending"} unless the server has a browser: do not wait for it.

Before it is live: ?dry_run=1 behind either address stores nothing and answers what would change and what is wrong. To show content
beside what is live: POST ${base_url}/sites/<site_id>/previews?name=<name>, then …/previews/<name>/promote. To find out why an address
answers as it does: GET ${base_url}/sites/<site_id>/explain?url=<path>.

An error is {error, code, request_id, next_actions?} with a status of 400 or more: "error" says what to do.

## Limits

- ${max_files} files, ${humanSize(max_bytes)} unpacked, ${humanSize(max_zip_bytes)} zipped, for each deploy
- ${base_url}/limits has them as JSON

## Manual

- [Manual](${base_url}/docs): all chapters
- [HTTP API](${base_url}/docs/http-api): every request and answer
- [OpenAPI](${base_url}/openapi.json): the same for generators of clients
- [Command line](${base_url}/docs/cli)
- [Receipts](${base_url}/docs/receipts): every warning and what to do about it
`;
  return fixedFile(TEXT, text)(ctx, ctx.parts.code);
};

const files: readonly [path: string, answer: AnswerOwnFile][] = [
  ["/robots.txt", fixedFile(TEXT, ROBOTS)],
  ["/favicon.ico", fixedFile("image/x-icon", FAVICON)],
  ["/manifest.webmanifest", fixedFile("application/manifest+json", manifest)],
];

export const FIXED_FILES: readonly Route[] = [
  ["GET", "/llms.txt", forPrograms, "no_session"],
  ...files.map(([path, answer]): Route => ["GET", path, (ctx) => answer(ctx, ctx.parts.code), "no_session"]),
];
