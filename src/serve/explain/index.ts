/** Why an address answers as it does (BEYOND 5): a request goes through the code that answers visitors, which tells its
 *  steps on the way. Nothing of it is counted. */
import { asRefusal, Refusal } from "../../base/errors.ts";
import { Exchange, pathOf } from "../../http/exchange.ts";
import { nameOf } from "../../base/resolve.ts";
import { isNeverServed } from "../../base/reserved-paths.ts";
import type { RedirectRule } from "../../rules/types.ts";
import { DamagedBlob } from "../../store/refusals.ts";
import type { ManifestFile } from "../../base/types.ts";
import { askedOf, below, out, refuseUnlessServed, type Serving, type TriedBelow } from "../answering.ts";
import { errorPage } from "../error-page.ts";
import type { Answer, Body, FoundBy } from "../kept.ts";
import type { Hosted, Locate, SiteHost } from "../locate.ts";
import { type HeaderRule, headerRulesOf } from "./header-rules.ts";
import { type Step, stepOf } from "./words.ts";

type By = FoundBy | "slash" | "feed" | "page_404" | "service_404" | "reserved" | "state" | "invalid_path";

interface Explained {
  /** Of the version that the host shows; null where the site's state lets it show none. */
  version_id: string | null;
  status: number;
  by: By;
  file: ManifestFile | null;
  rule: RedirectRule | null;
  /** Without Date and X-Request-Id. */
  headers: Record<string, string>;
  header_rules: HeaderRule[];
  steps: Step[];
}

/** What the service answers on a site's host by itself; null in the end: the site does. */
export interface OwnAnswer {
  by: "reserved" | "feed";
  answer(): Promise<Response | null>;
}

/** Null where the site has no such host. */
export type Explain = (
  request: Request,
  host: SiteHost,
  own: (exchange: Exchange) => OwnAnswer | null,
) => Promise<Explained | null>;

interface Parts {
  locate: Locate;
  serving: Serving;
  /** Where to appeal against a takedown. */
  contact: string | null;
}

/** What is known of an answer before it is made. */
type Way = Pick<Explained, "by" | "file" | "rule" | "header_rules" | "steps"> & {
  respond(): Response | Promise<Response>;
  /** The body goes out in pieces: over HTTP/1.1 nobody is told its length. */
  streamed?: boolean;
};

const NOTHING = { file: null, rule: null, header_rules: [], steps: [] };
/** Nobody waits at the other end. */
const PEER = { address: () => null, extendTimeout: () => {}, crowded: () => false };

export function createExplain({ locate, serving, contact }: Parts): Explain {
  return async (request, host, own) => {
    const exchange = new Exchange(PEER);
    const respond = async (make: Way["respond"]): Promise<Response> => {
      try {
        return await make();
      } catch (error) {
        if (!(error instanceof Refusal || error instanceof DamagedBlob)) throw error;
        return errorPage(request, asRefusal(error), exchange, contact);
      }
    };
    const hosted = await refusalOr(async () => locate(host));
    if (hosted instanceof Refusal && /^unknown_/.test(hosted.code)) return null;
    const way =
      hosted instanceof Refusal
        ? { ...NOTHING, by: "state" as const, respond: refusing(hosted) }
        : await wayOf(hosted, request, exchange, serving, own);
    const response = await respond(way.respond);
    const { respond: _, streamed = false, ...told } = way;
    const version_id = hosted instanceof Refusal ? null : hosted.version.version.version_id;
    const headers = headersOf(response, streamed && request.method === "GET", exchange.bytes);
    return { version_id, status: response.status, ...told, headers };
  };
}

async function refusalOr<T>(ask: () => Promise<T>): Promise<T | Refusal> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

const refusing = (refusal: Refusal) => () => {
  throw refusal;
};

async function wayOf(
  hosted: Hosted,
  request: Request,
  exchange: Exchange,
  serving: Serving,
  own: (exchange: Exchange) => OwnAnswer | null,
): Promise<Way> {
  refuseUnlessServed(hosted, request, exchange);
  const ours = own(exchange);
  if (ours !== null) {
    const answered = await refusalOr(ours.answer);
    if (answered instanceof Refusal) return { ...NOTHING, by: ours.by, respond: refusing(answered) };
    if (answered !== null) return { ...NOTHING, by: ours.by, respond: () => answered };
  }
  const path = pathOf(request.url);
  const name = await refusalOr(async () => nameOf(path));
  if (name instanceof Refusal) return { ...NOTHING, by: "invalid_path", respond: refusing(name) };
  return siteWay(hosted, request, exchange, serving, isNeverServed(name));
}

async function siteWay(
  hosted: Hosted,
  request: Request,
  exchange: Exchange,
  serving: Serving,
  reserved: boolean,
): Promise<Way> {
  const path = pathOf(request.url);
  const asked = askedOf(hosted, request, serving);
  const { answer: first, tried } = await serving.answers.explained(hosted.version, path, () => asked);
  const tried_below: TriedBelow[] = [];
  const answer = first.kind === "unmatched" ? await below(hosted, first, request, serving, tried_below) : first;
  const respond = () => out(hosted, answer, request, exchange, serving);
  if (reserved) return { ...NOTHING, by: "reserved", respond };
  const body = bodyOf(answer);
  const host = hosted.policy.version_host ? asked.hosts.version : asked.hosts.live;
  return {
    by: byOf(answer),
    file: body?.file ?? null,
    rule: answer.rule,
    header_rules: headerRulesOf(hosted, answer, path, host),
    steps: [...tried.map(stepOf), ...tried_below],
    respond,
    streamed: body !== null && body.content.from_disk && body.content.page_of !== null,
  };
}

function byOf(answer: Answer): By {
  if (answer.kind === "file") return answer.by;
  if (answer.kind === "redirect") return answer.rule === null ? "slash" : "rule";
  return answer.page === null ? "service_404" : "page_404";
}

function bodyOf(answer: Answer): Body | null {
  if (answer.kind === "file") return answer.body;
  return answer.kind === "unmatched" ? answer.page : null;
}

/** Of each answer anew. */
const OF_EACH = new Set(["date", "x-request-id"]);

/** `bytes`: of the body, which the runtime tells; `in_pieces`: unless it is coded, nobody knows before it went out. */
function headersOf({ headers }: Response, in_pieces: boolean, bytes: number): Record<string, string> {
  const told: [string, string][] = [...headers].filter(([name]) => !OF_EACH.has(name));
  const untold = in_pieces && !headers.has("content-encoding");
  return Object.fromEntries(untold ? told : [["content-length", String(bytes)], ...told]);
}
