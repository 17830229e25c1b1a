/** A bucket that fails on demand. What a real one is (signatures, listings, checksums) is tried with Ceph's gateway by
 *  `bun run torture bucket`; here are the answers that one seldom gives. */
import { createHash } from "node:crypto";

export interface Bucket extends Disposable {
  /** For SVC_S3_ENDPOINT. */
  endpoint: string;
  env: Record<string, string>;
  objects: Map<string, { bytes: Uint8Array; at: number }>;
  /** Method and key of each request, in turn. */
  requests: string[];
  /** Called before each request is answered: a Response is the answer instead. A listing has its prefix for a key. */
  before: (method: string, key: string) => Response | undefined | Promise<Response | undefined>;
}

const refusal = (status: number, code: string): Response =>
  new Response(`<Error><Code>${code}</Code></Error>`, { status, headers: { "content-type": "application/xml" } });

function listing(objects: Bucket["objects"], query: URLSearchParams): Response {
  const [prefix, after] = [query.get("prefix") ?? "", query.get("start-after") ?? ""];
  const all = [...objects]
    .filter(([key]) => key.startsWith(prefix) && key > after)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const rows = all.slice(0, 1000).map(([key, { bytes, at }]) => {
    const modified = new Date(at).toISOString();
    return `<Contents><Key>${key}</Key><LastModified>${modified}</LastModified><Size>${bytes.length}</Size></Contents>`;
  });
  const more = all.length > 1000;
  return new Response(
    `<?xml version="1.0"?><ListBucketResult><IsTruncated>${more}</IsTruncated>${rows.join("")}</ListBucketResult>`,
    { headers: { "content-type": "application/xml" } },
  );
}

export function startBucket(): Bucket {
  const objects: Bucket["objects"] = new Map();
  const requests: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      const name = decodeURIComponent(pathname).replace(/^\/bucket\/?/, "");
      const key = name === "" ? (searchParams.get("prefix") ?? "") : name;
      const body = request.method === "PUT" ? await request.bytes() : null;
      requests.push(`${request.method} ${key}`);
      const instead = await bucket.before(request.method, key);
      if (instead !== undefined) return instead;
      if (body !== null) {
        const md5 = request.headers.get("content-md5");
        if (md5 !== null && md5 !== createHash("md5").update(body).digest("base64")) return refusal(400, "BadDigest");
        if (request.headers.get("if-none-match") === "*" && objects.has(key)) return refusal(412, "PreconditionFailed");
        objects.set(key, { bytes: body, at: Date.now() });
        return new Response();
      }
      if (request.method === "DELETE") return new Response(null, { status: (objects.delete(key), 204) });
      if (name === "") return listing(objects, searchParams);
      const found = objects.get(key);
      return found === undefined ? refusal(404, "NoSuchKey") : new Response(found.bytes as Uint8Array<ArrayBuffer>);
    },
  });
  const endpoint = server.url.origin;
  const bucket: Bucket = {
    endpoint,
    env: {
      SVC_S3_ENDPOINT: endpoint,
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: "key",
      AWS_SECRET_ACCESS_KEY: "a-secret-that-no-sentence-says",
    },
    objects,
    requests,
    before: () => undefined,
    [Symbol.dispose]: () => void server.stop(true),
  };
  return bucket;
}
