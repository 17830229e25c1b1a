/** WEB 1.7 and 4.8: a zip in a form. The fields before the file are judged before the file is read. A form that no browser
 *  sends is refused, however it is cut, bloated or put together. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { openFileForm } from "../../src/http/multipart.ts";
import { Refusal } from "../../src/base/errors.ts";
import { snapshot } from "../kit/database.ts";
import { type BrowserSession, call, type Person, signInByForm, signUp } from "../kit/people.ts";
import { rawExchange } from "../kit/raw-http.ts";
import { type DeployResult, startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";
import { type FormServer, serveForms } from "./form-server.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

const LIMIT = 20_000;
const BOUNDARY = "----WebKitFormBoundaryAbC123";
let forms: FormServer;
let ann: Person;
let browser: BrowserSession;
let site: DeployResult;
const server = await sharedServer("--max-zip-bytes", String(LIMIT));
beforeAll(async () => {
  forms = serveForms(server);
  ann = await signUp(server);
  browser = await signInByForm(server, ann);
  site = (await (await server.post(zipOf({ "index.html": "first" }), ann.bearer)).json()) as DeployResult;
});
afterAll(async () => {
  await forms.stop();
});

type Bytes = Uint8Array<ArrayBuffer>;
const bytes = (...parts: (string | Uint8Array)[]): Bytes =>
  new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(part as string))));
const field = (name: string, value: string | Uint8Array): Bytes =>
  bytes(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`, value, "\r\n");
const file = (content: string | Uint8Array, name = "zip", filename = "site.zip"): Bytes =>
  bytes(
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: application/zip\r\n\r\n`,
    content,
    "\r\n",
  );
const END = `--${BOUNDARY}--\r\n`;
const csrf = (value = browser.csrf) => field("csrf", value);
const zip = (text: string) => zipOf({ "index.html": text });
const whole = (text: string): Bytes => bytes(csrf(), file(zip(text)), END);

const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;
const headersOf = (more: Record<string, string | null> = {}): Record<string, string> => {
  const all = { cookie: browser.cookie, origin: forms.origin, "sec-fetch-site": "same-origin", "content-type": TYPE };
  return Object.fromEntries(Object.entries({ ...all, ...more }).filter(([, value]) => value !== null)) as Record<
    string,
    string
  >;
};
async function send(
  path: string,
  body: Bytes | FormData | ReadableStream<Uint8Array> | null,
  more: Record<string, string | null> = {},
) {
  const response = await fetch(`${forms.origin}${path}`, { method: "POST", headers: headersOf(more), body });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> & DeployResult };
}
const anonymous = { cookie: null };
const live = async ({ slug }: Pick<DeployResult, "slug">) => (await server.site(slug)).text();

describe("a form as a browser sends it", () => {
  const filled = (fields: Record<string, string>, content: Bytes) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append("zip", new File([content], 'Ünï "site".zip', { type: "application/zip" }));
    return form;
  };

  test("makes a site of the account, and no token that nobody would see", async () => {
    const before = server.rows("tokens");
    const { status, body } = await send("/form", filled({ csrf: browser.csrf }, zip("owned")), {
      "content-type": null,
    });
    expect([status, body.owner_account_id, await live(body)]).toEqual([
      200,
      ann.account_id,
      expect.stringContaining("owned"),
    ]);
    expect([server.rows("tokens"), "manage_token" in body, "claim_token" in body]).toEqual([before, false, false]);
  });

  test("without a session makes an anonymous one, with its tokens and its receipt", async () => {
    const { status, body } = await send("/form", filled({ key: "k".repeat(32) }, zip("anybody's")), {
      ...anonymous,
      "content-type": null,
    });
    expect([status, await live(body)]).toEqual([200, expect.stringContaining("anybody's")]);
    expect(body).toMatchObject({ claim_url: expect.stringContaining(body.claim_token!), warnings: expect.any(Array) });
  });

  test("its field key is an Idempotency-Key: sent again it makes no second site", async () => {
    for (const [headers, proof] of [
      [{}, csrf()],
      [anonymous, ""],
    ] as const) {
      const again = () => send("/form", bytes(proof, field("key", "r".repeat(32)), file(zip("reload")), END), headers);
      const [first, second] = [await again(), await again()];
      expect([first.status, second.status, second.body.site_id]).toEqual([200, 200, first.body.site_id]);
      const other = bytes(proof, field("key", "r".repeat(32)), file(zip("other")), END);
      expect((await send("/form", other, headers)).status).toBe(409);
    }
  });

  test("makes a new version of a site; the same again changes nothing", async () => {
    const before = server.rows("tokens");
    const path = `/form/${site.site_id}`;
    const first = await send(path, whole("second"));
    const second = await send(path, whole("second"));
    expect([first.body.changed, second.body.changed, server.rows("tokens")]).toEqual([true, false, before]);
    expect(await live(site)).toContain("second");
  });

  test.each([[1], [2], [3], [7], [61], [1000]])("is read alike in pieces of %i bytes", async (size) => {
    const content = bytes("PK\r\n--", BOUNDARY.slice(0, -1), "\r\n\r\n", zip("x"), "\r");
    const body = bytes(field("csrf", "t"), field("key", "\r\n--"), file(content), END);
    let at = 0;
    const pieces = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at >= body.length) return controller.close();
        controller.enqueue(body.slice(at, at + size));
        at += size;
      },
    });
    const form = await openFileForm(
      new Request("http://x/", { method: "POST", body: pieces, headers: { "content-type": TYPE } }),
    );
    expect([form.fields, form.file]).toEqual([{ csrf: "t", key: "\r\n--" }, "zip"]);
    expect(await form.readFile(LIMIT, () => new Refusal("internal", "too large"))).toEqual(content);
  });
});

describe("WEB 1.7: a forged form is 403 cross_origin and changes nothing", () => {
  const good = () => bytes(csrf(), file(zip("forged")), END);
  const forgeries: [string, () => Bytes, Record<string, string | null>][] = [
    ["no token", () => bytes(file(zip("forged")), END), {}],
    ["an empty token", () => bytes(csrf(""), file(zip("forged")), END), {}],
    ["a wrong token", () => bytes(csrf("x".repeat(86)), file(zip("forged")), END), {}],
    ["the token behind the file", () => bytes(file(zip("forged")), csrf(), END), {}],
    ["the token as a file", () => bytes(file(browser.csrf, "csrf", "csrf"), file(zip("forged")), END), {}],
    ["the last of two tokens wrong", () => bytes(csrf(), csrf("x"), file(zip("forged")), END), {}],
    ["no Origin", good, { origin: null }],
    ["a sibling's Origin", good, { origin: "http://calm-otter-1234.localhost" }],
    ["Origin null", good, { origin: "null" }],
    ["Sec-Fetch-Site: same-site", good, { "sec-fetch-site": "same-site" }],
    ["Sec-Fetch-Site: none", good, { "sec-fetch-site": "none" }],
    ["text/plain", good, { "content-type": "text/plain" }],
  ];
  test.each(forgeries)("%s", async (_, body, headers) => {
    const before = snapshot(server.data_dir);
    for (const path of ["/form", `/form/${site.site_id}`]) {
      expect(await send(path, body(), headers)).toMatchObject({ status: 403, body: { code: "cross_origin" } });
    }
    expect(snapshot(server.data_dir)).toEqual(before);
  });

  test("a token of another session", async () => {
    const other = await signInByForm(server, ann);
    expect((await send("/form", bytes(csrf(other.csrf), file(zip("x")), END))).status).toBe(403);
  });

  test.each([
    ["a sibling's Origin", { origin: "http://calm-otter-1234.localhost" }],
    ["Sec-Fetch-Site: same-site", { "sec-fetch-site": "same-site" }],
    ["Sec-Fetch-Site: cross-site", { "sec-fetch-site": "cross-site", origin: null }],
  ])("without a session: %s", async (_, headers) => {
    const answer = await send("/form", bytes(file(zip("x")), END), { ...anonymous, ...headers });
    expect(answer).toMatchObject({ status: 403, body: { code: "cross_origin" } });
  });
});

describe("the fields before the file are judged before the file is read", () => {
  /** Sends a request whose file never comes, and returns the answer, which comes all the same. */
  async function unfinished(body: Bytes, announced: number, more: Record<string, string | null> = {}, path = "/form") {
    const lines = [`POST ${path} HTTP/1.1`, `Host: 127.0.0.1:${forms.port}`, `Content-Length: ${announced}`];
    for (const [name, value] of Object.entries(headersOf(more))) lines.push(`${name}: ${value}`);
    const sent = bytes(`${lines.join("\r\n")}\r\n\r\n`, body);
    const { bytes: answer } = await rawExchange(forms.port, sent, 3000);
    const text = answer.toString();
    return { status: Number(text.slice(9, 12)), code: /"code":"([a-z_]+)"/.exec(text)?.[1] };
  }
  const begun = (token: string) => bytes(csrf(token), file("PK").subarray(0, -2));

  test("a wrong token: 403", async () => {
    expect(await unfinished(begun("x"), LIMIT)).toEqual({ status: 403, code: "cross_origin" });
  });
  test("a length over the limit: 413", async () => {
    expect(await unfinished(begun(browser.csrf), LIMIT + 100_000)).toEqual({ status: 413, code: "zip_too_large" });
  });
  test("a length far over it: 413", async () => {
    expect(await unfinished(begun(browser.csrf), 1e12)).toEqual({ status: 413, code: "zip_too_large" });
  });
  test("a site that is another's: 403", async () => {
    const others = await server.deploy({ "index.html": "x" });
    const path = `/form/${others.site_id}`;
    expect(await unfinished(begun(browser.csrf), LIMIT, {}, path)).toEqual({ status: 403, code: "forbidden" });
  });
  test("a session that ended: 401, and no anonymous site", async () => {
    const bob = await signUp(server);
    const { cookie } = await signInByForm(server, bob);
    await server.api("/account/sessions", { headers: { cookie } });
    for (const { session_id } of await server.running.store.sessions.list(bob.account_id, 9)) {
      await server.running.store.sessions.end({ account_id: bob.account_id, session_id });
    }
    expect(await unfinished(begun("x"), LIMIT, { cookie })).toEqual({ status: 401, code: "unauthorized" });
  });
});

