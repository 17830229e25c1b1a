/** docs/server-in-ten-minutes.md and docs/self-hosting.md: what an operator pastes belongs together, and its figures are
 *  those of the settings. The units, the proxies and the shell's lines are run by `bun run torture self-hosting`. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readConfig } from "../../src/config/index.ts";
import { SETTINGS } from "../../src/config/settings.ts";
import { rateWindows } from "../../src/base/rates.ts";
import { run, SVC_SERVER, temporaryFolder } from "../kit/process.ts";
import * as manual from "../kit/self-hosting.ts";
import { startServer } from "../kit/server.ts";

setDefaultTimeout(60_000);

const { directive, UNIT, variablesOf } = manual;
const MB = 1024 * 1024;
const defaults = readConfig([], {});
const inInstall = variablesOf(manual.INSTALL);

describe("the settings", () => {
  test.each([
    ["of the unit", inInstall],
    ["behind a proxy", variablesOf(manual.PROXY_SETTINGS)],
  ])("%s are taken by the server", (_, variables) => {
    const known = Object.values(SETTINGS).flatMap((row) => row.variables);
    expect(Object.keys(variables).filter((name) => !known.includes(name))).toEqual([]);
    expect(readConfig([], variables)).toMatchObject({ base_url: "https://svc.example", sites_domain: "sites.example" });
  });

  test("behind a proxy it is named, and the server stays on this machine", () => {
    const config = readConfig([], variablesOf(manual.PROXY_SETTINGS));
    expect(config).toMatchObject({ host: "127.0.0.1", port: 8787, trust_proxy: ["127.0.0.1"], tls_cert: null });
  });

  test("root alone reads them, and the unit has them from there", () => {
    expect(manual.INSTALL).toContain("(umask 077; cat > /etc/svc/env)");
    expect(directive(UNIT, "EnvironmentFile")).toEqual(["/etc/svc/env"]);
  });

  test("the renewal's hook writes the files that they name, for the group of the unit, and has them read again", () => {
    const written = [...manual.RENEWAL_HOOK.matchAll(/^install -o root -g (\w+) -m 640 .+ (\S+)$/gm)];
    expect(written.map(([, group]) => group)).toEqual([directive(UNIT, "Group")[0]!, directive(UNIT, "Group")[0]!]);
    expect(written.map(([, , path]) => path!).toSorted()).toEqual(
      [inInstall.SVC_TLS_CERT!, inInstall.SVC_TLS_KEY!].toSorted(),
    );
    expect(manual.RENEWAL_HOOK).toContain("systemctl reload svc");
    expect(directive(UNIT, "ExecReload")).toEqual(["/bin/kill -HUP $MAINPID"]);
  });
});

describe("a server in ten minutes", () => {
  test("its limits are raised together, and the unit's memory is what the manual plans for them", () => {
    const { max_files, max_bytes, max_zip_bytes, anonymous, signup } = readConfig([], inInstall);
    expect([max_files, max_bytes, max_zip_bytes]).toEqual([5000, 50 * MB, 50 * MB]);
    expect([anonymous, signup]).toEqual(["off", "invite"]);
    const deploy_mb = 256 + (16 * (max_bytes - defaults.max_bytes)) / MB;
    expect(directive(UNIT, "MemoryMax")).toEqual([`${(256 + 2 * deploy_mb) / 1024}G`]);
  });

  test("every block is tried by name, but for those that need a domain or another machine", () => {
    const named = new Set<unknown>(Object.values(manual));
    const others = manual.blocksOf(manual.TEN_MINUTES).filter(({ text }) => !named.has(text));
    const words = others.map(({ text }) => text.split(/\s+/).slice(0, 4).join(" "));
    expect(words).toEqual([
      "svc.example. A 203.0.113.7 *.sites.example.",
      "npx -y bun@1.4.5 run",
      "apt-get install -y certbot",
      "apt-get install -y caddy",
    ]);
  });

  test("certbot calls the script that is there, for both names", () => {
    expect(manual.TEN_MINUTES).toContain("`/usr/local/bin/svc-certificate`, mode 0755");
    expect(manual.CERTBOT).toContain("--deploy-hook /usr/local/bin/svc-certificate");
    expect(manual.CERTBOT).toContain("-d svc.example -d '*.sites.example'");
  });

  test("by svc itself the hook is all that its settings gain, and the pair goes", () => {
    expect(manual.BY_ITSELF).toContain("sed -i '/^SVC_TLS_/d' /etc/svc/env");
    const lines = manual.INSTALL.split("\n").filter((line) => !line.startsWith("SVC_TLS_"));
    const added = /^printf '%s\\n' (.+) >> \/etc\/svc\/env$/m.exec(manual.BY_ITSELF)![1]!.split(" ");
    const config = readConfig([], variablesOf([...lines, ...added].join("\n")));
    expect(config).toMatchObject({ tls_cert: null, port: 443, http_port: 80, dns_hook: "/usr/local/bin/svc-dns" });
    expect(config.acme).toContain("letsencrypt.org");
    for (const line of ["svc-server dns-hook cloudflare > /usr/local/bin/svc-dns", "chown svc:svc /etc/svc/dns-token"])
      expect(manual.BY_ITSELF).toContain(line);
  });

  test("behind Caddy the server is on this machine alone, and trusts it", () => {
    const gone = /^SVC_(?:HOST|PORT|TLS_\w+)=/;
    expect(manual.BEHIND_CADDY).toContain("sed -i '/^SVC_HOST=/d; /^SVC_PORT=/d; /^SVC_TLS_/d' /etc/svc/env");
    const lines = manual.INSTALL.split("\n").filter((line) => !gone.test(line));
    const added = /^echo (SVC_TRUST_PROXY=\S+) >>/m.exec(manual.BEHIND_CADDY)![1]!;
    const config = readConfig([], variablesOf([...lines, added].join("\n")));
    expect(config).toMatchObject({ host: "127.0.0.1", port: 8787, tls_cert: null, trust_proxy: ["127.0.0.1"] });
    expect(manual.CADDY_DNS).toContain(`reverse_proxy 127.0.0.1:${config.port}`);
  });

  test("the bucket's settings are taken by the server", () => {
    const variables = Object.fromEntries(
      [...manual.BUCKET.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]),
    );
    expect(readConfig([], variables)).toMatchObject({ backup: variables.SVC_BACKUP });
  });
});

describe("the units", () => {
  const SAME = [
    "UMask=0077", "StateDirectory=svc", "StateDirectoryMode=0700", "User=svc", "Group=svc", "NoNewPrivileges=yes",
    "ProtectSystem=strict", "ProtectHome=yes", "ProtectClock=yes", "ProtectControlGroups=yes", "ProtectHostname=yes",
    "ProtectKernelLogs=yes", "ProtectKernelModules=yes", "ProtectKernelTunables=yes", "PrivateDevices=yes",
    "PrivateTmp=yes", "RestrictNamespaces=yes", "RestrictRealtime=yes", "RestrictSUIDSGID=yes", "LockPersonality=yes",
    "SystemCallArchitectures=native", "SystemCallFilter=@system-service", "SystemCallErrorNumber=EPERM",
    "Environment=SVC_DATA_DIR=/var/lib/svc",
  ]; // prettier-ignore
  test.each([
    [
      "svc.service",
      UNIT,
      ["MemoryMax=2G", "TasksMax=512", "LimitNOFILE=65536", "OOMPolicy=continue", "Restart=always"],
    ],
    [
      "svc-backup.service",
      manual.BACKUP_UNIT,
      ["Type=oneshot", "ReadWritePaths=/srv/backup", "CapabilityBoundingSet="],
    ],
  ])("%s is shut in", (_, unit, own) => {
    const lines = unit.split("\n");
    expect([...SAME, ...own].filter((line) => !lines.includes(line))).toEqual([]);
    expect(unit).not.toContain("MemoryDenyWriteExecute"); // a JavaScript engine writes code
  });

  test("a backup each night is started by the timer that is enabled", () => {
    expect(directive(manual.BACKUP_TIMER, "OnCalendar")).toHaveLength(1);
    expect(directive(manual.BACKUP_UNIT, "ExecStart")).toEqual(["/usr/local/bin/svc-backup"]);
    expect(manual.SELF_HOSTING).toContain("systemctl enable --now svc-backup.timer");
  });
});

describe.if(process.platform !== "win32")("svc-backup", () => {
  /** Backups that are there already, whole ones and a half one. */
  async function backups(folder: string, whole: readonly string[], half: readonly string[]): Promise<void> {
    for (const name of [...whole, ...half]) mkdirSync(join(folder, name), { recursive: true });
    for (const name of whole) await writeFile(join(folder, name, "SHA256SUMS"), "");
  }
  async function svcBackup(folder: string, data_dir: string) {
    const bin = join(folder, "bin");
    mkdirSync(bin);
    const quoted = SVC_SERVER.map((word) => `'${word}'`).join(" ");
    await writeFile(join(bin, "svc-server"), `#!/bin/sh\nexec ${quoted} "$@"\n`);
    await writeFile(join(bin, "svc-backup"), manual.BACKUP_SCRIPT);
    for (const name of readdirSync(bin)) chmodSync(join(bin, name), 0o755);
    const env = { PATH: `${bin}:${process.env.PATH}`, SVC_BACKUPS: join(folder, "kept"), SVC_DATA_DIR: data_dir };
    return run([join(bin, "svc-backup")], { env });
  }
  const nights = (count: number) => Array.from({ length: count }, (_, n) => `2026110${n + 1}T030000Z`);

  test("makes one, keeps the newest seven, and removes half ones", async () => {
    await using server = await startServer();
    await server.deploy({ "index.html": "x" });
    await using dir = await temporaryFolder();
    await backups(join(dir.path, "kept"), nights(8), ["20261109T030000Z"]);
    expect((await svcBackup(dir.path, server.data_dir)).code).toBe(0);
    const kept = readdirSync(join(dir.path, "kept")).toSorted();
    expect(kept.slice(0, 6)).toEqual(nights(8).slice(2));
    expect(kept.slice(6)).toEqual([expect.stringMatching(/^20\d{6}T\d{6}Z$/)]);
    expect(readdirSync(join(dir.path, "kept", kept.at(-1)!))).toContain("SHA256SUMS");
  });

  test("one that fails removes none, and says so by its exit code", async () => {
    await using dir = await temporaryFolder();
    await backups(join(dir.path, "kept"), nights(8), []);
    const { code, stderr } = await svcBackup(dir.path, join(dir.path, "nothing"));
    expect([code, stderr]).toEqual([1, expect.stringContaining("There is no data of a svc-server")]);
    expect(readdirSync(join(dir.path, "kept")).toSorted()).toEqual(nights(8));
  });
});

