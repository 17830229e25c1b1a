/** Backups in folders of their own, and what is restored from them. */
import { join } from "node:path";
import { stat } from "node:fs/promises";
import { operate } from "../kit/operator.ts";
import { TestServer } from "../kit/server.ts";

/** Backups below a folder that is known once the tests run. */
export function backupsIn(home: () => string) {
  let made = 0;
  /** A folder that is not there yet. */
  const fresh = (): string => join(home(), `folder-${made++}`);
  return {
    fresh,
    async backedUp({ data_dir }: TestServer): Promise<string> {
      const folder = fresh();
      await operate(data_dir, "backup", folder);
      return folder;
    },
    async restored(folder: string): Promise<string> {
      const data_dir = fresh();
      await operate(data_dir, "restore", folder);
      return data_dir;
    },
  };
}

/** A server on a restored data directory. */
export async function serverOn(data_dir: string): Promise<TestServer> {
  const restored = new TestServer(data_dir);
  await restored.start([]);
  return restored;
}

export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
