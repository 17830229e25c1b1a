/** The servers that are compared, each one process with the same files: svc itself, a bare Bun.serve, nginx, Caddy, and
 *  sirv on Node. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Database } from "bun:sqlite";
import { zipSync } from "fflate";
import { FILES, FORMER, PASSWORD, type Hosts, RULED, SMALL } from "./serve-rows.ts";

export interface Contender {
  name: string;
  pid: number;
  origin: string;
  host: string;
  stop(): Promise<void>;
}

const ROOT = join(import.meta.dir, "..");

async function untilReady(origin: string, headers: Record<string, string>): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const up = await fetch(origin, { headers }).then(
      () => true,
      () => false,
    );
    if (up) return;
    await Bun.sleep(50);
  }
  throw new Error(`nothing answers at ${origin}`);
}

function stopper(child: Bun.Subprocess): () => Promise<void> {
  return async () => {
    child.kill();
    await child.exited;
  };
}

/** svc with the hosts of its sites. */
export interface Svc extends Contender, Hosts {}

/** `bun server.ts` on a free port, with the files deployed as one site, and so many small ones. */
export async function startSvc(
  folder: string,
  many: { sites: number; fresh: number },
  log: "off" | "text",
): Promise<Svc> {
  const data_dir = join(folder, `data-${log}`);
  const child = Bun.spawn(["bun", join(ROOT, "server.ts"), "--port", "0", "--data-dir", data_dir], {
    env: { ...process.env, SVC_LOG: log },
    stdout: "pipe",
    stderr: log === "off" ? "inherit" : Bun.file(join(folder, "access.log")),
  });
  const port = await portOf(child);
  const origin = `http://127.0.0.1:${port}`;
  const shown = await deploy(origin, FILES, await deploy(origin, { ...FILES, [FORMER]: FILES["app.css"]! }));
  const ruled = `${(await deploy(origin, RULED)).slug}.localhost:${port}`;
  const plain = `${(await deploy(origin, { "index.html": FILES["index.html"]! })).slug}.localhost:${port}`;
  const guarded = await deploy(origin, FILES);
  await setPassword(origin, guarded);
  const { site_id } = await deploy(origin, SMALL);
  copySite(data_dir, site_id, many.sites + many.fresh);
  const hosts = Array.from({ length: many.sites + many.fresh }, (_, n) => `bench-${n}.localhost:${port}`);
  const [sites, fresh] = [hosts.slice(0, many.sites), hosts.slice(many.sites)];
  const host = `${shown.slug}.localhost:${port}`;
  const domain = `${giveDomain(data_dir, shown.site_id)}:${port}`;
  const shut = `${guarded.slug}.localhost:${port}`;
  const named = { former: `/${FORMER}`, ruled, plain, shut, domain, sites, fresh };
  return { name: "svc", pid: child.pid, origin, host, ...named, stop: stopper(child) };
}

/** svc with one site, without what other rows need. */
export type Alone = Omit<Contender, "name">;

/** `bun server.ts` on a free port with these settings, and the zip deployed as a site. */
export async function startServerAlone(
  data_dir: string,
  zip: Uint8Array<ArrayBuffer>,
  env: Record<string, string>,
): Promise<Alone> {
  const child = Bun.spawn(["bun", join(ROOT, "server.ts"), "--port", "0", "--data-dir", data_dir], {
    env: { ...process.env, SVC_LOG: "off", ...env },
    stdout: "pipe",
    stderr: "inherit",
  });
  const port = await portOf(child);
  const origin = `http://127.0.0.1:${port}`;
  const headers = { "content-type": "application/zip" };
  const answer = await fetch(`${origin}/sites`, { method: "POST", headers, body: zip });
  const { slug } = (await answer.json()) as Deployed;
  return { pid: child.pid, origin, host: `${slug}.localhost:${port}`, stop: stopper(child) };
}

/** The port in the ready line. */
async function portOf(child: Bun.Subprocess<"ignore", "pipe">): Promise<string> {
  let ready = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    ready += chunk;
    if (ready.includes("\n")) break;
  }
  return /:(\d+) /.exec(ready)![1]!;
}

interface Deployed {
  slug: string;
  site_id: string;
  manage_token: string;
}

