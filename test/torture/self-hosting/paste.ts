/** The manual's lines, in their order. */
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect, type PeerCertificate } from "node:tls";
import { certificateFor, type Pair } from "../../kit/certificate.ts";
import * as manual from "../../kit/self-hosting.ts";
import { until } from "../../kit/until.ts";
import { zipOf } from "../../kit/zip.ts";
import { shell, shims } from "./shell.ts";

/** As the unit has it; systemd's own steps (StateDirectory, EnvironmentFile) in the shell's words. */
const AS_THE_UNIT = `set -a; . /etc/svc/env; SVC_DATA_DIR=/var/lib/svc; umask 0077
install -d -o svc -g svc -m 700 /var/lib/svc
exec setpriv --reuid svc --regid svc --clear-groups --no-new-privs --inh-caps=-all,+net_bind_service \\
  --ambient-caps=-all,+net_bind_service --bounding-set=-all,+net_bind_service `;
const SERVER = "/usr/local/bin/svc-server";
const tls = { rejectUnauthorized: false };
const HOSTS = ["svc.example", "*.sites.example"];

function expectThat(what: string, holds: boolean, found: unknown = ""): void {
  if (!holds) throw new Error(`not so: ${what} ${JSON.stringify(found)}`);
  console.log(`ok  ${what}`);
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

async function start(folder: string, origin: string, tracer = "") {
  const child = Bun.spawn(["bash", "-c", `${AS_THE_UNIT}${tracer}${SERVER}`], {
    stdio: ["ignore", "ignore", Bun.file(join(folder, "log"))],
    cwd: "/",
  });
  writeFileSync(join(folder, "pid"), String(child.pid));
  await until(async () => (await ask(origin, "svc.example", "/healthz").catch(() => null))?.status === 200);
  return child;
}

const ask = (origin: string, host: string, path: string, init: RequestInit = {}) =>
  fetch(`${origin}${path}`, { ...init, headers: { ...init.headers, host }, redirect: "manual", tls });

/** The session of the first account; it is needed while the settings are those of a server for invited people. */
let session = "";

/** Through whatever stands there: publishes, and reads the page back. */
async function publish(origin: string, files: Record<string, string | Uint8Array<ArrayBuffer>>): Promise<string> {
  const headers = { "content-type": "application/zip", ...(session && { authorization: `Bearer ${session}` }) };
  const answer = await ask(origin, "svc.example", "/sites", { method: "POST", headers, body: zipOf(files) });
  const { slug } = (await answer.json()) as { slug: string };
  expectThat(`a site is published through ${origin}`, answer.status === 200, answer.status);
  await expectPage(origin, slug);
  return slug;
}
async function expectPage(origin: string, slug: string): Promise<void> {
  const page = await ask(origin, `${slug}.sites.example`, "/");
  expectThat(
    "and is served under its own name",
    page.status === 200 && (await page.text()).includes("here"),
    page.status,
  );
}

function certificateName(port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ port, host: "127.0.0.1", ...tls }, () => {
    resolve(String((socket.getPeerCertificate() as PeerCertificate).subject.CN));
    socket.destroy();
  });
  socket.on("error", reject);
  return promise;
}

/** As certbot leaves it, and calls its hook. */
function renew(folder: string, { cert, key }: Pair, PATH: string): void {
  const live = join(folder, "live");
  mkdirSync(live, { recursive: true, mode: 0o700 });
  writeFileSync(join(live, "privkey.pem"), key, { mode: 0o600 });
  writeFileSync(join(live, "fullchain.pem"), cert);
  const hook = join(folder, "hook");
  writeFileSync(hook, manual.RENEWAL_HOOK);
  chmodSync(hook, 0o755);
  shell(hook, { PATH, RENEWED_LINEAGE: live });
}

