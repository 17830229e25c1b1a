import { resolve } from "node:path";

const entries = ["index.html", "about/index.html"].map((page) => resolve(import.meta.dirname, page));

export default { build: { rollupOptions: { input: entries } }, logLevel: "error" };
