/** Slots are taken in turn by network, not in order of arrival (CONTRACT 4.1). */
import { describe, expect, test } from "bun:test";
import { createGate } from "../../src/run/gate.ts";
import { deployProcesses, local, startProcess, temporaryFolder } from "../kit/process.ts";
import { ZIP } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";

/** Work that ends when it is told to. */
function crowd(width: number, limits?: Partial<Parameters<typeof createGate>[0]>) {
  const gate = createGate({ width, ...limits });
  const begun: string[] = [];
  const endings = new Map<string, () => void>();
  return {
    gate,
    begun,
    /** `a1` is of `a`; `ax1` is of `x`, a part of `a`. */
    enter(...names: string[]): void {
      for (const name of names) {
        const { promise, resolve } = Promise.withResolvers<void>();
        endings.set(name, resolve);
        const work = () => {
          begun.push(name);
          return promise;
        };
        gate.run(work, [name[0]!, /[a-z]/.exec(name.slice(1))?.[0] ?? ""]).catch(() => begun.push(`${name} refused`));
      }
    },
    async end(...names: string[]): Promise<string[]> {
      for (const name of names) endings.get(name)!();
      await Bun.sleep(0);
      return begun;
    },
  };
}

describe("a gate", () => {
  test("lets in by arrival where all are one, and a newcomer never before who waits", async () => {
    const { enter, end } = crowd(1);
    enter("a1", "a2", "a3");
    expect(await end("a1")).toEqual(["a1", "a2"]);
    enter("a4");
    expect(await end("a2", "a3")).toEqual(["a1", "a2", "a3", "a4"]);
  });

  test("takes turns: a crowd that came first goes in one by one between the others", async () => {
    const { enter, end, begun } = crowd(1);
    enter("a1", "a2", "a3", "a4", "b1", "b2", "c1");
    for (await end(); begun.length < 7;) await end(begun.at(-1)!);
    expect(begun).toEqual(["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
  });

  test("takes one with many parts as one, and its parts in turn", async () => {
    const { enter, end, begun } = crowd(1);
    enter("ax1", "ax2", "ax3", "ay1", "az1", "b1", "b2");
    for (await end(); begun.length < 7;) await end(begun.at(-1)!);
    expect(begun).toEqual(["ax1", "ax2", "b1", "ay1", "b2", "az1", "ax3"]);
  });

  test.each([
    [2, 1],
    [3, 1],
    [4, 2],
    [8, 4],
  ])("of %i places gives one at most %i while another waits, and all while none does", async (width, share) => {
    const { gate, enter, end, begun } = crowd(width);
    const many = (who: string) => Array.from({ length: 2 * width }, (_, n) => `${who}${n}`);
    enter(...many("a"));
    await end();
    expect(begun).toEqual(many("a").slice(0, width));
    enter(...many("b"));
    // As the first ones leave, the other comes up to its share; then each gets what it left.
    for (let n = 0; n < width; n++) await end(begun[n]!);
    const inside = begun.slice(width);
    expect(inside.filter((name) => name.startsWith("a"))).toHaveLength(share);
    expect(inside.filter((name) => name.startsWith("b"))).toHaveLength(share);
    expect(gate.load().waiting).toBe(4 * width - width - inside.length);
  });

  test("keeps a place for who comes new while all others have their share", async () => {
    const { enter, end, begun } = crowd(3);
    enter("a1", "b1", "a2", "b2", "a3");
    await end();
    expect(begun).toEqual(["a1", "b1", "a2"]); // nobody else was waiting when a2 came
    expect(await end("a1")).toEqual(["a1", "b1", "a2"]);
    enter("c1");
    expect(await end()).toEqual(["a1", "b1", "a2", "c1"]);
  });

  test("refuses who waited too long, and whoever is alone then goes in", async () => {
    const { enter, end, begun, gate } = crowd(3, { ms: 50, late: () => new Error("late") });
    enter("a1", "b1", "a2", "b2", "a3");
    await end("a2");
    expect(begun).toEqual(["a1", "b1", "a2"]);
    await until(() => begun.length === 5);
    expect(begun.slice(3).toSorted()).toEqual(["a3", "b2 refused"]);
    await end("a1", "b1", "a3");
    expect(gate.load()).toEqual({ busy: 0, waiting: 0, oldest_ms: 0 });
  });

  test("CONTRACT 7.3 tells for how long the first that waits has waited", async () => {
    let now = 1000;
    const { enter, end, gate } = crowd(1, { clock: () => now });
    enter("a1");
    expect(gate.load()).toEqual({ busy: 1, waiting: 0, oldest_ms: 0 });
    enter("b1");
    now += 30;
    enter("a2");
    now += 5;
    expect(gate.load()).toEqual({ busy: 1, waiting: 2, oldest_ms: 35 });
    await end("a1");
    expect(gate.load()).toEqual({ busy: 1, waiting: 1, oldest_ms: 5 });
    await end("b1", "a2");
    expect(gate.load()).toEqual({ busy: 0, waiting: 0, oldest_ms: 0 });
  });

  test("gives a place back where the work fails, and lets nobody in once it is closed", async () => {
    const { gate, enter, end } = crowd(1);
    await gate.run(() => Promise.reject(new Error("x")), ["a"]).catch(() => {});
    enter("a1", "b1");
    await end();
    gate.close();
    enter("c1");
    expect((await end("a1")).toSorted()).toEqual(["a1", "b1 refused", "c1 refused"]);
  });
});

test.if(process.platform === "linux")(
  "CONTRACT 4.1: an address with a crowd of deploys keeps no other from its turn, over HTTP",
  async () => {
    await using dir = await temporaryFolder();
    const flags = ["--data-dir", dir.path, "--trust-proxy", "127.0.0.1/32", "--log", "off"];
    const server = await startProcess(flags);
    const order: string[] = [];
    const deploy = async (address: string, name: string) => {
      const body = zipOf({ "index.html": `<title>${name}</title>` });
      const headers = { ...ZIP, "x-forwarded-for": address };
      const response = await fetch(`${local(server)}/sites`, { method: "POST", body, headers });
      if (response.status === 200) order.push(address);
      return response.status;
    };
    await Promise.all(["192.0.2.1", "192.0.2.2"].map((address) => deploy(address, "warm")));
    const busy = deployProcesses(server.pid);
    /** How many deploys were answered until the other's was, itself included. */
    const round = async (name: string): Promise<number> => {
      for (const pid of busy) process.kill(pid, "SIGSTOP");
      order.splice(0);
      const crowd = Array.from({ length: 16 }, (_, n) => deploy(`2001:db8::${n}`, `${name} crowd ${n}`));
      for (let n = 0; n < 5; n++) await fetch(`${local(server)}/healthz`); // they are in line by now
      const other = deploy("198.51.100.7", `${name} other`);
      for (const pid of busy) process.kill(pid, "SIGCONT");
      expect(await other).toBe(200);
      const answered = order.length;
      expect(await Promise.all(crowd)).toEqual(crowd.map(() => 200));
      return answered;
    };
    // The crowd had the slots when the other came: what was running, and at most one more in its turn. Beside it, in the other slot,
    // one of the crowd may be done sooner: that it began later is not seen from here, but no queue without turns is quick in any round.
    const rounds: number[] = [];
    while (rounds.length < 5 && !(Math.min(...rounds) <= busy.length + 2)) rounds.push(await round(`${rounds.length}`));
    expect(Math.min(...rounds)).toBeLessThanOrEqual(busy.length + 2);
    await server.end();
  },
  60_000,
);
