/** CONTRACT 8: install.sh, run by the shells that are here against a folder that is served here, with tools of ours. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { archiveOf, sumLine } from "../../scripts/release/archives.ts";
import { ROOT } from "../kit/paths.ts";

setDefaultTimeout(60_000);

const SCRIPT = join(ROOT, "scripts", "install.sh");
const SHELLS = ["sh", "dash", "bash"].filter((shell) => Bun.which(shell) !== null);
/** What the script may use: all of it is there on the barest Linux. */
const TOOLS = ["awk", "chmod", "cp", "gzip", "mkdir", "mktemp", "mv", "rm", "sha256sum", "tar"];
/** A downloader that knows no more than the script asks of curl and of wget. */
const FETCH = `
const { argv } = process;
const file = argv[argv.findIndex((word) => /^-o$|^-O$/.test(word)) + 1];
const answer = await fetch(argv.find((word) => word.startsWith("http")));
if (!answer.ok) process.exit(22);
await Bun.write(file, answer);
`;

let folder: string;
let server: Bun.Server<undefined>;
/** What the served folder has. */
const served = new Map<string, Uint8Array | string>();
const program = (says: string) => new TextEncoder().encode(`#!/bin/sh\necho ${says}\n`);

async function serve(name: string, platform: string, says: string): Promise<void> {
  const archive = await archiveOf(name, platform, program(says));
  served.set(archive.name, archive.bytes);
  served.set("SHA256SUMS", `${served.get("SHA256SUMS") ?? ""}${sumLine(archive)}`);
}

/** A program of the machine: the lines of a shell script. */
async function stub(at: string, name: string, lines: string): Promise<void> {
  await writeFile(join(at, name), `#!/bin/sh\n${lines}\n`);
  await chmod(join(at, name), 0o755);
}

/** A PATH with what a machine has: `without` some tools, with stubs of others. */
async function machine(stubs: Record<string, string> = {}, without: string[] = []): Promise<string> {
  const bin = await mkdtemp(join(folder, "bin-"));
  for (const tool of TOOLS.filter((name) => !without.includes(name))) await symlink(Bun.which(tool)!, join(bin, tool));
  const fetching = `exec '${process.execPath}' '${join(folder, "fetch.ts")}' "$@"`;
  const system = { uname: '[ "$1" = -s ] && echo Linux || echo x86_64', ldd: "echo glibc", curl: fetching };
  for (const [name, lines] of Object.entries({ ...system, ...stubs })) {
    if (!without.includes(name)) await stub(bin, name, lines === "fetch" ? fetching : lines);
  }
  return bin;
}

interface Installing {
  PATH?: string;
  shell?: string;
  env?: Record<string, string>;
}

async function install(args: string[], { PATH, shell = "sh", env = {} }: Installing = {}) {
  const home = await mkdtemp(join(folder, "home-"));
  const child = Bun.spawn([Bun.which(shell)!, SCRIPT, ...args], {
    cwd: home,
    env: { PATH: PATH ?? (await machine()), HOME: home, SVC_RELEASE: `${server.url}0.3.0/`, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, out, err, home, bin: join(home, ".local", "bin") };
}

const said = async (file: string): Promise<string> => (await Bun.spawn([file]).stdout.text()).trim();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-install-"));
  await writeFile(join(folder, "fetch.ts"), FETCH);
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => {
      const bytes = served.get(new URL(url).pathname.replace("/0.3.0/", ""));
      return bytes === undefined ? new Response("", { status: 404 }) : new Response(bytes as string);
    },
  });
  await serve("svc", "linux-x64", "svc for linux-x64");
  await serve("svc", "linux-arm64", "svc for linux-arm64");
  await serve("svc", "darwin-arm64", "svc for darwin-arm64");
  await serve("svc", "darwin-x64", "svc for darwin-x64");
  await serve("svc-server", "linux-x64", "svc-server for linux-x64");
});

afterAll(async () => {
  await server.stop(true);
  await rm(folder, { recursive: true });
});

