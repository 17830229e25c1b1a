/** The dashboard's session cookie (CONTRACT 5). Browsers send it by themselves, so csrf.ts decides what it may do. */
import { UNIT_MS } from "../base/units.ts";

const NINETY_DAYS_S = (90 * UNIT_MS.d) / 1000;

export interface SessionCookie {
  /** The tokens, each once. None of several opens anything: a hosted page can plant one for the parent domain where
   *  `__Host-` does not forbid it. */
  read(request: Request): string[];
  /** The value of Set-Cookie. */
  set(token: string): string;
  readonly cleared: string;
}

/** Every value that the header has under the name, in its order. Several header fields arrive as one, parted by `; ` as the
 *  pairs are. A comma parts nothing, and no blank but HTTP's own is cut off: a hosted page may plant `theme=x,__Host-…=…` for
 *  the parent domain, where the prefix forbids it a session of that name. */
const valuesOf = (header: string, name: string): string[] =>
  header
    .split(";")
    .map((pair) => pair.replace(/^[ \t]+/, ""))
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));

/** Of the request, as they came: one that comes twice is there twice. */
export const cookieValues = ({ headers }: Request, name: string): string[] =>
  valuesOf(headers.get("cookie") ?? "", name);

export const sessionCookieName = (origin: string): string =>
  origin.startsWith("https:") ? "__Host-svc_session" : "svc_session";

/** For whoever asked this origin. */
export function sessionCookie(origin: string): SessionCookie {
  const secure = origin.startsWith("https:");
  const name = sessionCookieName(origin);
  const write = (value: string, maxAge: number) =>
    new Bun.Cookie(name, value, { httpOnly: true, secure, sameSite: "lax", path: "/", maxAge }).toString();
  return {
    read(request) {
      const header = request.headers.get("cookie");
      return header === null ? [] : [...new Set(valuesOf(header, name))];
    },
    set: (token) => write(token, NINETY_DAYS_S),
    cleared: write("", 0),
  };
}
