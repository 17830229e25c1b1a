/** BEYOND 7: the recipes of docs/ci.md do what the page says, step by step, with the variables that each CI sets. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { signUp } from "../kit/people.ts";
import { slugOf } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";
import { givenBy } from "../accounts/deploy-tokens/given.ts";
import { type Forge, FORGE_TOKEN, startForge } from "./ci/forge.ts";
import { type Machine, Machines } from "./ci/machine.ts";
import {
  ACTIONS,
  type Context,
  expand,
  gitLabJobs,
  holds,
  PATHS,
  sourceOf,
  type Step,
  workflow,
} from "./ci/recipes.ts";

setDefaultTimeout(60_000);

let tokens: { deploy: string; preview: string };
let site: { site_id: string; url: string };
const server = await sharedServer();
const machines = await Machines.start();
const ann = await signUp(server);
afterAll(async () => {
  await machines[Symbol.asyncDispose]();
});

/** A site with something live, and a token for each job, as the page tells to make them. */
async function newSite(): Promise<void> {
  const answer = await server.post(zipOf({ "index.html": "<!doctype html><title>x</title>by hand" }), ann.bearer);
  site = (await answer.json()) as typeof site;
  const { give } = givenBy(() => server);
  const site_ids = [site.site_id];
  const [deploy, preview] = [await give(ann, ["deploy"], { site_ids }), await give(ann, ["preview"], { site_ids })];
  tokens = { deploy: deploy.token, preview: preview.token };
}
const live = async (): Promise<string> => (await server.site(slugOf(site.url))).text();
const previews = async (): Promise<Record<string, unknown>[]> => {
  const answer = await server.api(`/sites/${site.site_id}/previews`, { headers: ann.bearer });
  return ((await answer.json()) as { previews: Record<string, unknown>[] }).previews;
};
const shownAt = async (name: string): Promise<Response> => server.site(`${name}--${slugOf(site.url)}`);

const RUNS_THE_PROJECT = /\bnpm\b|\bnpx\b|checkout/;

describe("the page", () => {
  test("has a deploy and a preview for each CI", () => {
    expect(PATHS).toEqual([
      ".github/workflows/deploy.yml",
      ".github/workflows/preview.yml",
      ".gitlab-ci.yml",
      ".forgejo/workflows/deploy.yml",
      ".forgejo/workflows/preview.yml",
    ]);
  });

  test.each(ACTIONS)("%s: no job that is shown a token runs the project", (path) => {
    const { on, jobs } = workflow(path);
    expect(Object.keys(on)).toEqual(path.includes("deploy") ? ["push"] : ["pull_request"]);
    for (const { steps } of Object.values(jobs)) {
      if (!JSON.stringify(steps).includes("secrets.")) continue;
      for (const { uses = "", run = "" } of steps) expect(uses + run).not.toMatch(RUNS_THE_PROJECT);
    }
  });

  test("a token is named by the step that sends it alone, and npm's svc by none", () => {
    for (const path of ACTIONS) {
      for (const { steps, ...rest } of Object.values(workflow(path).jobs)) {
        expect(JSON.stringify(rest)).not.toContain("secrets.");
        for (const { run = "", env = {} } of steps) {
          if (env["SVC_TOKEN"] !== undefined) expect(run).toMatch(/^(svc |url=)/);
        }
      }
      expect(sourceOf(path)).not.toMatch(/npx svc|pull_request_target/);
    }
  });

  const pullRequest = (action: string, from = "ada/shop"): Context => ({
    "github.event.action": action,
    "github.event.pull_request.head.repo.full_name": from,
    "github.repository": "ada/shop",
    "github.actor": "ada",
  });
  test.each([
    ["opened", "ada/shop", ["build", "preview"]],
    ["synchronize", "ada/shop", ["build", "preview"]],
    ["closed", "ada/shop", ["end"]],
    ["opened", "mallory/shop", []],
    ["synchronize", "mallory/shop", []],
    ["closed", "mallory/shop", []],
  ])("of a pull request that is %s from %s the jobs %j run", (action, from, expected) => {
    for (const path of ACTIONS.filter((one) => one.includes("preview"))) {
      const { jobs } = workflow(path);
      const context = pullRequest(action, from);
      const allowed = (name: string): boolean => {
        const { if: condition, needs } = jobs[name]!;
        return (condition === undefined || holds(condition, context)) && (needs === undefined || allowed(needs));
      };
      expect(Object.keys(jobs).filter(allowed)).toEqual(expected);
    }
  });

  test("GitLab: a fork's merge request runs nothing but the build, in whose environment no token is", () => {
    const jobs = gitLabJobs();
    const context = (project: string): Context => ({
      CI_PIPELINE_SOURCE: "merge_request_event",
      CI_MERGE_REQUEST_SOURCE_PROJECT_ID: project,
      CI_PROJECT_ID: "42",
      CI_COMMIT_BRANCH: "",
      CI_DEFAULT_BRANCH: "main",
    });
    const running = (project: string) =>
      Object.entries(jobs)
        .filter(([, { rules }]) => rules?.some((rule) => holds(rule.if, context(project))) ?? true)
        .map(([name]) => name);
    expect(running("42")).toEqual(["build", "preview", "end-preview"]);
    expect(running("666")).toEqual(["build"]);
    expect(jobs["build"]!.environment).toBeUndefined();
    expect(jobs["deploy"]!.environment?.name).toBe("production");
    for (const name of ["preview", "end-preview"]) {
      expect(jobs[name]!.environment?.name).toBe("preview/$CI_MERGE_REQUEST_IID");
    }
  });
});

