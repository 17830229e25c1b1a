/** The entry of the process that looks at pages from source; in the binary it is server.ts with the hidden subcommand. */
import { serveRenders } from "./worker.ts";

serveRenders();
