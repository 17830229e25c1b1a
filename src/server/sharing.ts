/** Several sockets at one port, of which the youngest takes all new connections. The kernel deals them out among all that
 *  listen, unless it is told which; what an older one has taken by then, it goes on with. So a certificate is changed
 *  without a moment in which nobody listens, and no connection is lost in the queue of a socket that closes. */
import { ptr } from "bun:ffi";
import { openSockets } from "./sockets.ts";

/** Of <asm-generic/socket.h>. */
const SO_REUSEPORT = 15;
const SO_ATTACH_REUSEPORT_CBPF = 51;
/** Of <linux/bpf_common.h>: return a constant. */
const BPF_RET_K = 6;

interface Sharing {
  /** Before another socket is opened: whether there may be one. */
  begin(): boolean;
  /** Another one is open: it takes all new connections. */
  took(): void;
  /** One of the older ones was closed. */
  left(): void;
  /** All were closed. */
  forget(): void;
}

const yes = new DataView(new Int32Array([1]).buffer);

/** A program of one instruction, which names a socket by its number in the group. */
function constantProgram() {
  const instruction = new DataView(new ArrayBuffer(8));
  instruction.setUint16(0, BPF_RET_K, true);
  const program = new DataView(new ArrayBuffer(16));
  program.setUint16(0, 1, true); // instructions
  program.setBigUint64(8, BigInt(ptr(instruction)), true);
  return (index: number): DataView => {
    instruction.setUint32(4, index, true);
    return program;
  };
}

/** Null where nothing can be told. */
export function openSharing(port: number): Sharing | null {
  const sockets = openSockets();
  if (sockets === null) return null;
  const programFor = constantProgram();
  /** Descriptors in the kernel's order. */
  let group: number[] = [];
  let youngest = -1;

  const steer = () => void sockets.set(youngest, SO_ATTACH_REUSEPORT_CBPF, programFor(group.indexOf(youngest)));
  return {
    begin() {
      const open = sockets.listeners(port) ?? [];
      if (group.length === 0) group = open;
      return open.length > 0 && open.every((one) => sockets.set(one, SO_REUSEPORT, yes));
    },
    took() {
      const fresh = sockets.listeners(port)?.find((one) => !group.includes(one));
      if (fresh === undefined) return;
      youngest = fresh;
      group.push(fresh);
      steer();
    },
    left() {
      const open = sockets.listeners(port) ?? group;
      for (let n = group.length - 1; n >= 0; n--) {
        if (open.includes(group[n]!)) continue;
        const last = group.pop()!; // the kernel puts it in the place of one that closes
        if (n < group.length) group[n] = last;
      }
      if (group.length > 0) steer();
    },
    forget() {
      group = [];
    },
  };
}
