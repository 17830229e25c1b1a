/** A DNS server of the test's own (RFC 1035), over UDP and TCP on one free port of loopback. It answers what its records say, and can be told to
 *  fail, to lie or to hold its tongue. */
import { createServer } from "node:net";

export type RecordType = "A" | "AAAA" | "CNAME" | "TXT" | "CAA";

/** `hangs` never answers; `fails` is SERVFAIL, `refuses` REFUSED; `garbage` no DNS message; `other_id` and `other_name` an answer to another question; `truncated` asks
 *  for TCP over UDP. */
type Mood = "answers" | "hangs" | "fails" | "refuses" | "garbage" | "other_id" | "other_name" | "truncated";

interface DnsServer extends AsyncDisposable {
  /** `127.0.0.1:port`, as SVC_DNS takes it. */
  address: string;
  /** Replaces what a name has of a type; null: it has none. A TXT record of several strings is an array. */
  set(name: string, type: RecordType, values: readonly (string | readonly string[])[] | null): void;
  /** Forgets all records. */
  clear(): void;
  mood: Mood;
  /** `TXT _svc.www.example.org`, in the order in which they came. */
  asked: string[];
}

const NUMBERS: Record<RecordType, number> = { A: 1, CNAME: 5, TXT: 16, AAAA: 28, CAA: 257 };
const TYPES = new Map(Object.entries(NUMBERS).map(([type, number]) => [number, type as RecordType]));
const [SERVFAIL, NXDOMAIN, REFUSED] = [2, 3, 5];

interface Question {
  id: number;
  name: string;
  type: RecordType | undefined;
  /** The question as it was sent. */
  bytes: Buffer;
}

function questionOf(message: Buffer): Question {
  const labels: string[] = [];
  let at = 12;
  while (message[at]! > 0) {
    labels.push(message.toString("latin1", at + 1, at + 1 + message[at]!));
    at += 1 + message[at]!;
  }
  const bytes = message.subarray(12, at + 5);
  return {
    id: message.readUInt16BE(0),
    name: labels.join(".").toLowerCase(),
    type: TYPES.get(message.readUInt16BE(at + 1)),
    bytes,
  };
}

const nameBytes = (name: string): Buffer =>
  Buffer.concat([
    ...name.split(".").flatMap((label) => [Buffer.from([label.length]), Buffer.from(label, "latin1")]),
    Buffer.from([0]),
  ]);

const textBytes = (strings: readonly string[]): Buffer =>
  Buffer.concat(
    strings.flatMap((text) => [Buffer.from([Buffer.byteLength(text, "latin1")]), Buffer.from(text, "latin1")]),
  );

function addressBytes(address: string): Buffer {
  if (!address.includes(":")) return Buffer.from(address.split(".").map(Number));
  const [head = "", tail = ""] = address.split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":"));
  const zeros = Array(8 - groups(head).length - groups(tail).length).fill("0");
  return Buffer.from(
    [...groups(head), ...zeros, ...groups(tail)].map((group) => group.padStart(4, "0")).join(""),
    "hex",
  );
}

/** `0 issue ca.example`. */
function caaBytes(value: string): Buffer {
  const [flags = "0", tag = "issue", ...rest] = value.split(" ");
  return Buffer.concat([Buffer.from([Number(flags), tag.length]), Buffer.from(tag), Buffer.from(rest.join(" "))]);
}

function valueBytes(type: RecordType, value: string | readonly string[]): Buffer {
  if (type === "TXT") return textBytes(typeof value === "string" ? [value] : value);
  if (type === "CNAME") return nameBytes(String(value));
  return type === "CAA" ? caaBytes(String(value)) : addressBytes(String(value));
}

function recordBytes(name: string, type: RecordType, value: string | readonly string[]): Buffer {
  const data = valueBytes(type, value);
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(NUMBERS[type], 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(300, 4); // a long time to live: whoever keeps an answer is found out
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([nameBytes(name), fixed, data]);
}

function message({ id, bytes }: Question, answers: readonly Buffer[], code: number, truncated = false): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(id, 0);
  head.writeUInt16BE(0x8580 | code | (truncated ? 0x0200 : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(answers.length, 6);
  return Buffer.concat([head, bytes, ...answers]);
}

export async function startDnsServer(): Promise<DnsServer> {
  const records = new Map<string, readonly (string | readonly string[])[]>();
  const asked: string[] = [];
  const has = (name: string): boolean => [...records.keys()].some((key) => key.endsWith(` ${name}`));

  function answersTo({ name, type }: Question): Buffer[] {
    const own =
      type === undefined ? [] : (records.get(`${type} ${name}`) ?? []).map((value) => recordBytes(name, type, value));
    if (own.length > 0 || type === "CNAME") return own;
    // A resolver follows an alias (RFC 1034, 3.6.2).
    return (records.get(`CNAME ${name}`) ?? []).map((value) => recordBytes(name, "CNAME", value));
  }

  function reply(sent: Buffer, over: "udp" | "tcp"): Buffer | null {
    const question = questionOf(sent);
    asked.push(`${question.type ?? "?"} ${question.name}`);
    const answers = answersTo(question);
    const whole = message(question, answers, answers.length > 0 || has(question.name) ? 0 : NXDOMAIN);
    switch (server.mood) {
      case "hangs":
        return null;
      case "fails":
        return message(question, [], SERVFAIL);
      case "refuses":
        return message(question, [], REFUSED);
      case "garbage":
        return Buffer.from("\xff\x00no DNS at all".repeat(20), "latin1");
      case "other_id":
        return message({ ...question, id: question.id ^ 0x5555 }, answers, 0);
      case "other_name": {
        const bytes = Buffer.concat([nameBytes("elsewhere.example"), question.bytes.subarray(-4)]);
        return message({ ...question, bytes }, answers, 0);
      }
      case "truncated":
        return over === "udp" ? message(question, [], 0, true) : whole;
      default:
        return over === "udp" && whole.length > 512 ? message(question, [], 0, true) : whole;
    }
  }

  const tcp = createServer((socket) => {
    let read = Buffer.alloc(0);
    socket.on("error", () => {});
    socket.on("data", (chunk: Buffer) => {
      read = Buffer.concat([read, chunk]);
      for (
        ;
        read.length >= 2 && read.length >= 2 + read.readUInt16BE(0);
        read = read.subarray(2 + read.readUInt16BE(0))
      ) {
        const answer = reply(read.subarray(2, 2 + read.readUInt16BE(0)), "tcp");
        if (answer === null) return;
        const length = Buffer.alloc(2);
        length.writeUInt16BE(answer.length);
        socket.write(Buffer.concat([length, answer]));
      }
    });
  });
  await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", resolve));
  const { port } = tcp.address() as { port: number };
  const udp = await Bun.udpSocket({
    hostname: "127.0.0.1",
    port,
    socket: {
      error: () => {}, // whoever asked has gone
      data(socket, sent, from_port, from) {
        const answer = reply(Buffer.from(sent), "udp");
        if (answer !== null) socket.send(answer, from_port, from);
      },
    },
  });
  const server: DnsServer = {
    address: `127.0.0.1:${port}`,
    set: (name, type, values) =>
      void (values === null ? records.delete(`${type} ${name}`) : records.set(`${type} ${name}`, values)),
    clear: () => records.clear(),
    mood: "answers",
    asked,
    async [Symbol.asyncDispose]() {
      udp.close();
      tcp.close();
    },
  };
  return server;
}
