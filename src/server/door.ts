/** The door of sites that want a password (BEYOND 8): who may see one, and how a visitor comes in. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { Refusal } from "../base/errors.ts";
import { randomKey } from "../base/random.ts";
import { doubling, rateWindows } from "../base/rates.ts";
import type { Site } from "../base/types.ts";
import type { CommentParts } from "../comments/context.ts";
import { limitGuess } from "../comments/limits.ts";
import type { Config } from "../config/index.ts";
import { answerJson, answerRedirect, nextPath } from "../http/answers.ts";
import { isForm, readFields } from "../http/body.ts";
import { cookieValues, customerOf, networkOf, type RequestContext } from "../http/context.ts";
import { refuseForeignOrigin } from "../http/csrf.ts";
import { pathOf, queryOf } from "../http/exchange.ts";
import { isPasscode } from "../http/passwords.ts";
import { callerOf, managedSite } from "../routes/caller.ts";
import { AccessRefusal } from "../serve/refusals.ts";
import type { Store } from "../store/index.ts";

interface DoorParts {
  config: Pick<Config, "rate_access" | "anonymous">;
  store: Pick<Store, "tokens" | "sessions" | "deploy_tokens" | "sites">;
  comments: Pick<CommentParts, "limitWindows" | "keys" | "store">;
  /** Signs what lets a browser in. */
  secret: string;
  now: () => number;
}

/** Null: the request goes on, let in or at a path that is open to all. Throws `AccessRefusal`, or 429. */
type Door = (context: RequestContext, site: Site) => Promise<Response | null>;

export const ENTRANCE = "/_svc/access";
const REPORT = "/_svc/report";
const GRANT_S = 30 * 24 * 3600;
const LONGEST_SENT = 1024;
/** Right passwords of Basic authentication that need no argon2 again. */
const REMEMBERED = 10_000;
const HOME = "/";

const isOpen = ({ method, url }: Request): boolean => method === "POST" && pathOf(url) === REPORT;

/** Judges passwords: each client and each site has so many wrong ones. */
function createJudge(parts: DoorParts, remembered: Remembered) {
  const windows = doubling(rateWindows(parts.config.rate_access)!);
  /** Judged right now: those who send the same at the same time wait for one look, as a class does that opens one link, or a browser for
   *  all parts of a page. */
  const looks = new Map<string, Promise<boolean>>();

  const guessOf = ({ client_address }: RequestContext, { site_id }: Site) =>
    ({ what: "access", site_id, customer: customerOf(client_address()), windows }) as const;

  /** A wrong one counts for the client and the site; past the limits none is looked at. */
  async function look(context: RequestContext, site: Site, password: string): Promise<boolean> {
    const { client_address } = context;
    const from = [customerOf(client_address()), networkOf(client_address())];
    const counted = await limitGuess(parts.comments, guessOf(context, site));
    const right = await isPasscode(password, site.access_hash, from).catch(async (error: unknown) => {
      await counted.undo(); // nobody has looked at it
      throw error;
    });
    if (right) await counted.right();
    return right;
  }

  function together(name: string, judge: () => Promise<boolean>): Promise<boolean> {
    const running = looks.get(name) ?? judge().finally(() => looks.delete(name));
    looks.set(name, running);
    return running;
  }

  /** Beside another client that sends the same this one counts for itself, and not for the site again. */
  async function judge(context: RequestContext, site: Site, password: string): Promise<boolean> {
    const name = remembered.nameOf(site, password, "");
    for (let running = looks.get(name); running !== undefined; running = looks.get(name)) {
      const said = await running.catch(() => null); // that another was refused says nothing of this one
      if (said === null) continue;
      const counted = await limitGuess(parts.comments, { ...guessOf(context, site), of_site: false });
      if (said) await counted.right();
      return said;
    }
    return together(name, () => look(context, site, password));
  }

  return (context: RequestContext, site: Site, sent: string): Promise<boolean> => {
    const password = sent.slice(0, LONGEST_SENT);
    const own = remembered.nameOf(site, password, customerOf(context.client_address()));
    return together(own, () => judge(context, site, password));
  };
}

