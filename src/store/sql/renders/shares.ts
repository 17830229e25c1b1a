/** How many of those that wait are given up, and whose: a crowd loses its own before anybody else loses one. */

interface Waiting {
  place: string;
  /** 1: of an owner, who is held to no more than the others but comes last to lose. */
  owned: number;
  waiting: number;
}

/** The largest share at which all shares together are `most` at most. */
function levelOf(counts: readonly number[], most: number): number {
  const rising = counts.toSorted((a, b) => a - b);
  let left = most;
  for (const [i, count] of rising.entries()) {
    const level = Math.floor(left / (rising.length - i));
    if (count > level) return level;
    left -= count;
  }
  return Infinity;
}

/** How many of each place are too many: while others wait, one has half of the room at most; and all together have no more
 *  than there is, for which those who have most give, those without an owner first. */
export function tooMany(all: readonly Waiting[], most: number): Map<string, number> {
  const half = all.length > 1 ? most >> 1 : most;
  const held = all.map((one) => ({ ...one, waiting: Math.min(one.waiting, half) }));
  const sumOf = (owned: number) => held.filter((one) => one.owned === owned).map(({ waiting }) => waiting);
  const owners = levelOf(sumOf(1), most);
  const of_owners = sumOf(1).reduce((sum, waiting) => sum + Math.min(waiting, owners), 0);
  const others = levelOf(sumOf(0), most - of_owners);
  const kept = held.map(({ owned, waiting }) => Math.min(waiting, owned === 1 ? owners : others));
  return new Map(
    all.flatMap(({ place, waiting }, i) => (waiting > kept[i]! ? [[place, waiting - kept[i]!] as const] : [])),
  );
}
