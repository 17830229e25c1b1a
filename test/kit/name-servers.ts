/** Debian's knot and BIND, real name servers that take dynamic updates (RFC 2136) signed with a key (RFC 8945), each for the zone `example.org` alone and
 *  on a free port of loopback; and a folder of programs that a hook finds in its PATH. */
import { Resolver } from "node:dns/promises";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { debianPackage, debianProgram, librariesOf } from "./debian-package.ts";
import { freePort } from "./pebble.ts";
import { until } from "./until.ts";

const ALGORITHM = "hmac-sha256";
const KEY = "svc.";
const SECRET = Buffer.from("what the key of the tests is made of").toString("base64");
export const WRONG_SECRET = Buffer.from("what another key would be made of!!!").toString("base64");

/** The key as `tsig-keygen svc` prints it. */
export const keyFile = (secret = SECRET): string =>
  `key "svc" {\n\talgorithm ${ALGORITHM};\n\tsecret "${secret}";\n};\n`;

const ZONE = `$ORIGIN example.org.
$TTL 60
@ SOA ns1 ops 1 3600 600 86400 60
@ NS ns1
ns1 A 127.0.0.1
`;

interface NameServer extends AsyncDisposable {
  port: number;
  /** `127.0.0.1:port`, as SVC_DNS and pebble take it. */
  address: string;
}

type Settings = (parts: { folder: string; port: number }) => { text: string; words: (file: string) => string[] };

/** It may change TXT records of challenges, and nothing else: what a key of a server should be able to do. */
const knotSettings: Settings = ({ folder, port }) => ({
  text: `server:
    listen: 127.0.0.1@${port}
    rundir: ${folder}
database:
    storage: ${folder}
key:
  - id: ${KEY}
    algorithm: ${ALGORITHM}
    secret: ${SECRET}
acl:
  - id: challenges
    key: ${KEY}
    action: update
    update-type: TXT
    update-owner: name
    update-owner-match: equal
    update-owner-name: [_acme-challenge.svc, _acme-challenge.sites]
zone:
  - domain: example.org
    storage: ${folder}
    file: example.org.zone
    acl: challenges
`,
  words: (file) => ["--config", file],
});

const bindSettings: Settings = ({ folder, port }) => ({
  text: `options {
  directory "${folder}";
  listen-on port ${port} { 127.0.0.1; };
  listen-on-v6 { none; };
  pid-file none;
  session-keyfile none;
  recursion no;
  dnssec-validation no;
};
controls {};
${keyFile()}
zone "example.org" {
  type primary;
  file "example.org.zone";
  update-policy {
    grant ${KEY} name _acme-challenge.svc.example.org. TXT;
    grant ${KEY} name _acme-challenge.sites.example.org. TXT;
  };
};
`,
  words: (file) => ["-f", "-c", file],
});

const NAME_SERVERS = {
  knot: { package: "knot", program: "knotd", settings: knotSettings },
  BIND: { package: "bind9", program: "named", settings: bindSettings },
};

export async function startNameServer(kind: keyof typeof NAME_SERVERS): Promise<NameServer> {
  const { package: name, program, settings } = NAME_SERVERS[kind];
  const path = await debianProgram(name, program, { whole: true });
  const folder = await mkdtemp(join(tmpdir(), "svc-names-"));
  const port = freePort();
  const { text, words } = settings({ folder, port });
  await writeFile(join(folder, "settings"), text);
  await writeFile(join(folder, "example.org.zone"), ZONE);
  const child = Bun.spawn([path, ...words(join(folder, "settings"))], {
    cwd: folder,
    env: { ...process.env, ...(await librariesOf(await debianPackage(name))) },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const resolver = new Resolver({ timeout: 200, tries: 1 });
  resolver.setServers([`127.0.0.1:${port}`]);
  const said = Promise.all([child.stdout.text(), child.stderr.text()]);
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${(await said).join("\n")}`);
    return (await resolver.resolveSoa("example.org").catch(() => null)) !== null;
  });
  return {
    port,
    address: `127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Programs of Debian's packages in a folder, each with the libraries it needs. They write the words of each call into `calls`. */
export async function programsFolder(programs: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), "svc-programs-"));
  const calls = join(folder, "calls");
  await mkdir(join(folder, "bin"));
  for (const [program, name] of Object.entries(programs)) {
    const path = await debianProgram(name, program, { whole: true });
    const { LD_LIBRARY_PATH } = await librariesOf(await debianPackage(name, { whole: true }));
    const file = join(folder, "bin", program);
    const call = `exec env LD_LIBRARY_PATH='${LD_LIBRARY_PATH}' '${path}' "$@"`;
    await writeFile(file, `#!/bin/sh\nprintf '%s\\n' "${program} $*" >>'${calls}'\n${call}\n`);
    await chmod(file, 0o755);
  }
  return {
    /** PATH for programs that shall find these first. */
    path: `${join(folder, "bin")}:${process.env.PATH}`,
    folder,
    calls: async (): Promise<string> =>
      Bun.file(calls)
        .text()
        .catch(() => ""),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
