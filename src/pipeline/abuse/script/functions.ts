/** The functions of a script: which of them run by themselves when the page loads, and which wait for somebody. A name
 *  counts wherever it is called. */
import { type Body, type Call, Reader } from "./brackets.ts";

/** The functions of all scripts of a page: what one declares another may call. */
export class Functions {
  private readonly bodies: Body[] = [{ parent: -1, name: "", at_once: true }];
  private readonly calls: Call[] = [];

  /** The function around each of the rising `places`. `literals` are those of the code. */
  add(code: string, literals: readonly string[], places: readonly number[]): number[] {
    return new Reader(code, literals, this.bodies, this.calls).read(places);
  }

  /** The functions that run by themselves. */
  running(): ReadonlySet<number> {
    const { bodies, calls } = this;
    const named = Map.groupBy(bodies.keys(), (id) => bodies[id]!.name);
    const held = Map.groupBy(bodies.keys(), (id) => (bodies[id]!.at_once ? bodies[id]!.parent : -1));
    const called = Map.groupBy(calls, ({ within }) => within);
    const running = new Set([0]);
    for (const id of running) {
      for (const inner of held.get(id) ?? []) running.add(inner);
      const names = new Set((called.get(id) ?? []).map(({ name }) => name));
      for (const name of names) for (const one of (name && named.get(name)) || []) running.add(one);
    }
    return running;
  }
}
