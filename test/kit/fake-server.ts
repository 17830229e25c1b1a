/** A server that says what a test wants, for what our own never says. */

/** A server that answers what a test wants, and remembers what it was asked. */
export interface FakeServer {
  url: string;
  asked: { method: string; path: string; headers: Headers; bytes: number }[];
  stop(): Promise<void>;
}

export const LIMITS = { max_files: 200, max_bytes: 10_485_760, max_zip_bytes: 5_242_880, anonymous_ttl_ms: 1 };

/** `answer` gets the requests that are not for /limits. */
export function fakeServer(
  answer: (path: string, nth: number, request: Request) => Response | Promise<Response>,
  limits = LIMITS,
): FakeServer {
  const asked: FakeServer["asked"] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    development: false,
    async fetch(request) {
      const path = new URL(request.url).pathname;
      if (path === "/limits") return Response.json(limits);
      const { length } = await request.clone().bytes();
      asked.push({ method: request.method, path, headers: request.headers, bytes: length });
      return answer(path, asked.length, request);
    },
  });
  return { url: `http://localhost:${server.port}`, asked, stop: () => server.stop(true) };
}

/** A server's answer to a first deploy. */
export const DEPLOYED = {
  url: "http://calm-otter-x3k9.localhost:8787",
  slug: "calm-otter-x3k9",
  site_id: "site_0123456789abcdefghij",
  version_id: "0123456789abcdef",
  expires_at: Date.now() + 14 * 86_400_000,
  manage_token: "svc_manage_fake",
  claim_token: "svc_claim_fake",
  next_actions: [],
  healed: [],
  warnings: [],
  render: { status: "pending", console: [], failed_requests: [], dom_summary: null },
};

/** A device code as a server gives it. */
export function deviceCode({ url }: Pick<FakeServer, "url">, more: object = {}) {
  const verification_uri = `${url}/device`;
  return {
    device_code: "svc_device_x",
    user_code: "BCDF-GHJK",
    verification_uri,
    verification_uri_complete: `${verification_uri}?user_code=BCDF-GHJK`,
    expires_in: 900,
    interval: 5,
    ...more,
  };
}

/** A proxy that passes 2 MB on and then waits 150 ms, so that an upload takes a while. */
export function throttled(port: number): { url: string; stop(): void } {
  const proxy = Bun.listen<{ upstream: Bun.Socket; passed: number }>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      async open(client) {
        client.pause();
        const upstream = await Bun.connect({
          hostname: "127.0.0.1",
          port,
          socket: { data: (_, bytes) => void client.write(bytes), close: () => void client.end() },
        });
        client.data = { upstream, passed: 0 };
        client.resume();
      },
      data(client, bytes) {
        client.data.upstream.write(bytes);
        client.data.passed += bytes.length;
        if (client.data.passed < 2_000_000) return;
        client.data.passed = 0;
        client.pause();
        setTimeout(() => client.resume(), 150);
      },
      close: (client) => void client.data?.upstream.end(),
    },
  });
  return { url: `http://localhost:${proxy.port}`, stop: () => proxy.stop(true) };
}