function judgeUnits(): void {
  const units = [
    ["svc.service", manual.UNIT],
    ["svc-backup.service", manual.BACKUP_UNIT],
    ["svc-backup.timer", manual.BACKUP_TIMER],
  ] as const;
  for (const [name, text] of units) writeFileSync(`/etc/systemd/system/${name}`, text);
  writeFileSync("/usr/local/bin/svc-backup", manual.BACKUP_SCRIPT);
  chmodSync("/usr/local/bin/svc-backup", 0o755);
  const said = shell(
    `cd /etc/systemd/system; systemd-analyze verify ${units.map(([name]) => `./${name}`).join(" ")} 2>&1`,
  );
  expectThat("systemd-analyze verify has nothing to say", said === "", said);
  for (const [name] of units.slice(0, 2)) {
    const told = shell(`cd /etc/systemd/system; systemd-analyze security --offline=true --no-pager ./${name}`);
    const exposure = Number(/exposure level for \S+: ([\d.]+)/.exec(told)?.[1] ?? 10);
    expectThat(`${name} is exposed at 2.0 of 10 at most`, exposure <= 2, exposure);
  }
}

/** Names of a filter's group, and of the groups in it. */
function allowedBy(group: string): string[] {
  const lines = shell(`systemd-analyze syscall-filter ${group} --no-pager`)
    .split("\n")
    .map((line) => line.trim());
  return lines
    .slice(1)
    .flatMap((line) => (line.startsWith("@") ? allowedBy(line) : /^[a-z]\w*$/.test(line) ? [line] : []));
}

