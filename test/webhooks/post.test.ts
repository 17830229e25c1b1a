/** One POST of a webhook: to the address that was checked and to no other, in five seconds, wherever the answer points. */
import { afterAll, describe, expect, test } from "bun:test";
import { createServer, type Server, type Socket } from "node:net";
import { post } from "../../src/webhooks/post.ts";

const MESSAGE = { body: '{"a":"ü"}', headers: { "content-type": "application/json", "webhook-id": "msg_x" } };
const ends: (() => void)[] = [];
afterAll(() => ends.forEach((end) => end()));

/** A receiver that is no HTTP server but answers what it is told to. */
async function receiver(answer: (socket: Socket, sent: string) => void, host = "127.0.0.1") {
  const requests: string[] = [];
  const server: Server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      requests.push(bytes.toString());
      answer(socket, bytes.toString());
    });
  });
  await new Promise<void>((listening) => server.listen(0, host, listening));
  ends.push(() => server.close());
  return { requests, port: (server.address() as { port: number }).port };
}

const reply = (text: string) => (socket: Socket) => void socket.end(text);
const ok = reply("HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n");
const local = { resolve: async () => ["127.0.0.1"], isCallable: () => true };

describe("what is sent", () => {
  test("COMMENTS 2: one POST with the headers, the body and the name that was asked for", async () => {
    const { requests, port } = await receiver(ok);
    const url = new URL(`http://hooks.example:${port}/in/ü?a=b c`);
    expect(await post(url, MESSAGE, local)).toBe(204);
    expect(requests).toEqual([
      [
        "POST /in/%C3%BC?a=b%20c HTTP/1.1",
        `host: hooks.example:${port}`,
        "content-type: application/json",
        "webhook-id: msg_x",
        "content-length: 10",
        "connection: close",
        "",
        '{"a":"ü"}',
      ].join("\r\n"),
    ]);
  });

  test.each([
    ["HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", 200],
    ["HTTP/1.0 500 Oh\r\n\r\n", 500],
    ["HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\n\r\n", 201],
    ["HTTP/1.1 410 Gone\r\n\r\n", 410],
  ])("the answer %j is %i", async (answer, status) => {
    const { port } = await receiver(reply(answer));
    expect(await post(new URL(`http://hooks.example:${port}/`), MESSAGE, local)).toBe(status);
  });

  test("a redirect is no more than its status: nobody goes there", async () => {
    const inside = await receiver(ok);
    const { port } = await receiver(
      reply(`HTTP/1.1 307 Elsewhere\r\nlocation: http://127.0.0.1:${inside.port}/\r\n\r\n`),
    );
    expect(await post(new URL(`http://hooks.example:${port}/`), MESSAGE, local)).toBe(307);
    expect(inside.requests).toEqual([]);
  });

  test("an answer that comes in pieces is put together", async () => {
    const { port } = await receiver(async (socket) => {
      for (const piece of ["HTTP/1.", "1 20", "2 Accepted\r\nx: y", "\r\n\r\n"]) {
        socket.write(piece);
        await Bun.sleep(5);
      }
    });
    expect(await post(new URL(`http://hooks.example:${port}/`), MESSAGE, local)).toBe(202);
  });
});

