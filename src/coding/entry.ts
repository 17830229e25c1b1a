/** The entry of a coding process from source; in the binary it is server.ts with the hidden subcommand. */
import { serveCodings } from "./worker.ts";

serveCodings();
