/** The settings of a state that several machines share: a PostgreSQL database and a bucket in place of the data directory's own
 *  (SCALE 1). Unless the first two are set nothing is connected to. */
import {
  BUCKET,
  type BucketAddress,
  DURATION,
  duration,
  filled,
  quotaSize,
  type S3Access,
  secretOf,
  setting,
  variable,
  baseUrl,
} from "./setting.ts";
import { isAbsolute, resolve } from "node:path";
import { durationText, sizeText } from "../base/units.ts";

/** The names are libpq's. */
const SSL_MODES = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];
const PARAMETERS = ["sslmode", "sslrootcert", "host"];
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Whether each part is what it stands for: a bare `%` is none. */
function isDecodable(parts: readonly string[]): boolean {
  try {
    return parts.every((part) => decodeURIComponent(part) !== undefined);
  } catch {
    return false;
  }
}

/** With the folder of a socket in `host`, as libpq has it. The file of `sslrootcert` is named from this folder, and for processes that
 *  have another. */
function databaseUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^postgres(?:ql)?:$/.test(url.protocol) || !/^\/[^/]+$/.test(url.pathname)) return undefined;
  const { username, password, hostname, pathname, searchParams, hash } = url;
  if (username === "" || hostname === "" || hash !== "" || !isDecodable([username, password, pathname]))
    return undefined;
  const names = [...searchParams.keys()];
  if (names.some((name, n) => !PARAMETERS.includes(name) || names.indexOf(name) !== n)) return undefined;
  const [mode, folder] = [searchParams.get("sslmode"), searchParams.get("host")];
  if (folder !== null && !folder.startsWith("/")) return undefined;
  const is_here = folder !== null || LOOPBACK.test(hostname);
  if (mode === null ? !is_here : !SSL_MODES.some((known) => known === mode)) return undefined;
  const authority = searchParams.get("sslrootcert");
  if (authority === null || isAbsolute(authority)) return text;
  searchParams.set("sslrootcert", resolve(authority));
  return url.href;
}

export const SHARED_SETTINGS = {
  database_url: variable("DATABASE_URL", {
    fallback: null,
    meaning: "PostgreSQL in place of the data directory's database, for several servers that are one service",
    allowed:
      "postgres://user:password@host/name (% in a password is %25), with ?sslmode=verify-full where the host is another machine; beside that, sslrootcert and host alone",
    parse: databaseUrl,
    secret: true,
  }),
  blobs: variable("BLOBS", {
    fallback: null,
    meaning: "the bucket of the files of sites, beside such a database",
    allowed: "s3://bucket/prefix",
    parse: (text) => (BUCKET.test(text) ? text : undefined),
  }),
  cache_bytes: variable("CACHE_BYTES", {
    fallback: "10GB",
    meaning: "what of that bucket is kept in the data directory's cache; never the disk's last 15 %",
    allowed: "a size such as 500MB or 10GB",
    parse: quotaSize,
    show: sizeText,
    only_with: "SVC_DATABASE_URL",
  }),
  stale: variable("STALE", {
    fallback: "1d",
    meaning: "how long pages are shown while that database cannot be asked",
    allowed: DURATION,
    parse: duration,
    show: durationText,
    only_with: "SVC_DATABASE_URL",
  }),
  s3_endpoint: setting({
    flag: null,
    variables: ["SVC_S3_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"],
    fallback: null,
    meaning: "address of the buckets' service; default: Amazon's of the region",
    allowed: "an http or https URL without a path",
    parse: baseUrl,
  }),
  region: setting({
    flag: null,
    variables: ["AWS_REGION", "AWS_DEFAULT_REGION"],
    fallback: null,
    meaning: "region of the buckets",
    allowed: "a name such as eu-central-1",
    parse: filled,
  }),
  access_key_id: secretOf("AWS_ACCESS_KEY_ID", "access key of the buckets"),
  secret_access_key: secretOf("AWS_SECRET_ACCESS_KEY", "its secret key"),
  session_token: secretOf("AWS_SESSION_TOKEN", "session token of a key that ends"),
};

/** The place of the state that boxes share. */
export interface SharedStore {
  database_url: string;
  bucket: BucketAddress;
  stale_ms: number;
}

type SharedName = keyof typeof SHARED_SETTINGS;
type SharedValues = { [K in SharedName]: Exclude<ReturnType<(typeof SHARED_SETTINGS)[K]["parse"]>, undefined> | null };

/** The keys to buckets, and where those are. */
export const bucketAccess = (
  values: Pick<SharedValues, Exclude<SharedName, "database_url" | "blobs" | "cache_bytes" | "stale">>,
): S3Access => ({
  endpoint: values.s3_endpoint,
  region: values.region,
  access_key_id: values.access_key_id,
  secret_access_key: values.secret_access_key,
  session_token: values.session_token,
});

/** Why these settings do not go together; null where they do. */
export function unfitShared({ database_url, blobs, access_key_id, secret_access_key }: SharedValues): string | null {
  if ((database_url === null) !== (blobs === null)) {
    const [missing, set] =
      database_url === null ? ["SVC_DATABASE_URL", "SVC_BLOBS"] : ["SVC_BLOBS", "SVC_DATABASE_URL"];
    return `${missing} is missing: ${set} goes with it, the files with the database. Set both or neither.`;
  }
  if (blobs !== null && (access_key_id === null || secret_access_key === null)) {
    return "For the bucket in SVC_BLOBS set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.";
  }
  return null;
}

/** Null for a data directory that has all of it. */
export function sharedStore(values: SharedValues): SharedStore | null {
  const { database_url, blobs: url, cache_bytes, stale } = values;
  if (database_url === null || url === null) return null;
  return { database_url, bucket: { url, access: bucketAccess(values), cache_bytes: cache_bytes! }, stale_ms: stale! };
}
