/** The sockets of this process as the kernel has them, and what the runtime does not do: ending a connection, setting an
 *  option. Asked of the C library, on Linux alone; `shutdown` leaves descriptor and memory to the runtime, which then meets the
 *  end of the connection as if the other side had left. */
import { type Pointer, dlopen, ptr } from "bun:ffi";
import { readdirSync } from "node:fs";

/** glibc, then musl. */
const LIBRARIES = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];

/** From <netinet/tcp.h>: the same on every Linux. */
const IPPROTO_TCP = 6;
const TCP_INFO = 11;
const LISTENS = 10;
const INFO_BYTES = 256;
const UNACKNOWLEDGED_AT = 24;
const LAST_SENT_AT = 44;
const LAST_RECEIVED_AT = 52;
const ACKED_AT = 120;
const UNSENT_AT = 144;
const SHUT_BOTH = 2;
/** From <asm-generic/socket.h>: the same on every Linux that Bun runs on. */
const SOL_SOCKET = 1;
const SO_REUSEPORT = 15;
const SO_ATTACH_REUSEPORT_CBPF = 51;
/** From <linux/bpf_common.h>: return a constant. */
const BPF_RET_K = 6;
const IPV4 = 2;
const ADDRESS_BYTES = 28;

export interface Connection {
  descriptor: number;
  /** Unique while the connection lasts: `peerName`. */
  peer: string;
  /** IPv4 as such, on a socket of both families too. */
  address: string;
  /** Whether the other side ever got anything from here. */
  answered: boolean;
  /** Since something went over it, or since it is there; 0 while something is on its way to the other side. */
  rest_ms: number;
}

interface Sockets {
  /** Connections that came in at this port, 5 µs for each; null when no descriptor is left to list them by. */
  list(port: number): Connection[] | null;
  end(connection: Connection): void;
  /** Descriptors of sockets that listen at this port; null as above. */
  listeners(port: number): number[] | null;
  /** Lets other sockets listen at its port, too; false when the kernel refuses. */
  share(descriptor: number): boolean;
  /** Sends new connections to the n-th listener of the group that shares the port of this one. */
  steer(descriptor: number, n: number): void;
}

export const peerName = (address: string, port: number): string => `${address} ${port}`;

function load() {
  const number = "i32";
  for (const library of process.platform === "linux" ? LIBRARIES : []) {
    try {
      return dlopen(library, {
        setsockopt: { args: [number, number, number, "ptr", "u32"], returns: number },
        shutdown: { args: [number, number], returns: number },
        getsockopt: { args: [number, number, number, "ptr", "ptr"], returns: number },
        getsockname: { args: [number, "ptr", "ptr"], returns: number },
        getpeername: { args: [number, "ptr", "ptr"], returns: number },
      }).symbols;
    } catch {
      // the next library, or none
    }
  }
  return null;
}

/** Memory that the kernel fills. */
function answerOf(bytes: number) {
  const view = new DataView(new ArrayBuffer(bytes));
  const length = new Uint32Array(1);
  return { bytes, view, length, at: ptr(view), length_at: ptr(length) };
}

function restOf(info: DataView, answered: boolean): number {
  const at = (offset: number) => info.getUint32(offset, true);
  if (!answered) return at(LAST_SENT_AT); // since it is there: nothing was ever sent
  return at(UNACKNOWLEDGED_AT) + at(UNSENT_AT) > 0 ? 0 : Math.min(at(LAST_SENT_AT), at(LAST_RECEIVED_AT));
}

const YES = new DataView(new Int32Array([1]).buffer);

/** A filter of one instruction, which names a socket by its number in the group. */
function constantProgram() {
  const instruction = new DataView(new ArrayBuffer(8));
  instruction.setUint16(0, BPF_RET_K, true);
  const program = new DataView(new ArrayBuffer(16));
  program.setUint16(0, 1, true); // instructions
  program.setBigUint64(8, BigInt(ptr(instruction)), true);
  return (n: number): DataView => {
    instruction.setUint32(4, n, true);
    return program;
  };
}

type Libc = NonNullable<ReturnType<typeof load>>;

function sharing({ setsockopt }: Libc): Pick<Sockets, "share" | "steer"> {
  const programFor = constantProgram();
  const set = (descriptor: number, option: number, value: DataView): boolean =>
    setsockopt(descriptor, SOL_SOCKET, option, ptr(value), value.byteLength) === 0;
  return {
    share: (descriptor) => set(descriptor, SO_REUSEPORT, YES),
    steer: (descriptor, n) => void set(descriptor, SO_ATTACH_REUSEPORT_CBPF, programFor(n)),
  };
}

/** Null when no descriptor is left to list them by. */
function descriptors(): string[] | null {
  try {
    return readdirSync("/proc/self/fd");
  } catch {
    return null;
  }
}

type ReadName = (descriptor: number, at: Pointer, length_at: Pointer) => number;

/** Address and port as `name` (getpeername, getsockname) tells them; null where it does not. */
function endOf(descriptor: number, name: ReadName, into: ReturnType<typeof answerOf>) {
  into.length[0] = into.bytes;
  if (name(descriptor, into.at, into.length_at) !== 0) return null;
  const { view } = into;
  const port = view.getUint16(2);
  if (view.getUint16(0, true) === IPV4) {
    return { port, address: [4, 5, 6, 7].map((at) => view.getUint8(at)).join(".") };
  }
  const groups = Array.from({ length: 8 }, (_, n) => view.getUint16(8 + 2 * n));
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xff_ff;
  if (mapped) return { port, address: `${[20, 21, 22, 23].map((at) => view.getUint8(at)).join(".")}` };
  const text = groups.map((group) => group.toString(16)).join(":");
  return { port, address: new URL(`http://[${text}]`).hostname.slice(1, -1) }; // written as the runtime does
}

/** Null without such a library. */
export function openSockets(): Sockets | null {
  const libc = load();
  if (libc === null) return null;
  const info = answerOf(INFO_BYTES);
  const end = answerOf(ADDRESS_BYTES);

  /** Whether a socket of the port listens; null for any other descriptor. Fills `info` with what the kernel says of it. */
  function listens(descriptor: number, port: number): boolean | null {
    info.length[0] = INFO_BYTES;
    if (libc!.getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, info.at, info.length_at) !== 0) return null;
    return endOf(descriptor, libc!.getsockname, end)?.port === port ? info.view.getUint8(0) === LISTENS : null;
  }
  function connection(descriptor: number, port: number): Connection[] {
    if (listens(descriptor, port) !== false) return [];
    const peer = endOf(descriptor, libc!.getpeername, end);
    if (peer === null) return [];
    const answered = info.view.getBigUint64(ACKED_AT, true) > 0n;
    return [
      {
        descriptor,
        peer: peerName(peer.address, peer.port),
        address: peer.address,
        answered,
        rest_ms: restOf(info.view, answered),
      },
    ];
  }
  return {
    list: (port) => descriptors()?.flatMap((name) => connection(Number(name), port)) ?? null,
    end: ({ descriptor }) => void libc.shutdown(descriptor, SHUT_BOTH),
    listeners: (port) =>
      descriptors()
        ?.map(Number)
        .filter((one) => listens(one, port) === true) ?? null,
    ...sharing(libc),
  };
}
