/** The real CLI as a child process: own config folder, own project folders, nothing of the machine's environment. */
import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { ROOT } from "./paths.ts";

/** SVC_TEST_NODE: a Node that runs the built dist/cli.js in place of the source, so that its tests are the package's too. */
const NODE = process.env["SVC_TEST_NODE"];
const SCRIPT = NODE ? join(ROOT, "dist", "cli.js") : join(ROOT, "cli.ts");
/** The CLI from source. */
export const CLI = [NODE ?? process.execPath, SCRIPT];

export interface Ran {
  code: number;
  out: string;
  err: string;
}

export interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
  /** Instead of `bun cli.ts`: a compiled binary. */
  program?: string[];
  /** Called when the child runs, e.g. to send it a signal. */
  whileRunning?: (child: Bun.Subprocess) => Promise<void>;
}

/** A terminal's whole stream, escape codes and all. */
export interface Screen extends Pick<Ran, "code"> {
  raw: string;
  /** The lines as a person reads them, without escape codes. */
  lines: string[];
}

export const withoutCodes = (raw: string): string => raw.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, "");

export class Home {
  readonly dir: string;
  /** For PATH: the CLI as `svc`, so that this is what it calls itself. */
  readonly bin: string;
  private constructor(
    private readonly root: string,
    /** DEPLOY_URL of each run; "" leaves it unset. */
    public server: string,
  ) {
    this.dir = join(root, "home");
    this.bin = join(root, "bin");
  }
  static async make(server: string): Promise<Home> {
    const home = new Home(await mkdtemp(join(tmpdir(), "svc-home-")), server);
    await Promise.all([mkdir(home.dir), mkdir(home.bin)]);
    await symlink(SCRIPT, join(home.bin, "svc"));
    return home;
  }

  get config(): string {
    return join(this.dir, "config");
  }
  path(...parts: string[]): string {
    return join(this.dir, ...parts);
  }

  /** Writes files below the home folder; a value `{link}` makes a symbolic link. */
  async write(folder: string, files: Record<string, string | Uint8Array | { link: string }>): Promise<string> {
    await mkdir(this.path(folder), { recursive: true });
    for (const [path, content] of Object.entries(files)) {
      const location = this.path(folder, path);
      await mkdir(dirname(location), { recursive: true });
      if (typeof content === "object" && "link" in content) await symlink(content.link, location);
      else await writeFile(location, content);
    }
    return this.path(folder);
  }

  /** Reads a file that a run has saved in the config folder. */
  async saved(file: string): Promise<Record<string, unknown>> {
    return JSON.parse(await readFile(join(this.config, file), "utf8")) as Record<string, unknown>;
  }
  async links(): Promise<Record<string, unknown>[]> {
    return (await this.saved("projects.json"))["projects"] as Record<string, unknown>[];
  }
  hasSaved(file: string): Promise<boolean> {
    return Bun.file(join(this.config, file)).exists();
  }
  async modeOf(file: string): Promise<number> {
    return (await stat(join(this.config, file))).mode & 0o777;
  }

  private env(more: Record<string, string> = {}): Record<string, string> {
    const base: Record<string, string> = {
      PATH: `${this.bin}${delimiter}${process.env["PATH"]}`,
      HOME: this.dir,
      SVC_CONFIG_DIR: this.config,
    };
    if (this.server !== "") base["DEPLOY_URL"] = this.server;
    return { ...base, ...more };
  }

  async run(args: string[], { cwd = this.dir, env, program = CLI, whileRunning }: RunOptions = {}): Promise<Ran> {
    const child = Bun.spawn([...program, ...args], {
      cwd,
      env: this.env(env),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const texts = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    await whileRunning?.(child);
    const [out, err] = await texts;
    return { code: await child.exited, out, err };
  }

  /** The same on a terminal of 90 columns: stdin, stdout and stderr are one. */
  async runOnTerminal(
    args: string[],
    { cwd = this.dir, env, program = CLI }: Pick<RunOptions, "cwd" | "env" | "program"> = {},
    onOutput: (raw: string, terminal: Bun.Terminal) => void = () => {},
  ): Promise<Screen> {
    let raw = "";
    const decoder = new TextDecoder();
    const closed = Promise.withResolvers<void>();
    const child = Bun.spawn([...program, ...args], {
      cwd,
      env: this.env({ TERM: "xterm-256color", ...env }),
      terminal: {
        cols: 90,
        rows: 40,
        data(terminal, bytes) {
          raw += decoder.decode(bytes, { stream: true });
          onOutput(raw, terminal);
        },
        exit: () => closed.resolve(),
      },
    });
    const code = await child.exited;
    await closed.promise; // what was written last may still be on its way
    child.terminal?.close();
    return { code, raw, lines: withoutCodes(raw).split(/\r?\n/) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await chmod(this.config, 0o700).catch(() => {});
    await rm(this.root, { recursive: true, force: true });
  }
}

/**
 * For `runOnTerminal`: Ctrl-C as soon as `moment` is on the screen, once. The terminal echoes the key, so one who
 * presses at every output presses without end, and what the program says last drowns.
 */
export function ctrlCAt(moment: RegExp): (raw: string, terminal: Bun.Terminal) => void {
  let isPressed = false;
  return (raw, terminal) => {
    if (isPressed || !moment.test(raw)) return;
    isPressed = true;
    terminal.write("\x03");
  };
}

/** Parses the output of `--json`. */
export const json = ({ out }: Pick<Ran, "out">): Record<string, unknown> => JSON.parse(out) as Record<string, unknown>;

/** A home with a folder that can be deployed. */
export async function homeWithSite(server: string): Promise<Home> {
  const home = await Home.make(server);
  await home.write("", { "dist/index.html": "<title>t</title>" });
  return home;
}

/** Deploys or updates with `--json`, and gives its output. */
export const deployed = async (home: Home, args: string[] = [], cwd = home.dir): Promise<Record<string, unknown>> =>
  json(await home.run([...args, "--json"], { cwd }));
