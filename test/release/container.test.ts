/** CONTRACT 8: Dockerfile and compose.yaml. No container runs in the tests: linters read both, and .ci/run starts what the
 *  image holds as a container runtime would. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import packageJson from "../../package.json";
import { readConfig } from "../../src/config/index.ts";
import { SETTINGS } from "../../src/config/settings.ts";
import { ROOT, TOOLS } from "../kit/paths.ts";
import { temporaryFolder } from "../kit/process.ts";

const read = (path: string): Promise<string> => Bun.file(join(ROOT, path)).text();
const tool = (name: string): string => Bun.resolveSync(name, TOOLS);
const dockerfile = await read("Dockerfile");
const instructions = dockerfile
  .replaceAll(/^#.*\n/gm, "")
  .replaceAll("\\\n", " ")
  .split("\n")
  .filter(Boolean)
  .map((line) => line.split(/\s+/));
/** Of the image that remains: what follows the last FROM. */
const image = instructions.slice(instructions.findLastIndex(([word]) => word === "FROM"));
const of = (word: string): string[] => image.find(([first]) => first === word)?.slice(1) ?? [];

test("the Dockerfile has no fault that a linter finds", async () => {
  const { validate } = (await import(tool("dockerfile-utils"))) as { validate(text: string): unknown[] };
  expect(validate("FROM")).not.toEqual([]);
  expect(validate(dockerfile)).toEqual([]);
});

test("the image holds the program alone, runs it as nobody's root and keeps its data in a volume", () => {
  expect(of("FROM")).toEqual(["scratch"]);
  expect(of("COPY")).toEqual(["--from=build", "/image", "/"]);
  expect(Number(of("USER")[0]!.split(":")[0])).toBeGreaterThan(0);
  expect(of("VOLUME")).toEqual(["/data"]);
  expect(of("ENV").join(" ")).toContain("SVC_DATA_DIR=/data");
  expect(of("EXPOSE")).toEqual([SETTINGS.port.fallback!]);
  expect(of("ENTRYPOINT").join("")).toBe('["/svc-server"]');
  expect(of("HEALTHCHECK").join(" ")).toEndWith('CMD ["/svc-server", "health"]');
});

test("every setting that it names is one", async () => {
  const known = Object.values(SETTINGS).flatMap(({ variables }) => variables);
  const files = [dockerfile, await read("compose.yaml"), await read("compose.scaling.yaml")];
  const named = files.join("").matchAll(/\b(SVC_[A-Z_]+)\b/g);
  expect([...named].map(([name]) => name).filter((name) => !known.includes(name))).toEqual([]);
});

test("it builds by the version of Bun that the project pins, of files that the build context has", async () => {
  expect([...new Set(dockerfile.match(/bun@[\d.]*/g))]).toEqual([packageJson.packageManager]);
  const [rest, ...kept] = (await read(".dockerignore")).trim().split("\n");
  expect(rest).toBe("*");
  const needed = ["LICENSE", "bun.lock", "package.json", "server.ts", "cli.ts", "src", "docs", "scripts", "types"];
  expect(needed.filter((path) => !kept.includes(`!${path}`))).toEqual([]);
});

interface Linter {
  lintFiles(paths: string[], recursive: boolean): { messages: { rule: string; message: string }[] }[];
}

/** What a linter with the Compose Specification's own schema says of a file. */
async function faultsOf(path: string): Promise<string[]> {
  const { DCLinter } = (await import(tool("dclint"))) as { DCLinter: new (config: object) => Linter };
  const rules = { "require-quotes-in-ports": [1, { quoteType: "double" }] };
  const linter = new DCLinter({ rules, quiet: true, debug: false, exclude: [] });
  const found = linter.lintFiles([path], false).flatMap(({ messages }) => messages);
  return found.map(({ rule, message }) => `${rule}: ${message}`);
}

test("the compose files keep the schema, and a linter finds no fault with them", async () => {
  for (const name of ["compose.yaml", "compose.scaling.yaml"]) expect(await faultsOf(join(ROOT, name))).toEqual([]);
  await using folder = await temporaryFolder();
  const wrong = join(folder.path, "compose.yaml");
  await Bun.write(wrong, (await read("compose.yaml")).replace("cap_drop:", "cap_dropped:"));
  expect((await faultsOf(wrong)).join()).toContain("must NOT have additional properties");
});

test("compose.yaml: the service has no more rights than it needs, and its port is this machine's alone", async () => {
  const { services, volumes } = Bun.YAML.parse(await read("compose.yaml")) as Record<string, Record<string, unknown>>;
  expect(services!["svc-server"]).toMatchObject({
    build: ".",
    read_only: true,
    cap_drop: ["ALL"],
    security_opt: ["no-new-privileges:true"],
    ports: ["127.0.0.1:8787:8787"],
    volumes: ["data:/data"],
  });
  expect(Object.keys(volumes!)).toEqual(["data"]);
});

test("compose.scaling.yaml: its servers start with what it sets, and one port is open, this machine's alone", async () => {
  const text = (await read("compose.scaling.yaml")).replaceAll(/\$\{\w+:-([^}]*)\}/g, "$1");
  const { services } = Bun.YAML.parse(text) as { services: Record<string, { [key: string]: unknown }> };
  expect(Object.values(services).flatMap(({ ports }) => ports ?? [])).toEqual(["127.0.0.1:8787:8787"]);
  const { one, two } = services;
  expect(two!["environment"]).toEqual(one!["environment"]!);
  expect(two!["volumes"]).not.toEqual(one!["volumes"]!);
  const { shared, trust_proxy } = readConfig([], one!["environment"] as Record<string, string>);
  expect(shared!.bucket!.url).toBe("s3://svc");
  expect(trust_proxy).toEqual(["172.30.87.2"]);
  expect(one).toMatchObject({ read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] });
});
