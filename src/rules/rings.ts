/** Redirects that lead to each other (BEYOND 2): looked for when a site is deployed. */
import { brief } from "./lines.ts";
import { leadsTo, type ReadRule } from "./redirects.ts";
import { leadsOn, type RedirectRule, type RuleProblem } from "./types.ts";

/** Lines without `*` and names whose redirects lead round in a ring. */
export function ringsOf(rules: readonly ReadRule[]): RuleProblem[] {
  const next = new Map<string, RedirectRule>();
  for (const { rule, pattern } of rules) {
    if (leadsOn(rule) && pattern.plain !== null) next.set(pattern.plain, rule);
  }
  const state = new Map<string, "walked" | "ring">();
  for (const start of next.keys()) walk(start, next, state);
  return [...next].flatMap(([from, rule]) => (state.get(from) === "ring" ? [ring(rule)] : []));
}

function walk(start: string, next: Map<string, RedirectRule>, state: Map<string, "walked" | "ring">): void {
  const trail = new Set<string>();
  let at: string | null = start;
  while (at !== null && next.has(at) && !state.has(at) && !trail.has(at)) {
    trail.add(at);
    at = leadsTo(next.get(at)!);
  }
  let within = false;
  for (const path of trail) {
    within ||= path === at;
    state.set(path, within ? "ring" : "walked");
  }
}

const ring = ({ line, from, to }: RedirectRule): RuleProblem => ({
  code: "redirect_loop",
  line,
  message: `${brief(from)} leads to ${brief(to)}, and from there back again: browsers give up.`,
  fix_recipe: "Let one of the lines lead to a page that is there.",
});
