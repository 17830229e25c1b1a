/** An account that somebody could have, for pictures of the web side: sites of the examples, made over a month. */
import { join } from "node:path";
import { collectDist, type DeployResult } from "../lib.ts";
import { zipFiles } from "../src/client/zip.ts";
import { ROOT, StepFailed } from "./run.ts";

/** A call of the server's API. */
export type Api = (path: string, init?: RequestInit) => Promise<Response>;

export const EMAIL = "mara@harbour.example";
export const PASSWORD = "nine knots at slack water";

type Files = Map<string, Uint8Array>;

const example = (name: string): Promise<Files> => collectDist(join(ROOT, "examples", name));
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A site of one page. */
const page = (title: string): Files =>
  new Map([
    [
      "index.html",
      bytes(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><h1>${title}</h1></html>
`),
    ],
  ]);

interface Publication {
  days_ago: number;
  /** The same name is the same site. */
  name: string;
  label?: string;
  files: () => Promise<Files> | Files;
}

/** The guide as it was earlier: some pages were not written yet, some were shorter, and one is gone since. */
async function earlierGuide(title: string, ...unwritten: string[]): Promise<Files> {
  const files = await example("docs");
  for (const path of unwritten) files.delete(path);
  for (const path of ["01-first-sail.md", "sailing/tides.md", "sailing/knots.md"]) {
    const text = new TextDecoder().decode(files.get(path));
    files.set(path, bytes(text.slice(0, text.length - 90 * unwritten.length)));
  }
  const start = new TextDecoder().decode(files.get("README.md")).replace(/^# .*/, `# ${title}`);
  return files.set("README.md", bytes(start)).set("club/bar.md", bytes("# The bar\n\nOpen on Fridays from seven.\n"));
}

/** The oldest first. */
const PUBLICATIONS: readonly Publication[] = [
  { days_ago: 31, name: "members", label: "Members' meeting", files: () => page("Members' meeting, October") },
  { days_ago: 26, name: "regatta", label: "Autumn regatta", files: () => page("Autumn regatta: results") },
  { days_ago: 20, name: "harbour", files: () => earlierGuide("Harbour notes", "club/house.md", "changelog.md") },
  { days_ago: 16, name: "winter", files: () => page("Winter storage, berths 12 to 40") },
  { days_ago: 12, name: "tides", label: "Tide table", files: () => example("tide-table") },
  { days_ago: 9, name: "harbour", files: () => earlierGuide("Harbour Handbook", "changelog.md") },
  { days_ago: 5, name: "hello", files: () => example("hello") },
  { days_ago: 2, name: "garden", label: "Village garden", files: () => example("garden") },
  { days_ago: 0.125, name: "harbour", label: "Harbour guide", files: () => example("docs") },
];

async function answer<T>(response: Response, what: string): Promise<T> {
  if (!response.ok) throw new StepFailed(`${what}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

const json = (method: string, body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method,
  body: JSON.stringify(body),
  headers: { "content-type": "application/json", ...headers },
});

/** `at`: puts the server's clock that many days back. Returns the site that has several versions. */
export async function makeSampleAccount(api: Api, at: (days_ago: number) => void): Promise<DeployResult> {
  at(32);
  const signed_up = await api("/auth/signup", json("POST", { email: EMAIL, password: PASSWORD }));
  const { session_token } = await answer<{ session_token: string }>(signed_up, "the sign-up");
  const authorization = `Bearer ${session_token}`;
  const made = new Map<string, DeployResult>();
  for (const { days_ago, name, label, files } of PUBLICATIONS) {
    at(days_ago);
    const path = made.has(name) ? `/sites/${made.get(name)!.site_id}/deploys` : "/sites";
    const body = await zipFiles(await files());
    const headers = { authorization, "content-type": "application/zip" };
    const response = await api(path, { method: "POST", body, headers });
    const site = await answer<DeployResult>(response, `the deploy of ${name}`);
    made.set(name, site);
    if (!label) continue;
    await answer(await api(`/account/sites/${site.site_id}`, json("PATCH", { label }, { authorization })), "the label");
  }
  at(0);
  return made.get("harbour")!;
}
