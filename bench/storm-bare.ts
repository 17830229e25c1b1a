/** The measure of bench/storm.ts: a Bun.serve that has one page, reads whatever is uploaded, and throws it away. */
const page = new Blob([`<!doctype html><title>A page</title>${"<p>Some words of a paragraph.</p>".repeat(160)}`]);
const init = {
  headers: new Headers({ "content-type": "text/html; charset=utf-8", "cache-control": "public, max-age=60" }),
};

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  development: false,
  async fetch(request) {
    if (request.method === "POST") await request.arrayBuffer();
    return new Response(page, init);
  },
});
console.log(server.port);
