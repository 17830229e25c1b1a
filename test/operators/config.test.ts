/** CONTRACT 1: configuration of svc-server. */
import { expect, test } from "bun:test";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { ConfigError, helpText, printConfig, readConfig } from "../../src/config/index.ts";
import { SETTINGS } from "../../src/config/settings.ts";

const rows = Object.entries(SETTINGS);

const KEYS = { AWS_ACCESS_KEY_ID: "key", AWS_SECRET_ACCESS_KEY: "secret" };
/** A state that boxes share. */
const SHARED = { SVC_DATABASE_URL: "postgres://svc@localhost/svc", SVC_BLOBS: "s3://bucket/svc", ...KEYS };

test("no configuration at all works: the documented defaults", () => {
  expect(readConfig([], {})).toMatchObject({
    port: 8787,
    host: "127.0.0.1",
    base_url: "http://localhost:8787",
    sites_domain: "localhost:8787",
    data_dir: "./svc-data",
    workers: 1,
    trust_proxy: null,
    max_files: 200,
    max_bytes: 10_485_760,
    max_zip_bytes: 5_242_880,
    anonymous_ttl: 14 * 86_400_000,
    gc_interval: 300_000,
    log: "text",
  });
});

test.each([
  ["a flag beats its variable", ["--port", "1"], { SVC_PORT: "2" }, { port: 1 }],
  ["SVC_PORT beats PORT", [], { PORT: "3", SVC_PORT: "2" }, { port: 2 }],
  ["PORT alone counts", [], { PORT: "3" }, { port: 3 }],
  ["an empty variable is not set", [], { SVC_PORT: "" }, { port: 8787 }],
  ["--flag=value is the same as --flag value", ["--port=9"], {}, { port: 9 }],
  ["the sites domain follows the base URL", ["--base-url", "https://svc.example"], {}, { sites_domain: "svc.example" }],
  [
    "a sites domain may carry a port",
    ["--sites-domain", "Sites.Example:8443"],
    {},
    { sites_domain: "sites.example:8443" },
  ],
  [
    "the base URL may be an address where sites have a domain",
    ["--base-url", "http://10.0.0.1", "--sites-domain", "sites.test"],
    {},
    { base_url: "http://10.0.0.1", sites_domain: "sites.test" },
  ],
  ["auto workers is one per core", ["--workers", "auto"], {}, { workers: availableParallelism() }],
  [
    "with TLS the default base URL is https",
    ["--tls-cert", "a", "--tls-key", "b"],
    {},
    { base_url: "https://localhost:8787" },
  ],
  ["durations: 30s", ["--anonymous-ttl", "30s"], {}, { anonymous_ttl: 30_000 }],
  ["durations: 15m", ["--anonymous-ttl", "15m"], {}, { anonymous_ttl: 900_000 }],
  ["rates: several windows", [], { SVC_RATE_DEPLOY: "3/4s,9/1h" }, { rate_deploy: "3/4s,9/1h" }],
  ["rates: off", [], { SVC_RATE_CLAIM: "off" }, { rate_claim: "off" }],
  ["rates: the default", [], {}, { rate_deploy: "10/1m,60/1h", rate_claim: "10/1m" }],
  ["quotas: the defaults", [], {}, { quota_account: 5 * 1024 ** 3, quota_address: 500 * 1024 ** 2 }],
  ["quotas: k, m, g of 1,024, in either case", [], { SVC_QUOTA_ACCOUNT: "64K" }, { quota_account: 65_536 }],
  ["quotas: a number of bytes", [], { SVC_QUOTA_ADDRESS: "1" }, { quota_address: 1 }],
  ["quotas: off", [], { SVC_QUOTA_ACCOUNT: "off" }, { quota_account: null }],
  ["quotas: in the units of all sizes", [], { SVC_QUOTA_ACCOUNT: "5gb" }, { quota_account: 5 * 1024 ** 3 }],
  ["sizes: 50MB", ["--max-bytes", "50MB"], {}, { max_bytes: 50 * 1024 ** 2 }],
  ["sizes: in either case", [], { SVC_MAX_ZIP_BYTES: "64kb" }, { max_zip_bytes: 65_536 }],
  ["sizes: bytes with their unit", ["--max-bytes", "1500B"], {}, { max_bytes: 1500 }],
  ["sizes: a number of bytes", ["--max-bytes", "10485760"], {}, { max_bytes: 10_485_760 }],
  ["sizes: the most", ["--max-bytes", "2GB"], {}, { max_bytes: 2 ** 31 }],
  ["versions and disk: the defaults", [], {}, { keep_versions: 1000, disk_high: 90 }],
  ["versions and disk", [], { SVC_KEEP_VERSIONS: "1", SVC_DISK_HIGH: "75%" }, { keep_versions: 1, disk_high: 75 }],
  [
    "versions and disk: off",
    [],
    { SVC_KEEP_VERSIONS: "off", SVC_DISK_HIGH: "off" },
    { keep_versions: null, disk_high: null },
  ],
  ["rates of redeploys", [], {}, { rate_redeploy: "30/1m,300/1h", rate_owned: "60/1m,1200/1h" }],
  ["networks of both families", ["--trust-proxy", "10.0.0.1, ::/0"], {}, { trust_proxy: ["10.0.0.1", "::/0"] }],
  ["sign-up is open", [], {}, { signup: "open" }],
  ["durations: 12h", ["--anonymous-ttl", "12h"], {}, { anonymous_ttl: 43_200_000 }],
  ["one machine's state is in its data directory", [], {}, { shared: null }],
  [
    "a shared state: what is said of it",
    [],
    { ...SHARED, SVC_STALE: "2h", SVC_CACHE_BYTES: "1GB", AWS_ENDPOINT_URL: "https://s3.example", AWS_REGION: "eu" },
    {
      shared: {
        database_url: SHARED.SVC_DATABASE_URL,
        stale_ms: 7_200_000,
        bucket: {
          url: "s3://bucket/svc",
          cache_bytes: 1024 ** 3,
          access: {
            ...{ endpoint: "https://s3.example", region: "eu", session_token: null },
            ...{ access_key_id: "key", secret_access_key: "secret" },
          },
        },
      },
    },
  ],
  ["a shared state: the defaults", [], SHARED, { stale: 86_400_000, cache_bytes: 10 * 1024 ** 3 }],
  [
    "a shared state: the rest is not even read without it",
    [],
    { SVC_DATABASE_URL: "", SVC_CACHE_BYTES: "much", SVC_STALE: "never" },
    { shared: null, stale: 86_400_000 },
  ],
  ...[
    "postgresql://u:p%40ss@db.example:5433/svc?sslmode=verify-full",
    "postgres://u:p@db.example/svc?sslmode=disable",
    "postgres://u@127.0.0.1:5433/svc",
    "postgres://u@[::1]/svc",
    "postgres://svc@localhost/svc?host=/run/postgresql",
    "postgres://u@localhost/svc?sslmode=verify-full&sslrootcert=/etc/ca.pem",
  ].map(
    (SVC_DATABASE_URL) =>
      [
        `the database's address: ${SVC_DATABASE_URL}`,
        [],
        { ...SHARED, SVC_DATABASE_URL },
        { database_url: SVC_DATABASE_URL },
      ] as [string, string[], Record<string, string>, object],
  ),
])("%s", (_, argv, env, expected) => {
  expect(readConfig(argv, env)).toMatchObject(expected);
});

