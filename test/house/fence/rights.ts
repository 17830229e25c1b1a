/** The rights of rooms, by the rows of docs/design/architecture.md: which may import which, and which may use a built-in. */
import { codeOf, type Import, importsOf, type Sources } from "./source.ts";

/** A room is a folder of src (`store/notes`), or a door (`cli.ts`). A right is a
 *  room, or a single file by its path. A row is for a room and the folders below it that have none of their own, or for a
 *  single file. */
const VOCABULARY = "base";
/** The store's files that bind operations or are entries; the others at its root hold nouns, and rows beside their SQL. */
const STORE_DOORS = ["index", "operations", "groups", "backends", "move", "writer", "writer-thread"].map(
  (name) => `src/store/${name}.ts`,
);
/** The parts of the store that other rooms may name: its doors, and the types of the rest except its backends. */
const STORE = ["store", "store/people", "store/notes"];
const JUDGED = [VOCABULARY, "html", "rules", "pipeline"];
/** Stages of the pipeline that are one file. A file with a row of its own is no part of its room's right. */
const FILE_STAGES = ["src/pipeline/spa.ts"];
const CLIENT = [
  "client",
  ...[
    "version-id",
    "reserved-paths",
    "page-names",
    "limit-flags",
    "healed",
    "receipt-figures",
    "visible",
    "units",
    "random",
    "slugs",
  ].map((name) => `src/base/${name}.ts`),
];

export const ROWS: Readonly<Record<string, readonly string[]>> = {
  [VOCABULARY]: [],
  run: [VOCABULARY],
  command: [],
  config: [VOCABULARY, "command"],
  html: [VOCABULARY],
  rules: [VOCABULARY],
  http: [VOCABULARY, "config", "run"],
  store: [
    VOCABULARY,
    "config",
    "run",
    "store/people",
    "store/notes",
    "store/sqlite",
    "store/postgres",
    "store/bucket",
    "store/disk",
  ],
  "store/people": [VOCABULARY, "run", "store", "store/notes"],
  "store/notes": [VOCABULARY, "run", "store", "store/people"],
  "store/sqlite": [VOCABULARY, "run", "store", "store/people", "store/notes", "store/disk"],
  "store/postgres": [VOCABULARY, "run", "store", "store/disk"],
  "store/bucket": [VOCABULARY, "config", "run", "store", "store/disk"],
  "store/disk": [VOCABULARY, "config", "run", "store"],
  pipeline: [...JUDGED, ...["archive", "docs", "abuse", "lint"].map((stage) => `pipeline/${stage}`), ...FILE_STAGES],
  "pipeline/archive": JUDGED,
  "pipeline/markdown": [...JUDGED, "run"],
  "pipeline/docs": [...JUDGED, "pipeline/markdown"],
  "pipeline/references": JUDGED,
  "pipeline/abuse": [...JUDGED, "pipeline/references"],
  "pipeline/lint": [...JUDGED, "pipeline/references"],
  ...Object.fromEntries(FILE_STAGES.map((stage) => [stage, JUDGED])),
  serve: [VOCABULARY, "run", "html", "http", "rules", ...STORE],
  comments: [VOCABULARY, "run", "html", "http", "api/shapes", "src/api/site-host.ts", "src/api/who.ts", ...STORE],
  coding: [VOCABULARY, "run", "http"],
  api: [VOCABULARY, "http", "api/shapes"],
  "api/shapes": [...["errors", "tokens", "types"].map((name) => `src/base/${name}.ts`), "src/store/renders.ts"],
  deploy: [VOCABULARY, "run", "pipeline", "src/comments/carry.ts", ...STORE],
  domains: [VOCABULARY, "config", "run", "http", ...STORE],
  statistics: [VOCABULARY, "run", "http", "rules", ...STORE],
  webhooks: [VOCABULARY, "run", "http", ...STORE],
  render: [VOCABULARY, "run", "http", ...STORE],
  upkeep: [VOCABULARY, "config", "run", "http", "comments", "webhooks", "render", "domains", ...STORE],
  routes: [VOCABULARY, "config", "run", "http", "api", "deploy", "comments", "domains", "statistics", ...STORE],
  web: [VOCABULARY, "run", "html", "http", "rules", "routes", "comments", "src/web/browser/wording.ts", ...STORE],
  "web/browser": [
    "src/comments/widget/dom.ts",
    ...["src/base/types.ts", "src/html/template.ts", "src/web/parts.ts", "src/web/receipt.ts"],
    ...["zip", "challenge", "ignore", "build-dir-candidates"].map((name) => `src/client/${name}.ts`),
    ...["reserved-paths", "page-names", "limit-flags", "healed", "receipt-figures", "units", "visible"].map(
      (name) => `src/base/${name}.ts`,
    ),
  ],
  operator: [VOCABULARY, "command", "config", "run", "http", "webhooks", ...STORE],
  client: CLIENT,
  cli: [...CLIENT, "api/shapes", "command", "cli/commands", "cli/service", "cli/saved", "cli/terminal"],
  "cli/commands": [...CLIENT, "api/shapes", "command", "cli", "cli/service", "cli/saved", "cli/terminal"],
  "cli/service": [...CLIENT, "api/shapes", "cli", "cli/saved", "cli/terminal"],
  "cli/saved": [...CLIENT, "cli", "cli/terminal"],
  "cli/terminal": [...CLIENT, "cli"],
  "cli.ts": [...CLIENT, "command", "cli", "cli/commands", "cli/service", "cli/saved", "cli/terminal"],
  "lib.ts": CLIENT,
};

