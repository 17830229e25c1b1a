/** The client that library, CLI and drop zone share: files become a zip and a deploy. Makes a new site of files: the
 *  library's one call to the service. */
import { TooLongAnswer, readAtMost } from "./bounded-body.ts";
import { type Challenge, MOST_PROOFS, solve } from "./challenge.ts";
import { fetchService } from "./fetch.ts";
import { zipFiles } from "./zip.ts";
import { BUILT_IN_SERVER } from "./default-server.ts";

type Handle = (request: Request) => Response | Promise<Response>;

export interface DeployOptions {
  /** Relative path (`/` separators) to bytes. */
  files: ReadonlyMap<string, Uint8Array> | Readonly<Record<string, Uint8Array>>;
  /** An account session token, sent as it is. Without one the site is anonymous and expires. */
  apiKey?: string;
  /** The API host. Default: `DEPLOY_URL`, else `http://localhost:8787`. */
  baseUrl?: string;
  /** Replaces `fetch`. */
  handle?: Handle;
}

export interface NextAction {
  action: string;
  description: string;
  command?: string;
  method?: string;
  url?: string;
  when?: string;
}

export interface DeployResult {
  url: string;
  slug: string;
  site_id: string;
  version_id: string;
  /** Epoch milliseconds; null when owned. */
  expires_at: number | null;
  manage_token: string;
  /** Only on anonymous deploys. */
  claim_token?: string;
  /** Only on anonymous deploys: opened in a browser, it claims the site. */
  claim_url?: string;
  /** Only on owned deploys. */
  owner_account_id?: string;
  next_actions: NextAction[];
  /** The faults that the service fixed. */
  healed: { code: string; message: string; path?: string; reason?: string }[];
  /** The faults that it could not fix, each with the change to make. */
  warnings: { code: string; message: string; path?: string; fix_recipe: string }[];
  render: {
    status: "pending" | "done" | "failed";
    /** Why the page could not be seen. */
    reason?: string;
    screenshot_key?: string;
    console: unknown[];
    failed_requests: unknown[];
    dom_summary: unknown;
    /** Faults that only a browser could see. */
    warnings?: { code: string; message: string; path?: string; fix_recipe: string }[];
  };
}

function* entriesOf(files: DeployOptions["files"]): Generator<[string, Uint8Array]> {
  for (const [path, bytes] of Symbol.iterator in files ? files : Object.entries(files)) {
    if (!ArrayBuffer.isView(bytes)) throw failed(`files: "${path}" must be a Uint8Array`, bytes);
    yield [path, new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)];
  }
}

/** `proof` is the solved challenge, if the service demanded one. */
function deployRequest(zip: Uint8Array<ArrayBuffer>, base: string, apiKey: string | undefined, proof: string | null) {
  const headers: Record<string, string> = { "content-type": "application/zip", accept: "application/json" };
  if (apiKey !== undefined && apiKey !== "") headers["authorization"] = `Bearer ${apiKey}`;
  if (proof !== null) headers["svc-challenge"] = proof;
  return new Request(`${base}/sites`, { method: "POST", headers, body: zip });
}

class DeployFailure extends Error {
  constructor(detail: string, cause: unknown) {
    super(`deploy failed: ${detail}`, { cause });
    // The name that callers have always seen.
    this.name = "Error";
  }
}

const failed = (detail: string, cause: unknown): Error => new DeployFailure(detail, cause);

/** Runs a step. An error in it that is no failure of the deploy becomes one: `detail`, with the error as its cause. */
async function orFail<Result>(detail: string, step: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await step();
  } catch (error) {
    throw error instanceof DeployFailure ? error : failed(detail, error);
  }
}

/** The transport, if the caller has none of its own. */
async function send(request: Request): Promise<Response> {
  const { url, method, headers } = request;
  const body = await request.arrayBuffer();
  return fetchService(url, () => ({ method, headers: Object.fromEntries(headers), body }));
}

interface ServiceAnswer {
  response: Response;
  /** Null if it is no JSON. */
  body: unknown;
  text: string;
}

async function answerTo(request: Request, handle: Handle): Promise<ServiceAnswer> {
  const { origin } = new URL(request.url);
  const response = await orFail(`could not reach ${origin}`, () => handle(request));
  const text = await orFail(`the answer of ${origin} broke off`, () => readTextAtMost(response)).catch(
    (error: Error) => {
      throw error.cause instanceof TooLongAnswer ? failed(`${origin} sent ${error.cause.message}`, error.cause) : error;
    },
  );
  try {
    return { response, text, body: JSON.parse(text) };
  } catch {
    return { response, text, body: null };
  }
}

async function prove(base: string, handle: Handle): Promise<string> {
  const headers = { accept: "application/json" };
  const { body } = await answerTo(new Request(`${base}/challenge`, { method: "POST", headers }), handle);
  const { challenge, bits } = Object(body) as Partial<Challenge>;
  if (typeof challenge !== "string" || typeof bits !== "number") throw failed("the service gave no challenge", body);
  return solve({ challenge, bits }).catch((error: Error) => {
    throw failed(error.message, error);
  });
}

async function deployed(options: DeployOptions): Promise<DeployResult> {
  const { files, apiKey, handle = send } = options;
  const base = (options.baseUrl ?? defaultServer()).replace(/\/+$/, "");
  const zip = await zipFiles(entriesOf(files));
  let answer = await answerTo(deployRequest(zip, base, apiKey, null), handle);
  for (let left = MOST_PROOFS; left > 0 && asksForProof(answer.body); left--) {
    answer = await answerTo(deployRequest(zip, base, apiKey, await prove(base, handle)), handle);
  }
  const { response, body, text } = answer;
  const { url, error } = Object(body) as { url?: unknown; error?: unknown };
  if (response.ok && typeof url === "string") return body as DeployResult;
  throw failed(typeof error === "string" ? error : `${response.status} ${response.statusText}`.trim(), body ?? text);
}

/**
 * Deploys files as a new site and resolves to its live URL and tokens. Throws `deploy failed: <detail>`; the error's
 * `cause` is the body that the service answered, with `code`, or what broke. If the service demands a proof of work of
 * anonymous deploys, it is made here.
 *
 * @example
 * const { url, manage_token } = await deploySite({ files: await collectDist("dist") });
 */
export async function deploySite(options: DeployOptions): Promise<DeployResult> {
  try {
    return await deployed(options);
  } catch (error) {
    if (error instanceof DeployFailure) throw error;
    throw failed((error as Error).message, error);
  }
}

const readTextAtMost = async (response: Response, most?: number): Promise<string> =>
  new TextDecoder().decode(await readAtMost(response, most));

/** Whether the body is a refusal that a proof can lift. */
const asksForProof = (body: unknown): boolean => (Object(body) as { code?: unknown }).code === "challenge_failed";

/** `DEPLOY_URL`, else the URL of the build, else a server on this machine. */
const defaultServer = (): string => process.env["DEPLOY_URL"] || BUILT_IN_SERVER;