describe("the right sum", () => {
  test.each(SHELLS)("%s installs svc into ~/.local/bin, and nothing else", async (shell) => {
    const { code, out, err, home, bin } = await install([], { shell });
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain(`svc is installed: ${join(bin, "svc")}`);
    expect(out).toContain(`export PATH="${bin}:$PATH"`);
    expect(await readdir(bin)).toEqual(["svc"]);
    expect(await readdir(home)).toEqual([".local"]);
    expect(await said(join(bin, "svc"))).toBe("svc for linux-x64");
  });

  test("an argument names the program, SVC_INSTALL_DIR the place; who has it on PATH is told no more", async () => {
    const place = join(folder, "a place of mine");
    const PATH = `${await machine()}:${place}`;
    const { code, out } = await install(["svc-server"], { PATH, env: { SVC_INSTALL_DIR: place } });
    expect([code, out]).toEqual([0, `svc-server is installed: ${join(place, "svc-server")}\n`]);
    expect(await said(join(place, "svc-server"))).toBe("svc-server for linux-x64");
  });

  test("the place is told whole, whatever way it is written, and found on PATH", async () => {
    const near = await install([], { env: { SVC_INSTALL_DIR: "bin" } });
    expect(near.out).toContain(`export PATH="${join(near.home, "bin")}:$PATH"`);
    const place = await mkdtemp(join(folder, "slash-"));
    const { out } = await install([], { PATH: `${await machine()}:${place}`, env: { SVC_INSTALL_DIR: `${place}/` } });
    expect(out).toBe(`svc is installed: ${join(place, "svc")}\n`);
  });

  test("an older one is replaced in one step", async () => {
    const place = await mkdtemp(join(folder, "old-"));
    await stub(place, "svc", "echo old");
    expect((await install([], { env: { SVC_INSTALL_DIR: place } })).code).toBe(0);
    expect(await readdir(place)).toEqual(["svc"]);
    expect(await said(join(place, "svc"))).toBe("svc for linux-x64");
  });

  test.each([
    ["Linux", "aarch64", "linux-arm64"],
    ["Linux", "amd64", "linux-x64"],
    ["Darwin", "arm64", "darwin-arm64"],
  ])("%s on %s gets the build %s", async (system, cpu, platform) => {
    const PATH = await machine({ uname: `[ "$1" = -s ] && echo ${system} || echo ${cpu}` });
    const { code, bin } = await install([], { PATH });
    expect(code).toBe(0);
    expect(await said(join(bin, "svc"))).toBe(`svc for ${platform}`);
  });

  test("macOS on x64, whose build has no signature that holds, signs it", async () => {
    const signed = join(folder, "signed");
    const stubs = { uname: '[ "$1" = -s ] && echo Darwin || echo x86_64', codesign: `echo "$1" >>'${signed}'` };
    expect((await install([], { PATH: await machine(stubs) })).code).toBe(0);
    expect(await Bun.file(signed).text()).toBe("--remove-signature\n-s\n");
  });

  test("wget, shasum or openssl do where curl and sha256sum are missing", async () => {
    const without = ["curl", "sha256sum"];
    const sum = (after: string) =>
      `exec '${Bun.which("sha256sum")}' | while read -r sum _; do echo "$sum ${after}"; done`;
    for (const [name, after] of Object.entries({ shasum: " -", openssl: "*stdin" })) {
      const PATH = await machine({ wget: "fetch", [name]: sum(after) }, without);
      expect(await install([], { PATH })).toMatchObject({ code: 0, err: "" });
    }
  });
});