/** A start, deploys, pages and the drain. */
async function compareCalls(folder: string): Promise<void> {
  const trace = join(folder, "trace");
  mkdirSync(trace, { mode: 0o777 });
  chmodSync(trace, 0o777);
  chmodSync(folder, 0o755);
  const child = await start(folder, "https://127.0.0.1", `strace -f -qq -o ${trace}/calls `);
  await publish("https://127.0.0.1", { "index.html": "<title>here</title>here", "large.txt": "large ".repeat(50_000) });
  const server = Number(shell(`pgrep -P ${child.pid} svc-server`).trim());
  process.kill(server, "SIGTERM");
  await child.exited;
  const calls = new Set(
    [...readFileSync(`${trace}/calls`, "latin1").matchAll(/^\d+ +(?:<\.\.\. )?(\w+)(?:\(| resumed)/gm)].map(
      ([, name]) => name!,
    ),
  );
  const allowed = new Set(manual.directive(manual.UNIT, "SystemCallFilter").flatMap(allowedBy));
  const refused = [...calls].filter((name) => !allowed.has(name));
  expectThat(
    `each of the ${calls.size} system calls passes the unit's filter`,
    calls.size > 50 && refused.length === 0,
    refused,
  );
}

/** The link that the operator prints makes an account, and nobody publishes without one. */
async function invite(origin: string): Promise<void> {
  const link = new URL(shell(manual.INVITE).trim());
  expectThat("the invitation leads to the server's own name", link.origin === "https://svc.example", link.origin);
  const zip = { method: "POST", headers: { "content-type": "application/zip" }, body: zipOf({ "index.html": "x" }) };
  const refused = await ask(origin, "svc.example", "/sites", zip);
  expectThat("a stranger publishes nothing", refused.status === 401, refused.status);
  const body = JSON.stringify({
    email: "you@svc.example",
    password: "a long enough password",
    invite: link.searchParams.get("invite"),
  });
  const headers = { "content-type": "application/json" };
  const made = await ask(origin, "svc.example", "/auth/signup", { method: "POST", headers, body });
  expectThat("the invitation makes an account", made.status === 200, made.status);
  session = ((await made.json()) as { session_token: string }).session_token;
}

/** As a colleague does on a machine of their own, but for the sign-in, which a browser approves. */
function useTheCommand(folder: string, { cert }: Pair, PATH: string): void {
  const [install = "", , deploy = ""] = manual.INSTALL_COMMAND.trim().split("\n");
  const authority = join(folder, "authority.pem");
  writeFileSync(authority, cert);
  mkdirSync(join(folder, "my-site"));
  writeFileSync(join(folder, "my-site", "index.html"), "<title>here</title>here");
  const env = {
    PATH: `${folder}/npm/bin:${PATH}`,
    HOME: folder,
    npm_config_prefix: join(folder, "npm"),
    npm_config_cafile: authority,
    NODE_EXTRA_CA_CERTS: authority,
    SVC_TOKEN: session,
  };
  shell(install, env);
  const url = shell(deploy, env).trim();
  expectThat("the server's own svc publishes there", /^https:\/\/[\w-]+\.sites\.example$/.test(url), url);
}

/** The first backup, by hand, beside the running server. */
function backUpByHand(): void {
  shell(manual.FIRST_BACKUP);
  expectThat("the first backup is whole", shell("ls /srv/backup").trim() === "first");
  shell("rm -r /srv/backup");
}

/** The lines for certbot and Caddy need a network and a domain: their shape is judged here, by bash and Caddy. */
function judgeWhatNeedsDns(folder: string): void {
  for (const { text } of manual.blocksOf(manual.TEN_MINUTES).filter(({ language }) => language === "sh")) {
    shell("bash -n /dev/stdin <<'LINES_OF_THE_PAGE'\n" + text + "LINES_OF_THE_PAGE");
  }
  expectThat("bash reads every line of the page", true);
  // No build of Caddy with the module is here: another issuer stands for it.
  const withoutDns = manual.CADDY_DNS.replace("dns cloudflare {env.CLOUDFLARE_API_TOKEN}", "issuer internal");
  for (const text of [withoutDns, manual.CADDY_OWN_NAME]) {
    writeFileSync(join(folder, "Caddyfile"), text);
    shell(`caddy validate --adapter caddyfile --config ${folder}/Caddyfile`, { HOME: folder });
  }
  const own = manual.NGINX_OWN_NAME.replaceAll(/\/etc\/letsencrypt\/live\/\S+\/fullchain.pem/g, "/etc/svc/cert.pem");
  const readable = own.replaceAll(/\/etc\/letsencrypt\/live\/\S+\/privkey.pem/g, "/etc/svc/key.pem");
  writeFileSync(join(folder, "nginx.conf"), `daemon off; pid ${folder}/nginx.pid; events {}\nhttp {\n${readable}}\n`);
  shell(`nginx -t -c ${folder}/nginx.conf`);
  expectThat("Caddy and nginx take the pages' names of your own", true);
}

function runDoctor(PATH: string): void {
  const told = shell(manual.DOCTOR, { PATH }, [0, 1]);
  const status = (check: string) => new RegExp(`^(\\w+) +${check} `, "m").exec(told)?.[1];
  // Below sites.example this machine knows no name.
  expectThat(
    "doctor fails for the wildcard record alone",
    status("dns") === "fail" && told.includes('"*.sites.example. A '),
    told,
  );
  for (const check of ["certificate", "permissions", "ports"]) {
    expectThat(`doctor: ${check} is ok`, status(check) === "ok", told);
  }
}

/** The nightly backup, and the folder made anew out of it. */
async function backUpAndRestore(folder: string, PATH: string): Promise<void> {
  shell("install -d -o svc -g svc -m 700 /srv/backup");
  shell("SVC_DATA_DIR=/var/lib/svc runuser -u svc -- /usr/local/bin/svc-backup", { PATH });
  const [name = ""] = shell("ls /srv/backup").trim().split("\n");
  expectThat("the timer's script makes a backup", /^20\d{6}T\d{6}Z$/.test(name), name);
  process.kill(Number(readFileSync(join(folder, "pid"), "utf8")), "SIGTERM");
  await until(() => shell("ss -ltnH 'sport = :443'").trim() === "");
  const lines = manual.block("sh", "svc-server restore").replace("20261121T030000Z", name);
  shell(lines, { PATH });
}

const PROXIES: readonly { name: string; check(folder: string): void; command(folder: string): string[] }[] = [
  {
    name: "nginx",
    check(folder) {
      writeFileSync(
        join(folder, "nginx.conf"),
        `daemon off; pid ${folder}/nginx.pid; events {}\nhttp {\n${manual.NGINX}}\n`,
      );
      shell(`nginx -t -c ${folder}/nginx.conf`);
    },
    command: (folder) => ["nginx", "-c", `${folder}/nginx.conf`],
  },
  {
    name: "caddy",
    check(folder) {
      writeFileSync(join(folder, "Caddyfile"), manual.CADDY);
      shell(`caddy validate --adapter caddyfile --config ${folder}/Caddyfile`, { HOME: folder });
    },
    command: (folder) => ["caddy", "run", "--adapter", "caddyfile", "--config", `${folder}/Caddyfile`],
  },
];

async function behind(folder: string, proxy: (typeof PROXIES)[number]): Promise<void> {
  proxy.check(folder);
  const child = Bun.spawn(proxy.command(folder), {
    env: { ...process.env, HOME: folder },
    stdio: ["ignore", "ignore", "ignore"],
  });
  const origin = "https://svc.example";
  await until(async () => (await ask(origin, "svc.example", "/healthz").catch(() => null))?.status === 200);
  const noise = crypto.getRandomValues(new Uint8Array(65_536));
  const large = Object.fromEntries(Array.from({ length: 70 }, (_, n) => [`${n}.bin`, noise.map((byte) => byte ^ n)]));
  await publish(origin, { "index.html": "<title>here</title>here", ...large });
  const redirect = await fetch("http://svc.example/a?b", { redirect: "manual" });
  const to = redirect.headers.get("location");
  expectThat(
    `${proxy.name} answers port 80 with a redirect`,
    redirect.status === 308 && to === "https://svc.example/a?b",
    to,
  );
  const asked = `/asked-of-${proxy.name}`;
  // From an address that is no proxy's, with a lie of its own.
  shell(`curl -sk --interface 127.0.0.2 -H 'x-forwarded-for: 203.0.113.99' ${origin}${asked}`);
  const line = () =>
    readFileSync(join(folder, "log"), "utf8")
      .split("\n")
      .findLast((one) => one.includes(asked));
  await until(() => line() !== undefined);
  expectThat("the log has the visitor's address", / 127\.0\.0\.2 not_found /.test(line()!), line());
  child.kill();
  await child.exited;
}

export async function pasteAll(folder: string): Promise<void> {
  const PATH = shims(folder);
  process.chdir(folder);
  shell(manual.INSTALL, { PATH });
  writeFileSync(join(folder, "pid"), String(process.pid));
  process.on("SIGHUP", () => {});
  const first = certificateFor(["first.example", ...HOSTS]);
  renew(folder, first, PATH);
  expectThat("root alone reads the settings", modeOf("/etc/svc/env") === "600", modeOf("/etc/svc/env"));
  expectThat(
    "the group reads the key, and nobody else",
    modeOf("/etc/svc/key.pem") === "640" && modeOf("/etc/svc") === "750",
  );
  judgeUnits();
  judgeWhatNeedsDns(folder);
  const origin = "https://127.0.0.1";
  shell(manual.START, { PATH });
  let server = await start(folder, origin);
  await invite(origin);
  useTheCommand(folder, first, PATH);
  const slug = await publish(origin, { "index.html": "<title>here</title>here" });
  expectThat(
    "the data folder is the server's alone",
    modeOf("/var/lib/svc") === "700" && modeOf("/var/lib/svc/db") === "600",
  );
  renew(folder, certificateFor(["second.example", ...HOSTS]), PATH);
  await until(async () => (await certificateName(443)) === "second.example");
  expectThat("a renewed certificate is served without a restart", server.exitCode === null);
  runDoctor(PATH);
  backUpByHand();
  await backUpAndRestore(folder, PATH);
  server = await start(folder, origin);
  await expectPage(origin, slug);
  server.kill("SIGTERM");
  await server.exited;
  await compareCalls(folder);
  shell(manual.BEHIND_CADDY, { PATH });
  const behindCaddy = await start(folder, "http://127.0.0.1:8787");
  await publish("http://127.0.0.1:8787", { "index.html": "<title>here</title>here" });
  behindCaddy.kill("SIGTERM");
  await behindCaddy.exited;
  shell(manual.BUCKET, { PATH });
  const config = shell("set -a; . /etc/svc/env; svc-server --print-config");
  expectThat("the bucket's settings are taken", config.includes('"s3://my-bucket/svc"'));
  session = "";
  writeFileSync("/etc/svc/env", manual.PROXY_SETTINGS);
  server = await start(folder, "http://127.0.0.1:8787");
  for (const proxy of PROXIES) await behind(folder, proxy);
  server.kill("SIGTERM");
  await server.exited;
}
