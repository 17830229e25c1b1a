/** Asks the server for the page, and nothing else: whatever the page asks for comes through here. */

/** A page asks for a few hundred files; one that goes on is a loop. */
const MOST_REQUESTS = 2000;
const MOST_BYTES = 128 * 1024 * 1024;
const AT_ONCE = 12;
const LARGE = 4 * 1024 * 1024;

/** What the server's answer may hang on. Nothing that a proxy would set: the page must not choose its address. */
const HEADERS = [
  "accept",
  "accept-encoding",
  "accept-language",
  "if-none-match",
  "if-range",
  "range",
  "sec-fetch-dest",
  "sec-fetch-mode",
  "sec-fetch-site",
  "service-worker",
  "user-agent",
];
/** They say how the server's answer came, not what it is. */
const HOP = ["connection", "keep-alive", "transfer-encoding", "alt-svc"];

const refused = (status: number, why: string): Response =>
  new Response(`${why}\n`, { status, headers: { "content-type": "text/plain", "cache-control": "no-store" } });

function passedOn(request: Request, host: string): Headers {
  const headers = new Headers({ host });
  for (const name of HEADERS) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  return headers;
}

interface Options {
  /** `http://127.0.0.1:8787`. */
  server: string;
  /** See own-hosts.ts. */
  hostOf: (asked: string | null) => string | null;
}

/** A handler for what the browser asks. A page only reads: what would write is answered as the server answers it. */
export function createUpstream({ server, hostOf }: Options): (request: Request) => Promise<Response> {
  let asked = 0;
  let bytes = 0;
  let busy = 0;

  async function ask(request: Request, host: string): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const answer = await fetch(`${server}${pathname}${search}`, {
      method: request.method,
      headers: passedOn(request, host),
      redirect: "manual",
      decompress: false,
      tls: { rejectUnauthorized: false },
    } as BunFetchRequestInit);
    const headers = new Headers(answer.headers);
    for (const name of HOP) headers.delete(name);
    const size = Number(answer.headers.get("content-length") ?? 0);
    bytes += size;
    if (request.method === "HEAD") return new Response(null, { status: answer.status, headers });
    // A large file passes through; small ones are read at once, which frees their place for the next.
    const body = size > LARGE ? answer.body : await answer.arrayBuffer();
    return new Response(body, { status: answer.status, headers });
  }

  return async (request) => {
    const host = hostOf(request.headers.get("host"));
    if (host === null) return refused(403, "The render engine asks no host but the site's own.");
    if (request.method !== "GET" && request.method !== "HEAD") return refused(405, "The render engine only reads.");
    if (++asked > MOST_REQUESTS || bytes > MOST_BYTES) return refused(429, "The page asks for too much.");
    while (busy >= AT_ONCE) await Bun.sleep(2);
    busy++;
    try {
      return await ask(request, host);
    } catch {
      return refused(502, "The server did not answer.");
    } finally {
      busy--;
    }
  };
}
