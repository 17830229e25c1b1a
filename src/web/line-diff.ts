/** The lines by which two texts differ: the shortest way from one to the other (Myers, "An O(ND) difference algorithm", 1986),
 *  with a bound on the work, for both texts are a customer's. */

export interface DiffLine {
  kind: "same" | "removed" | "added";
  text: string;
  /** Numbers of the line, from 1, in the text before and in the text after; 0 where it is not there. */
  before: number;
  after: number;
}

/** A way of more steps than this is not looked for: what lies between the equal ends is replaced as a whole. Its square is the
 *  work: some 4 ms at most. */
const MOST_STEPS = 300;

/** The lines of a text. One at its end that is no line is none. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|[\r\n]/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** For each number of steps, how far each diagonal was reached: by it the way is found backwards. */
type Trace = Int32Array[];

/** Null if the way is too long. `a` and `b` are numbers that stand for lines. */
function traceOf(a: Int32Array, b: Int32Array): Trace | null {
  const most = Math.min(a.length + b.length, MOST_STEPS);
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

/** The steps from the beginning: true for a line that goes, false for one that comes, and how many equal lines are before it. */
function stepsOf(trace: Trace, a_length: number, b_length: number): { removes: boolean; x: number; y: number }[] {
  const steps: { removes: boolean; x: number; y: number }[] = [];
  let [x, y] = [a_length, b_length];
  for (let d = trace.length - 1; d > 0; d--) {
    const before = trace[d - 1]!;
    const at = (k: number): number => before[k + d]!; // the slice of d - 1 steps begins at the diagonal -d
    const k = x - y;
    const comes = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const from_k = comes ? k + 1 : k - 1;
    const from_x = at(from_k);
    const from_y = from_x - from_k;
    steps.push({ removes: !comes, x: from_x, y: from_y });
    [x, y] = [from_x, from_y];
  }
  return steps.reverse();
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
  const trace = traceOf(...numbered(a, b));
  if (trace === null) {
    a.forEach(removed);
    b.forEach(added);
  } else {
    for (const step of stepsOf(trace, a.length, b.length)) {
      same(head + step.x);
      if (step.removes) removed();
      else added();
    }
  }
  same(before.length);
  return lines;
}
