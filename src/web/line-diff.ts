/** The lines by which two texts differ: the shortest way from one to the other (Myers, "An O(ND) difference algorithm", 1986),
 *  with a bound on the work, for both texts are a customer's. */

export interface DiffLine {
  kind: "same" | "removed" | "added";
  text: string;
  /** Numbers of the line, from 1, in the text before and in the text after; 0 where it is not there. */
  before: number;
  after: number;
}

/** A way of more steps than this is not looked for: the texts are cut at lines that each of them has once. Its square is the
 *  work: some 4 ms at most. */
const MOST_STEPS = 300;
/** The same between two such lines, of which there are many: what is further apart is replaced as a whole. */
const MOST_STEPS_BETWEEN = 64;

/** The lines of a text. One at its end that is no line is none. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|[\r\n]/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** For each number of steps, how far each diagonal was reached: by it the way is found backwards. */
type Trace = Int32Array[];

/** Null if the way is too long. `a` and `b` are numbers that stand for lines. */
function traceOf(a: Int32Array, b: Int32Array, most_steps: number): Trace | null {
  const most = Math.min(a.length + b.length, most_steps);
  const reached = new Int32Array(2 * most + 3);
  const trace: Trace = [];
  for (let steps = 0; steps <= most; steps++) {
    for (let k = -steps; k <= steps; k += 2) {
      const [below, above] = [reached[most + k]!, reached[most + k + 2]!];
      let x = k === -steps || (k !== steps && below < above) ? above : below + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) [x, y] = [x + 1, y + 1];
      reached[most + k + 1] = x;
      if (x >= a.length && y >= b.length) return [...trace, reached.slice(most - steps, most + steps + 3)];
    }
    trace.push(reached.slice(most - steps, most + steps + 3));
  }
  return null;
}

/** A line that goes or comes, once so many lines of the text before are behind it. */
interface Step {
  removes: boolean;
  x: number;
}

/** The steps from the beginning. */
function stepsOf(trace: Trace, a_length: number, b_length: number): Step[] {
  const steps: Step[] = [];
  let [x, y] = [a_length, b_length];
  for (let d = trace.length - 1; d > 0; d--) {
    const before = trace[d - 1]!;
    const at = (k: number): number => before[k + d]!; // the slice of d - 1 steps begins at the diagonal -d
    const k = x - y;
    const comes = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const from_k = comes ? k + 1 : k - 1;
    const from_x = at(from_k);
    const from_y = from_x - from_k;
    steps.push({ removes: !comes, x: from_x });
    [x, y] = [from_x, from_y];
  }
  return steps.reverse();
}

/** Places of the lines that each text has once, as many of them as stand in one order in both. */
function anchorsOf(a: Int32Array, b: Int32Array): { x: number; y: number }[] {
  const once = (lines: Int32Array): Map<number, number> => {
    const places = new Map<number, number>();
    lines.forEach((line, at) => places.set(line, places.has(line) ? -1 : at));
    return places;
  };
  const [in_a, in_b] = [once(a), once(b)];
  const pairs = [...in_a].flatMap(([line, x]) => {
    const y = in_b.get(line) ?? -1;
    return x < 0 || y < 0 ? [] : [{ x, y }];
  });
  // The longest increasing run of `y`, by patience: each pile's top, and what was on the pile before when it came.
  const tops: number[] = [];
  const before = pairs.map(({ y }, n) => {
    let [low, high] = [0, tops.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[tops[middle]!]!.y < y) low = middle + 1;
      else high = middle;
    }
    tops[low] = n;
    return low > 0 ? tops[low - 1]! : -1;
  });
  const run: { x: number; y: number }[] = [];
  for (let n = tops.at(-1) ?? -1; n >= 0; n = before[n]!) run.push(pairs[n]!);
  return run.reverse();
}

/** From one text to the other, `x0` lines on. */
function stepsFrom(a: Int32Array, b: Int32Array, x0: number, most_steps: number): Step[] {
  const trace = traceOf(a, b, most_steps);
  if (trace !== null) return stepsOf(trace, a.length, b.length).map(({ removes, x }) => ({ removes, x: x0 + x }));
  const anchors = most_steps === MOST_STEPS ? anchorsOf(a, b) : [];
  if (anchors.length === 0) {
    const removed = Array.from(a, (_, n) => ({ removes: true, x: x0 + n }));
    return [...removed, ...Array.from(b, () => ({ removes: false, x: x0 + a.length }))];
  }
  const steps: Step[] = [];
  let [from_x, from_y] = [0, 0];
  for (const { x, y } of [...anchors, { x: a.length, y: b.length }]) {
    const between = [a.subarray(from_x, x), b.subarray(from_y, y)] as const;
    for (const step of stepsFrom(...between, x0 + from_x, MOST_STEPS_BETWEEN)) steps.push(step);
    [from_x, from_y] = [x + 1, y + 1];
  }
  return steps;
}

/** How many lines at one end are equal. */
function equalEnd(
  a: readonly string[],
  b: readonly string[],
  at: (lines: readonly string[], i: number) => string,
): number {
  const most = Math.min(a.length, b.length);
  let n = 0;
  while (n < most && at(a, n) === at(b, n)) n++;
  return n;
}

function numbered(a: readonly string[], b: readonly string[]): [Int32Array, Int32Array] {
  const numbers = new Map<string, number>();
  const number = (line: string): number => numbers.getOrInsertComputed(line, () => numbers.size);
  return [Int32Array.from(a, number), Int32Array.from(b, number)];
}

/** All lines of both texts, in the order in which a person reads the change. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  const head = equalEnd(before, after, (lines, i) => lines[i]!);
  const rest = [before.slice(head), after.slice(head)] as const;
  const tail = equalEnd(...rest, (lines, i) => lines.at(-1 - i)!);
  const [a, b] = rest.map((lines) => lines.slice(0, lines.length - tail)) as [string[], string[]];
  const lines: DiffLine[] = [];
  let [x, y] = [0, 0];
  const same = (until: number): void => {
    for (; x < until; x++, y++) lines.push({ kind: "same", text: before[x]!, before: x + 1, after: y + 1 });
  };
  const removed = (): void => void lines.push({ kind: "removed", text: before[x]!, before: ++x, after: 0 });
  const added = (): void => void lines.push({ kind: "added", text: after[y]!, before: 0, after: ++y });
  same(head);
  for (const step of stepsFrom(...numbered(a, b), 0, MOST_STEPS)) {
    same(head + step.x);
    if (step.removes) removed();
    else added();
  }
  same(before.length);
  return lines;
}