/** These join the parts: whatever they name. */
const JOIN = new Set(["server", "server.ts"]);

export function roomOf(path: string): string {
  const parts = path.split("/");
  return parts[0] === "src" ? parts.slice(1, -1).join("/") : path;
}

/** The file or the room whose row is for `path`. Null if there is none. */
function rowOf(path: string): string | null {
  if (path in ROWS) return path;
  for (let room = roomOf(path); ; room = room.slice(0, room.lastIndexOf("/"))) {
    if (room in ROWS || JOIN.has(room)) return room;
    if (!room.includes("/")) return null;
  }
}

function mayName(path: string, target: string): boolean {
  const room = rowOf(path);
  if (room === null) return false;
  if (JOIN.has(room) || target === "package.json") return true;
  const theirs = rowOf(target);
  return theirs === room || ROWS[room]!.some((right) => right === target || right === theirs);
}

/** Anywhere, or in the rooms named here and below them; a path is a file's own right. */
type Where = readonly string[];
const PORTABLE: Where = ["client", "cli", "cli.ts", "lib.ts"];
/** These run in a browser too. */
const BROWSER: Where = [
  "web/browser",
  ...["zip", "challenge", "ignore", "build-dir-candidates"].map((name) => `src/client/${name}.ts`),
  ...["reserved-paths", "page-names", "limit-flags", "healed", "receipt-figures", "units", "visible"].map(
    (name) => `src/base/${name}.ts`,
  ),
  ...["src/html/template.ts", "src/web/parts.ts", "src/web/receipt.ts"],
  "comments/anchoring",
  "comments/widget",
  "api/shapes",
];

/** Whether `where` has the file, its room or a room around it. */
function within(path: string, where: Where): boolean {
  const room = roomOf(path);
  return where.some((one) => one === path || one === room || room.startsWith(`${one}/`));
}

/** Packages and modules of the runtime → where they may be imported. What is not listed may be imported nowhere. */
const MODULES: readonly (readonly [RegExp, (path: string) => boolean])[] = [
  [
    /^bun:ffi$/,
    (path) => ["src/run/serve-parent.ts", "src/server/sockets.ts", "src/store/disk/durable.ts"].includes(path),
  ],
  [/^bun:sqlite$/, (path) => within(path, ["store/sqlite"])],
  [/^marked$/, (path) => within(path, ["pipeline/markdown"])],
  [/^fflate$/, (path) => within(path, ["client"])],
  [
    /^node:fs(\/promises)?$/,
    (path) =>
      within(path, [
        "config",
        "store",
        "run",
        "deploy",
        "operator",
        "render",
        "server",
        "server.ts",
        "src/run/log.ts",
        "src/web/built.ts",
        ...PORTABLE,
      ]),
  ],
  // `lookup` takes a thread of the runtime's pool for as long as a name server is silent (BUN 8): files, sign-ins and
  // deploys would wait for it. `doctor` is a program of its own; the second one runs on the user's machine,
  // and the third asks by a `Resolver`, which is c-ares and takes no thread of the pool.
  [
    /^node:dns(\/promises)?$/,
    (path) => ["src/operator/doctor.ts", "src/client/loopback.ts", "src/domains/index.ts"].includes(path),
  ],
  [
    /^node:(http|https|http2|tls|child_process|cluster|dgram)(\/promises)?$/,
    (path) => !within(path, ["pipeline", "html", "store"]),
  ],
  // On a serving process's threads the runtime's codings spoil its memory (docs/decisions/service.md).
  [/^node:zlib$/, (path) => within(path, ["coding", "pipeline/archive", "src/render/visit.ts", "src/http/answers.ts"])],
  [/^node:/, (path) => !within(path, BROWSER)],
];

function mayImport(path: string, name: string): boolean {
  if (name === "package.json" || name.startsWith("src/") || /^(server|cli|lib)\.ts$/.test(name))
    return mayName(path, name);
  const rule = MODULES.find(([pattern]) => pattern.test(name));
  return rule !== undefined && rule[1](path) && !(name.startsWith("node:") && within(path, BROWSER));
}

/** The store's files that others may name for more than a type: an operation runs only where the store binds it. */
const STORE_VALUES = [
  "src/store/index.ts",
  "src/store/move.ts",
  "src/store/operations.ts",
  "src/store/refusals.ts",
  "src/store/writer-thread.ts",
];
/** The backend that a root file of the store may name: none but the doors know one. */
const BACKENDS = ["store/sqlite", "store/postgres", "store/bucket", "store/disk"];

