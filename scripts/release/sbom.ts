/** What is inside the programs, as CycloneDX 1.6 (JSON) has it: the runtime that each carries, and the bundled packages. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import packageJson from "../../package.json";
import { ROOT } from "../run.ts";

const BUNDLED = ["fflate", "marked"] as const;

interface License {
  license: { id: string } | { name: string };
}

interface Component {
  type: "application" | "library" | "platform";
  "bom-ref": string;
  name: string;
  version: string;
  purl: string;
  licenses: License[];
  hashes?: { alg: "SHA-512"; content: string }[];
  description?: string;
}

/** `from`: whose name it is; `id`: `<name>@<version>`. */
function named(kind: Component["type"], from: "npm" | "generic", id: string, ...licenses: License[]): Component {
  const [name, version] = id.split("@") as [string, string];
  const purl = `pkg:${from}/${id}`;
  return { type: kind, "bom-ref": purl, name, version, purl, licenses };
}

const licensed = (id: string): License => ({ license: { id } });

/** The lock's own: `name → [name@version, …, …, sha512-<base64>]`. */
async function locked(): Promise<Record<string, [string, string, unknown, string]>> {
  const lock = Bun.JSONC.parse(await Bun.file(join(ROOT, "bun.lock")).text()) as { packages: never };
  return lock.packages;
}

async function bundled(name: (typeof BUNDLED)[number]): Promise<Component> {
  const { license, description } = await Bun.file(join(ROOT, "node_modules", name, "package.json")).json();
  const integrity = (await locked())[name]![3].replace(/^sha512-/, "");
  const content = Buffer.from(integrity, "base64").toString("hex");
  const id = `${name}@${packageJson.devDependencies[name]}`;
  const component = named("library", "npm", id, licensed(license));
  return { ...component, description, hashes: [{ alg: "SHA-512", content }] };
}

/** Its JavaScript engine is under another licence than the rest. */
const runtime = (): Component => ({
  ...named("platform", "npm", `bun@${Bun.version}`, licensed("MIT"), { license: { name: "LGPL-2 (JavaScriptCore)" } }),
  description: "The JavaScript runtime in each compiled program; the npm package does not carry it.",
});

/** The same content has the same number. */
function serialNumber(content: string): string {
  const digits = createHash("sha256").update(content).digest("hex");
  const parts = [digits.slice(0, 8), digits.slice(8, 12), `8${digits.slice(13, 16)}`, `8${digits.slice(17, 20)}`];
  return `urn:uuid:${parts.join("-")}-${digits.slice(20, 32)}`;
}

export async function sbom(): Promise<string> {
  // On the public registry this name is another project's.
  const id = `${packageJson.name}@${packageJson.version}`;
  const product = named("application", "generic", id, licensed(packageJson.license));
  const components = [runtime(), ...(await Promise.all(BUNDLED.map(bundled)))];
  const inside = components.map((component) => component["bom-ref"]);
  const content = {
    metadata: { lifecycles: [{ phase: "build" }], component: { ...product, description: packageJson.description } },
    components,
    dependencies: [{ ref: product["bom-ref"], dependsOn: inside }, ...inside.map((ref) => ({ ref }))],
    // What the runtime itself is made of is its maker's to tell.
    compositions: [{ aggregate: "incomplete", assemblies: [inside[0]] }],
  };
  const head = { bomFormat: "CycloneDX", specVersion: "1.6", serialNumber: serialNumber(JSON.stringify(content)) };
  return `${JSON.stringify({ ...head, version: 1, ...content }, null, 2)}\n`;
}