/** Who runs it, how it calls a shell, and what it sets. */
const ACTIONS_CI = [
  { ci: "github", folder: ".github", shell: ["bash", "--noprofile", "--norc", "-eo", "pipefail"], ref: "merge" },
  { ci: "forgejo", folder: ".forgejo", shell: ["sh", "-e"], ref: "head" },
] as const;

describe.each(ACTIONS_CI)("$ci", ({ ci, folder, shell, ref }) => {
  let forge: Forge;
  beforeAll(async () => {
    await newSite();
    forge = startForge(ci);
  });
  afterAll(() => forge[Symbol.asyncDispose]());

  const context = (): Context => ({
    "vars.DEPLOY_URL": server.base_url,
    "vars.SVC_RELEASE": machines.release_url,
    "vars.SVC_SITE": site.site_id,
    "secrets.SVC_TOKEN": tokens.deploy,
    "secrets.SVC_PREVIEW_TOKEN": tokens.preview,
    "github.token": FORGE_TOKEN,
    "github.event.number": "7",
  });
  /** As both set them for a push or a pull request. */
  const variables = (git_ref: string) => ({
    GITHUB_ACTIONS: "true",
    GITHUB_REF: git_ref,
    GITHUB_REPOSITORY: "ada/shop",
    GITHUB_API_URL: forge.url,
    GITHUB_SHA: "0".repeat(40),
  });

  async function runStep(machine: Machine, { uses, run, env = {} }: Step, git_ref: string): Promise<string> {
    if (uses?.includes("checkout")) await machine.checkout();
    if (uses?.includes("upload-artifact")) await machine.upload();
    if (uses?.includes("download-artifact")) await machine.download();
    if (run === undefined) return "";
    const own = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, expand(value, context())]));
    const { code, output } = await machine.run(run, shell, { ...variables(git_ref), ...own });
    expect(code, output).toBe(0);
    return output;
  }
  /** Says what its log has. */
  async function runJob(file: string, job: string, git_ref: string): Promise<{ log: string; machine: Machine }> {
    const machine = await machines.boot();
    let log = "";
    for (const step of workflow(`${folder}/workflows/${file}.yml`).jobs[job]!.steps) {
      log += await runStep(machine, step, git_ref);
    }
    for (const token of Object.values(tokens)) expect(log).not.toContain(token);
    return { log, machine };
  }

  test("a push to main is built beside no token, and live", async () => {
    await machines.commit(`${ci}: pushed`);
    const { machine } = await runJob("deploy", "build", "refs/heads/main");
    expect(await machine.read("seen.json")).not.toMatch(/SVC_|_TOKEN/);
    expect((await runJob("deploy", "deploy", "refs/heads/main")).log).toContain(site.url);
    expect(await live()).toContain(`${ci}: pushed`);
  });

  test("a pull request is shown at an address of its own, and one comment tells of its last push", async () => {
    // Of somebody else, and more of them than a page has.
    for (let id = 1; id <= 130; id++) forge.comments.push({ id, body: `looks good ${id}` });
    const [pull, before] = [`refs/pull/7/${ref}`, await live()];
    for (const push of ["one", "two"]) {
      await machines.commit(`${ci}: ${push}`);
      await runJob("preview", "build", pull);
      await runJob("preview", "preview", pull);
      expect(await (await shownAt("pr-7")).text()).toContain(`${ci}: ${push}`);
    }
    expect(await live()).toBe(before);
    const told = forge.comments.filter(({ body }) => body.startsWith(`<!-- svc-preview ${site.site_id} -->\n`));
    expect(told).toHaveLength(1);
    expect(forge.comments).toHaveLength(131);
    const [{ version_id }] = (await previews()) as [{ version_id: string }];
    expect(told[0]!.body).toContain("pr-7--");
    expect(told[0]!.body).toContain(version_id);
    expect(forge.refused).toBe(0);
  });

  test("closed, its preview ends; again, nothing fails", async () => {
    expect(await previews()).toHaveLength(1);
    for (const _ of ["closed", "closed again"]) {
      await runJob("preview", "end", "refs/heads/main");
      expect(await previews()).toHaveLength(0);
      expect((await shownAt("pr-7")).status).toBe(404);
    }
  });
});

