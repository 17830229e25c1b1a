/** Smuggling (RELIABILITY A15): `bun test/torture/smuggling.ts [nothing|naive|nginx|caddy|haproxy|all|gullible]`, all unless said
 *  otherwise; about a minute each. Requests that hide a second one are sent to svc alone, behind a naive proxy, and behind
 *  nginx, Caddy and HAProxy (Debian packages nginx-light, caddy, haproxy) with connections kept alive. While each stands
 *  open, visitors ask through the same front: none may ever get another's answer, and svc alone never answers what was
 *  hidden. What is not installed is said and makes the exit code 1. `gullible` puts a server that takes everything behind
 *  the naive proxy: there it must fail. */
import { connect } from "node:net";
import { startProcess, temporaryFolder } from "../kit/process.ts";
import { rawAnswers } from "../kit/raw-http.ts";
import { zipOf } from "../kit/zip.ts";
import { type Attack, attacks } from "./smuggling/attacks.ts";
import { type Front, gullibleServer, naiveProxy, proxy, PROXY_NAMES } from "./smuggling/fronts.ts";

const FILES = 40;
const POISON = "this was hidden";
const [which = "all"] = process.argv.slice(2);

const contentOf = (owner: string, path: string): string =>
  path === "/poison" ? POISON : `${owner} ${path.replace(/[^a-z0-9]/g, "")} has this`;

/** A site whose every file tells whose it is. */
async function deploy(port: number, owner: string): Promise<string> {
  const names = ["who", "poison", ...Array.from({ length: FILES }, (_, n) => `file${n}`)];
  const files = Object.fromEntries(names.map((name) => [name, contentOf(owner, `/${name}`)]));
  const body = zipOf({ "index.html": `<title>${owner}</title>`, ...files });
  const headers = { "content-type": "application/zip" };
  const response = await fetch(`http://127.0.0.1:${port}/sites`, { method: "POST", headers, body });
  return `${((await response.json()) as { slug: string }).slug}.localhost`;
}

interface Strike {
  /** All that came back on the attacker's connection so far. */
  text(): string;
  end(): void;
}

/** Sends it and leaves the connection open. */
async function strike(port: number, { bytes }: Attack): Promise<Strike> {
  let text = "";
  const socket = connect(port, "127.0.0.1");
  socket.on("data", (chunk) => void (text += chunk.toString("latin1")));
  socket.on("error", () => {});
  socket.write(Buffer.from(bytes, "latin1"));
  for (let waited = 0; text === "" && waited < 80 && !socket.destroyed; waited += 10) await Bun.sleep(10);
  return { text: () => text, end: () => void socket.destroy() };
}

interface Tally {
  visits: number;
  /** Visitors whose connection was lost, or whose proxy said 5xx: no wrong answer. */
  lost: number;
}

/** A visitor: by a connection of its own, or by those that `fetch` keeps. Throws at another's answer. */
async function visit(front: Front, host: string, turn: number, tally: Tally): Promise<void> {
  const path = `/file${turn % FILES}`;
  let found: [number, string] | null = null;
  if (turn % 2 === 0) {
    const signal = AbortSignal.timeout(3_000);
    found = await fetch(`http://127.0.0.1:${front.port}${path}`, { headers: { host }, signal })
      .then(async (response): Promise<[number, string]> => [response.status, await response.text()])
      .catch(() => null);
  } else {
    const sent = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    const got = await rawAnswers(front.port, sent, ["GET"], 1_000).catch(() => []);
    if (got.length > 1) throw new Error(`a visitor's one request was answered ${got.length} times`);
    if (got[0]) found = [got[0].status, got[0].text];
  }
  tally.visits++;
  if (found === null || found[0] >= 500) return void tally.lost++;
  if (found[0] !== 200 || found[1] !== contentOf("victim", path)) {
    throw new Error(`a visitor asked for ${path} and got ${found[0]}: ${found[1].slice(0, 200)}`);
  }
}

async function attack(front: Front, hosts: { attacker: string; victim: string }): Promise<string> {
  const tally: Tally = { visits: 0, lost: 0 };
  const all = attacks(hosts.attacker, hosts.victim);
  const alone = front.name === "svc alone";
  for (const [n, one] of all.entries()) {
    const open = await strike(front.port, one);
    try {
      for (let visitor = 0; visitor < 4; visitor++) await visit(front, hosts.victim, n * 4 + visitor, tally);
      if (alone && !one.pipelined && open.text().includes(POISON)) throw new Error("the hidden request was answered");
    } catch (error) {
      throw new Error(`${front.name}, ${one.name}: ${(error as Error).message}`);
    } finally {
      open.end();
    }
    if (process.stderr.isTTY) process.stderr.write(`\r${front.name}: ${n + 1} of ${all.length} `);
  }
  return `${front.name}: ${all.length} attacks, ${tally.visits} visits, ${tally.lost} lost, none answered as another's`;
}

async function frontOf(name: string, folder: string, svc: number): Promise<Front | null> {
  if (name === "nothing") return { name: "svc alone", port: svc, stop: async () => {} };
  if (name === "naive") return naiveProxy(svc);
  return proxy(name, folder, svc);
}

async function throughGullible(): Promise<void> {
  const server = await gullibleServer((host, path) => contentOf(host.replace(".localhost", ""), path));
  const front = await naiveProxy(server.port);
  process.stdout.write(`${await attack(front, { attacker: "attacker.localhost", victim: "victim.localhost" })}\n`);
}

if (which === "gullible") {
  await throughGullible();
  process.exit(0);
}
await using dir = await temporaryFolder();
const svc = await startProcess(["--data-dir", `${dir.path}/data`, "--log", "off"]);
try {
  const hosts = { attacker: await deploy(svc.port, "attacker"), victim: await deploy(svc.port, "victim") };
  for (const name of which === "all" ? ["nothing", "naive", ...PROXY_NAMES] : [which]) {
    const front = await frontOf(name, dir.path, svc.port);
    if (!front) {
      process.stdout.write(`${name} is not installed: not tried\n`);
      process.exitCode = 1;
      continue;
    }
    try {
      process.stdout.write(`${await attack(front, hosts)}\n`);
    } finally {
      await front.stop();
    }
  }
} finally {
  svc.kill("SIGKILL");
  await svc.exited;
}
