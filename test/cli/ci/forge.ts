/** A host of code, as far as the recipes ask it: the comments of one pull request, in pages where it has any. */

interface Comment {
  id: number;
  body: string;
}

export interface Forge {
  url: string;
  comments: Comment[];
  /** Calls without the right token. */
  refused: number;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Kind {
  /** Of the comments of the pull request, and before the id of one. */
  list: string;
  one: string;
  change: "PATCH" | "PUT";
  /** The header with the token, and what stands before it. */
  header: string;
  scheme: string;
  /** Comments a page; Forgejo has none. */
  paged: boolean;
}

const ISSUES = "/api/repos/ada/shop/issues";
export const KINDS = {
  github: {
    list: `${ISSUES}/7/comments`,
    one: `${ISSUES}/comments/`,
    change: "PATCH",
    header: "authorization",
    scheme: "Bearer ",
    paged: true,
  },
  forgejo: {
    list: `${ISSUES}/7/comments`,
    one: `${ISSUES}/comments/`,
    change: "PATCH",
    header: "authorization",
    scheme: "Bearer ",
    paged: false,
  },
  gitlab: {
    list: "/api/projects/42/merge_requests/7/notes",
    one: "/api/projects/42/merge_requests/7/notes/",
    change: "PUT",
    header: "private-token",
    scheme: "",
    paged: true,
  },
} as const satisfies Record<string, Kind>;

export const FORGE_TOKEN = "forge-token";
const PAGE = 100;

export function startForge(name: keyof typeof KINDS): Forge {
  const kind: Kind = KINDS[name];
  const comments: Comment[] = [];
  const forge = { comments, refused: 0 };
  const page = (url: URL): Response => {
    if (!kind.paged) return Response.json(comments);
    const number = Number(url.searchParams.get("page") ?? 1);
    const shown = comments.slice((number - 1) * PAGE, number * PAGE);
    if (number * PAGE >= comments.length) return Response.json(shown);
    const next = new URL(url);
    next.searchParams.set("page", String(number + 1));
    return Response.json(shown, { headers: { link: `<${url.href}>; rel="first", <${next.href}>; rel="next"` } });
  };
  const answer = async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    if (request.headers.get(kind.header) !== kind.scheme + FORGE_TOKEN) {
      forge.refused++;
      return new Response(null, { status: 401 });
    }
    if (request.method === "GET" && url.pathname === kind.list) return page(url);
    const { body } = (await request.json()) as { body: string };
    if (request.method === "POST" && url.pathname === kind.list) {
      comments.push({ id: comments.length + 1, body });
      return Response.json(comments.at(-1), { status: 201 });
    }
    const found = comments.find(({ id }) => url.pathname === `${kind.one}${id}`);
    if (request.method !== kind.change || found === undefined) return new Response(null, { status: 404 });
    found.body = body;
    return Response.json(found);
  };
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, development: false, fetch: answer });
  return Object.assign(forge, {
    url: `http://127.0.0.1:${server.port}/api`,
    [Symbol.asyncDispose]: () => server.stop(true),
  });
}
