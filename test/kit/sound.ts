/** The checks of `svc-server verify`, made in this process: a process for each would cost more than the check, and a chapter
 *  asks dozens of times. The command itself is tried in test/operators. */
import { expect } from "bun:test";
import { databases } from "./database-server.ts";
import { openOperations } from "../../src/store/operations.ts";

export async function expectSound({ data_dir }: { data_dir: string }): Promise<void> {
  const operations = openOperations({ ...databases.addressOf(data_dir), now: Date.now });
  try {
    const { database, damages } = await operations.verify();
    expect({ database, damages }).toEqual({ database: [], damages: [] });
  } finally {
    operations.close();
  }
}
