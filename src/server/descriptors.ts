/** The file descriptors that this process has open. Linux tells; elsewhere nothing is known, and nothing is bounded. */
import { closeSync, openSync, readdirSync, statSync } from "node:fs";

const OWN = "/proc/self/fd";

/** Needs none itself where the kernel counts them (Linux 6.2 and later): asking takes 3 µs, then, and works when all are
 *  gone. Null where nobody tells, or where telling takes one and there is none. */
export function openDescriptors(): number | null {
  try {
    return statSync(OWN).size || readdirSync(OWN).length;
  } catch {
    return null;
  }
}

/** Descriptors that are kept from being taken by connections, so that files can still be opened when there are too many
 *  of those: between the moment in which nothing is left and that in which somebody notices. */
export function reserveDescriptors(count: number) {
  let held: number[] = [];
  return {
    held: () => held.length,
    take(): void {
      try {
        while (held.length < count) held.push(openSync("/dev/null", "r"));
      } catch {
        // None is left: what is held must do.
      }
    },
    give(): void {
      for (const descriptor of held) closeSync(descriptor);
      held = [];
    },
  };
}
