/** Bundles what pages load of comments, and prints both scripts as JSON. The loader knows the widget by its content. */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

async function bundled(entry: string, format: "esm" | "iife", define: Record<string, string> = {}): Promise<string> {
  const { outputs } = await Bun.build({ entrypoints: [here(entry)], target: "browser", format, minify: true, define });
  return (await outputs[0]!.text()).trim();
}

const widget = await bundled("./widget/widget.ts", "esm");
const hash = createHash("sha256").update(widget).digest("hex").slice(0, 12);
const widget_path = `/_svc/c/${hash}.js`;
const loader = await bundled("./widget/loader.ts", "iife", { WIDGET_PATH: JSON.stringify(widget_path) });
process.stdout.write(JSON.stringify({ loader, widget, widget_path }));
