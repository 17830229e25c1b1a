/** What stands before svc: nothing, a proxy of a Debian package with connections kept alive, and a naive one of our own
 *  that goes by Content-Length, passes everything on as it is and shares one connection among all visitors. */
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { writeFileSync } from "node:fs";

export interface Front {
  name: string;
  port: number;
  stop(): Promise<void>;
}

function freePort(): number {
  const probe = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = probe;
  probe.stop(true);
  return port;
}

async function answers(port: number): Promise<boolean> {
  for (let tries = 0; tries < 100; tries++) {
    const ok = await fetch(`http://127.0.0.1:${port}/healthz`).then(
      (r) => r.status < 500,
      () => false,
    );
    if (ok) return true;
    await Bun.sleep(50);
  }
  return false;
}

const PROXIES: Record<string, (folder: string, port: number, to: number) => { conf: string; argv: string[] }> = {
  nginx: (folder, port, to) => ({
    conf: `pid ${folder}/nginx.pid; error_log ${folder}/nginx.log; worker_processes 1; daemon off;
      events { worker_connections 512; }
      http { access_log off; client_body_temp_path ${folder}/b; proxy_temp_path ${folder}/p; fastcgi_temp_path ${folder}/f;
        uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
        upstream svc { server 127.0.0.1:${to}; keepalive 4; }
        server { listen 127.0.0.1:${port}; client_max_body_size 6m;
          location / { proxy_pass http://svc; proxy_http_version 1.1; proxy_set_header Connection "";
            proxy_set_header Host $http_host; proxy_request_buffering off; } } }`,
    argv: ["nginx", "-e", `${folder}/nginx.log`, "-c"],
  }),
  caddy: (_, port, to) => ({
    conf: `{\n admin off\n auto_https off\n}\nhttp://:${port} {\n bind 127.0.0.1\n reverse_proxy 127.0.0.1:${to}\n}\n`,
    argv: ["caddy", "run", "--adapter", "caddyfile", "--config"],
  }),
  haproxy: (_, port, to) => ({
    conf: `defaults\n mode http\n timeout connect 5s\n timeout client 30s\n timeout server 30s\n http-reuse always\n
frontend f\n bind 127.0.0.1:${port}\n default_backend b\nbackend b\n server s 127.0.0.1:${to}\n`,
    argv: ["haproxy", "-db", "-f"],
  }),
};
export const PROXY_NAMES = Object.keys(PROXIES);

/** Null where its program is not installed. */
export async function proxy(name: string, folder: string, to: number): Promise<Front | null> {
  if (!Bun.which(name)) return null;
  const port = freePort();
  const { conf, argv } = PROXIES[name]!(folder, port, to);
  const file = join(folder, `${name}.conf`);
  writeFileSync(file, conf);
  const child = Bun.spawn([...argv, file], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: Bun.file(join(folder, `${name}.err`)),
    env: { PATH: process.env.PATH ?? "", HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  const stop = async () => {
    child.kill("SIGTERM");
    const late = setTimeout(() => child.kill("SIGKILL"), 3_000);
    await child.exited;
    clearTimeout(late);
  };
  if (await answers(port)) return { name, port, stop };
  await stop();
  throw new Error(`${name} does not answer: ${await Bun.file(join(folder, `${name}.err`)).text()}`);
}

/** The whole of the first message, by Content-Length; null while it is not there. */
function firstMessage(text: string): string | null {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return null;
  const head = text.slice(0, end);
  const bodiless = /^HTTP\/1.1 304/.test(head);
  const size = end + 4 + (bodiless ? 0 : Number(/^content-length: *(\d+) *$/im.exec(head)?.[1] ?? 0));
  return text.length >= size ? text.slice(0, size) : null;
}

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as { port: number }).port;
};

const PATIENCE_MS = 60;
const GONE = "HTTP/1.1 502 Gone\r\nContent-Length: 0\r\n\r\n";

/** One connection for all: an answer that nobody waits for is the next visitor's, and that is what is naive. */
function sharedConnection(to: number) {
  let upstream: Socket | null = null;
  let received = "";
  const waiting: ((answer: string) => void)[] = [];
  function deliver(): void {
    for (
      let message = firstMessage(received);
      message !== null && waiting.length > 0;
      message = firstMessage(received)
    ) {
      received = received.slice(message.length);
      if (!message.startsWith("HTTP/1.1 1")) waiting.shift()!(message); // an interim answer is not the answer
    }
  }
  function connected(): Socket {
    if (upstream) return upstream;
    const socket = connect(to, "127.0.0.1");
    received = "";
    socket.setTimeout(PATIENCE_MS, () => waiting.length > 0 && socket.destroy());
    socket.on("data", (bytes) => {
      received += bytes.toString("latin1");
      deliver();
    });
    const gone = () => {
      if (upstream === socket) upstream = null;
      for (const answer of waiting.splice(0)) answer(GONE);
    };
    socket.on("error", gone).on("close", gone);
    return (upstream = socket);
  }
  return {
    ask(message: string, answer: (text: string) => void): void {
      const socket = connected();
      waiting.push(answer);
      deliver();
      socket.write(Buffer.from(message, "latin1"));
    },
    end: () => void upstream?.destroy(),
  };
}

function answerTo(client: Socket, message: string): (text: string) => void {
  const last = /^connection: close/im.test(message);
  return (text) => {
    if (!client.writable) return;
    client.write(Buffer.from(text, "latin1"));
    if (last) client.end();
  };
}

export async function naiveProxy(to: number): Promise<Front> {
  const shared = sharedConnection(to);
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    let text = "";
    clients.add(client);
    client.on("error", () => client.destroy()).on("close", () => clients.delete(client));
    client.on("data", (bytes) => {
      text += bytes.toString("latin1");
      for (let message = firstMessage(text); message !== null; message = firstMessage(text)) {
        text = text.slice(message.length);
        shared.ask(message, answerTo(client, message));
      }
    });
  });
  const port = await listen(server);
  const stop = async () => {
    shared.end();
    for (const client of clients) client.destroy();
    server.close();
  };
  return { name: "a naive proxy", port, stop };
}

/** What svc must not be: it goes by chunks wherever it reads the word, and answers what is left over as a request. */
export async function gullibleServer(answer: (host: string, path: string) => string): Promise<Front> {
  const server = createServer((client) => {
    let text = "";
    client.on("error", () => client.destroy());
    client.on("data", (bytes) => {
      text += bytes.toString("latin1");
      for (let end = text.indexOf("\r\n\r\n"); end !== -1; end = text.indexOf("\r\n\r\n")) {
        const head = text.slice(0, end);
        const chunked = /chunked/i.test(head);
        const last = chunked ? text.indexOf("0\r\n\r\n", end + 4) : end;
        if (last === -1) return;
        text = text.slice(last + (chunked ? 5 : 4));
        const body = answer(/^host: *(\S+)/im.exec(head)?.[1] ?? "", head.split(" ")[1] ?? "/");
        client.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      }
    });
  });
  const port = await listen(server);
  return { name: "a gullible server", port, stop: async () => void server.close() };
}