describe("gitlab", () => {
  let forge: Forge;
  beforeAll(async () => {
    await newSite();
    forge = startForge("gitlab");
  });
  afterAll(() => forge[Symbol.asyncDispose]());

  /** Of the project; those with an environment scope are a job's alone. */
  const variables = (job: string): Record<string, string> => ({
    GITLAB_CI: "true",
    CI_PROJECT_ID: "42",
    CI_API_V4_URL: forge.url,
    DEPLOY_URL: server.base_url,
    SVC_RELEASE: machines.release_url,
    SVC_SITE: site.site_id,
    ...(job === "deploy" && { SVC_TOKEN: tokens.deploy, CI_COMMIT_REF_SLUG: "main" }),
    ...(job.includes("preview") && { SVC_PREVIEW_TOKEN: tokens.preview, COMMENT_TOKEN: FORGE_TOKEN }),
    ...(job.includes("preview") && { CI_MERGE_REQUEST_IID: "7", CI_COMMIT_REF_SLUG: "a-branch" }),
  });

  async function emptied(folder: string): Promise<void> {
    await rm(folder, { recursive: true });
    await mkdir(folder);
  }

  async function runJob(name: string): Promise<string> {
    const machine = await machines.boot();
    const { before_script = [], script, variables: own } = gitLabJobs()[name]!;
    // The runner keeps its folder: somebody else's build was here before.
    await mkdir(join(machine.workspace, "dist"), { recursive: true });
    await writeFile(join(machine.workspace, "dist", "left.html"), "<title>left</title>");
    if (own?.["GIT_STRATEGY"] !== "none") await emptied(machine.workspace);
    if (own?.["GIT_STRATEGY"] === undefined) await machine.checkout();
    if (name === "deploy" || name === "preview") await machine.download();
    const lines = [...before_script, ...script].join("\n");
    const { code, output } = await machine.run(lines, ["bash", "-eo", "pipefail"], variables(name));
    expect(code, output).toBe(0);
    for (const token of Object.values(tokens)) expect(output).not.toContain(token);
    if (name === "build") await machine.upload();
    return output;
  }

  test("a push to main is built and live", async () => {
    await machines.commit("gitlab: pushed");
    await runJob("build");
    expect(await runJob("deploy")).toContain(site.url);
    expect(await live()).toContain("gitlab: pushed");
    expect((await server.site(slugOf(site.url), "/left.html")).status).toBe(404);
  });

  test("a merge request is shown at an address of its own, and one note tells of its last push", async () => {
    for (let id = 1; id <= 130; id++) forge.comments.push({ id, body: `looks good ${id}` });
    for (const push of ["one", "two"]) {
      await machines.commit(`gitlab: ${push}`);
      await runJob("build");
      await runJob("preview");
      expect(await (await shownAt("mr-7")).text()).toContain(`gitlab: ${push}`);
    }
    expect(await live()).toContain("gitlab: pushed");
    const told = forge.comments.filter(({ body }) => body.startsWith(`<!-- svc-preview ${site.site_id} -->\n`));
    expect(told).toHaveLength(1);
    expect(told[0]!.body).toContain("mr-7--");
    expect(forge.comments).toHaveLength(131);
  });

  test("closed, its preview ends; again, nothing fails", async () => {
    for (const _ of ["closed", "closed again"]) {
      await runJob("end-preview");
      expect(await previews()).toHaveLength(0);
      expect((await shownAt("mr-7")).status).toBe(404);
    }
  });
});

test("a job whose token has ended fails, says so, and the site stays as it was", async () => {
  await newSite();
  const before = await live();
  const machine = await machines.boot();
  await machine.checkout();
  const env = {
    DEPLOY_URL: server.base_url,
    SVC_SITE: site.site_id,
    SVC_RELEASE: machines.release_url,
    SVC_TOKEN: `svc_deploy_${"x".repeat(43)}`,
  };
  const { steps } = workflow(".github/workflows/deploy.yml").jobs["deploy"]!;
  const install = steps.find(({ name }) => name === "Install svc")!.run!;
  const deploy = steps.find(({ name }) => name === "Deploy")!.run!;
  expect((await machine.run(install, ["bash", "-e"], env)).code).toBe(0);
  const { code, output } = await machine.run(`mv pages dist\n${deploy}`, ["bash", "-e"], env);
  expect(code).toBe(1);
  expect(output).toContain("expired or was revoked");
  expect(await live()).toBe(before);
});