function crossesStore(path: string, { name, type_only }: Import): boolean {
  if (!name.startsWith("src/store/")) return false;
  if (!path.startsWith("src/store/")) return !type_only && !STORE_VALUES.includes(name);
  const from = roomOf(path);
  if (STORE_DOORS.includes(path)) return false;
  return STORE.includes(from)
    ? BACKENDS.includes(roomOf(name)) || STORE_DOORS.includes(name)
    : STORE_DOORS.includes(name);
}

/** Types count too: a file depends on what it names. */
export const importBreaches = (path: string, text: string): string[] =>
  importsOf(path, text)
    .filter((one) => !mayImport(path, one.name) || crossesStore(path, one))
    .map(({ name }) => `${path} imports ${name}`);

/** Where a span of time is measured. `pipeline/markdown/clock.ts` is the pipeline's one clock: a text has limits. */
const TIMED: Where = [
  "src/http/exchange.ts",
  "src/run/log.ts",
  "src/run/thread.ts",
  "upkeep",
  "server",
  "coding",
  "deploy",
  "client",
  "render",
  "serve",
  "webhooks",
  "src/domains/acme.ts",
  "src/routes/deploys/request.ts",
  "src/store/postgres/driver.ts",
  "src/store/postgres/box-page.ts",
  "src/store/sqlite/driver.ts",
  "src/store/sqlite/database.ts",
  "src/pipeline/markdown/clock.ts",
  "src/web/browser/zone/collect.ts",
];

/** Globals → where they may stand. */
const GLOBALS: readonly (readonly [string, RegExp, Where])[] = [
  ["Bun.file", /\bBun\.(file|write|mmap)\b/, ["store", "src/render/browser.ts"]],
  ["Bun.SQL", /\bBun\.SQL\b/, ["store/postgres"]],
  ["Bun", /(?<![\w.$"'`@])Bun\.\w/, []],
  [
    "Request",
    /(?<![\w.])Request\b/,
    ["http", "serve", "statistics", "comments", "src/render/gate.ts", "routes", "web", "server", "client"],
  ],
  [
    "process.env",
    /\bprocess\.env\b/,
    ["server", "server.ts", "client", "cli", "cli.ts", "src/run/build-output.ts", "src/run/child.ts"],
  ],
  // As with `node:dns`: only in the process that posts letters.
  ["Bun.dns", /\bBun\.dns\b/, ["src/webhooks/post.ts"]],
  ["Date.now", /\bDate\.now\b/, ["server", "server.ts", "operator", "cli", "cli.ts", "web/browser", "comments/widget"]],
  ["new Date() for the time", /\bnew Date\(\)|\bDate\(\)/, []],
  ["performance.now", /\bperformance\.(now|timeOrigin)\b/, TIMED],
  ["setInterval", /\bsetInterval\b/, ["src/run/every.ts", "cli/terminal"]],
  ["Math.random", /\bMath\.random\b/, []],
  [
    "random bytes",
    /\b(getRandomValues|randomBytes|randomUUID(v\d)?|randomFill(Sync)?|randomInt)\b/,
    ["src/base/random.ts", "web/browser", "comments/widget"],
  ],
  ["console", /\bconsole\.\w/, []],
  ["Bun other than by a member", /(?<![\w.$`@])Bun\b(?!\.\w)/, ["src/cli/invocation.ts"]],
  [
    "a way around",
    /\bgetBuiltinModule\b|\bimport\.meta\.(require|env)\b|\bBun\.env\b|\bglobalThis\.(Bun|process)\b|\beval\(/,
    [],
  ],
];

/** A page's workers are assets, and the engine's browser is no program of ours. */
const STARTS: readonly (readonly [string, RegExp, Where])[] = [
  ["a thread", /\bnew Worker\(/, ["run", "web/browser"]],
  ["a child", /\bBun\.spawn\(/, ["run", "src/render/browser.ts"]],
];

export const startBreaches = (path: string, text: string): string[] =>
  STARTS.filter(([, pattern, where]) => pattern.test(text) && !within(path, where)).map(
    ([what]) => `${path} starts ${what}`,
  );

/** Where `Bun` itself may stand: everywhere but in what runs on Node. */
const mayCall = (path: string, name: string, where: Where): boolean =>
  name === "Bun" ? !within(path, [...PORTABLE, ...BROWSER, "command"]) : within(path, where);

export function globalBreaches(path: string, text: string): string[] {
  const code = codeOf(text);
  return GLOBALS.filter(([name, pattern, where]) => pattern.test(code) && !mayCall(path, name, where)).map(
    ([name]) => `${path} uses ${name}`,
  );
}

/** Threads and spawned entries are entries of the server's binary, by these very paths. */
export const threadsOf = (all: Sources): string[] =>
  [...all].flatMap(([, text]) => [...text.matchAll(/threadUrl\(\s*"\.\/(src\/[^"]+\.ts)"/g)].map((match) => match[1]!));