async function setPassword(origin: string, { site_id, manage_token }: Deployed): Promise<void> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${manage_token}` };
  const body = JSON.stringify({ password: PASSWORD });
  const answer = await fetch(`${origin}/sites/${site_id}/access`, { method: "PUT", headers, body });
  if (answer.status !== 200) throw new Error(`the password was answered ${answer.status}`);
}

/** `before`: the site that it is a new version of. */
async function deploy(origin: string, files: Record<string, Uint8Array>, before?: Deployed): Promise<Deployed> {
  const body = new Uint8Array(zipSync(files));
  const path = before === undefined ? "/sites" : `/sites/${before.site_id}/deploys`;
  const answer = await fetch(origin + path, {
    method: "POST",
    headers: {
      "content-type": "application/zip",
      ...(before !== undefined && { authorization: `Bearer ${before.manage_token}` }),
    },
    body,
  });
  return (await answer.json()) as Deployed;
}

/** By a row, for a proof would need a DNS server. */
function giveDomain(data_dir: string, site_id: string): string {
  const domain = "www.bench.example.org";
  using db = new Database(join(data_dir, "db"), { strict: true });
  db.run("PRAGMA busy_timeout = 5000");
  db.query("insert into domains (domain, site_id, state, added_at) values ($domain, $site_id, 'active', '')").run({
    domain,
    site_id,
  });
  return domain;
}

/** The same version under so many more sites, by rows: deploying them would take minutes. */
function copySite(data_dir: string, site_id: string, count: number): void {
  using db = new Database(join(data_dir, "db"), { strict: true });
  db.run("PRAGMA busy_timeout = 5000");
  const all = "with recursive n (i) as (select 0 union all select i + 1 from n where i + 1 < $count)";
  const id = "printf('site_%020d', i)";
  const copies = [
    `insert into versions (site_id, version_id, digest, title, created_at, files, bytes, spa_enabled, spa_rule, live_since, listed_no)
      select ${id}, version_id, digest, title, created_at, files, bytes, spa_enabled, spa_rule, live_since, listed_no
      from n, versions where site_id = $site_id`,
    `insert into sites (site_id, slug, created_at, expires_at, live_version_id)
      select ${id}, 'bench-' || i, created_at, expires_at, live_version_id from n, sites where site_id = $site_id`,
    `insert into files (version_no, path, blob_no, media_type, made)
      select copy.version_no, path, blob_no, media_type, made
      from n join versions copy on copy.site_id = ${id}
        join versions v join files on files.version_no = v.version_no
      where v.site_id = $site_id`,
  ];
  const insert = db.transaction(() => {
    for (const copy of copies) db.query(`${all} ${copy}`).run({ site_id, count });
  });
  if (count > 0) insert.immediate();
}

const NGINX = (folder: string, port: number) => `
daemon off; master_process off; worker_processes 1; error_log stderr crit; pid ${folder}/nginx.pid;
events { worker_connections 1024; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000; server_tokens off; etag on;
  open_file_cache max=1000 inactive=600s; open_file_cache_valid 600s; open_file_cache_errors on;
  gzip_static on; gzip_vary on; types { text/html html; text/css css; application/octet-stream bin; } charset utf-8;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  server {
    listen 127.0.0.1:${port}; root ${folder}/files; error_page 404 /404.html;
    add_header Cache-Control "public, max-age=60, must-revalidate"; add_header X-Content-Type-Options nosniff;
    add_header X-Robots-Tag noindex;
  }
}`;

function freePort(): number {
  const probe = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = probe;
  probe.stop(true);
  return port;
}

/** One worker, open_file_cache, no access log. `files` are the bodies as svc sends them. */
export async function startNginx(folder: string, files: Record<string, Uint8Array>): Promise<Contender> {
  const port = freePort();
  mkdirSync(join(folder, "files"));
  for (const [path, bytes] of Object.entries(files)) {
    writeFileSync(join(folder, "files", path), bytes);
    if (path.endsWith(".css")) writeFileSync(join(folder, "files", `${path}.gz`), gzipSync(bytes));
  }
  writeFileSync(join(folder, "nginx.conf"), NGINX(folder, port));
  const child = Bun.spawn(["nginx", "-p", folder, "-c", join(folder, "nginx.conf")], { stderr: "inherit" });
  const origin = `http://127.0.0.1:${port}`;
  await untilReady(origin, {});
  return { name: "nginx", pid: child.pid, origin, host: "bench.test", stop: stopper(child) };
}

async function started(name: string, command: (port: number) => string[]): Promise<Contender> {
  const port = freePort();
  const child = Bun.spawn(command(port), {
    stdout: "ignore",
    stderr: "ignore",
    env: { ...process.env, GOMAXPROCS: "1" },
  });
  const origin = `http://127.0.0.1:${port}`;
  await untilReady(origin, {});
  return { name, pid: child.pid, origin, host: "bench.test", stop: stopper(child) };
}

/** The floor: what Bun itself costs for these bytes and headers, with no look-up of any kind; and one that looks at what
 *  the rules make it look at. */
export const startBare = (folder: string, mode: "" | "looks" | "logs" = ""): Promise<Contender> =>
  started(mode === "" ? "bare Bun" : "bare that looks", (port) => [
    "bun",
    join(import.meta.dir, "bare.ts"),
    String(port),
    join(folder, "files"),
    mode,
  ]);

const CADDY = (folder: string, port: number) => `
{
  admin off
  auto_https off
}
http://:${port} {
  bind 127.0.0.1
  root * ${folder}/files
  header Cache-Control "public, max-age=60, must-revalidate"
  header X-Content-Type-Options nosniff
  header X-Robots-Tag noindex
  file_server {
    precompressed gzip
  }
  handle_errors {
    rewrite * /404.html
    file_server
  }
}`;

export const startCaddy = (folder: string): Promise<Contender> =>
  started("Caddy", (port) => {
    writeFileSync(join(folder, "Caddyfile"), CADDY(folder, port));
    return ["caddy", "run", "--adapter", "caddyfile", "--config", join(folder, "Caddyfile")];
  });

export const startSirv = (folder: string): Promise<Contender> =>
  started("sirv", (port) => ["node", join(import.meta.dir, "sirv.mjs"), String(port), join(folder, "files")]);
