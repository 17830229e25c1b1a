/** Opens and closes the databases of a data directory, as a start or a command does: `bun opens-database.ts <folder>
 *  <times>`. Prints how often that failed, and why. Several of them at once meet each other's last close, for which SQLite
 *  takes the file for itself. */
import { databaseFile } from "../../src/store/sqlite/database.ts";
import { openRates } from "../../src/store/sqlite/rates.ts";

const [data_dir = "", times = "0"] = process.argv.slice(2);
const failures: string[] = [];
const steps: Record<string, () => { close(): void }> = {
  db() {
    const db = databaseFile.openStore(data_dir);
    db.run("update verify_turn set blob_no = 0"); // else there is nothing to put away at the last close
    return db;
  },
  "rates.db": () => openRates(data_dir, Date.now),
};
for (let n = 0; n < Number(times); n++) {
  for (const [name, open] of Object.entries(steps)) {
    const began = performance.now();
    try {
      open().close();
    } catch (error) {
      failures.push(`${name}: ${(error as { code?: unknown }).code} after ${Math.round(performance.now() - began)} ms`);
    }
  }
}
process.stdout.write(JSON.stringify(failures));