describe("RELIABILITY A20: where it is sent", () => {
  test("the connection goes to the address that was checked: a second answer of the name server changes nothing", async () => {
    const checked = await receiver(ok, "127.0.0.1");
    let asked = 0;
    const turning = {
      resolve: async () => (++asked === 1 ? ["127.0.0.1"] : ["127.0.0.2"]),
      isCallable: (address: string) => address === "127.0.0.1",
    };
    const url = new URL(`http://rebinding.example:${checked.port}/`);
    expect(await post(url, MESSAGE, turning)).toBe(204);
    expect(asked).toBe(1);
    expect(await post(url, MESSAGE, turning).catch((error: Error) => error.message)).toContain("127.0.0.2");
    expect(checked.requests).toHaveLength(1);
  });

  test("a name with one private address among public ones is not called at all", async () => {
    const { requests, port } = await receiver(ok);
    const both = { resolve: async () => ["127.0.0.1", "10.0.0.1"], isCallable: (one: string) => one === "127.0.0.1" };
    await expect(post(new URL(`http://both.example:${port}/`), MESSAGE, both)).rejects.toThrow("10.0.0.1");
    expect(requests).toEqual([]);
  });

  test.each(["http://127.0.0.1:P/", "http://0x7f.1:P/", "http://2130706433:P/", "http://[::ffff:127.0.0.1]:P/"])(
    "%s is looked at as the address that it is, and no name server is asked",
    async (written) => {
      const { requests, port } = await receiver(ok);
      const none = {
        resolve: async (name: string): Promise<string[]> => {
          throw new Error(`asked for ${name}`);
        },
        isCallable: () => false,
      };
      await expect(post(new URL(written.replace("P", String(port))), MESSAGE, none)).rejects.toThrow("no address of");
      expect(requests).toEqual([]);
    },
  );

  test("where the first address is not there, the next one of the name is tried", async () => {
    const { requests, port } = await receiver(ok, "127.0.0.1");
    const two = { resolve: async () => ["127.0.0.7", "127.0.0.1"], isCallable: () => true };
    expect(await post(new URL(`http://two.example:${port}/`), MESSAGE, two)).toBe(204);
    expect(requests).toHaveLength(1);
  });

  test("a name without an address, and one that nobody knows, are failures", async () => {
    const nowhere = { resolve: async () => [], isCallable: () => true };
    await expect(post(new URL("http://nowhere.example/"), MESSAGE, nowhere)).rejects.toThrow("no address");
  });
});

describe("COMMENTS 2: five seconds, and little is read", () => {
  const within = async (work: Promise<number>): Promise<{ ms: number; why: string }> => {
    const begun = performance.now();
    const why = await work.then(String, (error: Error) => error.message);
    return { ms: performance.now() - begun, why };
  };

  test("a receiver that is silent, one that dribbles and a name server that hangs are left together after 5 s", async () => {
    const silent = await receiver(() => {});
    const dribbling = await receiver(async (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      for (let n = 0; n < 100 && !socket.destroyed; n++) {
        socket.write("x: y\r\n");
        await Bun.sleep(200);
      }
    });
    const hanging = { ...local, resolve: () => new Promise<string[]>(() => {}) };
    const all = await Promise.all([
      within(post(new URL(`http://silent.example:${silent.port}/`), MESSAGE, local)),
      within(post(new URL(`http://slow.example:${dribbling.port}/`), MESSAGE, local)),
      within(post(new URL("http://hanging.example/"), MESSAGE, hanging)),
    ]);
    for (const { ms, why } of all) {
      expect(why).toBe("no answer within 5 seconds");
      expect(ms).toBeGreaterThan(4900);
      expect(ms).toBeLessThan(6500);
    }
  }, 15_000);

  test("an answer that is no HTTP, or has a head without an end, is a failure long before that", async () => {
    const { port } = await receiver(reply("SSH-2.0-OpenSSH\r\n"));
    const flood = await receiver((socket) => void socket.write("HTTP/1.1 200 OK\r\n" + "x: y\r\n".repeat(20_000)));
    const rude = await within(post(new URL(`http://a.example:${port}/`), MESSAGE, local));
    const endless = await within(post(new URL(`http://b.example:${flood.port}/`), MESSAGE, local));
    expect(rude.why).toBe("the connection was closed before an answer");
    expect(endless.why).toBe("the answer is no HTTP");
    expect(rude.ms + endless.ms).toBeLessThan(2000);
  });

  test("what follows a good answer without an end is not read, and counts for nothing", async () => {
    let written = 0;
    const { port } = await receiver((socket) => {
      const more = () => {
        while (!socket.destroyed && socket.write("x".repeat(65_536))) written += 65_536;
      };
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      socket.on("drain", more);
      more();
    });
    expect(await post(new URL(`http://flood.example:${port}/`), MESSAGE, local)).toBe(200);
    await Bun.sleep(300);
    const then = written;
    await Bun.sleep(300);
    expect(written).toBe(then);
  });
});
