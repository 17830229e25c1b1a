/** `DATA/brands.txt`: brands that phishing pages borrow. The first start makes the file; then it is the operator's. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import FIRST_BRANDS from "./first-brands.txt" with { type: "text" };

export const BRANDS = "brands.txt";
const fileOf = (data_dir: string): string => join(data_dir, BRANDS);

export function prepareBrands(data_dir: string): void {
  if (!existsSync(fileOf(data_dir))) writeFileSync(fileOf(data_dir), FIRST_BRANDS, { mode: 0o600 });
}

/** Empty if the operator has removed the file: then there are none until the next start. */
export function readBrands(data_dir: string): string {
  try {
    return readFileSync(fileOf(data_dir), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
