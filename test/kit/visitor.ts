/** Somebody signed in who reads pages and sends their forms, without a browser. */
import { cookieOf, csrfOf, PASSWORD, type Person, signUp, submit } from "./people.ts";
import type { Contents, DeployResult, TestServer } from "./server.ts";
import { ZIP } from "./server.ts";
import { zipOf } from "./zip.ts";

export interface Seen {
  status: number;
  headers: Headers;
  /** The address that a 303 leads to. */
  location: string | null;
  html: string;
  /** The body as a person reads it. */
  text: string;
  title: string;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'",
  "&amp;": "&",
};
/** HTML as text. */
export const decoded = (text: string): string =>
  text.replace(/&(?:lt|gt|quot|#x27|amp);/g, (entity) => ENTITIES[entity]!);

const textOf = (html: string): string =>
  decoded(
    html
      .replace(/^[\s\S]*?<body\b/, "<body")
      .replace(/<template\b[\s\S]*?<\/template>/g, "")
      .replace(/<\/?(?:span|bdi|code|a|b|time)\b[^>]*>/g, "")
      .replace(/<[^>]*>/g, " "),
  )
    .replace(/\s+/g, " ")
    .trim();

export async function seen(response: Response): Promise<Seen> {
  const html = await response.text();
  const { status, headers } = response;
  const title = decoded(/<title>([^<]*)<\/title>/.exec(html)?.[1] ?? "").trim();
  return { status, headers, location: headers.get("location"), html, text: textOf(html), title };
}

export interface Visitor {
  person: Person;
  cookie: string;
  csrf: string;
  read(path: string): Promise<Seen>;
  /** A form's POST; repeated fields as pairs. */
  send(path: string, fields: Record<string, string> | [string, string][]): Promise<Seen>;
  deploy(files: Contents): Promise<DeployResult>;
  redeploy(site: Pick<DeployResult, "site_id">, files: Contents): Promise<DeployResult>;
  change(site: Pick<DeployResult, "site_id">, change: Record<string, unknown>): Promise<void>;
}

const HTML = { accept: "text/html,application/xhtml+xml" };

async function answered(response: Response): Promise<DeployResult> {
  if (response.status !== 200) throw new Error(`answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as DeployResult;
}

export async function visitorOf(server: TestServer, person?: Person): Promise<Visitor> {
  const account = person ?? (await signUp(server));
  const cookie = cookieOf(await submit(server, "/signin", { email: account.email, password: PASSWORD }));
  if (cookie === null) throw new Error("signing in set no cookie");
  const read = async (path: string) => seen(await server.api(path, { headers: { ...HTML, cookie } }));
  const csrf = csrfOf((await read("/dashboard/account")).html);
  return {
    person: account,
    cookie,
    csrf,
    read,
    async send(path, fields) {
      const body = new URLSearchParams(Array.isArray(fields) ? fields : Object.entries(fields));
      return seen(await submit(server, path, [["csrf", csrf], ...body], { ...HTML, cookie }));
    },
    deploy: async (files) => answered(await server.post(zipOf(files), account.bearer)),
    redeploy: async ({ site_id }, files) =>
      answered(
        await server.api(`/sites/${site_id}/deploys`, {
          method: "POST",
          headers: { ...ZIP, ...account.bearer },
          body: zipOf(files),
        }),
      ),
    async change({ site_id }, change) {
      await answered(
        await server.api(`/account/sites/${site_id}`, {
          method: "PATCH",
          headers: { "content-type": "application/json", ...account.bearer },
          body: JSON.stringify(change),
        }),
      );
    },
  };
}
