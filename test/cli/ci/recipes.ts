/** The recipes of docs/ci.md, as each CI reads them. */
import { join } from "node:path";
import { ROOT } from "../../kit/paths.ts";

/** What `${{ … }}` and an `if` name: `vars.SVC_SITE`, `github.event.number`. */
export type Context = Readonly<Record<string, string>>;

export interface Step {
  name?: string;
  uses?: string;
  run?: string;
  env?: Record<string, string>;
}

/** Of GitHub and Forgejo. */
interface ActionsJob {
  if?: string;
  needs?: string;
  steps: Step[];
}
export interface Workflow {
  on: Record<string, unknown>;
  jobs: Record<string, ActionsJob>;
}

/** Of GitLab. */
export interface GitLabJob {
  extends?: string;
  before_script?: string[];
  script: string[];
  variables?: Record<string, string>;
  rules?: { if: string; when?: string }[];
  environment?: { name: string };
}

const text = await Bun.file(join(ROOT, "docs", "ci.md")).text();

/** Each block that is a file of a repository, by its first line. */
const files = new Map(
  [...text.matchAll(/^```yaml\n# (\S+\.yml)\n([^]*?)^```$/gm)].map(([, path, yaml]) => [path!, yaml!]),
);

/** All that are there. */
export const PATHS = [...files.keys()];
export const ACTIONS = PATHS.filter((path) => path.includes("/workflows/"));

export const sourceOf = (path: string): string => files.get(path)!;
export const workflow = (path: string): Workflow => Bun.YAML.parse(sourceOf(path)) as Workflow;

/** The jobs that run, each with what it extends. */
export function gitLabJobs(path = ".gitlab-ci.yml"): Record<string, GitLabJob> {
  const all = Bun.YAML.parse(sourceOf(path)) as Record<string, GitLabJob>;
  const jobs = Object.entries(all).filter(([name, job]) => Array.isArray(job.script) && !name.startsWith("."));
  return Object.fromEntries(
    jobs.map(([name, job]) => [name, { ...(job.extends === undefined ? {} : all[job.extends]), ...job }]),
  );
}

const lookUp = (name: string, context: Context): string => {
  const value = context[name];
  if (value === undefined) throw new Error(`the recipe reads ${name}, which this CI does not set here`);
  return value;
};

export const expand = (words: string, context: Context): string =>
  words.replace(/\$\{\{ (\S+) \}\}/g, (_, name: string) => lookUp(name, context));

/** `a == 'b' && c != d`: all that the recipes write, by the names of GitHub or GitLab. */
export function holds(condition: string, context: Context): boolean {
  const valueOf = (word: string) => /^['"](.*)['"]$/.exec(word)?.[1] ?? lookUp(word.replace(/^\$/, ""), context);
  return condition.split(" && ").every((part) => {
    const [, left, operator, right] = /^(\S+) (==|!=) (\S+)$/.exec(part) ?? [];
    if (left === undefined) throw new Error(`this condition is not understood: ${part}`);
    return (valueOf(left) === valueOf(right!)) === (operator === "==");
  });
}