describe("proxies", () => {
  test("nginx takes the largest zip, and passes the host and who asks", () => {
    const most = Number(/client_max_body_size (\d+)m;/.exec(manual.NGINX)![1]) * MB;
    expect(most).toBeGreaterThan(defaults.max_zip_bytes);
    for (const page of [manual.NGINX_OWN_NAME, manual.CADDY_OWN_NAME]) {
      expect(page).toMatch(/Host calm-river-a1b2\.sites\.example/);
      expect(page).toContain(`127.0.0.1:${defaults.port}`);
    }
    for (const line of ["Host $http_host", "X-Forwarded-For $proxy_add_x_forwarded_for", "X-Forwarded-Proto $scheme"]) {
      expect(manual.NGINX).toContain(`proxy_set_header ${line};`);
    }
    expect(manual.NGINX).toContain(`server 127.0.0.1:${defaults.port};`);
    expect(manual.CADDY).toContain(`reverse_proxy 127.0.0.1:${defaults.port}`);
  });

  test("port 80 is answered with a redirect that keeps method and path", () => {
    expect(manual.NGINX).toContain("return 308 https://$host$request_uri;");
  });
});

describe("what strangers can store in a day", () => {
  const DAY_MS = 86_400_000;
  const number = (text: string) => Number(text.replaceAll(",", ""));
  /** By the window that lets the fewest through. */
  const aDay = (rate: string) =>
    Math.min(...rateWindows(rate)!.map(({ count, window_ms }) => (count * DAY_MS) / window_ms));
  const row = (words: string) => {
    const line = manual.SELF_HOSTING.split("\n").find((one) => one.startsWith(`| ${words} `))!;
    return [...line.matchAll(/[\d,]*\d/g)].map(([text]) => number(text));
  };

  test("without an account: so many deploys, and what SVC_QUOTA_ADDRESS lets stand", () => {
    const [sites, updates, megabytes, disk] = row("without an account");
    expect([sites, updates]).toEqual([aDay(defaults.rate_deploy), aDay(defaults.rate_redeploy)]);
    expect(megabytes! * MB).toBe(defaults.quota_address!);
    expect(disk).toBe(2 * megabytes!);
  });

  test("with one account, and with as many as one address can make", () => {
    const [deploys, gigabytes, disk] = row("with one account");
    expect(deploys).toBe(aDay(defaults.rate_owned));
    expect(gigabytes! * 1024 * MB).toBe(defaults.quota_account!);
    expect(disk).toBe(2 * gigabytes!);
    const [accounts, stored, on_disk] = row("with all it can make");
    expect(accounts).toBe(aDay(defaults.rate_sign_in));
    expect([stored, on_disk]).toEqual([accounts! * gigabytes!, 2 * accounts! * gigabytes!]);
  });
});
