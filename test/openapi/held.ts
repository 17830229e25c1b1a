/** A server whose every answer is held against what it says of itself. */
import { expect } from "bun:test";
import { type Setting, startServer, type TestServer } from "../kit/server.ts";
import { type Answered, type Call, Contract, type Json } from "./contract.ts";

export interface Sent {
  /** An object goes as JSON. */
  body?: object | Uint8Array<ArrayBuffer> | URLSearchParams | string;
  headers?: Record<string, string>;
  /** The slug of the site whose host is asked; left out: the API's. */
  on?: string;
}

export interface Held extends Answered {
  body: Json;
}

const isJson = (body: Sent["body"]): boolean =>
  typeof body === "object" && !(body instanceof Uint8Array) && !(body instanceof URLSearchParams);

export class HeldServer {
  /** `createSite 200`, of all that was answered. */
  readonly answered = new Set<string>();
  constructor(
    readonly server: TestServer,
    readonly contract: Contract,
  ) {}

  /** Asks, and expects an answer of this status that is as it is described; of a refusal, with this code. */
  async ask(method: string, path: string, status: number, sent: Sent & { code?: string } = {}): Promise<Held> {
    const { body, headers = {}, on, code } = sent;
    const json = isJson(body);
    const init = {
      method,
      headers: { ...(json && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: (json ? JSON.stringify(body) : body) as NonNullable<RequestInit["body"]> }),
    };
    const answer = on === undefined ? await this.server.api(path, init) : await this.server.site(on, path, init);
    const text = await answer.text();
    const call: Call = { host: on === undefined ? "api" : "site", method, path };
    const asked = `${method} ${path}`;
    expect([asked, answer.status, text]).toEqual([asked, status, text]);
    expect([asked, status, this.contract.breaches(call, { status, headers: answer.headers, text })]).toEqual([
      asked,
      status,
      [],
    ]);
    if (status < 300 && json) {
      expect([asked, this.contract.bodyBreaches(call, "application/json", body)]).toEqual([asked, []]);
    }
    const told = text.startsWith("{") ? JSON.parse(text) : null;
    if (code !== undefined) expect([asked, told?.code]).toEqual([asked, code]);
    this.answered.add(`${this.contract.operation(call)!.told.operationId} ${status}`);
    return { status, headers: answer.headers, text, body: told };
  }

  /** Calls under these tags that nobody asked with success. */
  unasked(...tags: string[]): string[] {
    const succeeded = ({ operationId, responses }: Json) =>
      Object.keys(responses).some((status) => status < "300" && this.answered.has(`${operationId} ${status}`));
    return this.contract.operations
      .filter((one) => tags.includes(one.tags[0]) && !succeeded(one))
      .map(({ operationId }) => operationId);
  }
}

export const heldServer = async (server: TestServer): Promise<HeldServer> =>
  new HeldServer(server, new Contract(await (await server.api("/openapi.json")).json()));

export const startHeld = async (...settings: Setting[]): Promise<HeldServer> =>
  heldServer(await startServer(...settings));
