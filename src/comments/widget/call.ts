/** Calls to the site's own host. Whatever becomes of one is an answer: nothing here throws. */

export interface Answer {
  /** 0: there was no answer. The page's own policy may forbid all calls. */
  status: number;
  /** The members of the JSON body; empty without a body. */
  body: Readonly<Record<string, unknown>>;
  etag: string | null;
  /** The address of the comment or thread that was made. */
  location: string | null;
}

/** Whole: a page may have a `base` of its own. */
export const COMMENTS = `${location.origin}/_svc/comments/`;

const NONE: Answer = { status: 0, body: {}, etag: null, location: null };

export async function call(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  try {
    const response = await fetch(COMMENTS + path, {
      method,
      headers: body ? { "content-type": "application/json", ...headers } : headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      body: text ? (JSON.parse(text) as Answer["body"]) : {},
      etag: response.headers.get("etag"),
      location: response.headers.get("location"),
    };
  } catch {
    return NONE;
  }
}

export const askThreads = (path: string, more = "", headers?: Record<string, string>): Promise<Answer> =>
  call("GET", `threads?page=${encodeURIComponent(path)}${more}`, undefined, headers);
