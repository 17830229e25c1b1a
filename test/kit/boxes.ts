/** A service of several boxes: server processes with folders of their own on one PostgreSQL database and one bucket, each reaching
 *  the database through a door of the test's that can be shut. */
import type { SQL } from "bun";
import type { StoreAddress } from "../../src/store/index.ts";
import { startBucket, type Bucket } from "./bucket.ts";
import { settingsOf } from "./database-server.ts";
import { ROOT } from "./paths.ts";
import { freePort } from "./pebble.ts";
import { type PostgresServer, startPostgres } from "./postgres.ts";
import { type ServerProcess, startProcess, SVC_SERVER, temporaryFolder } from "./process.ts";
import { callsOf, type TestServer } from "./server.ts";

const API = "svc.test";
const SITES = "sites.test";

/** `open` as if it were not there; `slow` brings each answer late; `mute` swallows all; `closed` ends every connection. */
type Door = "open" | "slow" | "mute" | "closed";
const SLOW_MS = 40;
const lets = (state: Door): boolean => state === "open" || state === "slow";

export interface TestBox {
  process: ServerProcess;
  /** As a program of its operator opens the store. */
  address: StoreAddress;
  /** Its API. */
  calls: TestServer;
  /** A page of a site, asked at this box. */
  page(slug: string, path?: string, headers?: Record<string, string>): Promise<Response>;
  /** How the database is reached from here; `slow`: so many milliseconds. */
  turn(door: Door, slow_ms?: number): void;
  /** Kills it. */
  kill(): Promise<void>;
  /** Ends it well. */
  end(): Promise<void>;
}

export interface Boxes extends AsyncDisposable {
  /** With settings and flags of its own; `SVC_TEST_CLOCK`: how many milliseconds its machine's clock is ahead. */
  start(env?: Record<string, string>, flags?: string[]): Promise<TestBox>;
  sql: SQL;
  bucket: Bucket;
  /** The database without a door before it. */
  database_url: string;
}

const CLOCKED = [process.execPath, `${ROOT}/test/kit/serve-ahead.ts`];

/** Every byte goes through until it is told otherwise. */
function doorTo(database_url: string) {
  const { hostname, port } = new URL(database_url);
  let state: Door = "open";
  let late_ms = SLOW_MS;
  const clients = new Set<Bun.Socket<{ back: Promise<Bun.Socket | null> }>>();
  const front = Bun.listen<{ back: Promise<Bun.Socket | null> }>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(client) {
        if (state === "closed") return void client.terminate();
        const give = (bytes: Uint8Array) => void (lets(state) && client.write(bytes));
        const data = (_: Bun.Socket, bytes: Uint8Array) => {
          if (state === "slow") setTimeout(give, late_ms, bytes.slice());
          else give(bytes);
        };
        const back = Bun.connect({ hostname, port: Number(port), socket: { data, close: () => void client.end() } });
        client.data = { back: back.catch(() => (client.terminate(), null)) }; // the server is not there
        clients.add(client);
      },
      async data(client, bytes) {
        const own = bytes.slice();
        const back = await client.data.back;
        if (lets(state)) back?.write(own);
      },
      close(client) {
        clients.delete(client);
        void client.data?.back.then((back) => back?.end());
      },
    },
  });
  return {
    url: database_url.replace(`:${port}`, `:${front.port}`),
    turn(next: Door, slow_ms = SLOW_MS): void {
      late_ms = slow_ms;
      state = next;
      if (next === "closed") for (const client of clients) client.terminate();
    },
    close: () => front.stop(true),
  };
}

const addressOf = (bucket: Bucket): NonNullable<StoreAddress["bucket"]> => ({
  url: "s3://bucket/all",
  access: {
    ...{ endpoint: bucket.endpoint, region: "us-east-1", session_token: null },
    ...{ access_key_id: "key", secret_access_key: "secret" },
  },
  cache_bytes: 16 << 20,
});

const ADDRESSES = ["--log", "off", "--base-url", `http://${API}`, "--sites-domain", SITES];
const TRIES = 5;

/** A ready line has the base URL, which all boxes share. A port that was free may be somebody's meanwhile. */
async function onFreePort(start: (port: number) => Promise<ServerProcess>): Promise<ServerProcess> {
  for (let left = TRIES; ; left--) {
    const port = freePort();
    try {
      return { ...(await start(port)), port };
    } catch (error) {
      if (left === 0 || !(error as Error).message.includes(`Is port ${port} in use?`)) throw error;
    }
  }
}

export async function startBoxes(postgres?: PostgresServer): Promise<Boxes> {
  const own = postgres === undefined ? await startPostgres() : null;
  const server = postgres ?? own!;
  const database_url = await server.database();
  const bucket = startBucket();
  const sql = server.sql(database_url);
  const ending: (() => unknown)[] = [];
  return {
    sql,
    bucket,
    database_url,
    async start(env = {}, flags = []) {
      const folder = await temporaryFolder();
      const door = doorTo(database_url);
      const address = { data_dir: folder.path, database_url: door.url, bucket: addressOf(bucket) };
      const command = env["SVC_TEST_CLOCK"] === undefined ? SVC_SERVER : CLOCKED;
      const child = await onFreePort((port) =>
        startProcess(["--port", String(port), ...ADDRESSES, ...flags], {
          command,
          env: { ...settingsOf(address), ...env },
        }),
      );
      const calls = callsOf(child);
      const reach = calls.reach.bind(calls);
      calls.reach = (path, init = {}) => {
        const headers = new Headers(init.headers);
        if (!headers.has("host")) headers.set("host", API);
        return reach(path, { ...init, headers });
      };
      ending.push(
        () => child.end(),
        () => door.close(),
        () => folder[Symbol.asyncDispose](),
      );
      return {
        process: child,
        address,
        calls,
        page: (slug, path = "/", headers = {}) =>
          calls.reach(path, { headers: { ...headers, host: `${slug}.${SITES}` } }),
        turn: door.turn,
        kill: () => child.end(),
        async end() {
          child.kill("SIGTERM");
          await child.exited;
        },
      };
    },
    async [Symbol.asyncDispose]() {
      for (const end of ending) await end();
      await sql.close();
      bucket[Symbol.dispose]();
      await own?.[Symbol.asyncDispose]();
    },
  };
}
