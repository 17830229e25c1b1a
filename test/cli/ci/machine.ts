/** A machine of a CI: an empty home, the tools that its images have, a release of svc to install, a project to build. */
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { archiveOf, sumLine } from "../../../scripts/release/archives.ts";
import { CLI } from "../../kit/cli.ts";
import { ROOT } from "../../kit/paths.ts";

export interface Ran {
  code: number;
  output: string;
}

const NODE = Bun.which("node");
if (NODE === null) throw new Error("The recipes of docs/ci.md need node on PATH.");

/** Builds `dist` of its pages, and tells which variables it was shown. */
const BUILD = `
import { cpSync, writeFileSync } from "node:fs";
cpSync("pages", "dist", { recursive: true });
writeFileSync("seen.json", JSON.stringify(Object.keys(process.env)));
`;
const PACKAGE = { name: "shop", version: "1.0.0", private: true, scripts: { build: "node build.mjs" } };
const LOCK = { ...PACKAGE, lockfileVersion: 3, requires: true, packages: { "": { name: "shop", version: "1.0.0" } } };

/** What the recipes ask of curl, where a machine has none. */
const CURL = `
const words = process.argv.slice(2);
const after = (flag) => words[words.indexOf(flag) + 1];
const url = words.find((word) => /^https?:/.test(word));
const headers = words.includes("-H") ? [(await Bun.stdin.text()).trim().split(": ")] : [];
const answer = await fetch(url, { method: words.includes("-X") ? after("-X") : "GET", headers });
if (!answer.ok && words.some((word) => /^-[a-zA-Z]*f/.test(word))) process.exit(22);
await Bun.write(words.includes("-o") ? after("-o") : url.split("/").at(-1), answer);
if (words.includes("-w")) process.stdout.write(String(answer.status));
`;

async function program(at: string, lines: string): Promise<void> {
  await mkdir(dirname(at), { recursive: true });
  await writeFile(at, `#!/bin/sh\n${lines}\n`);
  await chmod(at, 0o755);
}

/** As `bun run build --all` writes it, with the CLI that the tests run. */
async function release(): Promise<Map<string, Uint8Array>> {
  const lines = `#!/bin/sh\nexec ${CLI.map((word) => `'${word}'`).join(" ")} "$@"\n`;
  const platform = `${process.platform}-${process.arch}`;
  const archive = await archiveOf("svc", platform, new TextEncoder().encode(lines));
  return new Map([
    ["install.sh", await readFile(join(ROOT, "scripts", "install.sh"))],
    ["SHA256SUMS", new TextEncoder().encode(sumLine(archive))],
    [archive.name, archive.bytes],
  ]);
}

export class Machines {
  private constructor(
    private readonly root: string,
    private readonly server: Bun.Server<undefined>,
  ) {}
  static async start(): Promise<Machines> {
    const root = await mkdtemp(join(tmpdir(), "svc-ci-"));
    const files = await release();
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      development: false,
      fetch: (request) => {
        const file = files.get(new URL(request.url).pathname.slice("/svc/".length));
        return file === undefined ? new Response(null, { status: 404 }) : new Response(file.slice());
      },
    });
    const machines = new Machines(root, server);
    await machines.makeProject();
    return machines;
  }

  get release_url(): string {
    return `http://127.0.0.1:${this.server.port}/svc`;
  }
  /** The repository. */
  get project(): string {
    return join(this.root, "project");
  }
  /** What the job that builds hands to the others. */
  get artifact(): string {
    return join(this.root, "artifact");
  }

  private async makeProject(): Promise<void> {
    await mkdir(join(this.project, "pages"), { recursive: true });
    await writeFile(join(this.project, "package.json"), JSON.stringify(PACKAGE));
    await writeFile(join(this.project, "package-lock.json"), JSON.stringify(LOCK));
    await writeFile(join(this.project, "build.mjs"), BUILD);
    await this.commit("first");
  }
  /** Another text on its page. */
  async commit(words: string): Promise<void> {
    const page = `<!doctype html><title>${words}</title><p>${words}</p>`;
    await writeFile(join(this.project, "pages", "index.html"), page);
  }

  /** A job's own machine. */
  async boot(): Promise<Machine> {
    const home = await mkdtemp(join(this.root, "machine-"));
    const machine = new Machine(this, home);
    await mkdir(machine.workspace, { recursive: true });
    if (Bun.which("curl") === null) {
      await writeFile(join(home, "curl.ts"), CURL);
      await program(join(home, "bin", "curl"), `exec '${process.execPath}' '${join(home, "curl.ts")}' "$@"`);
    }
    return machine;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop(true);
    await rm(this.root, { recursive: true, force: true });
  }
}

export class Machine {
  readonly workspace: string;
  constructor(
    private readonly machines: Machines,
    readonly home: string,
  ) {
    this.workspace = join(home, "work");
  }

  checkout = (): Promise<void> => cp(this.machines.project, this.workspace, { recursive: true });
  async upload(): Promise<void> {
    await rm(this.machines.artifact, { recursive: true, force: true });
    await cp(join(this.workspace, "dist"), this.machines.artifact, { recursive: true });
  }
  download = (): Promise<void> => cp(this.machines.artifact, join(this.workspace, "dist"), { recursive: true });

  read = (path: string): Promise<string> => readFile(join(this.workspace, path), "utf8");

  /** What steps before wrote into the file that GITHUB_PATH names. */
  private async added(): Promise<string[]> {
    const lines = await readFile(join(this.home, "path"), "utf8").catch(() => "");
    return lines.split("\n").filter(Boolean);
  }

  /** `shell`: with its flags, as the CI calls it. */
  async run(script: string, shell: readonly string[], env: Readonly<Record<string, string>>): Promise<Ran> {
    const tools = [join(this.home, "bin"), dirname(NODE!), dirname(process.execPath), process.env["PATH"] ?? ""];
    const file = join(this.home, "step.sh");
    await writeFile(file, script);
    const child = Bun.spawn([...shell, file], {
      cwd: this.workspace,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      env: {
        CI: "true",
        HOME: this.home,
        GITHUB_PATH: join(this.home, "path"),
        npm_config_update_notifier: "false",
        ...env,
        PATH: [...(await this.added()), ...tools].join(delimiter),
      },
    });
    const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { code: await child.exited, output: out + err };
  }
}
