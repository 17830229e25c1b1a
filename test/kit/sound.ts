/** What `svc-server verify` finds, found in this process: one of its own costs a third of a second of a processor, and a
 *  chapter asks dozens of times. The command itself is tried in test/operators. */
import { expect } from "bun:test";
import { openOperations } from "../../src/store/operations.ts";

export async function expectSound({ data_dir }: { data_dir: string }): Promise<void> {
  const operations = openOperations({ data_dir, now: Date.now });
  try {
    const { database, damages } = await operations.verify();
    expect({ database, damages }).toEqual({ database: [], damages: [] });
  } finally {
    operations.close();
  }
}
