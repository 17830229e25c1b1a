/** The start page in Chromium with everything a person can hand to it, and a proxy before the server that can answer in
 *  its place, hold an answer back, or lose it. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer as createFront, type Socket } from "node:net";
import { join } from "node:path";
import { mkdir, writeFile } from "node:fs/promises";
import { PASSWORD } from "../../kit/people.ts";
import { temporaryFolder } from "../../kit/process.ts";
import { type Setting, startServer, type TestServer } from "../../kit/server.ts";
import { until } from "../../kit/until.ts";
import { type Browser, openBrowser } from "../chromium.ts";
import { newAddress } from "../people-world.ts";

/** What becomes of a deploy's answer: one in its place, or the server's own, lost or held until the promise ends. */
type Fate =
  { status: number; body?: Record<string, unknown>; headers?: Record<string, string> } | "lost" | Promise<void>;

interface Deploy {
  path: string;
  headers: IncomingMessage["headers"];
  bytes: number;
}

export interface ZoneWorld extends AsyncDisposable {
  server: TestServer;
  browser: Browser;
  base: string;
  /** Fates of the next deploys, first come first. */
  fates: Fate[];
  /** The deploys that came. */
  deploys: Deploy[];
  /** From now on the server reads nothing of a deploy, or again. */
  stall(yes: boolean): void;
  /** Writes files below a folder that ends with the test, and returns its path. */
  folder(name: string, files: Record<string, string | Uint8Array>): Promise<string>;
  open(path?: string): Promise<void>;
  drag(...paths: string[]): Promise<void>;
  drop(...paths: string[]): Promise<void>;
  choose(kind: "folder" | "files", ...paths: string[]): Promise<void>;
  paste(text: string, target?: string): Promise<void>;
  /** Every text of the page's status since the page was opened, each once. */
  statuses(): Promise<string[]>;
  /** The zone's state. */
  state(): Promise<string>;
  in(state: string): Promise<void>;
  /** What the alert says, once there is one. */
  alert(): Promise<string>;
  /** From now on no request of the browser goes out, or again. */
  offline(yes: boolean): Promise<void>;
  /** Somebody new is signed in from the next page on. */
  signUp(): Promise<void>;
}

/** Chromium sends a request again by itself where a connection that it had used before breaks. */
const CLOSE = { connection: "close" };

async function bodyOf(request: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

async function forward(request: IncomingMessage, body: Buffer<ArrayBuffer>, port: number): Promise<Response> {
  const { method = "GET", url = "/", headers } = request;
  const bodied = method !== "GET" && method !== "HEAD";
  return fetch(`http://127.0.0.1:${port}${url}`, {
    method,
    headers: { ...(headers as Record<string, string>), connection: "close" },
    ...(bodied && { body }),
    redirect: "manual",
    decompress: false,
  });
}

async function answer(response: ServerResponse, from: Response): Promise<void> {
  response.writeHead(from.status, { ...Object.fromEntries(from.headers), ...CLOSE });
  response.end(Buffer.from(await from.arrayBuffer()));
}

const isDeploy = ({ method, url = "" }: IncomingMessage): boolean =>
  method === "POST" && /^\/sites(\/\w+\/deploys)?$/.test(url);

/** Handles one request; `port`: the server's. */
async function handle(
  { fates, deploys, cut }: Pick<ZoneWorld, "fates" | "deploys"> & { cut(): void },
  port: number,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await bodyOf(request);
  if (body.length !== Number(request.headers["content-length"] ?? 0)) return; // its sender went away
  if (!isDeploy(request)) return answer(response, await forward(request, body, port));
  deploys.push({ path: request.url!, headers: request.headers, bytes: body.length });
  const fate = fates.shift();
  if (fate && !(fate instanceof Promise) && typeof fate === "object") {
    const { status, body: content = {}, headers = {} } = fate;
    response.writeHead(status, {
      ...CLOSE,
      "content-type": "application/json",
      "x-request-id": "req_test",
      ...headers,
    });
    return void response.end(JSON.stringify(content));
  }
  const from = await forward(request, body, port);
  if (fate === "lost") return cut();
  await fate;
  await answer(response, from);
}

const RECORD = `addEventListener("DOMContentLoaded", () => {
  window.told = [];
  const note = () => {
    const status = document.querySelector('[data-part="status"]')?.cloneNode(true);
    status?.querySelectorAll("[aria-hidden]").forEach((figures) => figures.remove()); // nobody hears them
    const text = status?.textContent;
    if (text && told.at(-1) !== text) told.push(text);
  };
  new MutationObserver(note).observe(document, { subtree: true, childList: true, characterData: true });
})`;

/** Middle of the page: a drop counts anywhere on it. */
export const POINT = { x: 150, y: 300 };

function hands(browser: Browser) {
  const drag = async (type: string, files: string[]): Promise<void> => {
    const data = { items: [], files, dragOperationsMask: 1 };
    await browser.cdp("Input.dispatchDragEvent", { type, ...POINT, data });
  };
  return {
    async drag(...paths: string[]) {
      await drag("dragEnter", paths);
      await drag("dragOver", paths);
    },
    async drop(...paths: string[]) {
      for (const type of ["dragEnter", "dragOver", "drop"]) await drag(type, paths);
    },
    async choose(kind: string, ...files: string[]) {
      const expression = `document.querySelector('input[data-pick="${kind}"]')`;
      const { result } = await browser.cdp<{ result: { objectId: string } }>("Runtime.evaluate", { expression });
      await browser.cdp("DOM.setFileInputFiles", { objectId: result.objectId, files });
    },
    async paste(text: string, target = "document.body") {
      await browser.evaluate(`(() => {
        const clipboardData = new DataTransfer();
        clipboardData.setData("text/plain", ${JSON.stringify(text)});
        ${target}.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
      })()`);
    },
  };
}

/** Connections as they come, which can be cut and left unread. */
function front(port: () => number) {
  const open = new Set<Socket>();
  let stalled = false;
  const server = createFront((client) => {
    const upstream = connect(port(), "127.0.0.1");
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(one);
      one.on("error", () => {});
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
    }
    upstream.pipe(client);
    client.once("data", (begins: Buffer) => {
      if (stalled && begins.toString("latin1").startsWith("POST /sites")) return void client.pause();
      upstream.write(begins);
      client.pipe(upstream);
    });
  });
  return {
    server,
    stall: (yes: boolean) => void (stalled = yes),
    cut: () => open.forEach((socket) => socket.destroy()),
  };
}