test.each([
  [["--port", "70000"], {}, /--port is "70000".*0 to 65535/],
  [[], { SVC_PORT: "x" }, /SVC_PORT is "x".*0 to 65535/],
  [[], { PORT: "x" }, /PORT is "x"/],
  [["--workers", "0"], {}, /1 to 256/],
  [["--base-url", "ftp://x"], {}, /http or https URL/],
  [["--base-url", "https://svc.example/path"], {}, /without a path/],
  [["--sites-domain", "a..b"], {}, /domain/],
  [["--sites-domain", "10.0.0.1:80"], {}, /below 10.0.0.1:80.*--sites-domain.*must be a domain/],
  [["--sites-domain", "sites.example:99999"], {}, /below sites.example:99999.*must be a domain/],
  [["--base-url", "http://192.168.1.5:8787"], {}, /below 192.168.1.5:8787 .*SVC_SITES_DOMAIN.*e.g. sites.example/],
  [["--base-url", "http://[::1]:8787"], {}, /below \[::1\]:8787/],
  [["--trust-proxy", "10.0.0.0/33"], {}, /CIDR/],
  [["--trust-proxy", "proxy.example"], {}, /CIDR/],
  [["--trust-proxy", "::/129"], {}, /CIDR/],
  [["--trust-proxy", "10.0.0.1,"], {}, /CIDR/],
  [["--trust-proxy", "10.0.0.0/8/8"], {}, /CIDR/],
  [["--trust-proxy", "10.0.0.0/-1"], {}, /CIDR/],
  [["--trust-proxy", "fe80::1%eth0"], {}, /CIDR/],
  [["--anonymous-ttl", "0s"], {}, /30s, 15m, 12h or 14d/],
  [["--anonymous-ttl", "14"], {}, /30s, 15m, 12h or 14d/],
  [["--log", "xml"], {}, /text, json or off/],
  [["--tls-cert", "a"], {}, /together/],
  [["--signup", "maybe"], {}, /open, invite or closed/],
  [[], { SVC_RATE_CLAIM: "0/1m" }, /SVC_RATE_CLAIM is "0\/1m".*10\/1m/],
  [[], { SVC_RATE_CLAIM: "10" }, /or off/],
  [[], { SVC_RATE_CLAIM: "10/1m,," }, /or off/],
  [[], { SVC_QUOTA_ACCOUNT: "5xb" }, /SVC_QUOTA_ACCOUNT is "5xb".*64KB, 500MB or 5GB, or off/],
  [["--max-bytes", "50M"], {}, /--max-bytes is "50M": it must be a size such as 64KB, 50MB/],
  [["--max-bytes", "50 MB"], {}, /--max-bytes is "50 MB"/],
  [["--max-bytes", "1.5MB"], {}, /--max-bytes is "1.5MB"/],
  [["--max-bytes", "0MB"], {}, /--max-bytes is "0MB"/],
  [["--max-bytes", "3GB"], {}, /--max-bytes is "3GB".*2GB \(the most\)/],
  [[], { SVC_MAX_ZIP_BYTES: "MB" }, /SVC_MAX_ZIP_BYTES is "MB"/],
  [[], { SVC_QUOTA_ADDRESS: "0" }, /or off/],
  [[], { SVC_QUOTA_ADDRESS: "9999999g" }, /or off/],
  [[], { SVC_KEEP_VERSIONS: "0" }, /SVC_KEEP_VERSIONS is "0".*1 to 1000000, or off/],
  [
    [],
    { SVC_BACKUP: "s3://My_Bucket" },
    /SVC_BACKUP is "s3:\/\/My_Bucket": it must be a folder or s3:\/\/bucket\/prefix/,
  ],
  [[], { SVC_BACKUP: "https://key:secret@host/x" }, /^SVC_BACKUP is "https:\/\/…@host\/x": it must be a folder/],
  [["--data-dir", "/var/lib/svc"], { SVC_BACKUP: "/var/lib/svc/backup" }, /SVC_BACKUP lies in the data directory/],
  [[], { SVC_BACKUP: "s3://bucket/x" }, /set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/],
  [[], { SVC_NOTIFY: "https://hooks.example" }, /SVC_NOTIFY and SVC_NOTIFY_SECRET go together/],
  [
    [],
    { SVC_NOTIFY: "http://hooks.example/x", SVC_NOTIFY_SECRET: "k".repeat(16) },
    /^SVC_NOTIFY is not usable: it must be an https URL without a user/,
  ],
  [[], { SVC_NOTIFY: "https://a:b@hooks.example", SVC_NOTIFY_SECRET: "k".repeat(16) }, /^SVC_NOTIFY is not usable/],
  [
    [],
    { SVC_NOTIFY: "https://hooks.example", SVC_NOTIFY_SECRET: "whsec_no base64" },
    /^SVC_NOTIFY_SECRET is not usable/,
  ],
  [[], { SVC_DISK_HIGH: "101%" }, /1% to 100%, or off/],
  [[], { SVC_DISK_HIGH: "%" }, /1% to 100%/],
  [["--max-files", "-1"], {}, /1 to 100000/],
  [[], { SVC_DATABASE_URL: SHARED.SVC_DATABASE_URL }, /^SVC_BLOBS is missing: SVC_DATABASE_URL goes with it/],
  [[], { SVC_BLOBS: "s3://bucket/svc", ...KEYS }, /^SVC_DATABASE_URL is missing: SVC_BLOBS goes with it/],
  [[], { ...SHARED, AWS_SECRET_ACCESS_KEY: "" }, /^For the bucket in SVC_BLOBS set AWS_ACCESS_KEY_ID and AWS_SECRET/],
  ...[
    "mysql://u:hidden@localhost/svc",
    "postgres://u:hidden@localhost",
    "postgres://u:hidden@localhost/",
    "postgres://u:hidden@db.example/svc",
    "postgres://u:hidden@10.0.0.1/svc",
    "postgres://u:hidden@127.0.0.1.example/svc",
    "postgres://u:hidden@localhost/svc?sslmode=verify",
    "postgres://u:hidden@localhost/svc?host=db.example",
    "u:hidden@localhost/svc",
    "postgres:///svc",
    "postgres:///svc?host=/run/postgresql",
    "postgres://localhost/hidden",
    "postgres://u:hidden%@localhost/svc",
    "postgres://u:hidden@localhost/svc?sslmode=disable&sslmode=verify-full",
    "postgres://u:hidden@localhost/svc?port=1",
    "postgres://u:hidden@localhost/svc?sslmode=verify-full&hostaddr=10.0.0.1",
    "postgres://u:hidden@localhost/svc#a",
  ].map(
    (SVC_DATABASE_URL) =>
      [[], { ...SHARED, SVC_DATABASE_URL }, /^SVC_DATABASE_URL is not usable: it must be postgres:(?!.*hidden)/] as [
        string[],
        Record<string, string>,
        RegExp,
      ],
  ),
  [[], { ...SHARED, SVC_BLOBS: "s3://" }, /^SVC_BLOBS is "s3:\/\/": it must be s3:\/\/bucket\/prefix/],
  [[], { ...SHARED, SVC_BLOBS: "/srv/blobs" }, /^SVC_BLOBS is "\/srv\/blobs"/],
  [[], { ...SHARED, SVC_CACHE_BYTES: "much" }, /^SVC_CACHE_BYTES is "much": it must be a size such as 500MB or 10GB/],
  [[], { ...SHARED, SVC_STALE: "never" }, /^SVC_STALE is "never": it must be a duration/],
  [[], { ...SHARED, SVC_S3_ENDPOINT: "s3.example" }, /^SVC_S3_ENDPOINT is "s3.example": it must be an http/],
  [
    [],
    { ...SHARED, SVC_BACKUP: "s3://bucket/svc/" },
    /^SVC_BACKUP is the place of SVC_BLOBS, and would be lost with it/,
  ],
  [["--no-such-flag"], {}, /Unknown argument --no-such-flag: see svc-server --help/],
  [["--max-byte", "1"], {}, /Unknown argument --max-byte: did you mean --max-bytes\?/],
  [["--port"], {}, /--port needs a value/],
])("%j %j is refused by one line naming the variable, the value and what is allowed", (argv, env, message) => {
  let thrown: unknown;
  try {
    readConfig(argv, env);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(ConfigError);
  expect((thrown as Error).message).toMatch(message);
  expect((thrown as Error).message).not.toContain("\n");
});

test("the file of sslrootcert is named for processes that have another folder, too", () => {
  const SVC_DATABASE_URL = "postgres://u:p@db.example/svc?sslmode=verify-full&sslrootcert=ca.pem";
  const { shared } = readConfig([], { ...SHARED, SVC_DATABASE_URL });
  expect(new URL(shared!.database_url).searchParams.get("sslrootcert")).toBe(join(process.cwd(), "ca.pem"));
});

test("the configuration is frozen", () => {
  expect(Object.isFrozen(readConfig([], {}))).toBe(true);
});

test.each(rows)("--help lists %s with its flag, its variables and its default", (_, row) => {
  const line = helpText()
    .split("\n")
    .find((text) => text.trimStart().split(/[ ,]/, 1)[0] === (row.flag ?? row.variables[0]));
  for (const variable of row.variables) expect(line).toContain(variable);
  if (row.fallback) expect(line).toContain(row.fallback);
});

test("--print-config prints every setting under its flag, or its variable without SVC_, in snake_case", () => {
  const printed = JSON.parse(printConfig(readConfig([], {}))) as object;
  const names = rows.map(
    ([, row]) => row.flag?.slice(2).replaceAll("-", "_") ?? row.variables[0]!.slice(4).toLowerCase(),
  );
  expect(Object.keys(printed)).toEqual(names);
});

test("--print-config shows sizes and durations in the largest unit that divides them, and takes them back", () => {
  const printed = (argv: string[]) => JSON.parse(printConfig(readConfig(argv, {}))) as Record<string, string>;
  expect(printed([])).toMatchObject({
    max_bytes: "10MB",
    max_zip_bytes: "5MB",
    anonymous_ttl: "14d",
    gc_interval: "5m",
    quota_account: "5GB",
    quota_address: "500MB",
    keep_versions: 1000,
    max_files: 200,
  });
  const odd = ["--max-bytes", "1536KB", "--max-zip-bytes", "1000", "--anonymous-ttl", "36h", "--gc-interval", "90s"];
  const shown = { max_bytes: "1536KB", max_zip_bytes: "1000B", anonymous_ttl: "36h", gc_interval: "90s" };
  expect(printed(odd)).toMatchObject(shown);
  expect(printed(["--max-bytes", shown.max_bytes, "--max-zip-bytes", shown.max_zip_bytes])).toMatchObject({
    max_bytes: shown.max_bytes,
    max_zip_bytes: shown.max_zip_bytes,
  });
  expect(printed(["--anonymous-ttl", "336h"])).toMatchObject({ anonymous_ttl: "14d" });
});

test.each(rows.filter(([, { show }]) => show))("--help shows the default of %s as --print-config does", (_, row) => {
  expect(row.show!(row.parse(row.fallback!) as number)).toBe(row.fallback!);
});
