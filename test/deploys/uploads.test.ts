/** CONTRACT 4.1: how much of an upload is read, and how many an address may have under way. */
import { expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { holdWrites } from "../kit/database.ts";
import { startProcess, temporaryFolder } from "../kit/process.ts";
import { startServer, ZIP } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { until } from "../kit/until.ts";
import { beginUpload } from "../kit/uploads.ts";
import { zipOf } from "../kit/zip.ts";
import { MB, residentBytes } from "../torture/parts/figures.ts";

const MAX_ZIP = 100_000;
const server = await sharedServer("--max-files", "3", "--max-bytes", "50000", "--max-zip-bytes", String(MAX_ZIP));

const one = zipOf({ "index.html": "x" });
const noise = (length: number) => crypto.getRandomValues(new Uint8Array(length));

/** What a raw client gets back, until the server closes or answers with a whole head and `enough` says so. */
function raw(lines: string, body: Uint8Array[] = []): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(server.port, "127.0.0.1", () => {
      socket.write(lines);
      for (const chunk of body) socket.write(chunk);
    });
    socket.on("data", (chunk) => {
      answer += chunk.toString("latin1");
      if (answer.includes('"request_id"')) socket.destroy();
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", (error) => (answer ? resolve(answer) : reject(error)));
  });
}

test("A13 a zip that is announced too large is refused before its body is sent", async () => {
  const head = `POST /sites HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/zip\r\nContent-Length: 99000000000\r\n\r\n`;
  const answer = await raw(head);
  expect(answer).toStartWith("HTTP/1.1 413");
  expect(answer).toContain("zip_too_large");
});

test("A13 a chunked zip is read no further than one byte past the limit", async () => {
  const chunk = noise(MAX_ZIP / 2 + 1);
  const framed = Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n")]);
  const head =
    "POST /sites HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/zip\r\nTransfer-Encoding: chunked\r\n\r\n";
  const answer = await raw(head, [framed, framed]);
  expect(answer).toStartWith("HTTP/1.1 413");
});

const stuck = (port: number, count: number, header: (nth: number) => Record<string, string> = () => ({})) =>
  Promise.all(Array.from({ length: count }, (_, nth) => beginUpload(port, one, header(nth))));

test("an address has at most 16 uploads in flight; the next is 503 with Retry-After", async () => {
  const open = await stuck(server.port, 15);
  try {
    expect((await server.post(one)).status).toBe(200);
    open.push(...(await stuck(server.port, 1)));
    const response = await server.post(one);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ code: "unavailable" });
    expect(response.headers.get("retry-after")).toBe("1");
  } finally {
    for (const upload of open) upload.abandon();
  }
});

test("uploads that were given up free their places", () => until(async () => (await server.post(one)).status === 200));

test("the addresses of an IPv6 /64 are one: together they have at most 16", async () => {
  await using proxied = await startServer("--trust-proxy", "127.0.0.1");
  const open = await stuck(proxied.port, 16, (nth) => ({ "X-Forwarded-For": `2001:db8::${(nth + 1).toString(16)}` }));
  const ask = async (address: string) =>
    (await proxied.api("/sites", { method: "POST", body: one, headers: { ...ZIP, "x-forwarded-for": address } }))
      .status;
  try {
    expect(await ask("2001:db8::ffff")).toBe(503);
    expect(await ask("2001:db8:0:1::1")).toBe(200);
  } finally {
    for (const upload of open) upload.abandon();
  }
});

test("what uploads hold together is bounded: of one IPv6 /48, of who has some already, and of all", async () => {
  await using proxied = await startServer("--trust-proxy", "127.0.0.1", "--max-zip-bytes", String(one.length));
  const begin = (address: string) => beginUpload(proxied.port, one, { "X-Forwarded-For": address });
  const ask = async (address: string) =>
    (await proxied.api("/sites", { method: "POST", body: one, headers: { ...ZIP, "x-forwarded-for": address } }))
      .status;
  const household = (nth: number) => `2001:db8:1:${nth.toString(16)}::1`;
  const open = await Promise.all(Array.from({ length: 16 }, (_, nth) => begin(household(nth))));
  try {
    expect(await ask(household(16))).toBe(503);
    expect(await ask("192.0.2.1")).toBe(200);
    open.push(...(await Promise.all(Array.from({ length: 8 }, () => begin("192.0.2.1")))));
    expect(await ask("192.0.2.1")).toBe(503);
    for (let nth = 2; nth < 26; nth++) open.push(await begin(`192.0.2.${nth}`));
    expect(await ask("192.0.2.26")).toBe(503);
    open.pop()!.abandon();
    await until(async () => (await ask("192.0.2.26")) === 200);
  } finally {
    for (const upload of open) upload.abandon();
  }
});

test("a deploy is in flight until it is answered: of forty at once some are 503, and none is lost", async () => {
  await using own = await startServer();
  const writes = holdWrites(own.data_dir);
  let refused = 0;
  const send = async (_: unknown, n: number) => {
    const { status } = await own.post(zipOf({ "index.html": `at once ${n}` }));
    if (status === 503) refused++;
    return status;
  };
  const statuses = Promise.all(Array.from({ length: 40 }, send));
  // None of the others is answered before the database is free.
  await until(() => refused === 24);
  writes.letGo();
  const others = (await statuses).filter((status) => status !== 503);
  expect(others).toEqual(Array.from({ length: 16 }, () => 200));
});

test("an upload on its way is in a file and not in memory, and leaves none where it is given up", async () => {
  await using folder = await temporaryFolder();
  const own = await startProcess(["--data-dir", folder.path, "--log", "off"]);
  const files = () =>
    readdirSync(join(folder.path, "tmp")).map((name) => statSync(join(folder.path, "tmp", name)).size);
  const written = () => files().reduce((sum, size) => sum + size, 0);
  const body = new Uint8Array(5_000_000).fill(7);
  const before = residentBytes(own.pid);
  const open = await Promise.all(Array.from({ length: 16 }, () => beginUpload(own.port, body)));
  try {
    await until(() => written() === 16 * (body.length >> 1));
    // Of the 40 that were sent. What is free goes back to the system a moment later.
    await until(() => residentBytes(own.pid) - before < 20 * MB);
  } finally {
    for (const upload of open) upload.abandon();
  }
  await until(() => files().length === 0);
  own.kill("SIGTERM");
  expect(await own.exited).toBe(0);
});

test("the limits hold on both sides: exactly at each bound a deploy is taken", async () => {
  expect((await server.post(zipOf({ a: "1", b: "2", c: "3" }))).status).toBe(200);
  expect((await server.post(zipOf({ a: "x".repeat(40_000), b: "y".repeat(10_000) }))).status).toBe(200);
});
