/** The servers that are compared, each one process with the same files: svc itself, nginx, and a bare Bun.serve. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { zipSync } from "fflate";

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

/** `bun server.ts` on a free port, with the files deployed as one site. */
export async function startSvc(folder: string, files: Record<string, Uint8Array>): Promise<Contender> {
  const child = Bun.spawn(["bun", join(ROOT, "server.ts"), "--port", "0", "--data-dir", join(folder, "data")], {
    env: { ...process.env, SVC_LOG: "off" },
    stdout: "pipe",
    stderr: "inherit",
  });
  let ready = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    ready += chunk;
    if (ready.includes("\n")) break;
  }
  const port = /:(\d+) /.exec(ready)?.[1];
  const origin = `http://127.0.0.1:${port}`;
  const answer = await fetch(`${origin}/sites`, {
    method: "POST",
    headers: { "content-type": "application/zip" },
    body: new Uint8Array(zipSync(files)),
  });
  const { slug } = (await answer.json()) as { slug: string };
  return { name: "svc", pid: child.pid, origin, host: `${slug}.localhost:${port}`, stop: stopper(child) };
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

/** The floor: what Bun itself costs for these bytes and headers, with no look-up of any kind. */
export async function startBare(folder: string): Promise<Contender> {
  const port = freePort();
  const child = Bun.spawn(["bun", join(import.meta.dir, "bare.ts"), String(port), join(folder, "files")], {
    stderr: "inherit",
  });
  const origin = `http://127.0.0.1:${port}`;
  await untilReady(origin, {});
  return { name: "bare Bun", pid: child.pid, origin, host: "bench.test", stop: stopper(child) };
}
