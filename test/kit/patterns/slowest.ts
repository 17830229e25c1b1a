/** Whether something takes more than its share of time on one of many inputs. */
import { cpuOf, expectLinear } from "../cpu.ts";
import type { Pattern } from "./source.ts";

export interface Growing<T> {
  name: string;
  of(size: number): T;
}

/** Far beyond what anything linear takes, on a slow machine too. */
const CERTAIN = 10;
/** So far beyond that no second look would change it. */
const HOPELESS = 100;
/** What 4 times the input takes at most where one look is enough: quadratic work takes 16 times as long. */
const LINEAR = 5;

/** The name of the first input that takes more than its share; null: none does. What is not done in `enough_ms` at
 *  `size` is measured against a part of it. */
export function slowest<T>(
  work: (input: T) => unknown,
  inputs: Iterable<Growing<T>>,
  size: number,
  enough_ms: number,
): string | null {
  const least = (input: T, enough: number): number => {
    let took = Infinity;
    for (let run = 0; run < 3 && took > enough && (run === 0 || took < HOPELESS * enough); run++)
      took = Math.min(
        took,
        cpuOf(() => work(input)),
      );
    return took;
  };
  for (const { name, of } of inputs) {
    const took = least(of(size), enough_ms);
    if (took <= enough_ms) continue;
    if (took > CERTAIN * enough_ms) return `${name}: ${took} ms`;
    if (least(of(4 * size), LINEAR * took) <= LINEAR * took) continue;
    try {
      expectLinear(2 * size, of, work);
    } catch (error) {
      return `${name}: ${(error as Error).message}`;
    }
  }
  return null;
}

/** The same for a regular expression. What takes it longer than any power of the length shows at a small size, where it
 *  does not hang yet. */
export function slowestText(pattern: Pattern, texts: () => Iterable<Growing<string>>, size: number): string | null {
  const run = runnerOf(pattern);
  return slowest(run, texts(), 30, 1) ?? slowest(run, texts(), size, size / 10_000);
}

/** Everything that one call of it, or all matches of a global one, look at. */
function runnerOf({ source, flags }: Pattern): (text: string) => void {
  const pattern = new RegExp(source, flags);
  if (flags.includes("g")) return (text) => void Array.from(text.matchAll(pattern)).length;
  return (text) => {
    pattern.lastIndex = 0;
    pattern.exec(text);
  };
}
