/** A deploy of one page to a server that is a process of its own, with TLS or without. */
import { expect } from "bun:test";
import { ZIP } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";

export async function deployPage(base_url: string, text: string): Promise<{ slug: string; url: string }> {
  const response = await fetch(`${base_url}/sites`, {
    method: "POST",
    headers: ZIP,
    body: zipOf({ "index.html": text }),
    tls: { rejectUnauthorized: false },
  });
  expect(response.status).toBe(200);
  return (await response.json()) as { slug: string; url: string };
}