export function createDoor(parts: DoorParts): Door {
  const remembered = rememberedPasswords();
  const isRight = createJudge(parts, remembered);

  async function isAdmitted(context: RequestContext, site: Site): Promise<boolean> {
    const { request } = context;
    if (hasGrant(context, site, parts)) return true;
    const header = request.headers.get("authorization");
    if (header === null) return false;
    const password = basicPassword(header);
    if (password === null) return keeps(context, site, parts);
    // By this client: else a stranger past the limits would learn by it whether a guess is right.
    const name = remembered.nameOf(site, password, customerOf(context.client_address()));
    if (remembered.has(name)) return true;
    if (!(await isRight(context, site, password))) throw new AccessRefusal("wrong_password", nextOf(request));
    remembered.add(name);
    return true;
  }

  /** `POST /_svc/access`, by the page's form or as JSON. */
  async function enter(context: RequestContext, site: Site): Promise<Response> {
    const { request, exchange } = context;
    refuseForeignOrigin(context);
    const { password, next } = await readFields(request);
    const path = pageAt(next);
    if (typeof password !== "string" || !(await isRight(context, site, password))) {
      throw new AccessRefusal("wrong_password", path);
    }
    exchange.setCookie(grantCookie(context, site, parts));
    return isForm(request) ? answerRedirect(path, exchange) : answerJson({ ok: true }, exchange);
  }

  return async (context, site) => {
    const { request, exchange } = context;
    exchange.shut = true;
    exchange.held = site.quarantine !== null;
    if (request.method === "POST" && pathOf(request.url) === ENTRANCE) return enter(context, site);
    if (!isOpen(request) && !(await isAdmitted(context, site))) {
      throw new AccessRefusal("password_required", nextOf(request));
    }
    exchange.admitted = true;
    return null;
  };
}

/** The entrance of a site that wants no password any more: a page that asks for it may be open still. */
export async function openEntrance(context: RequestContext): Promise<Response> {
  const { request, exchange } = context;
  const { next } = await readFields(request);
  return isForm(request) ? answerRedirect(pageAt(next), exchange) : answerJson({ ok: true }, exchange);
}

/** A form leads back to the page that was asked for; nothing else than a page can be asked for again. */
const nextOf = ({ method, url }: Request): string =>
  method === "GET" || method === "HEAD" ? pageAt(pathOf(url) + queryOf(url)) : HOME;

/** The entrance itself is no page: whoever reloads it after a wrong password asks for it. */
function pageAt(next: unknown): string {
  const path = nextPath(next, HOME);
  return pathOf(path) === ENTRANCE ? HOME : path;
}

/** The password of Basic authentication (RFC 7617), whatever the user is called; null for another scheme. */
function basicPassword(header: string): string | null {
  const [, encoded] = /^basic +([A-Za-z0-9+/_-]{0,4096}={0,2})$/i.exec(header) ?? [];
  if (encoded === undefined) return null;
  const said = Buffer.from(encoded, "base64").toString();
  return said.slice(said.indexOf(":") + 1);
}

/** Whether a Bearer credential opens the site's own record: its manage_token, its owner's session, a deploy token that reads. */
async function keeps(
  { request, cookie }: RequestContext,
  { site_id }: Site,
  { store, now, config }: DoorParts,
): Promise<boolean> {
  const caller = await callerOf(request, store, cookie);
  try {
    await managedSite({ caller, params: { id: site_id }, parts: { store, now, config } }, "read");
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

const cookieName = (origin: string): string => (origin.startsWith("https:") ? "__Host-svc_access" : "svc_access");

/** Bound to the site, its host, the password's epoch and the end. */
const signature = ({ secret }: DoorParts, { site_id, access_epoch }: Site, origin: string, end: number): Buffer =>
  createHmac("sha256", secret)
    .update(`access\0${site_id}\0${new URL(origin).host}\0${access_epoch}\0${end}`)
    .digest();

function grantCookie({ origin }: RequestContext, site: Site, parts: DoorParts): string {
  const end = Math.floor(parts.now() / 1000) + GRANT_S;
  const value = `${end}.${signature(parts, site, origin, end).toString("base64url")}`;
  const secure = origin.startsWith("https:") ? "; Secure" : "";
  return `${cookieName(origin)}=${value}; HttpOnly; SameSite=Lax; Path=/; Max-Age=${GRANT_S}${secure}`;
}

/** Each costs a signature, and a header has room for hundreds. */
const firstOf = (values: readonly string[]): readonly string[] => values.slice(0, 20);

/** Whether one of the cookies counts: others, of another site of the same domain say, are nothing. */
const hasGrant = ({ request, origin }: RequestContext, site: Site, parts: DoorParts): boolean =>
  firstOf(cookieValues(request, cookieName(origin))).some((value) => {
    const [, end = "", mac = ""] = /^(\d{1,12})\.([A-Za-z0-9_-]{43})$/.exec(value) ?? [];
    if (mac === "" || Number(end) * 1000 <= parts.now()) return false;
    const given = Buffer.from(mac, "base64url");
    return given.length === 32 && timingSafeEqual(given, signature(parts, site, origin, Number(end)));
  });

/** Right passwords by client, as hashes under a key of this process, until the site has another one. */
type Remembered = ReturnType<typeof rememberedPasswords>;

function rememberedPasswords() {
  const key = randomKey(32);
  const known = new Set<string>();
  return {
    nameOf: ({ site_id, access_epoch }: Site, password: string, customer: string): string =>
      createHmac("sha256", key).update(`${site_id}\0${access_epoch}\0${customer}\0${password}`).digest("base64url"),
    has: (name: string) => known.has(name),
    add(name: string) {
      if (known.size >= REMEMBERED) known.delete(known.values().next().value!);
      known.add(name);
    },
  };
}