test("429 comes before the file is read, too", async () => {
  await using limited = await startServer({ SVC_RATE_DEPLOY: "1/1m" });
  const own = serveForms(limited);
  try {
    const post = (body: Bytes) =>
      fetch(`${own.origin}/form`, { method: "POST", headers: { "content-type": TYPE, origin: own.origin }, body });
    expect((await post(bytes(file(zip("1")), END))).status).toBe(200);
    const refused = await post(bytes("not even a form"));
    expect([refused.status, refused.headers.has("retry-after")]).toEqual([429, true]);
  } finally {
    await own.stop();
  }
});

describe("hostile and broken forms are refused, and nothing is stored", () => {
  const some = (count: number, one: (n: number) => Bytes) => bytes(...Array.from({ length: count }, (_, n) => one(n)));
  const ok = () => file(zip("hostile"));
  const invalid = [400, "invalid_input"] as const;
  const forged = [403, "cross_origin"] as const;
  const FORM_DATA = "Content-Disposition: form-data";
  const headed = (headers: string, value = "x") => bytes(`--${BOUNDARY}\r\n${headers}\r\n\r\n${value}\r\n`);
  type Case = [string, () => Bytes | null, readonly [number, string], Record<string, string | null>?];
  const cases: Case[] = [
    ["no boundary", () => whole("x"), invalid, { "content-type": "multipart/form-data" }],
    ["an empty boundary", () => whole("x"), invalid, { "content-type": 'multipart/form-data; boundary=""' }],
    [
      "a boundary of 71",
      () => whole("x"),
      invalid,
      { "content-type": `multipart/form-data; boundary=${"b".repeat(71)}` },
    ],
    ["another boundary", () => whole("x"), invalid, { "content-type": "multipart/form-data; boundary=other" }],
    ["no body", () => null, invalid],
    ["an empty body", () => bytes(""), invalid],
    ["words before the first part", () => bytes("hello\r\n", whole("x")), invalid],
    [
      "ten thousand parts",
      () =>
        bytes(
          some(10_000, (n) => field(`f${n}`, "v")),
          csrf(),
          ok(),
          END,
        ),
      invalid,
    ],
    [
      "seventeen fields",
      () =>
        bytes(
          some(17, (n) => field(`f${n}`, "v")),
          ok(),
          END,
        ),
      invalid,
    ],
    ["headers of 5 KB", () => bytes(field(`${"n".repeat(5000)}`, "v"), csrf(), ok(), END), invalid],
    ["headers of 5 KB at the file", () => bytes(csrf(), file(zip("x"), "zip", "f".repeat(5000)), END), invalid],
    ["headers without end", () => bytes(`--${BOUNDARY}\r\n`, "x".repeat(60_000)), invalid],
    ["a field of 9 KB", () => bytes(field("f", "v".repeat(9000)), csrf(), ok(), END), invalid],
    [
      "fields of 70 KB together",
      () =>
        bytes(
          some(9, (n) => field(`f${n}`, "v".repeat(8000))),
          csrf(),
          ok(),
          END,
        ),
      invalid,
    ],
    [
      "a field without a name",
      () => bytes(`--${BOUNDARY}\r\nContent-Disposition: form-data\r\n\r\nx\r\n`, csrf(), ok(), END),
      invalid,
    ],
    ["a part without headers", () => bytes(`--${BOUNDARY}\r\n\r\nx\r\n`, csrf(), ok(), END), invalid],
    ["a field that is not UTF-8", () => bytes(field("f", new Uint8Array([0xff, 0xfe])), csrf(), ok(), END), invalid],
    ["bare line feeds", () => bytes(Buffer.from(whole("x")).toString("latin1").replaceAll("\r\n", "\n")), invalid],
    [
      "words beside the boundary",
      () => bytes(`--${BOUNDARY} x\r\nContent-Disposition: form-data; name="a"\r\n\r\nv\r\n`, csrf(), ok(), END),
      invalid,
    ],
    ["no fields and no file", () => bytes(END), forged],
    ["fields alone, no end", () => csrf(), invalid],
    ["no file", () => bytes(csrf(), END), invalid],
    ["an empty file, as of a form where none was chosen", () => bytes(csrf(), file("", "zip", ""), END), invalid],
    ["a file under another name", () => bytes(csrf(), file(zip("x"), "picture"), END), invalid],
    ["no end", () => bytes(csrf(), ok()), invalid],
    ["an end that is cut short", () => bytes(csrf(), ok(), END.slice(0, -4)), invalid],
    ["two files", () => bytes(csrf(), ok(), ok(), END), invalid],
    ["a field behind the file", () => bytes(csrf(), ok(), field("more", "x"), END), invalid],
    ["words behind the end", () => bytes(whole("x"), "more"), invalid],
    ["a line's end before the first part", () => bytes("\r\n", whole("x")), invalid],
    ["a NUL behind the token's name", () => bytes(field("csrf\0x", browser.csrf), ok(), END), forged],
    ["a NUL behind the file's name", () => bytes(csrf(), file(zip("x"), "zip\0x"), END), invalid],
    [
      "a field with filename*",
      () => bytes(csrf(), headed(`${FORM_DATA}; name="a"; filename*=UTF-8''a`), ok(), END),
      invalid,
    ],
    ["an attachment", () => bytes(csrf(), headed('Content-Disposition: attachment; name="a"'), ok(), END), invalid],
    ["a part with a type alone", () => bytes(csrf(), headed("Content-Type: text/plain"), ok(), END), invalid],
    [
      "the token's name in a second Content-Disposition",
      () => bytes(headed(`${FORM_DATA}; name="a"\r\n${FORM_DATA}; name="csrf"`, browser.csrf), ok(), END),
      forged,
    ],
    [
      "a form of the same boundary in a field",
      () =>
        bytes(csrf(), headed(`${FORM_DATA}; name="a"`, `--${BOUNDARY}\r\nx: y\r\n\r\nv\r\n--${BOUNDARY}--`), ok(), END),
      invalid,
    ],
    ["a key that is too short", () => bytes(csrf(), field("key", "short"), ok(), END), invalid],
    ["a file of one byte too many", () => bytes(csrf(), file(new Uint8Array(LIMIT + 1)), END), [413, "zip_too_large"]],
    [
      "a file of nothing but its boundary's beginning",
      () => bytes(csrf(), file(`\r\n--${BOUNDARY.slice(0, 5)}`), END),
      [400, "invalid_zip"],
    ],
    ["a file of the limit that is no zip", () => bytes(csrf(), file(new Uint8Array(LIMIT)), END), [400, "invalid_zip"]],
    ["a coded form", () => whole("x"), [415, "unsupported_media_type"], { "content-encoding": "gzip" }],
  ];
  test.each(cases)("%s", async (...[, body, [status, code], headers]) => {
    const before = snapshot(server.data_dir);
    expect(await send("/form", body(), headers)).toMatchObject({ status, body: { code } });
    expect(snapshot(server.data_dir)).toEqual(before);
  });

  test("a chunked form is read alike, and one that is too long is refused as its bytes come", async () => {
    const chunked = (body: Bytes) =>
      new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0; at < body.length; at += 4000) controller.enqueue(body.slice(at, at + 4000));
          controller.close();
        },
      });
    expect((await send("/form", chunked(whole("chunked")))).status).toBe(200);
    const long = bytes(csrf(), file(new Uint8Array(10 * LIMIT)), END);
    expect(await send("/form", chunked(long))).toMatchObject({ status: 413, body: { code: "zip_too_large" } });
  });

  test("a zip of another type in the place of the form is 415", async () => {
    const answer = await send("/form", zip("x"), { ...anonymous, "content-type": "application/zip" });
    expect(answer).toMatchObject({ status: 415, body: { code: "unsupported_media_type" } });
  });

  test("a client that leaves in mid-file makes no site and holds no place", async () => {
    const before = snapshot(server.data_dir);
    const head = [
      "POST /form HTTP/1.1",
      `Host: 127.0.0.1:${forms.port}`,
      "Content-Length: 15000",
      ...Object.entries(headersOf()).map(([name, value]) => `${name}: ${value}`),
    ].join("\r\n");
    const sent = bytes(`${head}\r\n\r\n`, csrf(), file("PK").subarray(0, -2));
    await Promise.all(Array.from({ length: 20 }, () => rawExchange(forms.port, sent, 300)));
    expect(snapshot(server.data_dir)).toEqual(before);
    expect((await send("/form", whole("after them"))).status).toBe(200);
    expect((await call(server, "GET", "/account", undefined, ann.bearer)).status).toBe(200);
  });
});
