/** Pages and deploys come before pictures of them. */
import { setPriority } from "node:os";

const LOW = 10;

export function lowerPriority(): void {
  try {
    setPriority(LOW);
  } catch {} // it runs as it is
}
