/** Opens and closes the databases of a data directory, as a start or a command does: `bun opens-database.ts <folder>
 *  <times>`. Prints how often that failed, and why. Several of them at once meet each other's last close, for which SQLite
 *  takes the file for itself. */
import { openDatabase } from "../../src/store/sqlite/database.ts";
import { openRates } from "../../src/store/sqlite/rates.ts";

const [data_dir = "", times = "0"] = process.argv.slice(2);
const failures: string[] = [];
for (let n = 0; n < Number(times); n++) {
  try {
    const db = openDatabase(data_dir);
    const rates = openRates(data_dir, Date.now);
    db.run("update verify_turn set blob_no = ?", [n]);
    rates.close();
    db.close();
  } catch (error) {
    failures.push(String((error as { code?: unknown }).code));
  }
}
process.stdout.write(JSON.stringify(failures));