describe("what is not installed", () => {
  const RIGHT = () => String(served.get("SHA256SUMS"));

  async function refused(options: Installing, code = 1, args: string[] = []): Promise<string> {
    const ran = await install(args, options);
    expect([ran.code, ran.out]).toEqual([code, ""]);
    expect(existsSync(ran.bin) ? await readdir(ran.bin) : []).toEqual([]);
    return ran.err;
  }

  /** With other sums than the right ones. */
  async function withSums(sums: string | null, act: () => Promise<void>): Promise<void> {
    const right = RIGHT();
    if (sums === null) served.delete("SHA256SUMS");
    else served.set("SHA256SUMS", sums);
    await act().finally(() => served.set("SHA256SUMS", right));
  }

  test.each(SHELLS)("%s: an archive with another sum", async (shell) => {
    await withSums(RIGHT().replaceAll(/^[0-9a-f]{8}/gm, "00000000"), async () => {
      const err = await refused({ shell });
      expect(err).toMatch(
        /^install\.sh: svc-linux-x64\.tar\.gz has the wrong sum \([0-9a-f]{64}, and SHA256SUMS says 0{8}/,
      );
      expect(err).toContain("Nothing was installed");
    });
  });

  test.each([
    ["SHA256SUMS does not name", () => RIGHT().replaceAll("svc-linux-x64", "another")],
    ["SHA256SUMS names without a sum", () => "  svc-linux-x64.tar.gz\n"],
    ["an empty SHA256SUMS names", () => ""],
  ])("an archive that %s", async (_, sums) => {
    await withSums(sums(), async () => {
      expect(await refused({})).toBe(
        "install.sh: SHA256SUMS has no sum for svc-linux-x64.tar.gz. Nothing was installed.\n",
      );
    });
  });

  test("a folder without SHA256SUMS, one without the archive, and a server that is not there", async () => {
    await withSums(null, async () => expect(await refused({})).toContain("/SHA256SUMS could not be downloaded."));
    const arm = { uname: '[ "$1" = -s ] && echo Linux || echo arm64' };
    expect(await refused({ PATH: await machine(arm) }, 1, ["svc-server"])).toContain(
      "/svc-server-linux-arm64.tar.gz could not be downloaded.",
    );
    expect(await refused({ env: { SVC_RELEASE: "http://127.0.0.1:9" } })).toContain("could not be downloaded.");
  });

  test.each([
    ["FreeBSD", "x86_64", [], "There is no build for FreeBSD, but for Linux, macOS and Windows. The npm package"],
    ["Linux", "riscv64", [], "There is no build for riscv64, but for x64 and arm64. The npm package"],
    ["Linux", "riscv64", ["svc-server"], "From its checkout svc-server runs wherever Bun does"],
    ["MINGW64_NT-10.0", "x86_64", [], "On Windows unpack svc-windows-x64.zip"],
  ])("%s on %s %j has no build, and is told what to do", async (system, cpu, args, sentence) => {
    const PATH = await machine({ uname: `[ "$1" = -s ] && echo ${system} || echo ${cpu}` });
    expect(await refused({ PATH }, 1, args)).toContain(sentence);
  });

  test("a system with musl", async () => {
    expect(await refused({ PATH: await machine({ ldd: "echo 'musl libc (x86_64)' >&2; exit 1" }) })).toContain(
      "has musl",
    );
  });

  test.each([
    [["curl"], "Neither curl nor wget is here to download with."],
    [["sha256sum"], "Neither sha256sum, shasum nor openssl is here to check the sum with."],
  ])("a machine without %j is told what to install", async (without, sentence) => {
    expect(await refused({ PATH: await machine({}, without) })).toContain(sentence);
  });

  test("wrong use: exit 2, and how it is meant", async () => {
    expect(await refused({}, 2, ["nginx"])).toContain("nginx is no program of these: svc or svc-server.");
    expect(await refused({ env: { SVC_RELEASE: "" } }, 2)).toContain("Set SVC_RELEASE to the URL of the folder");
    expect(await refused({ env: { SVC_RELEASE: "example.com/svc" } }, 2)).toContain("must begin with https://");
    expect(await refused({ env: { HOME: "" } }, 2)).toContain("Set SVC_INSTALL_DIR");
  });

  test("a folder that has the program's name, such as the checkout, stays as it is", async () => {
    const place = await mkdtemp(join(folder, "beside-"));
    await mkdir(join(place, "svc"));
    expect(await refused({ env: { SVC_INSTALL_DIR: place } })).toBe(
      `install.sh: ${join(place, "svc")} is a folder. Set SVC_INSTALL_DIR to another place. Nothing was installed.\n`,
    );
    expect([await readdir(place), await readdir(join(place, "svc"))]).toEqual([["svc"], []]);
  });

  test("a place that cannot be written keeps what it had, and nothing is left in the temporary folder", async () => {
    const [place, TMPDIR] = [join(folder, "taken"), await mkdtemp(join(folder, "tmp-"))];
    await writeFile(place, "a file where a folder should be");
    expect(await refused({ env: { SVC_INSTALL_DIR: place, TMPDIR } })).not.toBe("");
    expect(await readdir(TMPDIR)).toEqual([]);
  });
});
