/** A page whose links lead into the repository, for readers who have the page alone. */
import packageJson from "../../package.json";

const MARKDOWN = /(?<open>(?<image>!?)\[[^\]]*\]\()(?<path>[^()\s]+)(?<close>\))/g;
const HTML = /(?<open>\b(?<name>src|srcset|href)=")(?<path>[^"]+)(?<close>")/g;

interface Link {
  open: string;
  path: string;
  close: string;
  /** `!` before an image. */
  image?: string;
  /** The attribute. */
  name?: string;
}

const leadsAway = (path: string): boolean => /^([a-z]+:|#|\/\/)/i.test(path);

/** As GitHub and the servers that follow it name a page of a tag, and the bytes of a file in it. */
function absolute({ open, path, close, image, name }: Link, repository: string, tag: string): string {
  if (leadsAway(path)) return open + path + close;
  const shown = image === "!" || name === "src" || name === "srcset";
  return `${open}${repository}/${shown ? "raw" : "blob"}/${tag}/${path}${close}`;
}

/** `repository`: the URL that its pages begin with. Code stays as it is. */
export function withAbsoluteLinks(markdown: string, repository: string, tag: string): string {
  const link = (...found: unknown[]): string => absolute(found.at(-1) as Link, repository, tag);
  return markdown
    .split(/(```[^]*?```|`[^`\n]*`)/)
    .map((part, at) => (at % 2 === 1 ? part : part.replaceAll(MARKDOWN, link).replaceAll(HTML, link)))
    .join("");
}

/** The README that the npm package has. */
export const readmeOfPackage = (readme: string): string =>
  withAbsoluteLinks(readme, packageJson.repository.url.replace(/\.git$/, ""), `v${packageJson.version}`);
