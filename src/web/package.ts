/** `GET /svc.tgz`: the npm package of `svc`, with this server as its default (BEYOND 14). */
import packageJson from "../../package.json" with { type: "json" };
import { type PackedFile, tarOf } from "../base/tar.ts";
import { type AnswerOwnFile, ownFile } from "../http/own-file.ts";
import type { Handler, Route } from "../routes/context.ts";

const PACKAGE_PATH = "/svc.tgz";

/** From version 12 on npm fetches from no server but its registry without the flag; older ones pass over what they do not know. */
const FROM_HERE = "--allow-remote=root";

/** A deploy from any machine with Node 18 or later and nothing else, and the command that installs `svc`. */
export const npxLine = (base_url: string): string => `npx -y ${FROM_HERE} ${base_url}${PACKAGE_PATH} ./my-site`;
export const installLine = (base_url: string): string => `npm install --global ${FROM_HERE} ${base_url}${PACKAGE_PATH}`;

/** Adds the constant that src/client/default-server.ts looks for. */
function withServer(code: string, base_url: string): string {
  const [, shebang = "", rest = code] = /^(#!.*\n)([^]*)$/.exec(code) ?? [];
  return `${shebang}const SVC_DEFAULT_SERVER = ${JSON.stringify(base_url)};\n${rest}`;
}

/** The same bytes for the same server and svc. */
async function packageFor(base_url: string): Promise<Uint8Array> {
  const { FILES } = await import("./package-files.ts");
  const entries = Object.entries(FILES).map(([path, text]): PackedFile => ({
    name: `package/${path}`,
    bytes: Buffer.from(path.endsWith(".js") ? withServer(text, base_url) : text),
    mode: path === packageJson.bin.svc ? 0o755 : 0o644,
  }));
  const coded = new Blob([new Uint8Array(tarOf(entries))]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Response(coded).bytes();
}

/** One for each server of this process; only tests have several. */
const packed = new Map<string, Promise<AnswerOwnFile>>();

async function answerFor(base_url: string): Promise<AnswerOwnFile> {
  const content = await packageFor(base_url);
  const download = `svc-${packageJson.version}.tgz`;
  return ownFile({ content, type: "application/gzip", kept: "checked", codable: false, download });
}

const givePackage: Handler = async (ctx) => {
  const { base_url } = ctx.parts.config;
  const made = packed.getOrInsertComputed(base_url, () => answerFor(base_url));
  made.catch(() => packed.delete(base_url));
  return (await made)(ctx, ctx.parts.code);
};

export const PACKAGE: readonly Route[] = [["GET", PACKAGE_PATH, givePackage, "no_session"]];
