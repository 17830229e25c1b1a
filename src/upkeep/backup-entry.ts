/** The entry of the process that makes backups from source; in the binary it is server.ts with the hidden subcommand. */
import { serveBackups } from "./backup-worker.ts";

serveBackups();