const listening = (server: { listen(port: number, host: string, then: () => void): unknown; address(): unknown }) =>
  new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });

export async function openZone(...settings: Setting[]): Promise<ZoneWorld> {
  const queues = { fates: [] as Fate[], deploys: [] as Deploy[] };
  const port = { server: 0, proxy: 0 };
  const wires = front(() => port.proxy);
  const proxy = createServer((request, response) => {
    handle({ ...queues, cut: wires.cut }, port.server, request, response).catch(wires.cut);
  });
  port.proxy = await listening(proxy);
  const base = `http://localhost:${await listening(wires.server)}`;
  const server = await startServer("--base-url", base, ...settings);
  port.server = server.port;
  const browser = await openBrowser();
  await browser.cdp("Page.addScriptToEvaluateOnNewDocument", { source: RECORD });
  const made = await temporaryFolder();
  const state = () => browser.evaluate<string>(`document.querySelector("[data-zone]")?.dataset.state ?? ""`);
  const reached = (wanted: string) => until(async () => (await state().catch(() => "")) === wanted);
  return {
    ...queues,
    ...hands(browser),
    stall: wires.stall,
    server,
    browser,
    base,
    async folder(name, files) {
      for (const [path, content] of Object.entries(files)) {
        const at = join(made.path, name, path);
        await mkdir(join(at, ".."), { recursive: true });
        await writeFile(at, content);
      }
      return join(made.path, name);
    },
    async open(path = "/") {
      // A page that is busy would ask whether to leave it.
      await browser.evaluate("window.onbeforeunload = null");
      await browser.visit(base + path);
    },
    statuses: () => browser.evaluate<string[]>("window.told"),
    state,
    in: reached,
    async alert() {
      await reached("failed");
      return browser.evaluate<string>(`document.querySelector('[role="alert"]').innerText`);
    },
    async offline(yes) {
      const free = { latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
      await browser.cdp("Network.emulateNetworkConditions", { offline: yes, ...free });
    },
    async signUp() {
      const account = JSON.stringify({ email: newAddress("zone"), password: PASSWORD });
      await browser.evaluate(`fetch("/auth/signup", { method: "POST", headers: { "content-type": "application/json" },
        body: ${JSON.stringify(account)} }).then((response) => response.text()).then(() => {})`);
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      wires.cut();
      wires.server.close();
      proxy.close();
      await server[Symbol.asyncDispose]();
      await made[Symbol.asyncDispose]();
    },
  };
}

/** The page as a stranger has it who was never here, nothing of what came before counted. */
export async function openAnew({ browser, open, deploys, fates }: ZoneWorld): Promise<void> {
  await browser.cdp("Network.clearBrowserCookies");
  await open();
  await browser.evaluate("localStorage.clear()");
  await open();
  [deploys.length, fates.length] = [0, 0];
}

/** What was published, as the API tells it. */
export async function lastSite({ browser }: ZoneWorld): Promise<{ url: string; version_id: string; site_id: string }> {
  return browser.evaluate(`(() => {
    const facts = [...document.querySelectorAll("section.receipt dd")].map((one) => one.textContent);
    return { url: document.querySelector("section.receipt .url a").href, site_id: facts[0], version_id: facts[1] };
  })()`);
}
