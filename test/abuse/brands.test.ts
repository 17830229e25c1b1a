/** brands.txt: whose names a page may not borrow (PIPELINE 3). */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run, SVC_SERVER } from "../kit/process.ts";
import { startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";

const server = await sharedServer("--contact", "abuse@host.example");

const operator = (...words: string[]) => run([...SVC_SERVER, ...words, "--data-dir", server.data_dir]);

describe("brands.txt", () => {
  test("is made at the first start, with what PIPELINE names", () => {
    const text = readFileSync(join(server.data_dir, "brands.txt"), "utf8");
    for (const name of [
      "PayPal",
      "Microsoft",
      "Google",
      "Apple",
      "Amazon",
      "Facebook",
      "Netflix",
      "DHL",
      "Coinbase",
      "MetaMask",
    ]) {
      expect(text).toMatch(new RegExp(`^${name} [\\w.-]+\\.\\w+`, "m"));
    }
  });

  test("is the operator's: read at the next deploy, kept at the next start", async () => {
    await using own = await startServer();
    const file = join(own.data_dir, "brands.txt");
    writeFileSync(file, "Acme acme.example\n");
    const codes = async (title: string) =>
      (await own.deploy({ "index.html": `<title>${title}</title><input type=password>` })).warnings.map(
        ({ code }) => code,
      );
    expect(await codes("Acme")).toContain("suspicious_content");
    expect(await codes("PayPal")).not.toContain("suspicious_content");
    await own.stop();
    await own.start([]);
    expect(readFileSync(file, "utf8")).toBe("Acme acme.example\n");
    expect(existsSync(file)).toBe(true);
  });
});
