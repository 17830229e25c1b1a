/** A real PostgreSQL of Debian's package, for tests of the store on it: on an ICU database in en-US, where a comparison that is
 *  not by bytes shows. */
import { SQL } from "bun";
import { existsSync, readdirSync } from "node:fs";
import { chown, cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { debianPackage, librariesOf } from "./debian-package.ts";
import { freePort } from "./pebble.ts";
import { until } from "./until.ts";

const INSTALLED = "/usr/lib/postgresql";
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
/** PostgreSQL does not run as root. */
const by = isRoot ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] : [];

interface Programs {
  bin: string;
  env: Record<string, string>;
}

async function ran(command: string[], env: Record<string, string> = {}): Promise<void> {
  const child = Bun.spawn(command, { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, ...env } });
  const [said, code] = await Promise.all([child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`${command.join(" ")} failed: ${said.trim().split("\n").slice(-3).join(" ")}`);
}

/** The newest version in such a folder. */
function newestIn(folder: string): string | null {
  const versions = existsSync(folder) ? readdirSync(folder).filter((name) => /^\d+$/.test(name)) : [];
  return versions.toSorted((a, b) => Number(a) - Number(b)).at(-1) ?? null;
}

/** Those of the system, or Debian's, fetched and unpacked: in `folder`, where its user can read them. */
async function programs(folder: string): Promise<Programs> {
  const own = newestIn(INSTALLED);
  if (own !== null) return { bin: join(INSTALLED, own, "bin"), env: {} };
  const without = /^(libllvm|libz3|perl|postgresql-common|ssl-cert|locales|ucf|debconf|sensible)/;
  await cp(await debianPackage("postgresql-15", { whole: true, without }), join(folder, "debian"), { recursive: true });
  const debian = join(folder, "debian");
  return { bin: join(debian, "usr/lib/postgresql/15/bin"), env: await librariesOf(debian) };
}

export interface PostgresServer extends AsyncDisposable {
  /** The address of a database of its own, empty. */
  database(): Promise<string>;
  /** As the server's own user, on the database of this address. */
  sql(url: string): SQL;
  /** Ends it at once, as a power cut does. */
  stop(): Promise<void>;
  /** Starts it again where it was. */
  start(): Promise<void>;
}

/** `more`: settings of the server, in place of those of a test. */
export async function startPostgres(more: readonly string[] = []): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), "svc-postgres-"));
  if (isRoot) await chown(folder, NOBODY, NOBODY);
  const { bin, env } = await programs(folder);
  const made = ["--no-sync", "-A", "trust", "-U", "svc", "-E", "UTF8", "-D", join(folder, "data")];
  await ran([...by, join(bin, "initdb"), ...made], env);
  const port = freePort();
  const settings = [
    `port=${port}`,
    "listen_addresses=127.0.0.1",
    "fsync=off",
    "jit=off",
    "max_connections=500",
    ...more,
  ];
  const command = [...by, join(bin, "postgres"), "-D", join(folder, "data"), "-k", folder];
  const url = (name: string) => `postgres://svc@127.0.0.1:${port}/${name}`;
  const admin = new SQL(url("postgres"), { max: 1, connectionTimeout: 3 });
  let child: Bun.Subprocess | null = null;
  async function start(): Promise<void> {
    const begun = Bun.spawn([...command, ...settings.flatMap((one) => ["-c", one])], {
      stdio: ["ignore", "ignore", Bun.file(join(folder, "log"))],
      env: { ...process.env, ...env },
    });
    child = begun;
    await until(async () => {
      if (begun.exitCode !== null) throw new Error(`PostgreSQL ended: ${await Bun.file(join(folder, "log")).text()}`);
      return admin.unsafe("select 1").then(
        () => true,
        () => false,
      );
    });
  }
  async function stop(): Promise<void> {
    child?.kill("SIGQUIT");
    await child?.exited;
  }
  await start();
  let databases = 0;
  return {
    async database() {
      const name = `test_${++databases}`;
      await admin.unsafe(
        `create database ${name} template template0 encoding 'UTF8' locale_provider icu icu_locale 'en-US'`,
      );
      return url(name);
    },
    sql: (address) => new SQL(address, { max: 1 }),
    start,
    stop,
    async [Symbol.asyncDispose]() {
      await admin.close();
      await stop(); // what it had is not wanted
      await rm(folder, { recursive: true, force: true });
    },
  };
}
